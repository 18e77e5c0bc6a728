package workspace

import (
	"io/fs"
	"os"
)

// diskOps is every operation that changes the user's files. All names are plain
// names in a folder that was opened through the confined root. Tests put
// failures and crashes here.
type diskOps interface {
	mkdir(dir *os.Root, name string) error
	create(dir *os.Root, name string, mode fs.FileMode) (tempFile, error) // fails when name exists
	rename(dir *os.Root, from, to string) error
	remove(dir *os.Root, name string) error
	sync(dir *os.Root) error // makes the folder's entries durable
}

// tempFile is a new file that is being written.
type tempFile interface {
	Write(p []byte) (int, error)
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Sync() error
	Close() error
	Stat() (fs.FileInfo, error)
}

// rootOps are the operations of the operating system.
type rootOps struct{}

func (rootOps) mkdir(dir *os.Root, name string) error      { return dir.Mkdir(name, 0o777) }
func (rootOps) rename(dir *os.Root, from, to string) error { return dir.Rename(from, to) }
func (rootOps) remove(dir *os.Root, name string) error     { return dir.Remove(name) }
func (rootOps) sync(dir *os.Root) error                    { return syncDir(dir) }

func (rootOps) create(dir *os.Root, name string, mode fs.FileMode) (tempFile, error) {
	return dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}
