package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// UndoOptions tune [Workspace.Undo].
type UndoOptions struct {
	ApplyOptions

	// SkipConflicts undoes the files that can be undone and leaves the others;
	// without it one conflict leaves all.
	SkipConflicts bool
}

// Undo takes back what an applied set wrote, and nothing else: what was changed
// in the same files since stays, as long as it does not touch what the set
// wrote. Where it does, the file is a [*ConflictError] and nothing is changed.
// It needs no version control and touches none.
//
// The undo is itself a set, with the id undoID: it is applied all or nothing,
// and undoing it does the first set's work again.
func (w *Workspace) Undo(ctx context.Context, setID, undoID string, opts UndoOptions) (Result, error) {
	opts.ApplyOptions = opts.ApplyOptions.withDefaults()
	unlock, err := w.beginWriting(ctx, undoID, opts.ApplyOptions)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	rec, journal, err := w.loadSet(ctx, setID)
	if err != nil {
		return Result{}, err
	}
	switch rec.State {
	case string(Applied), string(AppliedUnsaved):
	case stateUndone:
		return Result{}, &SetError{setID, "is undone already"}
	default:
		return Result{}, &SetError{setID, "cannot be undone: it is in the state " + rec.State}
	}
	set := Set{ID: undoID}
	modes := map[string]fs.FileMode{}
	var conflicts []Conflict
	for i := range journal.Files {
		f := &journal.Files[i]
		change, conflict, err := w.undoFile(ctx, f)
		if err != nil {
			return Result{}, err
		}
		if conflict != nil {
			conflicts = append(conflicts, *conflict)
			continue
		}
		if change != nil {
			set.Changes = append(set.Changes, *change)
			modes[f.Path] = f.Mode
		}
	}
	if len(conflicts) > 0 && (!opts.SkipConflicts || len(set.Changes) == 0) {
		return Result{}, &ConflictError{setID, conflicts}
	}
	if len(set.Changes) == 0 {
		return Result{}, &SetError{setID, "has nothing left to undo"}
	}
	p, err := w.makePlan(set, setID, modes)
	if err != nil {
		return Result{}, err
	}
	defer p.close()
	res, err := w.execute(ctx, p, opts.ApplyOptions)
	if err != nil {
		return Result{}, err
	}
	w.removeMade(journal.Dirs)
	return res, nil
}

// undoFile returns the change that takes back what a set did to one file, nil
// when it is as before already, or why that cannot be.
func (w *Workspace) undoFile(ctx context.Context, f *journalFile) (*Change, *Conflict, error) {
	now, err := w.nowText(f.Path)
	if err != nil {
		return nil, nil, err
	}
	conflict := func(reason string) (*Change, *Conflict, error) {
		return nil, &Conflict{f.Path, f.New, sumOf(now), reason}, nil
	}
	if f.Kind == CreateFile {
		switch {
		case now == nil:
			return nil, nil, nil
		case now.SHA256 != f.New:
			return conflict("was edited since it was created")
		}
		return &Change{Path: f.Path, Kind: DeleteFile, BaseSHA256: now.SHA256}, nil, nil
	}
	base, err := w.store.Blob(ctx, f.Base)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the text before the set is not there any more: %w", f.Path, err)
	}
	if f.Kind == DeleteFile {
		switch {
		case now == nil:
			return &Change{Path: f.Path, Kind: CreateFile, ProposedSHA256: f.Base, Text: base}, nil, nil
		case now.SHA256 == f.Base:
			return nil, nil, nil
		}
		return conflict("was created anew since it was deleted")
	}
	after, err := f.after(base)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if now == nil {
		return conflict("was deleted since")
	}
	if now.SHA256 == f.Base { // the user, or an editor that was closed, took it back
		return nil, nil, nil
	}
	edits, ok := takeOut(base, after, now.Text, f.Edits)
	if !ok {
		return conflict("was edited where the set had changed it")
	}
	text, err := ApplyEdits(now.Text, edits)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if bytes.Equal(text, now.Text) {
		return nil, nil, nil
	}
	return &Change{Path: f.Path, Kind: EditFile, BaseSHA256: now.SHA256, ProposedSHA256: SHA256(text), Edits: edits}, nil, nil
}

// nowText returns the file as its user sees it, whatever its size; nil when
// there is none.
func (w *Workspace) nowText(path string) (*File, error) {
	rel, err := w.Rel(path)
	if err != nil {
		return nil, err
	}
	if f := w.buffer(rel); f != nil {
		return f, nil
	}
	f, err := w.readDisk(rel, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// removeMade removes the folders that an undone set had made, if nothing is in
// them. That they are empty harms nobody, so a failure is no error.
func (w *Workspace) removeMade(rels []string) {
	p := &plan{dirs: map[string]*os.Root{}}
	defer p.close()
	for _, rel := range rels {
		parent, _ := splitPath(rel)
		if dir, err := w.tree.openDir(parent); err == nil {
			p.dirs[parent] = dir
		}
	}
	_ = w.removeDirs(p, rels)
}
