package tracer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supported returns nil where processes can be traced, else why they cannot.
func Supported() error {
	status, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err == nil && strings.TrimSpace(string(status)) == "3" {
		return errors.New("this system lets nobody trace processes")
	}
	done := make(chan error)
	go func() { // on a thread of its own, which ends with it
		runtime.LockOSThread()
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		err := cmd.Start()
		if err == nil {
			_ = cmd.Process.Kill()
			_, err = cmd.Process.Wait()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("processes cannot be traced here: %w", err)
	}
	return nil
}

// run runs argv to the end of its last process.
func run(p Plan, argv []string) (*Report, error) {
	if len(argv) == 0 {
		return nil, errors.New("there is no command")
	}
	runtime.LockOSThread() // every ptrace call comes from the thread that started the command
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, argv...)
	cmd.Env = append(os.Environ(), filteredEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// The streams are the command's alone: whoever reads its output has to see
	// it end, and it has to see its input end.
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	for fd := range 2 {
		if err := unix.Dup2(int(null.Fd()), fd); err != nil {
			return nil, err
		}
	}
	t := &trace{plan: p, root: cmd.Process.Pid, threads: map[int]int{}, order: map[int]int{}}
	return t.loop()
}

// A trace is one run under way.
type trace struct {
	plan    Plan
	root    int
	threads map[int]int // → process
	order   map[int]int // of processes, from 1
	report  Report
}

const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

func (t *trace) loop() (*Report, error) {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			return &t.report, nil
		case err != nil:
			return nil, fmt.Errorf("waiting: %w", err)
		}
		if status.Exited() || status.Signaled() {
			delete(t.threads, tid)
			if tid == t.root {
				t.report.Status = status.ExitStatus()
				if status.Signaled() {
					t.report.Status = 128 + int(status.Signal())
				}
			}
			continue
		}
		signal, err := t.stopped(tid, status)
		if err == nil {
			err = syscall.PtraceCont(tid, signal)
		}
		// A thread whose process was killed is gone between two calls.
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, fmt.Errorf("thread %d: %w", tid, err)
		}
	}
}

// stopped deals with a stop and returns the signal to go on with.
func (t *trace) stopped(tid int, status syscall.WaitStatus) (signal int, err error) {
	process, known := t.threads[tid]
	if !known {
		// Its first stop: of the command, after its exec; of any other, the
		// SIGSTOP with which the kernel hands it over.
		process = tid
		if tid != t.root {
			if process, err = processOf(tid); err != nil {
				return 0, nil // it was killed before it did anything
			}
		}
		if t.order[process] == 0 {
			t.order[process] = len(t.order) + 1
		}
		t.threads[tid] = process
		if tid == t.root {
			return 0, syscall.PtraceSetOptions(tid, options)
		}
		return 0, nil
	}
	if status.StopSignal() != syscall.SIGTRAP {
		return int(status.StopSignal()), nil
	}
	if status.TrapCause() == unix.PTRACE_EVENT_SECCOMP {
		return 0, t.enter(tid, process)
	}
	return 0, nil // a new thread, process or program
}

// enter looks at a call that is about to be made.
func (t *trace) enter(tid, process int) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	call, ok := mutating[regs.Orig_rax]
	if !ok {
		return nil
	}
	path := ""
	switch call.operand {
	case byFD:
		path = pathOfFD(tid, int32(regs.Rdi))
	case byPath:
		path = absolute(tid, unix.AT_FDCWD, textAt(tid, regs.Rdi))
	case byPathAt:
		path = absolute(tid, int32(regs.Rdi), textAt(tid, regs.Rsi))
	}
	if !t.counts(path) {
		return nil
	}
	t.report.Calls = append(t.report.Calls, Call{Name: call.name, Path: path, Process: t.order[process]})
	this := &t.report.Calls[len(t.report.Calls)-1]
	n := len(t.report.Calls)
	if t.plan.Action == Count || n < t.plan.At || n > t.plan.At && !t.plan.Always || t.plan.Always && frees[call.name] {
		return nil
	}
	this.Hit, this.Program = true, program(process)
	if t.plan.Action == Kill {
		return syscall.Kill(process, syscall.SIGKILL)
	}
	regs.Orig_rax = ^uint64(0) // no such call: nothing is done, and this is its result
	regs.Rax = uint64(-int64(t.plan.Errno))
	return syscall.PtraceSetRegs(tid, &regs)
}

func (t *trace) counts(path string) bool {
	for _, dir := range t.plan.Under {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

// processOf returns the process of a thread.
func processOf(tid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "\nTgid:")
	line, _, _ := strings.Cut(rest, "\n")
	return strconv.Atoi(strings.TrimSpace(line))
}

// program returns the first words of a process's command line, for people.
func program(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	words := strings.Split(string(text), "\x00")
	words[0] = filepath.Base(words[0])
	return strings.Join(words[:min(2, len(words))], " ")
}

// pathOfFD returns what a descriptor is open on; "" when it is closed.
func pathOfFD(tid int, fd int32) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, fd))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
}

// absolute resolves a path as a call of the thread would.
func absolute(tid int, dir int32, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	base := ""
	if dir == unix.AT_FDCWD {
		base, _ = os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid)) // "" counts nowhere
	} else {
		base = pathOfFD(tid, dir)
	}
	return filepath.Join(base, path)
}

// textAt reads a string from a thread's memory, up to where it ends or its page does.
func textAt(tid int, addr uint64) string {
	var text []byte
	for len(text) < unix.PathMax {
		part := make([]byte, 64)
		n, err := syscall.PtracePeekData(tid, uintptr(addr)+uintptr(len(text)), part)
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(text, part[:end]...))
		}
		text = append(text, part[:n]...)
		if err != nil || n < len(part) {
			break
		}
	}
	return string(text)
}
