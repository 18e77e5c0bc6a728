//go:build unix

package lsp

import (
	"errors"

	"golang.org/x/sys/unix"
)

// processAlive reports whether a process with this number exists, whoever's it is.
func processAlive(pid int) bool {
	return !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
