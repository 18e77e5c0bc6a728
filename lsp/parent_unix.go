//go:build unix

package lsp

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// processAlive reports whether a process with this number runs, whoever's it is.
// One that is dead keeps its number until its own parent has heard of it, which
// may be never: where the system has /proc, it tells.
func processAlive(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	state := stat[bytes.LastIndexByte(stat, ')')+1:] // the name before it may hold anything
	return !bytes.HasPrefix(state, []byte(" Z"))
}
