//go:build unix

package kaiak

import (
	"errors"

	"golang.org/x/sys/unix"
)

// processExists asks the system without touching the process.
func processExists(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
