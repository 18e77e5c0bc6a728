package workspace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/store"
)

// mutating are the system calls that change files, folders or their state on
// the disk. Opening is not among them: a file that was only created is seen at
// the next call.
const mutating = "write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range,rename,renameat,renameat2," +
	"unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,ftruncate,fallocate,chmod,fchmod,fchmodat,chown,fchown,fchownat,msync"

// straced runs the helper under strace, which does to it what inject says, and
// returns the names of the mutating calls that its first thread made, and its
// output.
func straced(t *testing.T, dir, state string, undo bool, inject string) (calls []string, out string, err error) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "strace.log")
	args := []string{"-f", "-qq", "-e", "trace=" + mutating, "-e", "signal=none", "-o", log}
	if inject != "" {
		args = append(args, "-e", "inject="+inject)
	}
	cmd := exec.Command("strace", append(args, os.Args[0])...)
	job := "apply"
	if undo {
		job = "undo"
	}
	cmd.Env = helperEnv(job, dir, state)
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	err = cmd.Run()
	f, openErr := os.Open(log)
	check(t, openErr)
	defer f.Close()
	first := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		pid, call, _ := strings.Cut(lines.Text(), " ")
		if call = strings.TrimSpace(call); call == "" || strings.HasPrefix(call, "+++") || strings.HasPrefix(call, "<...") {
			continue
		}
		if first == "" {
			first = pid
		}
		if name, _, ok := strings.Cut(call, "("); ok && pid == first {
			calls = append(calls, name)
		}
	}
	return calls, buf.String(), err
}

// killLab prepares the folders of one run.
func killLab(t *testing.T, undo bool) (dir, state string, before, after map[string]string) {
	t.Helper()
	dir, state = writeTree(t, faultFiles()), t.TempDir()
	s, err := store.Open(state)
	check(t, err)
	defer s.Close()
	before = faultFiles()
	w, err := Open(dir, Options{Store: s})
	check(t, err)
	defer w.Close()
	set, after := faultSet(t, w, "s")
	if undo {
		_, err := w.Apply(t.Context(), set, ApplyOptions{})
		check(t, err)
		before, after = after, before
	}
	return dir, state, before, after
}

func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed, so no process is killed at its system calls; see docs/reliability.md")
	}
	if out, err := exec.Command("strace", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v %s", err, out)
	}
}

// A point is one system call of a run, as strace counts: the nth of its name.
type point struct {
	at   int // of all, from 1
	name string
	nth  int
}

func (p point) String() string { return fmt.Sprintf("%d %s", p.at, p.name) }

// inject is what strace is told to do there.
func (p point) inject(what string) string { return fmt.Sprintf("%s:%s:when=%d", p.name, what, p.nth) }

// points returns the calls to fail at: all of them in the full run, else a sample.
func points(calls []string) (at []point) {
	step := 1
	if os.Getenv("KAIAK_RELIABILITY") != "full" {
		step = 9
	}
	count := map[string]int{}
	for i, name := range calls {
		count[name]++
		if i%step == 0 {
			at = append(at, point{i + 1, name, count[name]})
		}
	}
	return at
}

// The process is killed at every one of its mutating system calls, its
// database's included. After the restart all or nothing is done, nothing is
// left over, and doing the rest gives what an uninterrupted run gives.
func TestKilledAtEverySystemCall(t *testing.T) {
	needStrace(t)
	for _, undo := range []bool{false, true} {
		dir, state, _, after := killLab(t, undo)
		total, out, err := straced(t, dir, state, undo, "")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		wantTree(t, dir, after)
		finished := 0
		at := points(total)
		for _, n := range at {
			t.Run(fmt.Sprintf("undo=%v/%v", undo, n), func(t *testing.T) {
				dir, state, before, after := killLab(t, undo)
				calls, out, err := straced(t, dir, state, undo, n.inject("signal=KILL"))
				if err == nil || len(calls) != n.at {
					t.Fatalf("it was to be killed at call %v and made %d: %v\n%s", n, len(calls), err, out)
				}
				s := openStore(t, state)
				w := openWorkspace(t, dir, Options{Store: s})
				_, err = w.Recover(t.Context(), ApplyOptions{})
				check(t, err)
				if allOrNothing(t, fmt.Sprint("killed at call ", n), withoutEmpty(readTree(t, dir)), before, after) {
					finished++
				} else if undo {
					_, err := w.Undo(t.Context(), "s", "u", UndoOptions{})
					check(t, err)
				} else {
					set, _ := faultSet(t, w, "s")
					_, err := w.Apply(t.Context(), set, ApplyOptions{})
					check(t, err)
				}
				if got := withoutEmpty(readTree(t, dir)); !equalTrees(got, after) {
					t.Errorf("after the resumption: %q", got)
				}
				report, err := s.Usage(t.Context())
				check(t, err)
				if report.Blobs == 0 {
					t.Error("the text before is not kept")
				}
			})
		}
		t.Logf("undo %v: %d mutating system calls, killed at %d of them: %d times the set was finished, %d times put back", undo, len(total), len(at), finished, len(at)-finished)
	}
}

func equalTrees(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for p, text := range a {
		if got, ok := b[p]; !ok || got != text {
			return false
		}
	}
	return true
}

// Every mutating system call fails once, the database's included: the process
// says so or succeeds, and all or nothing is done.
func TestEverySystemCallFails(t *testing.T) {
	needStrace(t)
	dir, state, _, _ := killLab(t, false)
	total, out, err := straced(t, dir, state, false, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, errno := range []string{"ENOSPC", "EIO", "EACCES"} {
		failed := 0
		at := points(total)
		for _, n := range at {
			t.Run(fmt.Sprintf("%s/%v", errno, n), func(t *testing.T) {
				dir, state, before, after := killLab(t, false)
				_, out, err := straced(t, dir, state, false, n.inject("error="+errno))
				var exit *exec.ExitError
				if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3 || out == "") {
					t.Fatalf("call %v: neither success nor an error that is told: %v\n%s", n, err, out)
				}
				w := openWorkspace(t, dir, Options{Store: openStore(t, state)})
				_, recoverErr := w.Recover(t.Context(), ApplyOptions{})
				check(t, recoverErr)
				applied := allOrNothing(t, fmt.Sprint("failed call ", n), readTree(t, dir), before, after)
				if applied != (err == nil) {
					t.Errorf("applied %v, but the process said: %v %s", applied, err, out)
				}
				if err != nil {
					failed++
				}
			})
		}
		t.Logf("%s: %d mutating system calls, failed at %d of them: %d times Apply said so and changed nothing, else it succeeded", errno, len(total), len(at), failed)
	}
}
