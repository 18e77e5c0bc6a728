package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/kaiak/kaiak/store"
)

// The states of a set in the journal. A set that was rolled back is not in it.
const (
	statePreparing = "preparing" // temporary files are being written; nothing has changed
	stateBuffers   = "buffers"   // documents are being changed through their editor
	stateWriting   = "writing"   // every temporary file is on disk; files are being exchanged
	stateReverting = "reverting" // something failed; what was changed is being put back
	stateConflict  = "conflict"  // settled after a crash but for files that somebody else changed
	stateUndone    = "undone"
	// besides: Applied and AppliedUnsaved
)

// unsettled are the states in which a crash leaves something to do.
var unsettled = []string{statePreparing, stateBuffers, stateWriting, stateReverting}

// settled are the states in which a set only waits to be undone or forgotten.
var settled = []string{string(Applied), string(AppliedUnsaved), stateUndone, stateConflict}

// A journalSet is what the journal knows of a set: enough to finish it, to put
// it back and to undo it. The bytes before it are the store's blobs.
type journalSet struct {
	Files []journalFile `json:"files"`
	Dirs  []string      `json:"dirs,omitempty"` // folders that were made for it, outermost first
}

type journalFile struct {
	Path  string      `json:"path"`
	Kind  ChangeKind  `json:"kind"`
	Base  string      `json:"base_sha256,omitempty"`
	New   string      `json:"new_sha256,omitempty"`
	Mode  fs.FileMode `json:"mode,omitempty"`
	Temp  string      `json:"temp,omitempty"`  // name of the temporary file, in the file's folder
	Open  bool        `json:"open,omitempty"`  // changed through its editor
	Saved bool        `json:"saved,omitempty"` // Open: the editor has saved it since
	Edits []Edit      `json:"edits,omitempty"` // EditFile: from the bytes before to those after
}

// after returns the file's text after the set, given the one before; nil for a
// deleted file.
func (f *journalFile) after(base []byte) ([]byte, error) {
	switch f.Kind {
	case DeleteFile:
		return nil, nil
	case EditFile:
		return ApplyEdits(base, f.Edits)
	}
	return nil, fmt.Errorf("%s: the text of a created file is not in the journal", f.Path)
}

// begin writes a set into the journal with the bytes before it: a commit point.
func (w *Workspace) begin(ctx context.Context, p *plan, state string) error {
	return w.store.Update(ctx, store.Durable, func(tx *store.Tx) error {
		if _, err := tx.Get(ctx, store.Journal, p.id); err == nil {
			return fmt.Errorf("set %q was applied already", p.id)
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		for _, s := range p.steps {
			if s.kind == CreateFile {
				continue
			}
			if _, err := tx.PutBlob(p.id, s.base); err != nil {
				return fmt.Errorf("%s: %w", s.path, err)
			}
		}
		data, err := json.Marshal(p.journal())
		if err != nil {
			return err
		}
		now := w.now()
		return tx.Put(store.Journal, store.Record{ID: p.id, ParentID: p.undoes, Scope: w.real, State: state, Created: now, Updated: now, Data: data})
	})
}

// enter moves a set to its next state: a commit point.
func (w *Workspace) enter(id, state string, data *journalSet) error {
	return w.store.Update(context.Background(), store.Durable, func(tx *store.Tx) error {
		return w.enterTx(tx, id, state, data)
	})
}

func (w *Workspace) enterTx(tx *store.Tx, id, state string, data *journalSet) error {
	var text []byte
	if data != nil {
		var err error
		if text, err = json.Marshal(data); err != nil {
			return err
		}
	}
	won, err := tx.Move(store.Journal, id, slices.Concat(unsettled, settled), state, w.now(), text)
	if err == nil && !won {
		err = fmt.Errorf("set %q is not in the journal", id)
	}
	return err
}

// finish records that a set is applied, and what it undid as undone.
func (w *Workspace) finish(id, undoes, state string) error {
	return w.store.Update(context.Background(), store.Durable, func(tx *store.Tx) error {
		if err := w.enterTx(tx, id, state, nil); err != nil {
			return err
		}
		if undoes == "" {
			return nil
		}
		_, err := tx.Move(store.Journal, undoes, []string{string(Applied), string(AppliedUnsaved)}, stateUndone, w.now(), nil)
		return err
	})
}

// forget takes a set that changed nothing out of the journal.
func (w *Workspace) forget(id string) error {
	return w.store.Update(context.Background(), store.Durable, func(tx *store.Tx) error {
		if _, err := tx.Delete(store.Journal, id); err != nil {
			return err
		}
		return tx.ReleaseBlobs(id)
	})
}

// loadSet reads a set of this workspace from the journal.
func (w *Workspace) loadSet(ctx context.Context, id string) (store.Record, *journalSet, error) {
	rec, err := w.store.Get(ctx, store.Journal, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && rec.Scope != w.real {
		return rec, nil, &SetError{id, "was not applied in this workspace, or its record was purged"}
	}
	if err != nil {
		return rec, nil, err
	}
	set, err := decodeSet(rec)
	return rec, set, err
}

func decodeSet(rec store.Record) (*journalSet, error) {
	var set journalSet
	if err := json.Unmarshal(rec.Data, &set); err != nil {
		return nil, fmt.Errorf("journal of set %q: %w", rec.ID, err)
	}
	return &set, nil
}

// SetState returns how far a set has come: false when it changed nothing (it
// was never applied, or was rolled back, or undone). After a crash, call
// [Workspace.Recover] first: it settles what was under way.
func (w *Workspace) SetState(ctx context.Context, setID string) (ApplyState, bool, error) {
	if w.store == nil {
		return "", false, errNoStore
	}
	rec, err := w.store.Get(ctx, store.Journal, setID)
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	state := ApplyState(rec.State)
	return state, state == Applied || state == AppliedUnsaved, nil
}

// How long, and how much of, the bytes before applied sets is kept when nobody
// says otherwise.
const (
	DefaultKeep      = 30 * 24 * time.Hour
	DefaultKeepBytes = 1 << 30
)

// Purge forgets the sets of every workspace of a store that were last touched
// before a time, and the oldest of the others until the bytes kept for undo are
// at most maxBytes. They can no longer be undone. Sets that are not settled
// stay. It returns how many went.
func Purge(ctx context.Context, s *store.Store, before time.Time, maxBytes int64) (int, error) {
	return s.PurgeJournal(ctx, settled, before, maxBytes)
}
