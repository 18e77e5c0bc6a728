package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/kaiak/kaiak/store"
)

// pendingFor is how long a set waits for an editor to open a document again in
// which the set's edits may still be, unsaved.
const pendingFor = 24 * time.Hour

// A Recovery is what [Workspace.Recover] found and did.
type Recovery struct {
	Forward   []string   // sets that were finished
	Back      []string   // sets that were put back
	Pending   []string   // sets that were put back on disk, but wait for Documents
	Documents []string   // documents to be opened before the pending sets are settled
	Conflicts []Conflict // files that somebody else changed meanwhile; they are left as they are
}

// Recover settles the sets that a process left half done when it died: forward
// when every new file is there, else back. Call it after [Open], and again with
// Buffers when one of Recovery.Documents is opened. When another process is
// writing it is a [*BusyError], and that process is alive and well.
func (w *Workspace) Recover(ctx context.Context, opts ApplyOptions) (Recovery, error) {
	if w.store == nil {
		return Recovery{}, errNoStore
	}
	opts = opts.withDefaults()
	lock, err := w.lock(ctx, opts.LockWait, "")
	if err != nil {
		return Recovery{}, err
	}
	defer lock.unlock()
	return w.recoverAll(ctx, opts)
}

// recoverAll settles every set that is not. The caller holds the lock, so that
// whoever began them is gone.
func (w *Workspace) recoverAll(ctx context.Context, opts ApplyOptions) (Recovery, error) {
	var report Recovery
	open, _, err := w.store.List(ctx, store.Journal, store.Filter{Scope: w.real, States: unsettled, Newest: true})
	if err != nil {
		return report, fmt.Errorf("journal: %w", err)
	}
	for _, rec := range open {
		if err := w.recoverSet(ctx, rec, opts, &report); err != nil {
			return report, fmt.Errorf("set %q, which was left half done, cannot be settled: %w", rec.ID, err)
		}
	}
	return report, nil
}

func (w *Workspace) recoverSet(ctx context.Context, rec store.Record, opts ApplyOptions, report *Recovery) error {
	set, err := decodeSet(rec)
	if err != nil {
		return err
	}
	p, err := w.planFromJournal(ctx, rec, set)
	if err != nil {
		return err
	}
	defer p.close()
	switch rec.State {
	case statePreparing:
		if err := w.cleanUp(p); err != nil {
			return err
		}
		report.Back = append(report.Back, rec.ID)
		return w.forget(rec.ID)
	case stateWriting:
		forward, err := w.canFinish(p)
		if err != nil {
			return err
		}
		if forward {
			return w.finishLate(p, report)
		}
	}
	if rec.State != stateReverting {
		if err := w.enter(rec.ID, stateReverting, nil); err != nil {
			return err
		}
	}
	return w.revertLate(p, rec, opts, report)
}

// planFromJournal makes the plan of a set as it was carried out. What its
// folders are now is looked up again.
func (w *Workspace) planFromJournal(ctx context.Context, rec store.Record, set *journalSet) (_ *plan, err error) {
	p := &plan{id: rec.ID, undoes: rec.ParentID, dirs: map[string]*os.Root{}, made: set.Dirs}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	openDir := func(rel string) error {
		if _, tried := p.dirs[rel]; tried {
			return nil
		}
		dir, err := w.tree.openDir(rel)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return openError(rel, err)
		}
		p.dirs[rel] = dir // nil: it is not there
		return nil
	}
	for _, rel := range set.Dirs {
		parent, _ := splitPath(rel)
		if err := openDir(parent); err != nil {
			return nil, err
		}
	}
	for _, f := range set.Files {
		rel, err := w.Rel(f.Path)
		if err != nil {
			return nil, err
		}
		s := &step{path: rel, kind: f.Kind, baseSum: f.Base, newSum: f.New, edits: f.Edits, mode: f.Mode, temp: f.Temp, asked: f.Open}
		s.dir, s.name = splitPath(rel)
		if f.Kind != CreateFile {
			if s.base, err = w.store.Blob(ctx, f.Base); err != nil {
				return nil, fmt.Errorf("%s: %w", rel, err)
			}
		}
		if f.Open {
			if s.text, err = f.after(s.base); err != nil {
				return nil, err
			}
		}
		if err := openDir(s.dir); err != nil {
			return nil, err
		}
		p.steps = append(p.steps, s)
	}
	return p, nil
}

// isOpen: steps of a plan from the journal have no file; asked says that they
// went through an editor.
func (s *step) isOpen() bool { return s.asked }

// canFinish reports whether every file on disk that nobody else changed has its
// new text or a good temporary file to take its place.
func (w *Workspace) canFinish(p *plan) (bool, error) {
	for _, s := range p.steps {
		if s.isOpen() {
			continue
		}
		dir := p.dirs[s.dir]
		if dir == nil {
			if s.kind == DeleteFile {
				continue
			}
			return false, nil
		}
		now, _, err := sumIn(dir, s.name)
		if err != nil {
			return false, diskError(s.path, err)
		}
		if now == s.newSum || now != s.baseSum || s.kind == DeleteFile {
			continue
		}
		temp, _, err := sumIn(dir, s.temp)
		if err != nil {
			return false, diskError(s.path, err)
		}
		if temp != s.newSum {
			return false, nil
		}
	}
	return true, nil
}

// finishLate carries out the rest of a set whose every new file is there.
func (w *Workspace) finishLate(p *plan, report *Recovery) error {
	state, conflicts := Applied, 0
	for _, s := range p.steps {
		if s.isOpen() {
			state = AppliedUnsaved
			continue
		}
		dir := p.dirs[s.dir]
		if dir == nil {
			continue
		}
		now, _, err := sumIn(dir, s.name)
		switch {
		case err != nil:
		case now == s.newSum:
		case now != s.baseSum:
			conflicts++
			report.Conflicts = append(report.Conflicts, Conflict{s.path, s.baseSum, now, "was changed by somebody else and is left so"})
		case s.kind == DeleteFile:
			err = w.ops.remove(dir, s.name)
		default:
			err = w.ops.rename(dir, s.temp, s.name)
		}
		if err != nil {
			return diskError(s.path, err)
		}
	}
	if err := w.syncDirs(p, func(s *step) bool { return !s.isOpen() && p.dirs[s.dir] != nil }); err != nil {
		return err
	}
	if err := w.cleanUp(p); err != nil { // the temporary files of conflicts
		return err
	}
	report.Forward = append(report.Forward, p.id)
	if conflicts > 0 {
		return w.enter(p.id, stateConflict, nil)
	}
	return w.finish(p.id, p.undoes, string(state))
}

// revertLate puts back what a set has changed, on disk and in documents.
func (w *Workspace) revertLate(p *plan, rec store.Record, opts ApplyOptions, report *Recovery) error {
	var waiting []string
	for _, s := range slices.Backward(p.steps) {
		var conflict *Conflict
		var err error
		switch {
		case s.isOpen() && w.buffer(s.path) == nil && !w.expired(rec):
			// The editor may come back with the edits unsaved in its document;
			// it may also have saved them.
			waiting = append(waiting, s.path)
			conflict, err = w.restoreSaved(p, s)
		case s.isOpen() && w.buffer(s.path) != nil && opts.Buffers == nil:
			waiting = append(waiting, s.path)
		case s.isOpen() && w.buffer(s.path) != nil:
			conflict, err = w.revertBuffer(s, opts)
		case s.isOpen():
			conflict, err = w.restoreSaved(p, s)
		case p.dirs[s.dir] != nil:
			conflict, err = w.restore(p.dirs[s.dir], s)
		}
		if err != nil {
			return openError(s.path, err)
		}
		if conflict != nil {
			report.Conflicts = append(report.Conflicts, *conflict)
		}
	}
	if err := w.syncDirs(p, func(s *step) bool { return !s.isOpen() && p.dirs[s.dir] != nil }); err != nil {
		return err
	}
	if err := w.cleanUp(p); err != nil {
		return err
	}
	if len(waiting) > 0 {
		slices.Reverse(waiting)
		report.Pending = append(report.Pending, rec.ID)
		report.Documents = append(report.Documents, waiting...)
		return nil
	}
	report.Back = append(report.Back, rec.ID)
	return w.forget(rec.ID)
}

func (w *Workspace) expired(rec store.Record) bool { return w.now().Sub(rec.Created) > pendingFor }

// restoreSaved brings back the file of a document whose editor has saved this
// set's edits and is gone.
func (w *Workspace) restoreSaved(p *plan, s *step) (*Conflict, error) {
	dir := p.dirs[s.dir]
	if dir == nil {
		return nil, nil
	}
	now, info, err := sumIn(dir, s.name)
	if err != nil || now != s.newSum {
		return nil, err // never saved, or the user's
	}
	saved := *s
	saved.temp, saved.mode, saved.info = tempName(s.name), info.Mode().Perm(), info
	return w.restore(dir, &saved)
}
