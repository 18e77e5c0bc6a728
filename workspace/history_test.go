package workspace

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A history is random changes of ours (lines K<set>.<n>) and of a user (lines
// U<n>) over the same files, some of them taken back.
type history struct {
	t       *testing.T
	w       *Workspace
	rnd     *rand.Rand
	id      string
	sets    []string // applied and not undone, by us; the undo of a set is in it too
	lines   int      // made so far
	undone  int
	refused int
}

var historyFiles = []string{"a.go", "d/b.go", "d/c.go"}

// line returns a new line of its own.
func (h *history) line(who string) string {
	h.lines++
	return fmt.Sprintf("%s%d\n", who, h.lines)
}

// mutate changes some lines of a text: it inserts, replaces and deletes.
func (h *history) mutate(text, who string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + h.rnd.IntN(3) {
		i := h.rnd.IntN(len(lines))
		switch h.rnd.IntN(3) {
		case 0:
			lines = slices.Insert(lines, i, h.line(who))
		case 1:
			lines[i] = h.line(who)
		default:
			lines = slices.Delete(lines, i, i+1)
		}
		if len(lines) == 0 {
			lines = []string{""}
		}
	}
	return strings.Join(lines, "")
}

// apply applies a random set.
func (h *history) apply() {
	h.lines++
	set := Set{ID: fmt.Sprintf("%s-s%d", h.id, h.lines)}
	now := readTree(h.t, h.w.Dir())
	for _, p := range historyFiles {
		if h.rnd.IntN(2) == 0 {
			continue
		}
		text, there := now[p]
		switch {
		case !there:
			set.Changes = append(set.Changes, create(p, h.line("K"+set.ID+".")))
		case h.rnd.IntN(6) == 0:
			set.Changes = append(set.Changes, remove(p, text))
		default:
			if next := h.mutate(text, "K"+set.ID+"."); next != text {
				set.Changes = append(set.Changes, edit(h.t, h.w, p, next))
			}
		}
	}
	if len(set.Changes) == 0 {
		return
	}
	_, err := h.w.Apply(h.t.Context(), set, ApplyOptions{})
	check(h.t, err)
	h.sets = append(h.sets, set.ID)
}

// userEdits changes a file as a user would, without telling anybody.
func (h *history) userEdits() {
	p := filepath.Join(h.w.Dir(), historyFiles[h.rnd.IntN(len(historyFiles))])
	text, err := os.ReadFile(p)
	if err == nil {
		check(h.t, os.WriteFile(p, []byte(h.mutate(string(text), "U")), 0o644))
	}
}

var userLine = regexp.MustCompile(`U\d+\n`)

// undo takes back one of the sets and checks what that did.
func (h *history) undo() {
	if len(h.sets) == 0 {
		return
	}
	i := h.rnd.IntN(len(h.sets))
	id, undoID := h.sets[i], fmt.Sprintf("%s-u%d", h.id, h.lines)
	h.lines++
	before := readTree(h.t, h.w.Dir())
	_, err := h.w.Undo(h.t.Context(), id, undoID, UndoOptions{})
	after := readTree(h.t, h.w.Dir())
	var conflict *ConflictError
	var empty *SetError
	if errors.As(err, &conflict) || errors.As(err, &empty) {
		h.refused++
		if diff := cmp.Diff(before, after); diff != "" {
			h.t.Fatalf("an undo that was refused (%v) changed files: %s", err, diff)
		}
		return
	}
	check(h.t, err)
	h.undone++
	h.sets = slices.Delete(h.sets, i, i+1)
	for p, text := range after {
		if strings.HasPrefix(id, h.id+"-s") && strings.Contains(text, "K"+id+".") {
			h.t.Fatalf("%s still has lines of the undone set %s: %q", p, id, text)
		}
	}
	// Nothing of the user is lost or moved about; what we had deleted comes back.
	for _, p := range historyFiles {
		kept := userLine.FindAllString(after[p], -1)
		for _, line := range userLine.FindAllString(before[p], -1) {
			i := slices.Index(kept, line)
			if i < 0 {
				h.t.Fatalf("the undo of %s lost or moved the user's %q in %s:\n%q\n%q", id, line, p, before[p], after[p])
			}
			kept = kept[i+1:]
		}
	}
	// What is undone and done again is as before.
	_, err = h.w.Undo(h.t.Context(), undoID, "redo-"+undoID, UndoOptions{})
	check(h.t, err)
	if diff := cmp.Diff(before, readTree(h.t, h.w.Dir())); diff != "" {
		h.t.Fatalf("redo after undo of %s is not as before: %s", id, diff)
	}
	if h.rnd.IntN(2) == 0 {
		h.sets = append(h.sets, "redo-"+undoID)
		return
	}
	_, err = h.w.Undo(h.t.Context(), "redo-"+undoID, "again-"+undoID, UndoOptions{})
	check(h.t, err)
	if diff := cmp.Diff(after, readTree(h.t, h.w.Dir())); diff != "" {
		h.t.Fatalf("the second undo of %s is not as the first: %s", id, diff)
	}
}

// An undo takes back our writes and nothing else, whatever the user and other
// sets have done since, or it is refused and changes nothing.
func TestUndoHistories(t *testing.T) {
	histories := 60
	if os.Getenv("KAIAK_RELIABILITY") == "full" {
		histories = 10_000
	}
	l := newLab(t)
	undone, refused := 0, 0
	for seed := range histories {
		dir, err := os.MkdirTemp(l.dir, "")
		check(t, err)
		untouched := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/index": "DIRC", "other": "x"}
		files := maps.Clone(untouched)
		for _, p := range historyFiles {
			files[p] = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
		}
		for p, text := range files {
			check(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755))
			check(t, os.WriteFile(filepath.Join(dir, p), []byte(text), 0o644))
		}
		l.open(t, dir, func(w *Workspace) {
			h := &history{t: t, w: w, rnd: rand.New(rand.NewPCG(uint64(seed), 9)), id: fmt.Sprint("h", seed)}
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			for range 12 {
				switch h.rnd.IntN(5) {
				case 0, 1:
					h.apply()
				case 2:
					h.userEdits()
				default:
					h.undo()
				}
			}
			undone, refused = undone+h.undone, refused+h.refused
		})
		got := readTree(t, dir)
		for p, text := range untouched {
			if got[p] != text {
				t.Fatalf("%s was touched: %q", p, got[p])
			}
		}
		check(t, os.RemoveAll(dir))
	}
	if undone == 0 || refused == 0 {
		t.Errorf("%d undone, %d refused: this tests nothing", undone, refused)
	}
	t.Logf("%d histories: %d undone and done again, %d refused", histories, undone, refused)
}
