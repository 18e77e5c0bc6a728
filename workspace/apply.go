package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ApplyOptions tune [Workspace.Apply], [Workspace.Undo] and [Workspace.Recover].
type ApplyOptions struct {
	// Buffers changes documents that are open in an editor. Without it a set
	// that touches one is refused.
	Buffers Buffers

	// BufferTimeout is how long the editor's text may take to become the
	// expected one after [Buffers.EditBuffer] returned; 0 means 10 s.
	BufferTimeout time.Duration

	// LockWait is how long to wait while another process writes; 0 means 2 s,
	// negative not at all.
	LockWait time.Duration
}

func (o ApplyOptions) withDefaults() ApplyOptions {
	if o.BufferTimeout == 0 {
		o.BufferTimeout = 10 * time.Second
	}
	if o.LockWait == 0 {
		o.LockWait = 2 * time.Second
	}
	return o
}

// A Result is what an applied set did.
type Result struct {
	SetID string        `json:"set_id"`
	State ApplyState    `json:"state"`
	Files []AppliedFile `json:"files"`
}

// An AppliedFile is one file of an applied set.
type AppliedFile struct {
	Path   string     `json:"path"`
	Kind   ChangeKind `json:"kind"`
	SHA256 string     `json:"sha256"` // of the text as it is now; "" for a deleted file
	Open   bool       `json:"open"`   // changed in the editor, which has yet to save it
}

// An UnsettledError says that a set failed and could not be put back entirely.
// The journal has it: the next Apply or [Workspace.Recover] puts the rest back.
type UnsettledError struct {
	SetID string
	Cause error // why the set failed
	Err   error // why putting it back failed
}

func (e *UnsettledError) Error() string {
	return fmt.Sprintf("set %q failed (%v) and is not put back yet (%v): that is tried again before the next change", e.SetID, e.Cause, e.Err)
}

// Unwrap returns both causes.
func (e *UnsettledError) Unwrap() []error { return []error{e.Cause, e.Err} }

var errNoStore = errors.New("the workspace was opened without a store, so it can only be read")

// Apply carries out a set, all or nothing: either every file is as the set
// proposes, or an error says why none was changed.
//
//   - [*ConflictError]: a file is not what the set was made for.
//   - [*PathError]: a file must not or cannot be changed; also what the disk said.
//   - [*SetError], [*EditError], [*EncodingError]: the set cannot be right.
//   - [*BufferError]: an editor did not do what it was asked; what the set had
//     changed already was put back.
//   - [*BusyError]: another process is writing.
//   - [*UnsettledError]: putting it back failed too.
//
// One process writes at a time. Open documents come first, through the editor,
// one by one; the disk is touched only when all of them have the expected text.
// A crash at any moment ends in all or nothing once Recover or the next Apply
// has run. ctx can stop it until the first file on disk is exchanged.
func (w *Workspace) Apply(ctx context.Context, set Set, opts ApplyOptions) (Result, error) {
	opts = opts.withDefaults()
	unlock, err := w.beginWriting(ctx, set.ID, opts)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	p, err := w.makePlan(set, "", nil)
	if err != nil {
		return Result{}, err
	}
	defer p.close()
	return w.execute(ctx, p, opts)
}

// beginWriting takes the lock and settles what a process that died left behind.
func (w *Workspace) beginWriting(ctx context.Context, id string, opts ApplyOptions) (unlock func(), err error) {
	if w.store == nil {
		return nil, errNoStore
	}
	lock, err := w.lock(ctx, opts.LockWait, id)
	if err != nil {
		return nil, err
	}
	if _, err := w.recoverAll(ctx, opts); err != nil {
		lock.unlock()
		return nil, err
	}
	return lock.unlock, nil
}

// execute carries out a plan. The caller holds the lock.
func (w *Workspace) execute(ctx context.Context, p *plan, opts ApplyOptions) (Result, error) {
	if err := p.checkBuffers(opts); err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := w.begin(ctx, p, statePreparing); err != nil {
		return Result{}, err
	}
	if err := w.carryOut(ctx, p, opts); err != nil {
		return Result{}, w.rollBack(p, opts, err)
	}
	res := Result{SetID: p.id, State: p.state()}
	for _, s := range p.steps {
		res.Files = append(res.Files, AppliedFile{s.path, s.kind, s.newSum, s.file != nil})
	}
	return res, nil
}

// state is what a plan comes to.
func (p *plan) state() ApplyState {
	for _, s := range p.steps {
		if s.file != nil {
			return AppliedUnsaved
		}
	}
	return Applied
}

func (w *Workspace) carryOut(ctx context.Context, p *plan, opts ApplyOptions) error {
	if err := w.stage(p); err != nil {
		return err
	}
	if p.state() == AppliedUnsaved {
		if err := w.enter(p.id, stateBuffers, nil); err != nil {
			return err
		}
		if err := w.editBuffers(ctx, p, opts); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.enter(p.id, stateWriting, nil); err != nil {
		return err
	}
	if err := w.exchange(p); err != nil {
		return err
	}
	return w.finish(p.id, p.undoes, string(p.state()))
}

// rollBack puts back what a plan that failed has changed, and returns the error
// to report. Nothing stops it but a failure of its own.
func (w *Workspace) rollBack(p *plan, opts ApplyOptions, cause error) error {
	err := func() error {
		// From here on a crash must end in nothing. When that cannot be
		// recorded the files are put back all the same: then a crash ends in
		// all or nothing still, only in either.
		_ = w.enter(p.id, stateReverting, nil)
		left, err := w.putBack(p)
		if err != nil {
			return err
		}
		kept, err := w.revertBuffers(p, opts)
		if err != nil {
			return err
		}
		if err := w.cleanUp(p); err != nil {
			return err
		}
		if left = append(left, kept...); len(left) > 0 {
			cause = errors.Join(cause, &LeftError{p.id, left})
		}
		return w.forget(p.id)
	}()
	if err != nil {
		return &UnsettledError{p.id, cause, err}
	}
	return cause
}

// A LeftError names files that a failed set had changed and that somebody else
// changed before they could be put back. They keep both changes.
type LeftError struct {
	SetID string
	Files []Conflict
}

func (e *LeftError) Error() string {
	text := fmt.Sprintf("of set %q these files could not be put back", e.SetID)
	for _, c := range e.Files {
		text += "; " + c.Path + " " + c.Reason
	}
	return text
}

// Adopt records a set of one file that the editor applied itself (a quick fix
// that carries its edit), so that it can be undone like any other. base is the
// document's text before it. The set must be an edit of a document that is open.
func (w *Workspace) Adopt(ctx context.Context, set Set, base []byte) (Result, error) {
	if w.store == nil {
		return Result{}, errNoStore
	}
	if len(set.Changes) != 1 || set.Changes[0].Kind != EditFile {
		return Result{}, &SetError{set.ID, "is not the edit of one file"}
	}
	s, err := w.makeStep(set.ID, set.Changes[0])
	if err != nil {
		return Result{}, err
	}
	s.file = w.buffer(s.path)
	if s.file == nil {
		return Result{}, notOpen(s.path)
	}
	s.base, s.temp, s.mode = base, "", s.file.Mode
	conflict, err := s.checkBase(set.ID, &File{Path: s.path, Text: base, SHA256: SHA256(base)})
	if err != nil {
		return Result{}, err
	}
	if conflict != nil {
		return Result{}, &ConflictError{set.ID, []Conflict{*conflict}}
	}
	p := &plan{id: set.ID, steps: []*step{s}}
	if err := w.begin(ctx, p, string(AppliedUnsaved)); err != nil {
		return Result{}, err
	}
	return Result{set.ID, AppliedUnsaved, []AppliedFile{{s.path, EditFile, s.newSum, true}}}, nil
}
