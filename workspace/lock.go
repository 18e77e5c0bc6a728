package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A LockOwner is the process that changes a workspace.
type LockOwner struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"` // its file name
	Host    string    `json:"host"`
	Boot    string    `json:"boot,omitempty"` // which start of the machine, where the system tells
	Started time.Time `json:"started"`        // the process
	Since   time.Time `json:"since"`          // holds the lock
	Set     string    `json:"set_id"`         // what it is doing
}

func (o LockOwner) String() string {
	if o.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("%s, process %d on %s", o.Program, o.PID, o.Host)
}

// A BusyError says that another process was changing the workspace for as long
// as we waited. Trying again later helps.
type BusyError struct {
	Dir   string
	Owner LockOwner
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the workspace %s is being changed by %v; nothing was changed, try again", e.Dir, e.Owner)
}

// processStarted tells processes apart whose number was used again.
var processStarted = time.Now().UTC()

// lockRetry is how often a lock that another process holds is tried again.
const lockRetry = 20 * time.Millisecond

// A writeLock makes this process the only one that changes the workspace. The
// operating system takes it from a process that dies.
type writeLock struct {
	w    *Workspace
	file *os.File
}

// lockPath is the lock file of a root: in the state folder, so that the
// workspace itself stays as it is.
func (w *Workspace) lockPath() string {
	sum := sha256.Sum256([]byte(w.real))
	return filepath.Join(w.store.Dir(), "locks", hex.EncodeToString(sum[:16])+".lock")
}

// lock waits for at most wait to become the writer.
func (w *Workspace) lock(ctx context.Context, wait time.Duration, setID string) (*writeLock, error) {
	path := w.lockPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock of %s: %w", w.given, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of %s: %w", w.given, err)
	}
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	busy := func() error {
		defer file.Close()
		return &BusyError{w.given, readOwner(file)}
	}
	// Those of this process queue here, so that they need not try again and again.
	select {
	case w.writing <- struct{}{}:
	default:
		select {
		case w.writing <- struct{}{}:
		case <-deadline.C:
			return nil, busy()
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		}
	}
	for {
		ok, err := tryLockFile(file)
		if err != nil {
			<-w.writing
			return nil, errors.Join(fmt.Errorf("lock of %s: %w; the state folder must be on a file system that can lock files", w.given, err), file.Close())
		}
		if ok {
			break
		}
		retry := time.NewTimer(lockRetry)
		select {
		case <-retry.C:
			continue
		case <-deadline.C:
			err = busy()
		case <-ctx.Done():
			err = errors.Join(context.Cause(ctx), file.Close())
		}
		retry.Stop()
		<-w.writing
		return nil, err
	}
	// The owner is written for people; the lock holds without it.
	host, _ := os.Hostname()
	owner := LockOwner{PID: os.Getpid(), Program: filepath.Base(os.Args[0]), Host: host, Boot: bootID(), Started: processStarted, Since: w.now().UTC(), Set: setID}
	if text, err := json.Marshal(owner); err == nil && file.Truncate(0) == nil {
		_, _ = file.WriteAt(text, 0)
	}
	return &writeLock{w, file}, nil
}

// readOwner reads who holds the lock; the zero LockOwner when that is not
// (fully) written.
func readOwner(file *os.File) LockOwner {
	var owner LockOwner
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 4096))
	if err != nil || json.Unmarshal(text, &owner) != nil {
		return LockOwner{}
	}
	return owner
}

func (l *writeLock) unlock() {
	_ = l.file.Truncate(0) // the name of a former owner would mislead
	_ = l.file.Close()     // closing unlocks
	<-l.w.writing
}

// TryLock takes the lock on an open file unless another one has it, and says
// whether it did. Closing the file, or the death of the process, gives it back.
func TryLock(file *os.File) (bool, error) { return tryLockFile(file) }
