package workspace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
