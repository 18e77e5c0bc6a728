package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

var oldToNew = wordRule{rule: rules.Rule{ID: "old", Category: "mechanical", Message: "old is old"}, find: "oldName", replace: []string{"newName", "otherName"}, severity: incidents.Warning}

func TestRecipeFixesAFile(t *testing.T) {
	ws := testWorkspace(t, map[string]string{"a.go": source("var a = oldName", "var b = oldName")})
	set := wordRules{oldToNew}
	r := fix(t, New(Options{Rules: set}), Task{Workspace: ws, Incidents: []incidents.Incident{at("2", "old", "a.go", 4), at("1", "old", "a.go", 3)}})
	if len(r.candidates) != 1 || len(r.leftovers) != 0 {
		t.Fatalf("candidates %+v, leftovers %+v; want one candidate", r.candidates, r.leftovers)
	}
	c := r.candidates[0]
	if got, want := result(t, ws, c, "a.go"), source("var a = newName", "var b = newName"); got != want {
		t.Errorf("result\n%s\nwant\n%s", got, want)
	}
	if want := []string{"1", "2"}; !reflect.DeepEqual(c.IncidentIDs, want) {
		t.Errorf("incidents %v, want %v", c.IncidentIDs, want)
	}
	if len(c.Hunks) != 2 || !reflect.DeepEqual(c.Hunks[0].IncidentIDs, []string{"1"}) {
		t.Errorf("hunks %+v, want one per incident in the order of the file", c.Hunks)
	}
	if c.Evidence.Tier != "R1" || c.Confidence != .97 {
		t.Errorf("confidence %v in tier %s, want 0.97 in R1", c.Confidence, c.Evidence.Tier)
	}
	for i := 1; i < len(r.percent); i++ {
		if r.percent[i] < r.percent[i-1] {
			t.Errorf("progress goes back: %v", r.percent)
		}
	}
}

func TestLeftoversSayWhy(t *testing.T) {
	set := wordRules{
		oldToNew,
		{rule: rules.Rule{ID: "find-only", Note: "Only a reader can tell.\n"}, find: "plain", severity: incidents.Warning},
		{rule: rules.Rule{ID: "refused"}, find: "risky", replace: []string{"safe"}, refuse: rules.RefusedShadowed, severity: incidents.Warning},
		{rule: rules.Rule{ID: "breaks"}, find: "broken", replace: []string{"((("}, severity: incidents.Warning},
		{rule: rules.Rule{ID: "again"}, find: "same", replace: []string{"same // same"}, severity: incidents.Warning},
		{rule: rules.Rule{ID: "causes"}, find: "cause", replace: []string{"effect"}, severity: incidents.Warning},
		{rule: rules.Rule{ID: "watches"}, find: "effect", severity: incidents.Error},
	}
	files := map[string]string{
		"ok.go":     source("var a = oldName", "var b = plain", "var c = risky", "var d = broken", "var e = same", "var f = cause"),
		"latin1.go": "package p // \xe9 oldName\n",
		"go.sum":    "oldName\n",
	}
	ws := testWorkspace(t, files)
	list := []incidents.Incident{
		at("fixed", "old", "ok.go", 3), at("find-only", "find-only", "ok.go", 4), at("refused", "refused", "ok.go", 5),
		at("breaks", "breaks", "ok.go", 6), at("again", "again", "ok.go", 7), at("causes", "causes", "ok.go", 8),
		at("unknown", "nobody", "ok.go", 3), at("elsewhere", "old", "ok.go", 5), at("encoding", "old", "latin1.go", 1),
		at("missing", "old", "gone.go", 1), at("outside", "old", "../x.go", 1),
	}
	r := fix(t, New(Options{Rules: set}), Task{Workspace: ws, Incidents: list})
	if len(r.candidates) != 1 || !reflect.DeepEqual(r.candidates[0].IncidentIDs, []string{"fixed"}) {
		t.Fatalf("candidates %+v, want one for the incident that can be fixed", r.candidates)
	}
	if got := result(t, ws, r.candidates[0], "ok.go"); !strings.Contains(got, "newName") || !strings.Contains(got, "broken") {
		t.Errorf("the good part is not kept alone:\n%s", got)
	}
	for _, tt := range []struct {
		id   string
		kind rules.RefusalKind
		v    Verdict
		says string
	}{
		{"find-only", rules.RefusedNoFix, Skipped, "has no fix: Only a reader can tell."},
		{"refused", rules.RefusedShadowed, Skipped, "refused by the test"},
		{"breaks", rules.RefusedParse, Unfixed, "syntax error"},
		{"again", rules.RefusedStillMatches, Unfixed, "still matches"},
		{"causes", rules.RefusedUnsafe, Unfixed, "rule watches matches the result"},
		{"unknown", rules.RefusedNoFix, Skipped, "no rule has a fix for nobody"},
		{"elsewhere", rules.RefusedNoFix, Skipped, "no longer matches here"},
		{"encoding", rules.RefusedEncoding, Skipped, "not UTF-8"},
		{"missing", rules.RefusedUnsafe, Skipped, "does not exist"},
		{"outside", rules.RefusedUnsafe, Skipped, "out of the workspace"},
	} {
		l := r.reason(t, tt.id)
		if l.Kind != tt.kind || l.Verdict != tt.v || !strings.Contains(l.Reason, tt.says) {
			t.Errorf("%s: %+v, want %s, %s, …%s…", tt.id, l, tt.kind, tt.v, tt.says)
		}
	}
	if len(r.leftovers) != len(list)-1 {
		t.Errorf("%d leftovers for %d incidents", len(r.leftovers), len(list)-1)
	}
}

// One foreign id may be bound to many rules. Only what matches in an incident's
// place has to be gone from the result.
func TestForeignIncidentOfManyRules(t *testing.T) {
	set := wordRules{
		{rule: rules.Rule{ID: "read"}, find: "oldRead", replace: []string{"newRead"}, severity: incidents.Warning, fixes: []string{"SA1019"}},
		{rule: rules.Rule{ID: "write"}, find: "oldWrite", replace: []string{"newWrite"}, severity: incidents.Warning, fixes: []string{"SA1019"}},
	}
	ws := testWorkspace(t, map[string]string{"a.go": source("var a = oldRead", "var b = oldWrite")})
	r := fix(t, New(Options{Rules: set}), Task{Workspace: ws, Incidents: []incidents.Incident{at("1", "SA1019", "a.go", 3)}})
	if len(r.candidates) != 1 {
		t.Fatalf("candidates %+v, leftovers %+v; want one candidate", r.candidates, r.leftovers)
	}
	if got, want := result(t, ws, r.candidates[0], "a.go"), source("var a = newRead", "var b = oldWrite"); got != want {
		t.Errorf("result\n%s\nwant\n%s", got, want)
	}
}

func TestAlternateFix(t *testing.T) {
	ws := testWorkspace(t, map[string]string{"a.go": source("var a = oldName")})
	task := Task{Workspace: ws, Incidents: []incidents.Incident{at("1", "old", "a.go", 3)}, Alternate: 1}
	r := fix(t, New(Options{Rules: wordRules{oldToNew}}), task)
	if len(r.candidates) != 1 || !strings.Contains(result(t, ws, r.candidates[0], "a.go"), "otherName") {
		t.Errorf("candidates %+v, want the second alternative", r.candidates)
	}
	task.Alternate = 2
	r = fix(t, New(Options{Rules: wordRules{oldToNew}}), task)
	if l := r.reason(t, "1"); !strings.Contains(l.Reason, "no alternative 2") {
		t.Errorf("leftover %+v", l)
	}
}

func TestForeignIncident(t *testing.T) {
	set := wordRules{oldToNew}
	set[0].fixes = []string{"SA1019"}
	ws := testWorkspace(t, map[string]string{"a.go": source("var a = oldName")})
	own, foreign := at("own", "old", "a.go", 3), at("foreign", "SA1019", "a.go", 3)
	foreign.Source = "staticcheck"
	f := New(Options{Rules: set})

	r := fix(t, f, Task{Workspace: ws, Incidents: []incidents.Incident{foreign}})
	if len(r.candidates) != 1 || r.candidates[0].Evidence.Tier != "R2" {
		t.Fatalf("candidates %+v, want one in R2: its own source did not look again", r.candidates)
	}
	// Both sources report the same place: one hunk fixes both.
	r = fix(t, f, Task{Workspace: ws, Incidents: []incidents.Incident{own, foreign}})
	if len(r.candidates) != 1 || len(r.candidates[0].Hunks) != 1 || len(r.candidates[0].Hunks[0].IncidentIDs) != 2 {
		t.Fatalf("candidates %+v, leftovers %+v; want one hunk for both", r.candidates, r.leftovers)
	}
	// A source that looks again makes it certain, or forbids it.
	f = New(Options{Rules: set, Diagnostics: diagnose{before: []incidents.Incident{foreign}}})
	r = fix(t, f, Task{Workspace: ws, Incidents: []incidents.Incident{foreign}})
	if len(r.candidates) != 1 || r.candidates[0].Evidence.Tier != "R1" {
		t.Errorf("candidates %+v, want one in R1", r.candidates)
	}
	f = New(Options{Rules: set, Diagnostics: diagnose{before: []incidents.Incident{foreign}, after: []incidents.Incident{foreign}}})
	if r = fix(t, f, Task{Workspace: ws, Incidents: []incidents.Incident{foreign}}); len(r.candidates) != 0 {
		t.Errorf("candidates %+v, want none: it is still reported", r.candidates)
	}
	fresh := at("", "undefined", "a.go", 3)
	fresh.Severity = incidents.Error
	f = New(Options{Rules: set, Diagnostics: diagnose{before: []incidents.Incident{foreign}, after: []incidents.Incident{fresh}}})
	if r = fix(t, f, Task{Workspace: ws, Incidents: []incidents.Incident{foreign}}); len(r.candidates) != 0 {
		t.Errorf("candidates %+v, want none: something new is reported", r.candidates)
	}
}

type diagnose struct{ before, after []incidents.Incident }

func (d diagnose) Diagnose(context.Context, *workspace.Workspace, []workspace.Change) (before, after []incidents.Incident, err error) {
	return d.before, d.after, nil
}

func TestOfferedFixes(t *testing.T) {
	ws := testWorkspace(t, map[string]string{"a.go": source("var aé = 1"), "b.go": source("var b = 1")})
	edit := func(path, text string, from, to int) incidents.FixEdit {
		return incidents.FixEdit{FilePath: path, NewText: text, Range: incidents.Range{Start: incidents.Position{Line: 2, Character: from}, End: incidents.Position{Line: 2, Character: to}}}
	}
	single, double, bad := at("single", "S", "a.go", 3), at("double", "D", "a.go", 3), at("bad", "B", "b.go", 3)
	single.Fixes = []incidents.Fix{{Edits: []incidents.FixEdit{edit("a.go", "2", 9, 10)}}}
	double.Fixes = []incidents.Fix{{Title: "Rename both", Edits: []incidents.FixEdit{edit("a.go", "c", 4, 6), edit("b.go", "c", 4, 5)}}}
	bad.Fixes = []incidents.Fix{{Edits: []incidents.FixEdit{edit("b.go", "{{{", 8, 9)}}}
	r := fix(t, New(Options{Rules: wordRules{oldToNew}}), Task{Workspace: ws, Incidents: []incidents.Incident{single, double, bad}})
	if len(r.candidates) != 2 {
		t.Fatalf("candidates %+v, leftovers %+v; want two", r.candidates, r.leftovers)
	}
	if got, want := result(t, ws, r.candidates[0], "a.go"), source("var aé = 2"); got != want {
		t.Errorf("result %q, want %q", got, want)
	}
	set := r.candidates[1]
	if len(set.Changes) != 2 || set.Description != "Rename both" || set.Evidence.Checks[CheckRule] != Unchecked {
		t.Errorf("set %+v, want two files together", set)
	}
	if got, want := result(t, ws, set, "b.go"), source("var c = 1"); got != want {
		t.Errorf("result %q, want %q", got, want)
	}
	if l := r.reason(t, "bad"); l.Kind != rules.RefusedParse {
		t.Errorf("leftover %+v, want the parse check to refuse it", l)
	}
}

// The same task gives the same answers in the same order on any number of processors.
func TestFixIsDeterministic(t *testing.T) {
	files := map[string]string{}
	var list []incidents.Incident
	for i := range 40 {
		name := fmt.Sprintf("f%02d.go", i)
		files[name] = source("var a = oldName", "var b = oldName")
		list = append(list, at(fmt.Sprint(name, 4), "old", name, 4), at(fmt.Sprint(name, 3), "old", name, 3), at(fmt.Sprint(name, 9), "none", name, 3))
	}
	ws := testWorkspace(t, files)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want *recorder
	for _, procs := range []int{1, 2, 16} {
		runtime.GOMAXPROCS(procs)
		r := fix(t, New(Options{Rules: wordRules{oldToNew}}), Task{Workspace: ws, Incidents: list})
		if want == nil {
			want = r
		}
		if !reflect.DeepEqual(r.candidates, want.candidates) || !reflect.DeepEqual(r.leftovers, want.leftovers) || !reflect.DeepEqual(r.percent, want.percent) {
			t.Errorf("GOMAXPROCS=%d gives another result", procs)
		}
	}
	if len(want.candidates) != 40 {
		t.Errorf("%d candidates, want 40", len(want.candidates))
	}
}

func TestFixIsCancelled(t *testing.T) {
	ws := testWorkspace(t, map[string]string{"a.go": source("var a = oldName")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := &recorder{}
	err := New(Options{Rules: wordRules{oldToNew}}).Fix(ctx, Task{Workspace: ws, Incidents: []incidents.Incident{at("1", "old", "a.go", 3)}}, r)
	if !errors.Is(err, context.Canceled) || len(r.candidates) != 0 {
		t.Errorf("err %v, candidates %+v; want cancelled and none", err, r.candidates)
	}
}

// fakeModel fixes what the recipes leave by a whole-word edit of its own.
type fakeModel struct {
	jobs []ModelJob
	err  error
}

func (m *fakeModel) Fix(ctx context.Context, job ModelJob) ([]Candidate, []Leftover, error) {
	m.jobs = append(m.jobs, job)
	if m.err != nil {
		return nil, nil, m.err
	}
	in := job.Incidents[0]
	d := Draft{Engine: Model, Incidents: job.Incidents[:1], Description: "by the model", Files: []DraftFile{{
		Kind: workspace.EditFile, Path: job.File.Path, Base: job.File, Edits: []workspace.Edit{{Start: in.Span.Start, End: in.Span.End, New: "var z = 2"}}}}}
	c, flaws, err := job.Inspect(ctx, d)
	if err != nil || len(flaws) > 0 {
		return nil, nil, fmt.Errorf("flaws %v: %w", flaws, err)
	}
	return []Candidate{c}, nil, nil
}

func TestModelGetsWhatRecipesLeave(t *testing.T) {
	ws := testWorkspace(t, map[string]string{"a.go": source("var longer = oldName", "var z = 1")})
	model := &fakeModel{}
	task := Task{Workspace: ws, Engines: []EngineName{Recipe, Model}, Context: map[string]any{"target_version": "2"},
		Incidents: []incidents.Incident{at("r", "old", "a.go", 3), at("m", "other", "a.go", 4), at("n", "third", "a.go", 4)}}
	r := fix(t, New(Options{Rules: wordRules{oldToNew}, Model: model}), task)
	if len(r.candidates) != 2 || len(model.jobs) != 1 {
		t.Fatalf("candidates %+v, leftovers %+v, jobs %d", r.candidates, r.leftovers, len(model.jobs))
	}
	job := model.jobs[0]
	if len(job.Incidents) != 2 || len(job.Leftovers) != 2 || !strings.Contains(job.Leftovers[0].Reason, "no rule") {
		t.Errorf("job %+v, want the two leftovers with their reasons", job)
	}
	if !strings.Contains(string(job.File.Text), "newName") {
		t.Errorf("the model works on %q, want the text with the recipes' fix", job.File.Text)
	}
	if got := r.candidates[1].Changes[0].BaseSHA256; got != r.candidates[0].Changes[0].ProposedSHA256 {
		t.Errorf("the model's candidate is based on %s, not on the recipes' result", got)
	}
	if got := r.candidates[1].Evidence.Tier; got != "L2" {
		t.Errorf("tier %s, want L2", got)
	}
	if l := r.reason(t, "n"); l.Verdict != Unfixed {
		t.Errorf("leftover %+v, want the incident that the model forgot", l)
	}

	r = fix(t, New(Options{Rules: wordRules{oldToNew}, Model: &fakeModel{err: errors.New("no endpoint")}}), task)
	if l := r.reason(t, "m"); len(r.candidates) != 1 || l.Verdict != Failed || !strings.Contains(l.Reason, "no endpoint") {
		t.Errorf("candidates %d, leftover %+v; want the recipe's candidate and the reason", len(r.candidates), l)
	}
}
