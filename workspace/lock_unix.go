//go:build unix

package workspace

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// tryLockFile takes the lock on an open file unless another one has it. Closing
// the file, or the death of the process, gives it back.
func tryLockFile(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

// bootID names this start of the machine, "" where the system does not.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
