package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// wordRule finds every occurrence of a text and replaces it: the smallest rule
// there can be, for tests of what happens around rules.
type wordRule struct {
	rule     rules.Rule
	find     string
	replace  []string // alternatives; none: the rule has no fix
	severity incidents.Severity
	fixes    []string // foreign rule ids
	refuse   rules.RefusalKind
}

type wordRules []wordRule

func (w wordRules) ForIncident(in incidents.Incident) []*rules.Rule {
	var out []*rules.Rule
	for i := range w {
		if w[i].rule.ID == in.RuleID || slices.Contains(w[i].fixes, in.RuleID) {
			out = append(out, &w[i].rule)
		}
	}
	return out
}

func (w wordRules) Check(ctx context.Context, file *workspace.File, _ *treesitter.Tree) ([]rules.Match, error) {
	var out []rules.Match
	for i := range w {
		r := &w[i]
		for at := 0; ; {
			n := bytes.Index(file.Text[at:], []byte(r.find))
			if n < 0 {
				break
			}
			start := at + n
			at = start + len(r.find)
			m := rules.Match{Rule: &r.rule, Incident: incidents.Incident{
				RuleID: r.rule.ID, FilePath: file.Path, Severity: r.severity, Message: r.rule.Message, Source: "kaiak",
				LineNumber: 1 + bytes.Count(file.Text[:start], []byte("\n")), Span: incidents.Span{Start: start, End: at},
			}}
			for _, alt := range r.replace {
				m.Fixes = append(m.Fixes, rules.Fix{Edits: []workspace.Edit{{Start: start, End: at, New: alt}}})
			}
			out = append(out, m)
		}
	}
	return out, nil
}

func (w wordRules) Match(ctx context.Context, file *workspace.File, tree *treesitter.Tree, in incidents.Incident) ([]rules.Match, error) {
	all, _ := w.Check(ctx, file, tree)
	bound := w.ForIncident(in)
	var out []rules.Match
	for _, m := range all {
		if slices.Contains(bound, m.Rule) && m.Incident.LineNumber == in.LineNumber {
			out = append(out, m)
		}
	}
	return out, nil
}

func (w wordRules) Rewrite(ctx context.Context, file *workspace.File, tree *treesitter.Tree, matches []rules.Match) (rules.Rewrite, error) {
	var rw rules.Rewrite
	for _, m := range matches {
		i := slices.IndexFunc(w, func(r wordRule) bool { return r.rule.ID == m.Rule.ID })
		if w[i].refuse != "" {
			rw.Refused = append(rw.Refused, rules.Refusal{IncidentID: m.Incident.ID, RuleID: m.Rule.ID, Kind: w[i].refuse, Detail: "refused by the test"})
			continue
		}
		rw.Hunks = append(rw.Hunks, rules.Hunk{Path: file.Path, Edits: m.Fixes[0].Edits, IncidentIDs: []string{m.Incident.ID}, RuleID: m.Rule.ID})
	}
	return rw, nil
}

// recorder writes down what a listener hears.
type recorder struct {
	mu         sync.Mutex
	candidates []Candidate
	leftovers  []Leftover
	percent    []int
}

func (r *recorder) Progress(p int, phase, description string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.percent = append(r.percent, p)
}

func (r *recorder) Candidate(c Candidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.candidates = append(r.candidates, c)
}

func (r *recorder) Leftover(l Leftover) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leftovers = append(r.leftovers, l)
}

func (r *recorder) reason(t *testing.T, id string) Leftover {
	t.Helper()
	for _, l := range r.leftovers {
		if l.IncidentID == id {
			return l
		}
	}
	t.Fatalf("no leftover for %s in %+v", id, r.leftovers)
	return Leftover{}
}

func testWorkspace(t *testing.T, files map[string]string) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// at makes an incident of a rule in a line.
func at(id, rule, path string, line int) incidents.Incident {
	return incidents.Incident{ID: id, RuleID: rule, FilePath: path, LineNumber: line, Severity: incidents.Warning, Message: rule + " was found", Source: "kaiak"}
}

func fix(t *testing.T, f *Fixer, task Task) *recorder {
	t.Helper()
	r := &recorder{}
	if err := f.Fix(context.Background(), task, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// result applies a candidate's change of one file to the workspace's text.
func result(t *testing.T, ws *workspace.Workspace, c Candidate, path string) string {
	t.Helper()
	for _, change := range c.Changes {
		if change.Path != path {
			continue
		}
		base, err := ws.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if base.SHA256 != change.BaseSHA256 {
			t.Fatalf("%s: base is %s, the change binds %s", path, base.SHA256, change.BaseSHA256)
		}
		text, err := workspace.ApplyEdits(base.Text, change.Edits)
		if err != nil {
			t.Fatal(err)
		}
		if got := workspace.SHA256(text); got != change.ProposedSHA256 {
			t.Fatalf("%s: the result is %s, the change binds %s", path, got, change.ProposedSHA256)
		}
		return string(text)
	}
	t.Fatalf("no change of %s in %s", path, fmt.Sprint(c.Changes))
	return ""
}

func source(words ...string) string {
	return "package p\n\n" + strings.Join(words, "\n") + "\n"
}
