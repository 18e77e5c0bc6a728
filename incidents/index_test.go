package incidents

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kaiak/kaiak/workspace"
)

// find is a source for tests: every occurrence of word is an incident.
func find(text []byte, word string) []Incident {
	l := newLines(text)
	var out []Incident
	for at := 0; ; {
		i := strings.Index(string(text[at:]), word)
		if i < 0 {
			AssignIDs(out, nil)
			return out
		}
		s := Span{at + i, at + i + len(word)}
		p := l.Position(s.Start)
		out = append(out, Incident{RuleID: "no-" + word, FilePath: "a.go", LineNumber: p.Line + 1, Severity: Warning, Range: &Range{p, l.Position(s.End)}, Span: s, Snippet: word})
		at = s.End
	}
}

// A buffer is a file that is edited, with its index.
type buffer struct {
	t     *testing.T
	text  []byte
	index *Index
}

func (b *buffer) edit(edits ...workspace.Edit) {
	b.t.Helper()
	after, err := workspace.ApplyEdits(b.text, edits)
	if err != nil {
		b.t.Fatal(err)
	}
	b.index.Rebase("a.go", b.text, after, edits)
	b.text = after
}

func (b *buffer) replace(old, new string) {
	b.t.Helper()
	i := strings.Index(string(b.text), old)
	if i < 0 {
		b.t.Fatalf("no %q in %q", old, b.text)
	}
	b.edit(workspace.Edit{Start: i, End: i + len(old), New: new})
}

func (b *buffer) check(word string) []Incident {
	return b.index.Replace("a.go", "test", find(b.text, word))
}

func ids(list []Incident) (out []string) {
	for _, in := range list {
		out = append(out, in.ID)
	}
	return out
}

func TestIDsAreAssignedOnce(t *testing.T) {
	b := &buffer{t, []byte("one old\ntwo old\nthree old\n"), NewIndex()}
	first := ids(b.check("old"))

	b.replace("one old", "// a line above\none old")
	if got := ids(b.check("old")); !slices.Equal(got, first) {
		t.Fatalf("an edit above renamed %v to %v", first, got)
	}
	b.replace("one old", "one new")
	if got := ids(b.check("old")); !slices.Equal(got, first[1:]) {
		t.Fatalf("fixing the first of three: ids %v, want %v", got, first[1:])
	}
	b.replace("three", "an old\nthree")
	got := ids(b.check("old"))
	if len(got) != 3 || got[0] != first[1] || got[2] != first[2] {
		t.Fatalf("a new one between two renamed them: %v, want %v around it", got, first[1:])
	}
	if slices.Contains(first[1:], got[1]) {
		t.Fatalf("the new one took the id %s of another", got[1])
	}
	if again := ids(b.check("old")); !slices.Equal(again, got) {
		t.Errorf("checking again without an edit renamed %v to %v", got, again)
	}
	if page, _ := b.index.Query(Filter{IDs: got[:1]}, "", 0); page.Total != 1 || page.Incidents[0].LineNumber != 3 {
		t.Errorf("Query by id: %+v", page)
	}
}

func TestATouchedIncidentKeepsItsID(t *testing.T) {
	b := &buffer{t, []byte("x := old(1) + old(2)\n"), NewIndex()}
	l := newLines(b.text)
	list := []Incident{{RuleID: "r", LineNumber: 1, Span: Span{5, 11}, Range: &Range{l.Position(5), l.Position(11)}, Snippet: "old(1)"}}
	id := b.index.Replace("a.go", "test", list)[0].ID
	b.replace("1", "12345")
	in, ok := b.index.Get(id)
	if !ok || in.Snippet != "old(12345)" || in.Span != (Span{5, 15}) || in.Range.End.Character != 15 {
		t.Fatalf("after an edit inside: %+v", in)
	}
	list[0].Span, list[0].Snippet, list[0].Range = Span{5, 15}, "old(12345)", &Range{pos(0, 5), pos(0, 15)}
	if got := b.index.Replace("a.go", "test", list)[0].ID; got != id {
		t.Errorf("what is found at the touched place is %s, want %s", got, id)
	}
}

func TestALineWithoutARangeMoves(t *testing.T) {
	b := &buffer{t, []byte("a\nb\nc\n"), NewIndex()}
	id := b.index.Replace("a.go", "konveyor", []Incident{{RuleID: "r", LineNumber: 3, Snippet: "c"}, {RuleID: "whole", LineNumber: 0}})[1].ID
	b.edit(workspace.Edit{Start: 0, End: 2, New: ""}, workspace.Edit{Start: 4, End: 4, New: "x\ny\nz\n"})
	if in, _ := b.index.Get(id); in.LineNumber != 5 || in.Range != nil {
		t.Errorf("the incident of line c is on line %d, range %v; want 5 and none", in.LineNumber, in.Range)
	}
}

// Edits that do not touch an incident move it exactly with its text.
func TestRebaseFollowsTheText(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for round := range 300 {
		text := []byte(strings.Repeat("ab\n«MARK»\nü😀 cd\r\n", 1+rnd.Intn(5)))
		b := &buffer{t, text, NewIndex()}
		want := ids(b.check("MARK"))
		for range 1 + rnd.Intn(6) {
			var edits []workspace.Edit
			spans := find(b.text, "MARK")
			at := 0
			for range 1 + rnd.Intn(3) {
				start := at + rnd.Intn(len(b.text)-at+1)
				end := min(start+rnd.Intn(6), len(b.text))
				if slices.ContainsFunc(spans, func(in Incident) bool { return start < in.Span.End && end > in.Span.Start }) {
					continue
				}
				edits = append(edits, workspace.Edit{Start: start, End: end, New: strings.Repeat("x\n", rnd.Intn(3))})
				if at = end; at == len(b.text) {
					break
				}
			}
			b.edit(edits...)
		}
		found := find(b.text, "MARK")
		got := b.index.File("a.go")
		for i := range found {
			if i >= len(got) || got[i].Span != found[i].Span || *got[i].Range != *found[i].Range || got[i].LineNumber != found[i].LineNumber || got[i].ID != want[i] {
				t.Fatalf("round %d: incidents %+v, text has them at %+v", round, got, found)
			}
		}
	}
}

func TestQueryPagesAndFilters(t *testing.T) {
	x := NewIndex()
	for f := range 5 {
		var list []Incident
		for n := range 4 {
			list = append(list, Incident{RuleID: fmt.Sprintf("r%d", n%2), LineNumber: n + 1, Severity: []Severity{Error, Warning}[n%2], Message: fmt.Sprintf("Message %d", n), Snippet: fmt.Sprint(n)})
		}
		x.Replace(fmt.Sprintf("d%d/f.go", f), "test", list)
	}
	var all []string
	for cursor, pages := "", 0; ; pages++ {
		page, err := x.Query(Filter{}, cursor, 3)
		if err != nil || page.Total != 20 {
			t.Fatal(page.Total, err)
		}
		all = append(all, ids(page.Incidents)...)
		if pages == 2 { // what leaves the index between two pages moves nothing else
			x.Remove(all[0])
			x.Replace("d0/f.go", "other", []Incident{{RuleID: "new", LineNumber: 9}})
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if slices.Sort(all); len(slices.Compact(all)) != 20 {
		t.Errorf("%d incidents over all pages, want each of 20 once", len(all))
	}
	for name, tt := range map[string]struct {
		f    Filter
		want int
	}{
		"glob":       {Filter{Paths: []string{"d[12]/**"}}, 8},
		"rule":       {Filter{RuleIDs: []string{"r1"}}, 10},
		"severities": {Filter{Severities: []Severity{Error}, Paths: []string{"d3/*"}}, 2},
		"source":     {Filter{Sources: []string{"other"}}, 1},
		"text":       {Filter{Text: "message 2", Paths: []string{"d4/*"}}, 1},
		"none":       {Filter{RuleIDs: []string{"r9"}}, 0},
	} {
		if page, err := x.Query(tt.f, "", 0); err != nil || page.Total != tt.want || len(page.Incidents) != tt.want {
			t.Errorf("%s: %d incidents, %v; want %d", name, page.Total, err, tt.want)
		}
	}
	for _, f := range []Filter{{Paths: []string{"["}}, {Severities: []Severity{"fatal"}}} {
		if _, err := x.Query(f, "", 0); err == nil {
			t.Errorf("Query(%+v): no error", f)
		}
	}
	if _, err := x.Query(Filter{}, "nonsense", 0); err == nil {
		t.Error("a cursor that no page gave: no error")
	}
	c, err := x.Count(Filter{Sources: []string{"test"}})
	want := Counts{Total: 19, ByFile: map[string]int{"d0/f.go": 3, "d1/f.go": 4, "d2/f.go": 4, "d3/f.go": 4, "d4/f.go": 4}, ByRule: map[string]int{"r0": 9, "r1": 10}, BySeverity: map[Severity]int{Error: 9, Warning: 10}, BySource: map[string]int{"test": 19}}
	if diff := cmp.Diff(want, c); err != nil || diff != "" {
		t.Errorf("Count (-want +got):\n%s%v", diff, err)
	}
}

func TestSourcesAreIndependent(t *testing.T) {
	x := NewIndex()
	one := []Incident{{RuleID: "r", LineNumber: 1, Snippet: "s"}}
	a := x.Replace("a.go", "b-source", one)
	x.Replace("a.go", "a-source", one)
	if got := x.File("a.go"); len(got) != 1 || got[0].ID != a[0].ID || got[0].Source != "a-source" {
		t.Errorf("one incident of two sources is listed as %+v", got)
	}
	x.Replace("a.go", "a-source", nil)
	if in, ok := x.Get(a[0].ID); !ok || in.Source != "b-source" {
		t.Errorf("after one source gave it up: %+v, %v", in, ok)
	}
	x.Rename("a.go", "b.go")
	if got := x.File("b.go"); len(got) != 1 || got[0].ID != a[0].ID || got[0].FilePath != "b.go" || len(x.File("a.go")) != 0 {
		t.Errorf("after a rename: %+v", got)
	}
	x.Remove(a[0].ID)
	if c, _ := x.Count(Filter{}); c.Total != 0 {
		t.Errorf("after all are gone: %+v", c)
	}
}

func TestSubscriptionMergesChanges(t *testing.T) {
	x := NewIndex()
	s := x.Subscribe()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 20 {
				x.Replace(fmt.Sprintf("f%d", i), "t", []Incident{{RuleID: "r", LineNumber: n + 1}})
				x.Rebase(fmt.Sprintf("f%d", i), []byte("\n\n"), []byte("\n\n\n"), []workspace.Edit{{New: "\n"}})
				if _, err := x.Query(Filter{}, "", 2); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	<-s.Ready()
	if got := s.Take(); len(got) != 8 || !slices.IsSorted(got) {
		t.Errorf("changed files %v, want 8, sorted", got)
	}
	select {
	case <-s.Ready():
		if got := s.Take(); len(got) > 0 {
			t.Errorf("after all were taken: %v", got)
		}
	default:
	}
	s.Close()
	x.Replace("f0", "t", nil)
	if got := s.Take(); len(got) > 0 {
		t.Errorf("after Close: %v", got)
	}
}
