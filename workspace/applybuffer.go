package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kaiak/kaiak/store"
)

// A BufferError says that an editor did not change a document as it was asked.
type BufferError struct {
	Path   string
	Reason string
	Err    error // what the front said, where it did

	Timeout bool // it did not answer in time; it may yet
}

func (e *BufferError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Path, e.Reason, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Reason)
}

// Unwrap returns the cause.
func (e *BufferError) Unwrap() error { return e.Err }

// checkBuffers refuses a plan with open documents when nobody can change them.
func (p *plan) checkBuffers(opts ApplyOptions) error {
	for _, s := range p.steps {
		if s.file != nil && opts.Buffers == nil {
			return &BufferError{Path: s.path, Reason: "is open in an editor that cannot be reached from here"}
		}
	}
	return nil
}

// editBuffers changes the open documents of a plan, one after another.
func (w *Workspace) editBuffers(ctx context.Context, p *plan, opts ApplyOptions) error {
	for _, s := range p.steps {
		if s.file == nil {
			continue
		}
		s.asked = true
		err := w.editBuffer(ctx, s.file, s.edits, s.newSum, opts)
		var conflict *ConflictError
		if errors.As(err, &conflict) {
			conflict.SetID = p.id
		}
		if err != nil {
			return err
		}
		s.done = true
	}
	return nil
}

// editBuffer asks for one edit and waits until the document has the expected
// text. What the editor says of it does not count.
func (w *Workspace) editBuffer(ctx context.Context, f *File, edits []Edit, want string, opts ApplyOptions) error {
	if opts.Buffers == nil {
		return &BufferError{Path: f.Path, Reason: "is open in an editor that cannot be reached from here"}
	}
	watch := w.watch(f.Path, func(f *File) bool { return f == nil || f.SHA256 == want })
	defer w.unwatch(watch)
	if now := w.buffer(f.Path); now == nil || now.SHA256 != f.SHA256 {
		return &ConflictError{Files: []Conflict{{f.Path, f.SHA256, sumOf(now), "was changed in the editor meanwhile"}}}
	}
	if err := opts.Buffers.EditBuffer(ctx, f.Path, f.Version, f.Text, edits); err != nil {
		return &BufferError{Path: f.Path, Reason: "the editor did not apply the edit", Err: err}
	}
	timeout := time.NewTimer(opts.BufferTimeout)
	defer timeout.Stop()
	select {
	case got := <-watch.hit:
		if got == nil {
			return &BufferError{Path: f.Path, Reason: "was closed while it was changed"}
		}
		return nil
	case <-timeout.C:
		return &BufferError{Path: f.Path, Timeout: true, Reason: fmt.Sprintf("the editor did not bring the expected text within %v", opts.BufferTimeout)}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func sumOf(f *File) string {
	if f == nil {
		return ""
	}
	return f.SHA256
}

// revertBuffers takes this set's edits out of the open documents that have
// them, latest first. What the user wrote meanwhile stays. A document where
// that cannot be told apart is left as it is, and returned.
func (w *Workspace) revertBuffers(p *plan, opts ApplyOptions) (left []Conflict, err error) {
	for _, s := range slices.Backward(p.steps) {
		if s.file == nil || !s.asked {
			continue
		}
		conflict, err := w.revertBuffer(s, opts)
		if err != nil {
			return left, err
		}
		if conflict != nil {
			left = append(left, *conflict)
		}
	}
	return left, nil
}

// revertBuffer takes one step's edits out of its document, if they are in it.
func (w *Workspace) revertBuffer(s *step, opts ApplyOptions) (*Conflict, error) {
	now := w.buffer(s.path)
	if now == nil || now.SHA256 == s.baseSum {
		return nil, nil // closed: the unsaved text is gone, with our edits
	}
	if !s.done && now.SHA256 != s.newSum && apart(s.edits, EditsBetween(s.base, now.Text)) {
		return nil, nil // the user typed, the editor never did what it was asked
	}
	edits, ok := takeOut(s.base, s.text, now.Text, s.edits)
	if !ok {
		return &Conflict{s.path, s.newSum, now.SHA256, "was edited where the set had changed it, and is left so"}, nil
	}
	text, err := ApplyEdits(now.Text, edits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return nil, w.editBuffer(context.Background(), now, edits, SHA256(text), opts)
}

// apart reports whether no edit of a touches one of b.
func apart(a, b []Edit) bool {
	for _, x := range a {
		for _, y := range b {
			if collide(x, y) || collide(y, x) {
				return false
			}
		}
	}
	return true
}

// takeOut returns the edits against now that undo edits (which turn base into
// after), where now is after with further changes. ok is false when a further
// change touches what the edits wrote.
func takeOut(base, after, now []byte, edits []Edit) (out []Edit, ok bool) {
	ours := invert(base, edits)
	theirs := EditsBetween(after, now)
	shift, i := 0, 0 // both lists are against after, and in order
	for _, e := range ours {
		for i < len(theirs) && theirs[i].End <= e.Start && !collide(e, theirs[i]) {
			shift += len(theirs[i].New) - (theirs[i].End - theirs[i].Start)
			i++
		}
		if i < len(theirs) && collide(e, theirs[i]) {
			return nil, false
		}
		out = append(out, Edit{e.Start + shift, e.End + shift, e.New})
	}
	return out, true
}

// collide reports whether it is in doubt what becomes of b when a is taken
// back: they overlap, or a brings text back exactly where b changed something.
func collide(a, b Edit) bool {
	if a.Start == a.End {
		return b.Start <= a.Start && a.Start <= b.End
	}
	return b.Start < a.End && a.Start < b.End
}

// invert returns the edits that turn the outcome of edits back into base, in
// order.
func invert(base []byte, edits []Edit) []Edit {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	out := make([]Edit, 0, len(sorted))
	shift := 0
	for _, e := range sorted {
		start := e.Start + shift
		back := Edit{start, start + len(e.New), string(base[e.Start:e.End])}
		if n := len(out); n > 0 && out[n-1].End == back.Start {
			// Neighbours become one, so that their order cannot be mistaken.
			out[n-1].End, out[n-1].New = back.End, out[n-1].New+back.New
		} else {
			out = append(out, back)
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return out
}

// SaveBuffer tells the workspace that the editor has saved a document. Sets that
// waited for it become [Applied]. What the editor changed while saving (format
// on save) is the user's.
func (w *Workspace) SaveBuffer(ctx context.Context, path string) error {
	rel, err := w.Rel(path)
	if err != nil {
		return err
	}
	if w.buffer(rel) == nil {
		return notOpen(path)
	}
	if w.store == nil {
		return nil
	}
	return w.saved(ctx, rel)
}

// saved marks a file as saved in every set that waits for it.
func (w *Workspace) saved(ctx context.Context, rel string) error {
	waiting, _, err := w.store.List(ctx, store.Journal, store.Filter{Scope: w.real, States: []string{string(AppliedUnsaved)}})
	if err != nil || len(waiting) == 0 {
		return err
	}
	return w.store.Update(ctx, store.Durable, func(tx *store.Tx) error {
		for _, rec := range waiting {
			rec, err := tx.Get(ctx, store.Journal, rec.ID)
			if errors.Is(err, store.ErrNotFound) || err == nil && rec.State != string(AppliedUnsaved) {
				continue
			}
			if err != nil {
				return err
			}
			set, err := decodeSet(rec)
			if err != nil {
				return err
			}
			found, state := false, string(Applied)
			for i := range set.Files {
				f := &set.Files[i]
				if f.Path == rel && f.Open && !f.Saved {
					found, f.Saved = true, true
				}
				if f.Open && !f.Saved {
					state = string(AppliedUnsaved)
				}
			}
			if !found {
				continue
			}
			data, err := json.Marshal(set)
			if err != nil {
				return err
			}
			if _, err := tx.Move(store.Journal, rec.ID, []string{string(AppliedUnsaved)}, state, w.now(), data); err != nil {
				return err
			}
		}
		return nil
	})
}
