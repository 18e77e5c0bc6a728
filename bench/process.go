package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// A sample is what one run of a process cost.
type sample struct {
	wall time.Duration
	cpu  time.Duration // user and system
	rss  int64         // peak resident set, bytes
}

// run executes a command to its end and returns its output and cost. Exit
// codes 0 and 1 are fine: a checker that found something ends with 1.
func run(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, sample, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	s := sample{wall: time.Since(start)}
	if cmd.ProcessState != nil {
		s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			s.rss = u.Maxrss * 1024 // Linux counts kilobytes
		}
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return nil, s, fmt.Errorf("%s %v: %w\n%s", name, args, err, tail(errs.Bytes()))
	}
	return out.Bytes(), s, nil
}

func tail(b []byte) []byte {
	const keep = 2000
	if len(b) > keep {
		b = b[len(b)-keep:]
	}
	return b
}

// median returns the middle of values by less's order; values must not be empty.
func median[T any](values []T, cmp func(a, b T) int) T {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, cmp)
	return sorted[len(sorted)/2]
}

// residentSet returns the resident set of a running process, bytes.
func residentSet(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		var kb int64
		if _, err := fmt.Sscanf(string(line), "VmRSS: %d kB", &kb); err == nil {
			return kb * 1024, nil
		}
	}
	return 0, fmt.Errorf("process %d reports no resident set", pid)
}
