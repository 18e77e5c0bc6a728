package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kaiak/kaiak/store"
)

// errCrash ends a simulated process: it is thrown, and nothing catches it.
var errCrash = errors.New("crash")

// crash runs f as a process that may die.
func crash(t testing.TB, f func()) (died bool) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, errCrash) {
				panic(p)
			}
			died = true
		}
	}()
	f()
	return false
}

// faultyOps does what the operating system does, until the at-th operation.
type faultyOps struct {
	n       int        // operations so far
	at      int        // which one fails, from 1; 0: none
	meddle  func()     // not nil: instead of failing, this happens before it
	err     error      // with what; errCrash: the process dies there
	forever bool       // every later one fails as well
	rnd     *rand.Rand // not nil: when it dies, the machine dies too
	pending []unsynced // what is not on the disk yet, oldest first
	files   []*faultyFile
}

// unsynced is a change that a power loss may take back: an entry of dir until
// that is synced, or the content of file until that is.
type unsynced struct {
	dir  *os.Root
	file *faultyFile
	back func()
}

func (o *faultyOps) note(dir *os.Root, file *faultyFile, back func()) {
	o.pending = append(o.pending, unsynced{dir, file, back})
}

// step counts one operation. torn runs before a crash, to leave it half done.
func (o *faultyOps) step(torn func()) error {
	o.n++
	if o.at == 0 || o.n < o.at || o.n > o.at && !o.forever {
		return nil
	}
	if o.meddle != nil {
		o.meddle()
		return nil
	}
	if errors.Is(o.err, errCrash) {
		if torn != nil {
			torn()
		}
		if o.rnd != nil {
			o.powerLoss()
		}
		panic(errCrash)
	}
	return &fs.PathError{Op: "injected", Path: "internal name", Err: o.err}
}

// powerLoss takes back some of what was not synced, latest first: each folder
// and each file for itself, so that they get out of order.
func (o *faultyOps) powerLoss() {
	lost := map[any]bool{}
	for _, u := range o.pending {
		var key any = u.dir
		if u.file != nil {
			key = u.file
		}
		if _, drawn := lost[key]; !drawn {
			lost[key] = o.rnd.IntN(2) == 0
		}
	}
	for _, u := range slices.Backward(o.pending) {
		if u.file != nil && lost[u.file] || u.file == nil && lost[u.dir] {
			u.back()
		}
	}
}

func (o *faultyOps) mkdir(dir *os.Root, name string) error {
	if err := o.step(nil); err != nil {
		return err
	}
	err := rootOps{}.mkdir(dir, name)
	if err == nil {
		o.note(dir, nil, func() { _ = dir.RemoveAll(name) })
	}
	return err
}

func (o *faultyOps) create(dir *os.Root, name string, mode fs.FileMode) (tempFile, error) {
	if err := o.step(nil); err != nil {
		return nil, err
	}
	f, err := rootOps{}.create(dir, name, mode)
	if err != nil {
		return nil, err
	}
	o.note(dir, nil, func() { _ = dir.Remove(name) })
	file := &faultyFile{f, o, dir, name}
	o.files = append(o.files, file)
	return file, nil
}

func (o *faultyOps) rename(dir *os.Root, from, to string) error {
	if err := o.step(nil); err != nil {
		return err
	}
	old, oldErr := dir.ReadFile(to)
	text, err := dir.ReadFile(from)
	if err != nil {
		return err
	}
	if err := (rootOps{}).rename(dir, from, to); err != nil {
		return err
	}
	moved := slices.IndexFunc(o.files, func(f *faultyFile) bool { return f.dir == dir && f.name == from })
	if moved >= 0 { // not by a Recover that finds it
		o.files[moved].name = to
	}
	o.note(dir, nil, func() {
		if moved >= 0 {
			o.files[moved].name = from
		}
		_ = dir.WriteFile(from, text, 0o644)
		if oldErr != nil {
			_ = dir.Remove(to)
		} else {
			_ = dir.WriteFile(to, old, 0o644)
		}
	})
	return nil
}

func (o *faultyOps) remove(dir *os.Root, name string) error {
	if err := o.step(nil); err != nil {
		return err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	text, _ := dir.ReadFile(name)
	if err := (rootOps{}).remove(dir, name); err != nil {
		return err
	}
	o.note(dir, nil, func() {
		if info.IsDir() {
			_ = dir.Mkdir(name, 0o755)
		} else {
			_ = dir.WriteFile(name, text, 0o644)
		}
	})
	return nil
}

// sync makes the entries of one folder safe.
func (o *faultyOps) sync(dir *os.Root) error {
	if err := o.step(nil); err != nil {
		return err
	}
	o.pending = slices.DeleteFunc(o.pending, func(u unsynced) bool { return u.dir == dir && u.file == nil })
	return rootOps{}.sync(dir)
}

type faultyFile struct {
	tempFile
	ops  *faultyOps
	dir  *os.Root
	name string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	half := func() { _, _ = f.tempFile.Write(p[:len(p)/2]) }
	if err := f.ops.step(half); err != nil {
		half() // the disk is full in the middle of it
		return len(p) / 2, err
	}
	f.ops.note(f.dir, f, func() {
		if _, err := f.dir.Lstat(f.name); err == nil { // else the name is lost too
			_ = f.dir.WriteFile(f.name, p[:f.ops.rnd.IntN(len(p)+1)], 0o644)
		}
	})
	return f.tempFile.Write(p)
}

func (f *faultyFile) Chmod(mode fs.FileMode) error {
	if err := f.ops.step(nil); err != nil {
		return err
	}
	return f.tempFile.Chmod(mode)
}

func (f *faultyFile) Sync() error {
	if err := f.ops.step(nil); err != nil {
		return err
	}
	// The content is safe now, the name only with the folder.
	f.ops.pending = slices.DeleteFunc(f.ops.pending, func(u unsynced) bool { return u.file == f })
	return f.tempFile.Sync()
}

func (f *faultyFile) Close() error {
	err := f.ops.step(nil)
	return errors.Join(f.tempFile.Close(), err)
}

// A lab makes workspaces over one store, each with a scenario of its own: that
// is quicker than a store for each.
type lab struct {
	store *store.Store
	dir   string // for the workspaces
	n     int
}

func newLab(t testing.TB) *lab { return &lab{store: openStore(t, quickDir(t)), dir: quickDir(t)} }

// quickDir is a temporary folder in memory where the system has one: what is
// tested here is the order of operations, not the disk.
func quickDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "kaiak")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// fresh calls f with a new workspace over the scenario's files.
func (l *lab) fresh(t testing.TB, f func(w *Workspace, set Set, after map[string]string)) {
	t.Helper()
	dir, err := os.MkdirTemp(l.dir, "")
	check(t, err)
	for name, text := range faultFiles() {
		p := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(p), 0o755))
		check(t, os.WriteFile(p, []byte(text), 0o644))
	}
	l.open(t, dir, func(w *Workspace) {
		l.n++
		set, after := faultSet(t, w, fmt.Sprint("set", l.n))
		f(w, set, after)
	})
	check(t, os.RemoveAll(dir))
}

// open calls f with the workspace of a folder, as a new process would have it.
func (l *lab) open(t testing.TB, dir string, f func(w *Workspace)) {
	t.Helper()
	w, err := Open(dir, Options{Store: l.store})
	check(t, err)
	defer w.Close()
	f(w)
}

// settle opens the workspace anew, as after a crash, and returns its files.
func (l *lab) settle(t testing.TB, dir string) (files map[string]string) {
	t.Helper()
	l.open(t, dir, func(w *Workspace) {
		_, err := w.Recover(t.Context(), ApplyOptions{})
		check(t, err)
		files = readTree(t, dir)
	})
	return files
}

// A scenario is a set over some files, of every kind of change.
func faultFiles() map[string]string {
	return map[string]string{"a": "one\r\n", "d/b": "two", "d/c": "three", "gone": "four", "d/gone": "", "keep": "k"}
}

func faultSet(t testing.TB, w *Workspace, id string) (Set, map[string]string) {
	t.Helper()
	return Set{ID: id, Changes: []Change{
			edit(t, w, "a", "ONE\r\n"), create("new/x", "x"), edit(t, w, "d/b", "TWO"), remove("gone", "four"), create("new/deep/y", "y"), edit(t, w, "d/c", ""), remove("d/gone", ""),
		}}, map[string]string{
			"a": "ONE\r\n", "new/x": "x", "d/b": "TWO", "new/deep/y": "y", "d/c": "", "keep": "k",
		}
}

// allOrNothing checks that files are those before or those after a set.
func allOrNothing(t testing.TB, what string, got, before, after map[string]string) (applied bool) {
	t.Helper()
	if cmp.Equal(got, after) {
		return true
	}
	if !cmp.Equal(got, before) {
		t.Fatalf("%s: neither all nor nothing:\nnot nothing %s\nnot all %s", what, cmp.Diff(before, got), cmp.Diff(after, got))
	}
	return false
}

// countOps returns how many operations the scenario takes when all goes well.
func (l *lab) countOps(t *testing.T, undo bool) int {
	t.Helper()
	ops := &faultyOps{}
	l.fresh(t, func(w *Workspace, set Set, _ map[string]string) {
		if !undo {
			w.ops = ops
		}
		_, err := w.Apply(t.Context(), set, ApplyOptions{})
		check(t, err)
		if undo {
			w.ops = ops
			_, err := w.Undo(t.Context(), set.ID, "undo "+set.ID, UndoOptions{})
			check(t, err)
		}
	})
	return ops.n
}

// The n-th operation on the user's files fails, for every n, once or from then
// on: Apply says so, names a file, and all or nothing is done.
func TestEveryOperationFails(t *testing.T) {
	l := newLab(t)
	total := l.countOps(t, false)
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES} {
		for _, forever := range []bool{false, true} {
			for at := 1; at <= total; at++ {
				what := fmt.Sprintf("operation %d of %d: %v, forever %v", at, total, cause, forever)
				l.fresh(t, func(w *Workspace, set Set, after map[string]string) {
					w.ops = &faultyOps{at: at, err: cause, forever: forever}
					_, err := w.Apply(t.Context(), set, ApplyOptions{})
					var p *PathError
					if !errors.As(err, &p) || p.Path == "" || p.Path == "internal name" || !errors.Is(err, cause) {
						t.Fatalf("%s: %v names no file, or not the cause", what, err)
					}
					var late *UnsettledError
					if errors.As(err, &late) && !forever {
						t.Fatalf("%s: one failure should not keep a set from being put back: %v", what, err)
					}
					if !errors.As(err, &late) {
						if allOrNothing(t, what, readTree(t, w.Dir()), faultFiles(), after) {
							t.Fatalf("%s: applied, yet an error: %v", what, err)
						}
						mustState(t, w, set.ID, "")
					}
					// The disk works again: the next change settles what is left.
					w.ops = rootOps{}
					_, err = w.Apply(t.Context(), Set{ID: "next " + set.ID, Changes: []Change{create("next", "")}}, ApplyOptions{})
					check(t, err)
					got := readTree(t, w.Dir())
					delete(got, "next")
					if allOrNothing(t, what, got, faultFiles(), after) {
						t.Fatalf("%s: an apply that failed was carried out later", what)
					}
				})
			}
		}
	}
	t.Logf("%d operations, each with three errors, once and for good", total)
}

// The process, or with it the machine, dies at the n-th operation, for every n:
// after Recover all or nothing is done. Recover itself dies at every operation
// too.
func TestEveryOperationCrashes(t *testing.T) {
	l := newLab(t)
	rounds := 2 // the first without power loss
	if os.Getenv("KAIAK_RELIABILITY") == "full" {
		rounds = 40
	}
	for _, undo := range []bool{false, true} {
		total := l.countOps(t, undo)
		states, forward := 0, 0
		for at := 1; at <= total; at++ {
			for round := range rounds {
				for again, more := 0, true; more; again++ { // Recover dies at its again-th operation; 0: it does not
					what := fmt.Sprintf("undo %v, crash at %d of %d, round %d, again at %d", undo, at, total, round, again)
					var rnd *rand.Rand
					if round > 0 {
						rnd = rand.New(rand.NewPCG(uint64(at), uint64(round*1000+again)))
					}
					l.fresh(t, func(w *Workspace, set Set, after map[string]string) {
						before := faultFiles()
						run := func() { _, _ = w.Apply(t.Context(), set, ApplyOptions{}) }
						if undo {
							run()
							before, after = after, before
							run = func() { _, _ = w.Undo(t.Context(), set.ID, "undo "+set.ID, UndoOptions{}) }
						}
						w.ops = &faultyOps{at: at, err: errCrash, rnd: rnd}
						if !crash(t, run) {
							t.Fatalf("%s: it did not crash", what)
						}
						if again > 0 {
							l.open(t, w.Dir(), func(w *Workspace) {
								w.ops = &faultyOps{at: again, err: errCrash, rnd: rnd}
								more = crash(t, func() {
									_, err := w.Recover(t.Context(), ApplyOptions{})
									check(t, err)
								})
							})
						}
						if allOrNothing(t, what, withoutEmpty(l.settle(t, w.Dir())), before, after) {
							forward++
						}
						states++
					})
				}
			}
		}
		if forward == 0 || forward == states {
			t.Errorf("undo %v: of %d crashes %d ended in all", undo, states, forward)
		}
		t.Logf("undo %v: %d operations, %d crashes, %d of them finished, the others put back", undo, total, states, forward)
	}
}

// withoutEmpty drops empty folders: an undo that is cut off may leave one that
// its set had made.
func withoutEmpty(files map[string]string) map[string]string {
	for p := range files {
		if p[len(p)-1] == '/' {
			delete(files, p)
		}
	}
	return files
}

// After a crash somebody changes a file before the server is back: that file is
// left as it is and named, whatever the set would do to it.
func TestRecoverConflict(t *testing.T) {
	l := newLab(t)
	conflicts := 0
	for at := range l.countOps(t, false) {
		l.fresh(t, func(w *Workspace, set Set, after map[string]string) {
			w.ops = &faultyOps{at: at + 1, err: errCrash}
			if !crash(t, func() { _, _ = w.Apply(t.Context(), set, ApplyOptions{}) }) {
				t.Fatal("it did not crash")
			}
			check(t, os.WriteFile(filepath.Join(w.Dir(), "d/b"), []byte("the user's"), 0o644))
			l.open(t, w.Dir(), func(w *Workspace) {
				report, err := w.Recover(t.Context(), ApplyOptions{})
				check(t, err)
				before := faultFiles()
				before["d/b"], after["d/b"] = "the user's", "the user's"
				allOrNothing(t, fmt.Sprint("crash at ", at+1), readTree(t, w.Dir()), before, after)
				for _, c := range report.Conflicts {
					if c.Path != "d/b" {
						t.Errorf("%+v is no conflict", c)
					}
					conflicts++
				}
			})
		})
	}
	if conflicts == 0 {
		t.Error("no conflict was reported")
	}
}

// Before the n-th operation, for every n, a folder of the set is exchanged for a
// link out of the root to files of the same names: nothing out there changes,
// and the set's own folder, wherever it went, has all or nothing.
func TestFolderExchangedAtEveryOperation(t *testing.T) {
	l := newLab(t)
	total := l.countOps(t, false)
	outside := map[string]string{"b": "two", "c": "three", "gone": ""}
	applied := 0
	for at := range total {
		away := writeTree(t, outside)
		l.fresh(t, func(w *Workspace, set Set, after map[string]string) {
			folder, aside := filepath.Join(w.Dir(), "d"), filepath.Join(w.Dir(), "aside")
			w.ops = &faultyOps{at: at + 1, meddle: func() {
				check(t, os.Rename(folder, aside))
				check(t, os.Symlink(away, folder))
			}}
			_, err := w.Apply(t.Context(), set, ApplyOptions{})
			wantTree(t, away, outside)
			check(t, os.Remove(folder))
			check(t, os.Rename(aside, folder))
			if allOrNothing(t, fmt.Sprintf("exchanged at %d: %v", at+1, err), readTree(t, w.Dir()), faultFiles(), after) != (err == nil) {
				t.Errorf("exchanged at %d: %v, which is not what was done", at+1, err)
			}
			if err == nil {
				applied++
			}
		})
	}
	t.Logf("exchanged at each of %d operations: %d times the set was applied to the folder that went away", total, applied)
}

// The journal fails (the state folder is gone) between its commit points.
func TestJournalFails(t *testing.T) {
	state := t.TempDir()
	l := &lab{store: openStore(t, state), dir: quickDir(t)}
	l.fresh(t, func(w *Workspace, set Set, after map[string]string) {
		w.ops = &closeStoreOps{store: l.store}
		_, err := w.Apply(t.Context(), set, ApplyOptions{})
		var late *UnsettledError
		if !errors.As(err, &late) {
			t.Fatal(err)
		}
		if allOrNothing(t, "before the restart", readTree(t, w.Dir()), faultFiles(), after) {
			t.Error("an error, yet it was applied")
		}
		again := &lab{store: openStore(t, state), dir: l.dir}
		if allOrNothing(t, "after the restart", again.settle(t, w.Dir()), faultFiles(), after) {
			t.Error("an apply that failed was carried out later")
		}
	})
}

// closeStoreOps takes the journal away at the first rename.
type closeStoreOps struct {
	rootOps
	store *store.Store
}

func (o *closeStoreOps) rename(dir *os.Root, from, to string) error {
	_ = o.store.Close()
	return o.rootOps.rename(dir, from, to)
}
