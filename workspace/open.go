package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kaiak/kaiak/store"
)

// DefaultMaxFileSize is the contract's limit for the content of one file, in bytes.
const DefaultMaxFileSize = 1 << 20

// Options tune a [Workspace]. The zero value is ready to use.
type Options struct {
	// Deny names further files that are neither read nor written, in the
	// language of [ClassRule.Pattern].
	Deny []string

	// MaxFileSize is how many bytes a file on disk may have to be read or
	// walked; 0 means DefaultMaxFileSize, negative means no limit. The buffers
	// of an editor are never refused for their size.
	MaxFileSize int64

	// Store keeps the journal, the bytes before each change, and the lock. It
	// stays open until the workspace is closed. Without one the workspace can
	// only be read.
	Store *store.Store

	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// A Workspace is one directory tree as its user sees it. It is safe for
// concurrent use.
type Workspace struct {
	given   string // absolute, as the user names it
	real    string // the same with every symbolic link resolved
	tree    *tree  // of real
	table   *classTable
	maxSize int64
	store   *store.Store
	now     func() time.Time
	ops     diskOps
	writing chan struct{} // holds a token while this process writes

	mu      sync.RWMutex // guards buffers, watches and every buffer's fields
	buffers map[string]*buffer
	watches map[*bufferWatch]struct{}
}

// Open opens the directory dir as a workspace. dir may be a symbolic link; what
// it points to now stays the root even when the link changes. A dir that is
// missing or is not a directory is a [*PathError]. Close frees it.
func Open(dir string, opts Options) (*Workspace, error) {
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, &PathError{Path: dir, Kind: IOFailure, Reason: "cannot be made absolute", Err: err}
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, diskError(given, err)
	}
	if info, err := os.Stat(real); err != nil {
		return nil, diskError(given, err)
	} else if !info.IsDir() {
		return nil, &PathError{Path: given, Kind: NotRegular, Reason: "is not a directory, so it cannot be a workspace"}
	}
	table, err := newClassTable(opts.Deny)
	if err != nil {
		return nil, fmt.Errorf("deny list: %w", err)
	}
	tree, err := openTree(real)
	if err != nil {
		return nil, diskError(given, err)
	}
	if opts.MaxFileSize == 0 {
		opts.MaxFileSize = DefaultMaxFileSize
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Workspace{
		given:   given,
		real:    real,
		tree:    tree,
		table:   table,
		maxSize: opts.MaxFileSize,
		store:   opts.Store,
		now:     opts.Now,
		ops:     rootOps{},
		writing: make(chan struct{}, 1),
		buffers: map[string]*buffer{},
		watches: map[*bufferWatch]struct{}{},
	}, nil
}

// Close frees the root. The workspace must not be used afterwards.
func (w *Workspace) Close() error { return w.tree.Close() }

// Dir returns the root as it was named to [Open], absolute. URIs are made from
// it, because an editor knows its files by that name.
func (w *Workspace) Dir() string { return w.given }

// RealDir returns the root with every symbolic link resolved.
func (w *Workspace) RealDir() string { return w.real }
