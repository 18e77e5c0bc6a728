package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kaiak/kaiak/store"
)

func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// writableWorkspace opens a workspace over files that can be changed.
func writableWorkspace(t testing.TB, files map[string]string) *Workspace {
	t.Helper()
	return openWorkspace(t, writeTree(t, files), Options{Store: openStore(t, t.TempDir())})
}

// edit makes the change that turns a file of w into text.
func edit(t testing.TB, w *Workspace, path, text string) Change {
	t.Helper()
	f, err := w.Read(path)
	check(t, err)
	return Change{Path: path, Kind: EditFile, BaseSHA256: f.SHA256, ProposedSHA256: SHA256([]byte(text)), Edits: EditsBetween(f.Text, []byte(text))}
}

func create(path, text string) Change {
	return Change{Path: path, Kind: CreateFile, ProposedSHA256: SHA256([]byte(text)), Text: []byte(text)}
}

func remove(path, base string) Change {
	return Change{Path: path, Kind: DeleteFile, BaseSHA256: SHA256([]byte(base))}
}

// readTree reads everything below dir: path → content, "dir" for empty folders.
func readTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	check(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if entries, err := os.ReadDir(p); err == nil && len(entries) == 0 && rel != "." {
				files[rel+"/"] = "empty folder"
			}
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			files[rel] = "link to " + target
			return err
		}
		text, err := os.ReadFile(p)
		files[rel] = string(text)
		return err
	}))
	return files
}

func wantTree(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, readTree(t, dir)); diff != "" {
		t.Errorf("files (-want +got): %s", diff)
	}
}

// mustState checks what the journal says of a set.
func mustState(t testing.TB, w *Workspace, id, want string) {
	t.Helper()
	rec, err := w.store.Get(t.Context(), store.Journal, id)
	if errors.Is(err, store.ErrNotFound) {
		rec.State, err = "", nil
	}
	check(t, err)
	if rec.State != want {
		t.Errorf("set %s is %q in the journal, want %q", id, rec.State, want)
	}
}

func TestApplyToDisk(t *testing.T) {
	before := map[string]string{"a.go": "\ufeffone\r\ntwo", "d/b.go": "b\n", "gone.go": "old", "keep": "k"}
	w := writableWorkspace(t, before)
	check(t, os.Chmod(filepath.Join(w.Dir(), "a.go"), 0o750))
	set := Set{ID: "s1", Changes: []Change{
		edit(t, w, "a.go", "\ufeffone\r\n2"), edit(t, w, "d/b.go", "B\n"), create("new/deep/c.go", "c"), create("d/e.go", ""), remove("gone.go", "old"),
	}}
	res, err := w.Apply(t.Context(), set, ApplyOptions{})
	check(t, err)
	after := map[string]string{"a.go": "\ufeffone\r\n2", "d/b.go": "B\n", "new/deep/c.go": "c", "d/e.go": "", "keep": "k"}
	wantTree(t, w.Dir(), after)
	want := Result{"s1", Applied, []AppliedFile{
		{"a.go", EditFile, SHA256([]byte(after["a.go"])), false}, {"d/b.go", EditFile, SHA256([]byte("B\n")), false},
		{"new/deep/c.go", CreateFile, SHA256([]byte("c")), false}, {"d/e.go", CreateFile, SHA256(nil), false}, {"gone.go", DeleteFile, "", false},
	}}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(w.Dir(), "a.go")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v %v, want 0750", info.Mode(), err)
	}
	mustState(t, w, "s1", "applied")
	if blob, err := w.store.Blob(t.Context(), SHA256([]byte("old"))); err != nil || string(blob) != "old" {
		t.Errorf("the text before is not kept: %q %v", blob, err)
	}
	var bad *SetError
	if _, err := w.Apply(t.Context(), Set{ID: "s1", Changes: []Change{create("x", "")}}, ApplyOptions{}); err == nil {
		t.Error("one id was applied twice")
	}

	_, err = w.Undo(t.Context(), "s1", "u1", UndoOptions{})
	check(t, err)
	wantTree(t, w.Dir(), before)
	if info, err := os.Stat(filepath.Join(w.Dir(), "a.go")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v %v, want 0750", info.Mode(), err)
	}
	mustState(t, w, "s1", "undone")
	if _, err := w.Undo(t.Context(), "s1", "u2", UndoOptions{}); !errors.As(err, &bad) {
		t.Errorf("undone twice: %v", err)
	}
	if _, err := w.Undo(t.Context(), "never", "u3", UndoOptions{}); !errors.As(err, &bad) {
		t.Errorf("a set that is not there: %v", err)
	}
	_, err = w.Undo(t.Context(), "u1", "redo", UndoOptions{})
	check(t, err)
	wantTree(t, w.Dir(), after)
}

func TestApplyRefuses(t *testing.T) {
	files := map[string]string{
		"a.go": "a", "b.go": "b", "latin": "caf\xe9", "utf16": "\xff\xfea\x00", "zeros": "a\x00", "yarn.lock": "l", "node_modules/x.js": "x", ".env": "e",
		"hard": "h", "ro": "r", "d/f": "f", ".kaiak/config.yaml": "c",
	}
	w := writableWorkspace(t, files)
	check(t, os.Link(filepath.Join(w.Dir(), "hard"), filepath.Join(w.Dir(), "hard2")))
	check(t, os.Symlink("a.go", filepath.Join(w.Dir(), "link")))
	check(t, os.Symlink("d", filepath.Join(w.Dir(), "dirlink")))
	check(t, os.Symlink("nowhere", filepath.Join(w.Dir(), "dangling")))
	check(t, os.Chmod(filepath.Join(w.Dir(), "ro"), 0o444))
	before := readTree(t, w.Dir())
	replace := func(path, base, text string) Change {
		return Change{Path: path, Kind: EditFile, BaseSHA256: SHA256([]byte(base)), ProposedSHA256: SHA256([]byte(text)), Edits: []Edit{{0, len(base), text}}}
	}
	good := replace("b.go", "b", "B")
	tests := map[string]struct {
		changes []Change
		want    any // a PathErrorKind, or a pointer to the type of the error
	}{
		"stale":                {[]Change{good, replace("a.go", "other", "x")}, new(*ConflictError)},
		"missing":              {[]Change{good, replace("nope.go", "a", "x")}, new(*ConflictError)},
		"exists":               {[]Change{good, create("a.go", "x")}, new(*ConflictError)},
		"exists as link":       {[]Change{create("dangling", "x")}, Symlink},
		"delete stale":         {[]Change{good, remove("a.go", "other")}, new(*ConflictError)},
		"wrong outcome":        {[]Change{good, {Path: "a.go", Kind: EditFile, BaseSHA256: SHA256([]byte("a")), ProposedSHA256: "0", Edits: []Edit{{0, 1, "x"}}}}, new(*SetError)},
		"edit out of range":    {[]Change{good, {Path: "a.go", Kind: EditFile, BaseSHA256: SHA256([]byte("a")), ProposedSHA256: "0", Edits: []Edit{{0, 9, "x"}}}}, new(*EditError)},
		"wrong creation":       {[]Change{good, {Path: "n", Kind: CreateFile, ProposedSHA256: "0", Text: []byte("x")}}, new(*SetError)},
		"twice":                {[]Change{good, good}, new(*SetError)},
		"twice but for case":   {[]Change{create("N", ""), create("n", "")}, new(*SetError)},
		"nothing":              {nil, new(*SetError)},
		"unknown kind":         {[]Change{{Path: "a.go", Kind: "rename"}}, new(*SetError)},
		"no base":              {[]Change{{Path: "a.go", Kind: EditFile}}, new(*SetError)},
		"latin-1":              {[]Change{good, replace("latin", files["latin"], "x")}, new(*EncodingError)},
		"utf-16":               {[]Change{good, replace("utf16", files["utf16"], "x")}, new(*EncodingError)},
		"binary":               {[]Change{good, replace("zeros", files["zeros"], "x")}, new(*EncodingError)},
		"to invalid UTF-8":     {[]Change{good, replace("a.go", "a", "\xe9")}, new(*EncodingError)},
		"create invalid UTF-8": {[]Change{create("n", "\xe9")}, new(*EncodingError)},
		"lock file":            {[]Change{good, replace("yarn.lock", "l", "x")}, ReadOnly},
		"vendored":             {[]Change{good, replace("node_modules/x.js", "x", "y")}, ReadOnly},
		"own configuration":    {[]Change{good, replace(".kaiak/config.yaml", "c", "y")}, ReadOnly},
		"denied":               {[]Change{good, replace(".env", "e", "x")}, DeniedPath},
		"denied creation":      {[]Change{good, create(".git/hooks/pre-commit", "#!/bin/sh")}, DeniedPath},
		"outside":              {[]Change{good, create("../x", "x")}, Escapes},
		"hard link":            {[]Change{good, replace("hard", "h", "x")}, HardLink},
		"delete hard link":     {[]Change{remove("hard", "h")}, HardLink},
		"link":                 {[]Change{good, replace("link", "a", "x")}, Symlink},
		"through a link":       {[]Change{good, replace("dirlink/f", "f", "x")}, Symlink},
		"create through link":  {[]Change{good, create("dirlink/new", "x")}, Symlink},
		"create below a file":  {[]Change{good, create("a.go/new", "x")}, IOFailure},
		"folder":               {[]Change{good, replace("d", "", "x")}, NotRegular},
		"root":                 {[]Change{good, replace(".", "", "x")}, NotRegular},
		"read-only":            {[]Change{good, replace("ro", "r", "x")}, ReadOnly},
	}
	for name, test := range tests {
		_, err := w.Apply(t.Context(), Set{ID: name, Changes: test.changes}, ApplyOptions{})
		if kind, ok := test.want.(PathErrorKind); ok {
			if err == nil || kindOf(t, err) != kind {
				t.Errorf("%s: %v, want a PathError of kind %s", name, err, kind)
			}
		} else if err == nil || !errors.As(err, test.want) {
			t.Errorf("%s: %T %v, want %T", name, err, err, test.want)
		}
		mustState(t, w, name, "")
	}
	if _, err := w.Apply(canceled(), Set{ID: "cancelled", Changes: []Change{good}}, ApplyOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := w.Apply(t.Context(), Set{Changes: []Change{good}}, ApplyOptions{}); err == nil {
		t.Error("a set without an id was applied")
	}
	wantTree(t, w.Dir(), before)
	if _, err := newWorkspace(t, files).Apply(t.Context(), Set{ID: "s", Changes: []Change{good}}, ApplyOptions{}); !errors.Is(err, errNoStore) {
		t.Error(err)
	}
}

func TestConflictsAreAllNamed(t *testing.T) {
	w := writableWorkspace(t, map[string]string{"a": "1", "b": "2", "c": "3"})
	set := Set{ID: "s", Changes: []Change{edit(t, w, "a", "x"), edit(t, w, "b", "x"), edit(t, w, "c", "x")}}
	check(t, os.WriteFile(filepath.Join(w.Dir(), "a"), []byte("user"), 0o644))
	check(t, os.Remove(filepath.Join(w.Dir(), "c")))
	_, err := w.Apply(t.Context(), set, ApplyOptions{})
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		t.Fatal(err)
	}
	want := []Conflict{{"a", SHA256([]byte("1")), SHA256([]byte("user")), "has changed"}, {"c", SHA256([]byte("3")), "", "does not exist any more"}}
	if diff := cmp.Diff(want, conflict.Files); diff != "" {
		t.Error(diff)
	}
}

func TestOneWriter(t *testing.T) {
	dir, state := writeTree(t, map[string]string{"a": "0"}), t.TempDir()
	one := openWorkspace(t, dir, Options{Store: openStore(t, state)})
	two := openWorkspace(t, dir, Options{Store: openStore(t, state)})
	elsewhere := openWorkspace(t, writeTree(t, map[string]string{"a": "0"}), Options{Store: openStore(t, state)})
	lock, err := one.lock(t.Context(), time.Second, "mine")
	check(t, err)
	for _, w := range []*Workspace{one, two} {
		_, err := w.Apply(t.Context(), Set{ID: "s", Changes: []Change{edit(t, w, "a", "1")}}, ApplyOptions{LockWait: -1})
		var busy *BusyError
		if !errors.As(err, &busy) || busy.Owner.PID != os.Getpid() || busy.Owner.Set != "mine" || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
			t.Errorf("%v", err)
		}
		if _, err := w.Recover(canceled(), ApplyOptions{LockWait: time.Hour}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	_, err = elsewhere.Apply(t.Context(), Set{ID: "s", Changes: []Change{edit(t, elsewhere, "a", "1")}}, ApplyOptions{LockWait: -1})
	check(t, err) // another root is another lock
	lock.unlock()

	// Everybody gets their turn, one at a time: each adds one to the number.
	var wg sync.WaitGroup
	for i := range 20 {
		w := []*Workspace{one, two}[i%2]
		wg.Go(func() {
			for try := 0; ; try++ {
				f, err := w.Read("a")
				if err != nil {
					t.Error(err)
					return
				}
				set := Set{ID: fmt.Sprint("add", i, ".", try), Changes: []Change{edit(t, w, "a", string(f.Text)+"+")}}
				_, err = w.Apply(t.Context(), set, ApplyOptions{LockWait: time.Minute})
				var conflict *ConflictError
				if errors.As(err, &conflict) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	wg.Wait()
	wantTree(t, dir, map[string]string{"a": "0" + strings.Repeat("+", 20)})
}

// The lock of another process is told with its owner, and is free when that dies.
func TestOwnerDies(t *testing.T) {
	dir, state := writeTree(t, map[string]string{"a": "0"}), t.TempDir()
	w := openWorkspace(t, dir, Options{Store: openStore(t, state)})
	cmd := exec.Command(os.Args[0])
	cmd.Env = helperEnv("lock", dir, state)
	stdin, err := cmd.StdinPipe()
	check(t, err)
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the helper says %q, %v", line, err)
	}
	set := Set{ID: "s", Changes: []Change{edit(t, w, "a", "1")}}
	_, err = w.Apply(t.Context(), set, ApplyOptions{LockWait: time.Millisecond})
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Owner.PID != cmd.Process.Pid || busy.Owner.Set != "the helper's set" || busy.Owner.Started.IsZero() {
		t.Fatalf("%v", err)
	}
	wantTree(t, dir, map[string]string{"a": "0"})
	check(t, cmd.Process.Kill())
	_ = cmd.Wait() // it says that it was killed
	_, err = w.Apply(t.Context(), set, ApplyOptions{LockWait: time.Minute})
	check(t, err)
	wantTree(t, dir, map[string]string{"a": "1"})
}

// Every outcome of a set is all or nothing while somebody exchanges a folder
// for a link out of the root, and nothing outside changes.
func TestApplyRace(t *testing.T) {
	dir := writeTree(t, map[string]string{"victim/f": "inside", "a": "0"})
	outside := writeTree(t, map[string]string{"f": "inside"})
	w := openWorkspace(t, dir, Options{Store: openStore(t, t.TempDir())})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		victim, aside := filepath.Join(dir, "victim"), filepath.Join(dir, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(victim, aside)
			_ = os.Symlink(outside, victim)
			_ = os.Remove(victim)
			_ = os.Rename(aside, victim)
		}
	})
	applied := 0
	for i := range 1_000 {
		set := Set{ID: fmt.Sprint(i), Changes: []Change{
			edit(t, w, "a", fmt.Sprint(i+1)),
			{Path: "victim/f", Kind: EditFile, BaseSHA256: SHA256([]byte("inside")), ProposedSHA256: SHA256([]byte("inside!")), Edits: []Edit{{6, 6, "!"}}},
		}}
		if _, err := w.Apply(t.Context(), set, ApplyOptions{}); err == nil {
			applied++
			if _, err := w.Undo(t.Context(), set.ID, "u"+set.ID, UndoOptions{}); err == nil {
				continue
			}
			break // the folder is away just now; what matters has been seen
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d of 1000 were applied", applied)
	wantTree(t, outside, map[string]string{"f": "inside"})
	_, err := w.Recover(t.Context(), ApplyOptions{})
	check(t, err)
	got := readTree(t, dir)
	if number, text := got["a"] != "0", got["victim/f"] == "inside!"; number != text || len(got) != 2 {
		t.Errorf("half a set, or rubbish: %q", got)
	}
}

func TestUndoKeepsWhatTheUserWrote(t *testing.T) {
	const before = "one\ntwo\nthree\nfour\nfive\n"
	for _, test := range []struct {
		name, user, want string // want "": a conflict
	}{
		{"nothing", "ONE\ntwo\nthree\nfour\nFIVE\n", before},
		{"between", "ONE\ntwo\nuser\nthree\nfour\nFIVE\n", "one\ntwo\nuser\nthree\nfour\nfive\n"},
		{"end", "ONE\ntwo\nthree\nfour\nFIVE\nuser", "one\ntwo\nthree\nfour\nfive\nuser"},
		{"both sides", "user\nONE\ntwo\nthree\nfo\nFIVE\n", "user\none\ntwo\nthree\nfo\nfive\n"},
		{"inside", "ONCE\ntwo\nthree\nfour\nFIVE\n", ""},
		{"touching", "ONE user\ntwo\nthree\nfour\nFIVE\n", "one user\ntwo\nthree\nfour\nfive\n"},
		{"glued", "ONEuser\ntwo\nthree\nfour\nFIVE\n", ""},
		{"deleted", "two\nthree\nfour\nFIVE\n", ""},
		{"all gone", "", ""},
	} {
		w := writableWorkspace(t, map[string]string{"f": before, "g": "g"})
		set := Set{ID: "s", Changes: []Change{edit(t, w, "f", "ONE\ntwo\nthree\nfour\nFIVE\n"), edit(t, w, "g", "G")}}
		_, err := w.Apply(t.Context(), set, ApplyOptions{})
		check(t, err)
		check(t, os.WriteFile(filepath.Join(w.Dir(), "f"), []byte(test.user), 0o644))
		_, err = w.Undo(t.Context(), "s", "u", UndoOptions{})
		if test.want != "" {
			check(t, err)
			wantTree(t, w.Dir(), map[string]string{"f": test.want, "g": "g"})
			continue
		}
		var conflict *ConflictError
		if !errors.As(err, &conflict) || len(conflict.Files) != 1 || conflict.Files[0].Path != "f" {
			t.Errorf("%s: %v", test.name, err)
		}
		wantTree(t, w.Dir(), map[string]string{"f": test.user, "g": "G"})
		_, err = w.Undo(t.Context(), "s", "u", UndoOptions{SkipConflicts: true})
		check(t, err)
		wantTree(t, w.Dir(), map[string]string{"f": test.user, "g": "g"})
	}
}

func TestUndoOfCreationsAndDeletions(t *testing.T) {
	w := writableWorkspace(t, map[string]string{"latin": "caf\xe9"})
	set := Set{ID: "s", Changes: []Change{create("new/a", "a"), create("new/b", "b"), remove("latin", "caf\xe9")}}
	_, err := w.Apply(t.Context(), set, ApplyOptions{})
	check(t, err)
	check(t, os.WriteFile(filepath.Join(w.Dir(), "new/a"), []byte("edited"), 0o644))
	var conflict *ConflictError
	if _, err := w.Undo(t.Context(), "s", "u", UndoOptions{}); !errors.As(err, &conflict) {
		t.Error(err)
	}
	check(t, os.WriteFile(filepath.Join(w.Dir(), "new/a"), []byte("a"), 0o644))
	check(t, os.WriteFile(filepath.Join(w.Dir(), "new/users"), []byte("u"), 0o644))
	check(t, os.Remove(filepath.Join(w.Dir(), "new/b")))
	_, err = w.Undo(t.Context(), "s", "u", UndoOptions{})
	check(t, err)
	wantTree(t, w.Dir(), map[string]string{"latin": "caf\xe9", "new/users": "u"})
}

func TestLargeFile(t *testing.T) {
	text := bytes.Repeat([]byte("x"), 3<<20)
	w := writableWorkspace(t, map[string]string{"big": string(text)})
	set := Set{ID: "s", Changes: []Change{{Path: "big", Kind: EditFile, BaseSHA256: SHA256(text), ProposedSHA256: SHA256(append(slices.Clone(text), '!')), Edits: []Edit{{len(text), len(text), "!"}}}}}
	_, err := w.Apply(t.Context(), set, ApplyOptions{})
	check(t, err)
	_, err = w.Undo(t.Context(), "s", "u", UndoOptions{})
	check(t, err)
	wantTree(t, w.Dir(), map[string]string{"big": string(text)})
}

func TestPurge(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := openWorkspace(t, writeTree(t, map[string]string{"a": "0", "b": "0"}), Options{Store: openStore(t, t.TempDir()), Now: func() time.Time { return now }})
	for _, p := range []string{"a", "b"} {
		_, err := w.Apply(t.Context(), Set{ID: p, Changes: []Change{edit(t, w, p, "1"+p)}}, ApplyOptions{})
		check(t, err)
		now = now.Add(time.Hour)
	}
	if n, err := Purge(t.Context(), w.store, now.Add(-90*time.Minute), DefaultKeepBytes); n != 1 || err != nil {
		t.Error(n, err)
	}
	var gone *SetError
	if _, err := w.Undo(t.Context(), "a", "ua", UndoOptions{}); !errors.As(err, &gone) {
		t.Error(err)
	}
	_, err := w.Undo(t.Context(), "b", "ub", UndoOptions{})
	check(t, err)
	wantTree(t, w.Dir(), map[string]string{"a": "1a", "b": "0"})
}

func BenchmarkApply(b *testing.B) {
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprint("f", i)] = strings.Repeat("line\n", 200)
	}
	w := writableWorkspace(b, files)
	n := 0
	for b.Loop() {
		n++
		set := Set{ID: fmt.Sprint(n)}
		for _, p := range slices.Sorted(maps.Keys(files)) {
			f, err := w.Read(p)
			check(b, err)
			set.Changes = append(set.Changes, edit(b, w, p, string(f.Text)+"x\n"))
		}
		if _, err := w.Apply(b.Context(), set, ApplyOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
