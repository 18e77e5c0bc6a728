package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLockFile takes the lock on an open file unless another one has it. Closing
// the file, or the death of the process, gives it back. The byte that is locked
// lies far behind the owner's name, which others want to read.
func tryLockFile(f *os.File) (bool, error) {
	at := windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// bootID is not told by Windows.
func bootID() string { return "" }
