//go:build unix

package workspace

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe or socket in the tree is told, not waited for.
func TestReadSpecialFiles(t *testing.T) {
	w := newWorkspace(t, nil)
	check(t, unix.Mkfifo(filepath.Join(w.Dir(), "pipe"), 0o644))
	l, err := net.Listen("unix", filepath.Join(w.Dir(), "sock"))
	check(t, err)
	defer l.Close()
	if _, err := w.Read("pipe"); kindOf(t, err) != NotRegular {
		t.Error(err)
	}
	if _, err := w.Read("sock"); err == nil {
		t.Error("a socket was read")
	}
	if _, err := w.tree.openNoFollowPortable("pipe"); kindOf(t, err) != NotRegular {
		t.Error(err)
	}
}
