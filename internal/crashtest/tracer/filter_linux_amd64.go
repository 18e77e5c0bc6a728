package tracer

import (
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// execFiltered becomes argv with a filter that stops it, and all its children,
// at mutating system calls and at no others: a server makes a hundred times as
// many, and each stop costs two changes of process. It returns on errors only.
func execFiltered(argv []string) error {
	runtime.LockOSThread() // the filter is the thread's, and exec keeps it
	if err := os.Unsetenv(filteredEnv); err != nil {
		return err
	}
	name, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	code := filter()
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return errno
	}
	return syscall.Exec(name, argv, os.Environ())
}

// Offsets in struct seccomp_data.
const (
	offsetNumber = 0
	offsetArch   = 4
)

// filter is the program that the kernel runs before each system call.
func filter() []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	result := func(value uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
	}
	numbers := slices.Sorted(maps.Keys(mutating))
	code := []unix.SockFilter{load(offsetArch), equal(unix.AUDIT_ARCH_X86_64, 0, uint8(len(numbers)+1)), load(offsetNumber)}
	for i, n := range numbers {
		code = append(code, equal(uint32(n), uint8(len(numbers)-i), 0))
	}
	return append(code, result(unix.SECCOMP_RET_ALLOW), result(unix.SECCOMP_RET_TRACE))
}
