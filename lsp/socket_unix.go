//go:build unix

package lsp

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockSocket keeps a second server from taking a socket over at the same time.
// The lock ends with the process that holds it; its file stays.
func lockSocket(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the lock of the socket: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrSocketInUse)
	}
	return func() { _ = f.Close() }, nil
}
