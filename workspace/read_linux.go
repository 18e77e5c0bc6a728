package workspace

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// hasOpenat2 says whether the kernel (5.6) and its filters let openat2 through.
var hasOpenat2 = sync.OnceValue(func() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
})

// openNoFollow opens a file below root for reading. A symbolic link anywhere in
// rel is errSymlink.
func (t *tree) openNoFollow(rel string) (*os.File, error) {
	if !hasOpenat2() {
		return t.openNoFollowPortable(rel)
	}
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		fd, err := unix.Openat2(int(t.top.Fd()), rel, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), rel), nil
		case errors.Is(err, unix.ELOOP):
			return nil, errSymlink
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		}
		return nil, &os.PathError{Op: "open", Path: rel, Err: err}
	}
}
