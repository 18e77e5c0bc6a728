package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A fakeEditor holds documents and changes them as it is told to behave.
type fakeEditor struct {
	w        *Workspace
	behave   map[string]func(path string, edits []Edit) error // instead of doing as asked
	requests []string
}

func (e *fakeEditor) EditBuffer(_ context.Context, path string, version int32, text []byte, edits []Edit) error {
	e.requests = append(e.requests, path)
	f, ok := e.w.Buffer(path)
	if !ok || f.Version != version || string(f.Text) != string(text) {
		return fmt.Errorf("asked to edit version %d", version)
	}
	if b := e.behave[path]; b != nil {
		delete(e.behave, path)
		return b(path, edits)
	}
	return e.do(path, edits)
}

func (e *fakeEditor) do(path string, edits []Edit) error {
	f, _ := e.w.Buffer(path)
	next, err := ApplyEdits(f.Text, edits)
	if err == nil {
		_, err = e.w.ReplaceBuffer(path, f.Version+1, next)
	}
	return err
}

// typed is what the user types into a document.
func (e *fakeEditor) typed(path string, at int, text string) error {
	f, _ := e.w.Buffer(path)
	_, err := e.w.ChangeBuffer(path, f.Version+1, []Edit{{at, at, text}})
	return err
}

// save writes a document to the disk and reports it.
func (e *fakeEditor) save(t testing.TB, path string) {
	t.Helper()
	f, ok := e.w.Buffer(path)
	if !ok {
		t.Fatalf("%s is not open", path)
	}
	check(t, os.WriteFile(filepath.Join(e.w.Dir(), path), f.Text, 0o644))
	check(t, e.w.SaveBuffer(t.Context(), path))
}

// seen reads the files as their user sees them.
func seen(t testing.TB, w *Workspace, paths ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, p := range paths {
		f, err := w.Read(p)
		check(t, err)
		files[p] = string(f.Text)
	}
	return files
}

// editorWorkspace has a, b open in an editor (a with unsaved changes) and c, d on disk.
func editorWorkspace(t testing.TB) (*Workspace, *fakeEditor) {
	t.Helper()
	w := writableWorkspace(t, map[string]string{"a": "a on disk", "b": "one b\ntwo\n", "c": "one c", "d": "one d"})
	for path, text := range map[string]string{"a": "one a\nunsaved\n", "b": "one b\ntwo\n"} {
		_, err := w.OpenBuffer(path, 7, []byte(text), "text")
		check(t, err)
	}
	return w, &fakeEditor{w: w, behave: map[string]func(string, []Edit) error{}}
}

func TestApplyToBuffersAndDisk(t *testing.T) {
	w, e := editorWorkspace(t)
	disk := readTree(t, w.Dir())
	before := seen(t, w, "a", "b", "c", "d")
	set := Set{ID: "s", Changes: []Change{
		edit(t, w, "c", "ONE c"), edit(t, w, "a", "ONE a\nunsaved\n"), edit(t, w, "d", "ONE d"), edit(t, w, "b", "ONE b\ntwo\n"),
	}}
	var bad *BufferError
	if _, err := w.Apply(t.Context(), set, ApplyOptions{}); !errors.As(err, &bad) || bad.Path != "a" {
		t.Errorf("nobody to ask: %v", err)
	}
	res, err := w.Apply(t.Context(), set, ApplyOptions{Buffers: e})
	check(t, err)
	if res.State != AppliedUnsaved || !res.Files[1].Open || res.Files[0].Open {
		t.Errorf("%+v", res)
	}
	if diff := cmp.Diff([]string{"a", "b"}, e.requests); diff != "" {
		t.Errorf("one request per open file: %s", diff)
	}
	disk["c"], disk["d"] = "ONE c", "ONE d"
	wantTree(t, w.Dir(), disk) // and nothing under a or b
	after := seen(t, w, "a", "b", "c", "d")
	if diff := cmp.Diff(map[string]string{"a": "ONE a\nunsaved\n", "b": "ONE b\ntwo\n", "c": "ONE c", "d": "ONE d"}, after); diff != "" {
		t.Error(diff)
	}
	e.save(t, "b")
	mustState(t, w, "s", "applied_unsaved")
	check(t, e.typed("a", 0, "formatted on save\n"))
	e.save(t, "a")
	mustState(t, w, "s", "applied")
	if state, ok, err := w.SetState(t.Context(), "s"); state != Applied || !ok || err != nil {
		t.Error(state, ok, err)
	}

	_, err = w.Undo(t.Context(), "s", "u", UndoOptions{ApplyOptions: ApplyOptions{Buffers: e}})
	check(t, err)
	before["a"] = "formatted on save\n" + before["a"]
	if diff := cmp.Diff(before, seen(t, w, "a", "b", "c", "d")); diff != "" {
		t.Error(diff)
	}
	check(t, w.CloseBuffer("b")) // unsaved: the editor throws it away
	if err := w.SaveBuffer(t.Context(), "b"); kindOf(t, err) != NotOpen {
		t.Error(err)
	}
}

// Whatever an editor does instead of what it was asked, nothing of the set stays
// and nothing of the user is lost.
func TestEditorMisbehaves(t *testing.T) {
	refused := errors.New("the user said no")
	for name, test := range map[string]struct {
		behave func(e *fakeEditor) func(string, []Edit) error
		want   map[string]string // what is different afterwards
	}{
		"refuses": {func(*fakeEditor) func(string, []Edit) error {
			return func(string, []Edit) error { return refused }
		}, nil},
		"says yes, does nothing": {func(*fakeEditor) func(string, []Edit) error {
			return func(string, []Edit) error { return nil }
		}, nil},
		"says no, does it": {func(e *fakeEditor) func(string, []Edit) error {
			return func(p string, edits []Edit) error { return errors.Join(e.do(p, edits), refused) }
		}, nil},
		"the user types instead": {func(e *fakeEditor) func(string, []Edit) error {
			return func(p string, edits []Edit) error { return e.typed(p, 9, "!") }
		}, map[string]string{"b": "one b\ntwo!\n"}},
		"does it and formats": {func(e *fakeEditor) func(string, []Edit) error {
			return func(p string, edits []Edit) error {
				f, _ := e.w.Buffer(p)
				next, _ := ApplyEdits(f.Text, edits)
				_, err := e.w.ReplaceBuffer(p, f.Version+1, append(next, "formatted\n"...)) // never the expected text alone
				return err
			}
		}, map[string]string{"b": "one b\ntwo\nformatted\n"}},
		"closes it": {func(e *fakeEditor) func(string, []Edit) error {
			return func(p string, _ []Edit) error { return e.w.CloseBuffer(p) }
		}, nil},
	} {
		w, e := editorWorkspace(t)
		before := seen(t, w, "a", "b", "c", "d")
		disk := readTree(t, w.Dir())
		set := Set{ID: "s", Changes: []Change{edit(t, w, "c", "ONE c"), edit(t, w, "a", "ONE a\nunsaved\n"), edit(t, w, "b", "ONE b\ntwo\n")}}
		e.behave["b"] = test.behave(e)
		_, err := w.Apply(t.Context(), set, ApplyOptions{Buffers: e, BufferTimeout: time.Millisecond})
		var bad *BufferError
		if !errors.As(err, &bad) || bad.Path != "b" {
			t.Errorf("%s: %v", name, err)
		}
		for p, text := range test.want {
			before[p] = text
		}
		if diff := cmp.Diff(before, seen(t, w, "a", "b", "c", "d")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		wantTree(t, w.Dir(), disk)
		mustState(t, w, "s", "")
	}
}

// The edit arrives, and at once the user goes on typing: it was applied.
func TestTypingOverAnApply(t *testing.T) {
	w, e := editorWorkspace(t)
	e.behave["b"] = func(p string, edits []Edit) error { return errors.Join(e.do(p, edits), e.typed(p, 0, "fast ")) }
	_, err := w.Apply(t.Context(), Set{ID: "s", Changes: []Change{edit(t, w, "b", "one b\nTWO\n"), edit(t, w, "c", "ONE c")}}, ApplyOptions{Buffers: e})
	check(t, err)
	if got := seen(t, w, "b", "c"); got["b"] != "fast one b\nTWO\n" || got["c"] != "ONE c" {
		t.Error(got)
	}
}

// The disk fails after the editor has done its part.
func TestDiskFailsAfterBuffers(t *testing.T) {
	for _, later := range []string{"", "user: "} {
		w, e := editorWorkspace(t)
		before := seen(t, w, "a", "b", "c", "d")
		set := Set{ID: "s", Changes: []Change{edit(t, w, "a", "ONE a\nunsaved\n"), edit(t, w, "b", "one b\nTWO\n"), edit(t, w, "c", "ONE c"), edit(t, w, "d", "ONE d")}}
		e.behave["b"] = func(p string, edits []Edit) error {
			return errors.Join(e.do(p, edits), e.typed("b", 0, later), os.WriteFile(filepath.Join(w.Dir(), "d"), []byte("somebody"), 0o644))
		}
		_, err := w.Apply(t.Context(), set, ApplyOptions{Buffers: e})
		var conflict *ConflictError
		if !errors.As(err, &conflict) || conflict.Files[0].Path != "d" {
			t.Error(err)
		}
		before["d"], before["b"] = "somebody", later+before["b"]
		if diff := cmp.Diff(before, seen(t, w, "a", "b", "c", "d")); diff != "" {
			t.Error(diff)
		}
		mustState(t, w, "s", "")
	}
}

func TestBuffersAndKinds(t *testing.T) {
	w, e := editorWorkspace(t)
	for name, c := range map[string]Change{
		"create": create("a", "x"),
		"delete": remove("b", "one b\ntwo\n"),
		"stale":  {Path: "a", Kind: EditFile, BaseSHA256: SHA256([]byte("a on disk")), ProposedSHA256: "x"},
	} {
		var conflict *ConflictError
		if _, err := w.Apply(t.Context(), Set{ID: name, Changes: []Change{c}}, ApplyOptions{Buffers: e}); !errors.As(err, &conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(e.requests) > 0 {
		t.Errorf("the editor was asked: %v", e.requests)
	}
}

// A quick fix that the editor applied itself is a set like any other.
func TestAdopt(t *testing.T) {
	w, e := editorWorkspace(t)
	base, _ := w.Buffer("b")
	set := Set{ID: "s", Changes: []Change{edit(t, w, "b", "one b\nTWO\n")}}
	check(t, e.do("b", set.Changes[0].Edits))
	res, err := w.Adopt(t.Context(), set, base.Text)
	check(t, err)
	if res.State != AppliedUnsaved {
		t.Error(res)
	}
	var bad *SetError
	if _, err := w.Adopt(t.Context(), Set{ID: "s2", Changes: append(set.Changes, create("x", ""))}, base.Text); !errors.As(err, &bad) {
		t.Error(err)
	}
	var conflict *ConflictError
	if _, err := w.Adopt(t.Context(), Set{ID: "s2", Changes: set.Changes}, []byte("other")); !errors.As(err, &conflict) {
		t.Error(err)
	}
	if _, err := w.Adopt(t.Context(), Set{ID: "s2", Changes: []Change{edit(t, w, "c", "x")}}, nil); kindOf(t, err) != NotOpen {
		t.Error(err)
	}
	check(t, e.typed("b", 0, "user "))
	e.save(t, "b")
	mustState(t, w, "s", "applied")
	_, err = w.Undo(t.Context(), "s", "u", UndoOptions{ApplyOptions: ApplyOptions{Buffers: e}})
	check(t, err)
	if got := seen(t, w, "b"); got["b"] != "user one b\ntwo\n" {
		t.Error(got)
	}
}

// The server dies while an editor has part of a set in its documents. They come
// back, and what is left of the set goes.
func TestRecoverBuffers(t *testing.T) {
	for name, test := range map[string]struct {
		reopened string // what the editor has in b when it is back
		disk     string // what it has saved of it
		want     string // b at the end, as the user sees it
		pending  bool
	}{
		"dirty document":     {"ONE b\ntwo\n", "one b\ntwo\n", "one b\ntwo\n", true},
		"edited further":     {"ONE b\ntwo\nuser\n", "one b\ntwo\n", "one b\ntwo\nuser\n", true},
		"never got it":       {"one b\ntwo\n", "one b\ntwo\n", "one b\ntwo\n", true},
		"saved":              {"", "ONE b\ntwo\n", "one b\ntwo\n", true},
		"saved and reopened": {"ONE b\ntwo\n", "ONE b\ntwo\n", "one b\ntwo\n", true},
	} {
		w, e := editorWorkspace(t)
		dir, state := w.Dir(), w.store.Dir()
		set := Set{ID: "s", Changes: []Change{edit(t, w, "b", "ONE b\ntwo\n"), edit(t, w, "c", "ONE c")}}
		e.behave["b"] = func(p string, edits []Edit) error { panic(errCrash) }
		crash(t, func() { _, _ = w.Apply(t.Context(), set, ApplyOptions{Buffers: e}) })
		check(t, os.WriteFile(filepath.Join(dir, "b"), []byte(test.disk), 0o644))

		w2 := openWorkspace(t, dir, Options{Store: openStore(t, state)})
		e2 := &fakeEditor{w: w2}
		report, err := w2.Recover(t.Context(), ApplyOptions{Buffers: e2})
		check(t, err)
		if diff := cmp.Diff(Recovery{Pending: []string{"s"}, Documents: []string{"b"}}, report); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if test.reopened != "" {
			_, err := w2.OpenBuffer("b", 1, []byte(test.reopened), "text")
			check(t, err)
			report, err = w2.Recover(t.Context(), ApplyOptions{Buffers: e2})
			check(t, err)
			if diff := cmp.Diff(Recovery{Back: []string{"s"}}, report); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			mustState(t, w2, "s", "")
		}
		if got := seen(t, w2, "b", "c"); got["b"] != test.want || got["c"] != "one c" {
			t.Errorf("%s: %q", name, got)
		}
		// A document that never comes back does not keep the set for ever.
		w3 := openWorkspace(t, dir, Options{Store: w2.store, Now: func() time.Time { return time.Now().Add(2 * pendingFor) }})
		_, err = w3.Recover(t.Context(), ApplyOptions{})
		check(t, err)
		mustState(t, w3, "s", "")
		if files := readTree(t, dir); len(files) != 4 {
			t.Errorf("%s: files are left: %q", name, files)
		}
	}
}
