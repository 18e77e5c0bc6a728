package kaiak

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kaiak/kaiak/workspace"
)

// A processID names a running service, so that another one can tell whether it
// still runs: by the lock that it holds on a file in the state folder, which the
// operating system takes from it when it dies. A process number would not do: a
// dead process may keep it (a zombie), and another may get it.
type processID struct {
	PID  int    `json:"pid"` // for people
	Host string `json:"host"`
	Lock string `json:"lock"` // the file's name
}

func (p processID) String() string { return fmt.Sprintf("process %d on %s", p.PID, p.Host) }

// A presence is this service's own lock.
type presence struct {
	id   processID
	dir  string
	file *os.File
}

// newPresence takes a lock of its own in the state folder, and removes those of
// services that are gone.
func newPresence(stateDir string) (*presence, error) {
	dir := filepath.Join(stateDir, "running")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	p := &presence{id: processID{os.Getpid(), host, newID("") + lockSuffix}, dir: dir}
	p.sweep()
	// The file gets its name only when it is locked: nobody may see it free.
	name := p.path()
	if p.file, err = os.CreateTemp(dir, "new-*"); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	ok, err := workspace.TryLock(p.file)
	if err == nil && !ok {
		err = errors.New("a new file is locked already")
	}
	if err == nil {
		err = os.Rename(p.file.Name(), name)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("state folder %s cannot hold locks: %w", stateDir, err), os.Remove(p.file.Name()), p.file.Close())
	}
	return p, nil
}

const lockSuffix = ".lock"

func (p *presence) path() string { return filepath.Join(p.dir, p.id.Lock) }

// sweep removes the files of services that are gone; what cannot be removed
// does no harm.
func (p *presence) sweep() {
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), lockSuffix) && !p.alive(processID{Lock: e.Name()}) {
			_ = os.Remove(filepath.Join(p.dir, e.Name()))
		}
	}
}

// alive reports whether a service still runs. One whose lock cannot be looked
// at is taken to.
func (p *presence) alive(id processID) bool {
	if id.Lock == p.id.Lock {
		return true
	}
	if id.Lock == "" || strings.ContainsAny(id.Lock, `/\`) {
		return false
	}
	file, err := os.OpenFile(filepath.Join(p.dir, id.Lock), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	free, err := workspace.TryLock(file)
	return err != nil || !free
}

// close gives the lock back.
func (p *presence) close() error {
	return errors.Join(os.Remove(p.path()), p.file.Close())
}
