package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A buffer is a document that is open in an editor. Its fields are guarded by
// [Workspace].mu; the file is replaced, never changed.
type buffer struct {
	file *File
}

// OpenBuffer tells the workspace that an editor has opened a document; from now
// on the editor's text is the truth and the disk under it is not. A path that
// [Workspace.Rel] refuses is refused here. Opening an open document replaces it.
func (w *Workspace) OpenBuffer(path string, version int32, text []byte, languageID string) (*File, error) {
	rel, err := w.Rel(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: rel, Text: slices.Clone(text), SHA256: SHA256(text), Open: true, Version: version, LanguageID: languageID}
	if info, err := w.tree.Lstat(rel); err == nil && info.Mode().IsRegular() {
		f.Mode = info.Mode().Perm()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffers[rel] = &buffer{file: f}
	w.announce(rel, f)
	return f, nil
}

// ChangeBuffer applies an editor's edits to an open document, one after another
// (each against the outcome of those before it, as LSP sends them), and returns
// the new state. An edit that does not fit is an [*EditError] and the document
// stays as it was.
func (w *Workspace) ChangeBuffer(path string, version int32, edits []Edit) (*File, error) {
	return w.changeBuffer(path, version, func(text []byte) ([]byte, error) {
		for i, e := range edits {
			next, err := ApplyEdits(text, []Edit{e})
			if err != nil {
				return nil, &EditError{i, e, err.(*EditError).Reason}
			}
			text = next
		}
		return text, nil
	})
}

// ReplaceBuffer sets the whole text of an open document.
func (w *Workspace) ReplaceBuffer(path string, version int32, text []byte) (*File, error) {
	return w.changeBuffer(path, version, func([]byte) ([]byte, error) { return slices.Clone(text), nil })
}

func (w *Workspace) changeBuffer(path string, version int32, change func([]byte) ([]byte, error)) (*File, error) {
	rel, err := w.Rel(path)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.buffers[rel]
	if b == nil {
		return nil, notOpen(path)
	}
	text, err := change(b.file.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rel, err)
	}
	f := *b.file
	f.Text, f.SHA256, f.Version = text, SHA256(text), version
	b.file = &f
	w.announce(rel, &f)
	return &f, nil
}

// CloseBuffer tells the workspace that the editor has closed a document; the
// disk is the truth again. Closing what is not open is a [*PathError].
func (w *Workspace) CloseBuffer(path string) error {
	rel, err := w.Rel(path)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.buffers[rel] == nil {
		return notOpen(path)
	}
	delete(w.buffers, rel)
	w.announce(rel, nil)
	return nil
}

// Buffer returns the document that is open under path, if there is one.
func (w *Workspace) Buffer(path string) (*File, bool) {
	rel, err := w.Rel(path)
	if err != nil {
		return nil, false
	}
	f := w.buffer(rel)
	return f, f != nil
}

// buffer returns the document that is open under a clean path, or nil.
func (w *Workspace) buffer(rel string) *File {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if b := w.buffers[rel]; b != nil {
		return b.file
	}
	return nil
}

// Buffers returns every open document, ordered by path.
func (w *Workspace) Buffers() []*File {
	w.mu.RLock()
	defer w.mu.RUnlock()
	files := make([]*File, 0, len(w.buffers))
	for _, b := range w.buffers {
		files = append(files, b.file)
	}
	slices.SortFunc(files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

func notOpen(path string) *PathError {
	return &PathError{Path: path, Kind: NotOpen, Reason: "is not open in an editor"}
}

// A bufferWatch waits for one state of one document.
type bufferWatch struct {
	path string
	want func(*File) bool // nil: the document was closed
	hit  chan *File       // receives the first state that is wanted; holds one
}

// announce shows a new state to everyone who waits. The caller holds w.mu, so
// that no state is missed, however short-lived.
func (w *Workspace) announce(rel string, f *File) {
	for watch := range w.watches {
		if watch.path == rel && watch.want(f) {
			watch.hit <- f
			delete(w.watches, watch)
		}
	}
}

// watch begins to wait for the first future state that want accepts. The caller
// must call unwatch.
func (w *Workspace) watch(rel string, want func(*File) bool) *bufferWatch {
	watch := &bufferWatch{rel, want, make(chan *File, 1)}
	w.mu.Lock()
	w.watches[watch] = struct{}{}
	w.mu.Unlock()
	return watch
}

func (w *Workspace) unwatch(watch *bufferWatch) {
	w.mu.Lock()
	delete(w.watches, watch)
	w.mu.Unlock()
}

// AwaitBuffer returns the open document under path once its text has the given
// hash: at once when it has it now, else when the editor brings it about, even
// if only for a moment. It fails when ctx ends or the document is closed.
func (w *Workspace) AwaitBuffer(ctx context.Context, path, sha256 string) (*File, error) {
	rel, err := w.Rel(path)
	if err != nil {
		return nil, err
	}
	watch := w.watch(rel, func(f *File) bool { return f == nil || f.SHA256 == sha256 })
	defer w.unwatch(watch)
	if f, ok := w.Buffer(rel); ok && f.SHA256 == sha256 {
		return f, nil
	}
	select {
	case f := <-watch.hit:
		if f == nil {
			return nil, notOpen(path)
		}
		return f, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: the buffer did not come to the expected text: %w", rel, context.Cause(ctx))
	}
}
