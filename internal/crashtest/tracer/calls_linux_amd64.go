package tracer

import "golang.org/x/sys/unix"

// An operand says how a call names its file.
type operand int

const (
	byFD     operand = iota // args[0] is a descriptor
	byPath                  // args[0] points to a path
	byPathAt                // args[0] is a folder's descriptor, args[1] points to a path
)

// mutating are the system calls that change files, folders or their state on
// the disk. Opening is not among them: a file that was only created is seen at
// the next call.
var mutating = map[uint64]struct {
	name string
	operand
}{
	unix.SYS_WRITE:           {"write", byFD},
	unix.SYS_PWRITE64:        {"pwrite64", byFD},
	unix.SYS_WRITEV:          {"writev", byFD},
	unix.SYS_PWRITEV:         {"pwritev", byFD},
	unix.SYS_PWRITEV2:        {"pwritev2", byFD},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", byFD},
	unix.SYS_FSYNC:           {"fsync", byFD},
	unix.SYS_FDATASYNC:       {"fdatasync", byFD},
	unix.SYS_SYNC_FILE_RANGE: {"sync_file_range", byFD},
	unix.SYS_FTRUNCATE:       {"ftruncate", byFD},
	unix.SYS_FALLOCATE:       {"fallocate", byFD},
	unix.SYS_FCHMOD:          {"fchmod", byFD},
	unix.SYS_FCHOWN:          {"fchown", byFD},
	unix.SYS_TRUNCATE:        {"truncate", byPath},
	unix.SYS_RENAME:          {"rename", byPath},
	unix.SYS_UNLINK:          {"unlink", byPath},
	unix.SYS_RMDIR:           {"rmdir", byPath},
	unix.SYS_MKDIR:           {"mkdir", byPath},
	unix.SYS_LINK:            {"link", byPath},
	unix.SYS_CHMOD:           {"chmod", byPath},
	unix.SYS_CHOWN:           {"chown", byPath},
	unix.SYS_RENAMEAT:        {"renameat", byPathAt},
	unix.SYS_RENAMEAT2:       {"renameat2", byPathAt},
	unix.SYS_UNLINKAT:        {"unlinkat", byPathAt},
	unix.SYS_MKDIRAT:         {"mkdirat", byPathAt},
	unix.SYS_LINKAT:          {"linkat", byPathAt},
	unix.SYS_FCHMODAT:        {"fchmodat", byPathAt},
	unix.SYS_FCHOWNAT:        {"fchownat", byPathAt},
}

// frees are those that succeed on a full disk.
var frees = map[string]bool{"unlink": true, "unlinkat": true, "rmdir": true, "truncate": true, "ftruncate": true}
