package rules_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// project writes files into a new workspace.
func project(t testing.TB, files map[string]string) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
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

const fooRule = "id: foo\nlanguage: js\nmessage: found $A\nrule: {pattern: foo($A)}\nfix: bar($A)\n"

func TestScanIsInOrderWhateverTheWorkers(t *testing.T) {
	files := map[string]string{".gitignore": "ignored/\n", "ignored/x.js": "foo(1)", "big.js": strings.Repeat("foo(1)\n", 200_000), "bin.js": "foo(1)\x00", "other.txt": "foo(1)"}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%03d.js", i%7, i)] = strings.Repeat("x();\n", i%50) + "foo(1); foo(2)\n"
	}
	ws := project(t, files)
	set := loadText(t, fooRule)
	var first []string
	for _, workers := range []int{1, 2, 8} {
		var got []string
		err := set.Scan(context.Background(), ws, rules.ScanOptions{Workers: workers}, func(r rules.FileResult) error {
			line := r.Path
			for _, m := range r.Matches {
				line += " " + m.Incident.ID
			}
			if r.Skipped != nil {
				line += " skipped: " + string(r.Skipped.Kind)
			}
			got = append(got, line)
			return r.Err
		})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
			if len(got) != 302 {
				t.Errorf("%d results, want 300 files with matches and 2 that are skipped", len(got))
			}
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "big.js skipped") }) || !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "bin.js skipped") }) {
				t.Errorf("what was skipped is not said: %v", got[:4])
			}
			if !slices.IsSorted(got) {
				t.Error("the order is not that of the walk")
			}
		} else if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("with %d workers the result differs:\n%s", workers, diff)
		}
	}
}

func TestScanEndsWithItsContextAndCallback(t *testing.T) {
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("f%03d.js", i)] = "foo(1)"
	}
	ws := project(t, files)
	set := loadText(t, fooRule)
	stop := errors.New("enough")
	calls := 0
	err := set.Scan(context.Background(), ws, rules.ScanOptions{}, func(rules.FileResult) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%v after %d calls, want the callback's error after one", err, calls)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls = 0
	err = set.Scan(ctx, ws, rules.ScanOptions{}, func(rules.FileResult) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls == len(files) {
		t.Errorf("%v after %d calls, want it to be cancelled before the end", err, calls)
	}
}

func TestIdentitySurvivesEditsAbove(t *testing.T) {
	set := loadText(t, fooRule)
	ids := func(text string) (out []string) {
		matches, err := set.Check(context.Background(), &workspace.File{Path: "a.js", Text: []byte(text)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			out = append(out, m.Incident.ID)
		}
		return out
	}
	const code = "function f() { foo(1); foo(1) }\nfunction g() { foo(1) }\n"
	before := ids(code)
	after := ids("// new line\nfoo(2)\n\n" + code)
	if len(before) != 3 || before[0] == before[1] || before[0] == before[2] {
		t.Fatalf("ids are not three: %v", before)
	}
	if diff := cmp.Diff(before, after[1:]); diff != "" {
		t.Error(diff)
	}
}

func TestMatchOfForeignIncidents(t *testing.T) {
	set := loadText(t, strings.Replace(fooRule, "fix:", "metadata: {fixes: [SA1019, 'eap7/*']}\nfix:", 1))
	file := &workspace.File{Path: "a.js", Text: []byte("foo(1);\nfoo(2); foo(3);\ncall(\n  foo(4));\n// ä𐀀 foo(5)\nx = 'ä𐀀'; foo(6);\n")}
	for _, c := range []struct {
		name string
		in   incidents.Incident
		want string
	}{
		{"line", incidents.Incident{ID: "i", RuleID: "SA1019", LineNumber: 1}, "foo(1)"},
		{"line with two", incidents.Incident{ID: "i", RuleID: "eap7/javax-1", LineNumber: 2}, "foo(2) foo(3)"},
		{"whole file", incidents.Incident{ID: "i", RuleID: "SA1019"}, "foo(1) foo(2) foo(3) foo(4) foo(6)"},
		{"range", incidents.Incident{ID: "i", RuleID: "SA1019", LineNumber: 2, Range: &incidents.Range{Start: incidents.Position{Line: 1, Character: 8}, End: incidents.Position{Line: 1, Character: 14}}}, "foo(3)"},
		{"a point in the code", incidents.Incident{ID: "i", RuleID: "SA1019", Range: &incidents.Range{Start: incidents.Position{Line: 1, Character: 9}, End: incidents.Position{Line: 1, Character: 9}}}, "foo(3)"},
		{"after wide characters", incidents.Incident{ID: "i", RuleID: "SA1019", Range: &incidents.Range{Start: incidents.Position{Line: 5, Character: 11}, End: incidents.Position{Line: 5, Character: 17}}}, "foo(6)"},
		{"another line", incidents.Incident{ID: "i", RuleID: "SA1019", LineNumber: 5}, ""},
		{"another rule", incidents.Incident{ID: "i", RuleID: "SA1020", LineNumber: 1}, ""},
	} {
		matches, err := set.Match(context.Background(), file, nil, c.in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range matches {
			if m.Incident.ID != "i" || m.Incident.RuleID != c.in.RuleID {
				t.Errorf("%s: the match has the incident %s of %s", c.name, m.Incident.ID, m.Incident.RuleID)
			}
			got = append(got, string(file.Text[m.Incident.Span.Start:m.Incident.Span.End]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
	// One of the rule's own incidents is found by its id, though its line moved.
	own, err := set.Check(context.Background(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := own[3].Incident
	in.LineNumber, in.Range = 99, nil
	matches, err := set.Match(context.Background(), file, nil, in)
	if err != nil || len(matches) != 1 || matches[0].Incident.Snippet != "foo(4)" {
		t.Errorf("by id: %v, %v", matches, err)
	}
}

func TestLoadSources(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yml"), []byte("\xef\xbb\xbf"+fooRule), 0o600); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"missing.yml":      "rules missing.yml: no such file or directory",
		"builtin:nonsense": "there is no such pack; there are ",
	} {
		if _, _, err := rules.Load(ctx, []string{source}, rules.LoadOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
	// The same file twice is no problem; a rule can be switched off.
	set, problems, err := rules.Load(ctx, []string{"a.yml", filepath.Join(dir, "a.yml"), "a.yml"}, rules.LoadOptions{Dir: dir, Off: []string{"f*"}})
	if err != nil || len(set.Rules()) != 1 {
		t.Errorf("%d rules, %v %v", len(set.Rules()), problems, err)
	}
	if !set.Rules()[0].Off || set.Applies("a.js") {
		t.Error("the rule is not off")
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := rules.Load(canceled, []string{"a.yml"}, rules.LoadOptions{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

func TestDefaultPacksAreForProjectsThatTheyConcern(t *testing.T) {
	ctx := context.Background()
	packs, err := rules.Packs()
	if err != nil || len(packs) == 0 {
		t.Fatal(len(packs), err)
	}
	used := func(ws *workspace.Workspace, sources ...string) []string {
		set, problems, err := rules.Load(ctx, sources, rules.LoadOptions{Workspace: ws})
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		var ids []string
		for _, r := range set.Rules() {
			if r.Pack == "" {
				t.Errorf("rule %s of a pack does not say so", r.ID)
			}
			if !slices.Contains(ids, r.Pack) {
				ids = append(ids, r.Pack)
			}
		}
		slices.Sort(ids)
		return ids
	}
	if got := used(project(t, map[string]string{"a.txt": ""}), "builtin"); slices.Contains(got, "jakarta-ee9") {
		t.Errorf("a project without Java has %v", got)
	}
	java := project(t, map[string]string{"src/A.java": "import javax.servlet.Filter;\nclass A {}\n", "pom.xml": "<project/>"})
	if got := used(java, "builtin"); !slices.Contains(got, "jakarta-ee9") || slices.Contains(got, "go-deprecated") {
		t.Errorf("a project with javax imports has %v", got)
	}
	if got := used(project(t, map[string]string{"a.txt": ""}), "builtin:jakarta-ee9"); !slices.Equal(got, []string{"jakarta-ee9"}) {
		t.Errorf("a pack that is named is not loaded: %v", got)
	}
}

func TestLintSaysWhatWasProbablyNotMeant(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yml")
	if err := os.WriteFile(file, []byte("id: a\nlanguage: go\nmessage: m\nrule:\n  pattern: fmt.Println($A)\n---\nid: b\nlanguage: js\nrule: {kind: call_expression, has: {pattern: 'foo($A'}}\nmetadata: {fixes: [x]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	problems, n, err := rules.Lint(context.Background(), []string{file}, rules.LoadOptions{})
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Where+": "+p.Reason[:min(60, len(p.Reason))])
	}
	want := []string{
		"line 5, column 12: rule a: the pattern reads as a conversion to a type, not as ",
		"line 9, column 46: rule b: the pattern is not valid javascript by itself, so it",
		"line 7: rule b: it has no `message`, so that those who see its incid",
		"line 7: rule b: `metadata.fixes` binds it to other tools' rules, but",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(fooRule, "foo(1)")
	f.Add("id: x\nlanguage: js\nseverity: off\nfiles: ['**']\nlabels: {A: {style: primary}}\nmetadata: {imports: {add: [x]}, steps: [{findReplace: {find: a, replace: b}}]}\nrule: {pattern: $A()}", "x()")
	f.Fuzz(func(t *testing.T, text, code string) {
		if len(text) > 2000 || len(code) > 1000 {
			t.Skip()
		}
		file := filepath.Join(t.TempDir(), "r.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		set, problems, err := rules.Load(context.Background(), []string{file}, rules.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if p.Reason == "" || p.Where == "" {
				t.Errorf("a problem that says nothing: %+v", p)
			}
		}
		for _, path := range []string{"a.js", "a.go"} {
			in := &workspace.File{Path: path, Text: []byte(code)}
			matches, err := set.Check(context.Background(), in, nil)
			if err != nil {
				continue
			}
			rw, err := set.Rewrite(context.Background(), in, nil, matches)
			if err != nil {
				t.Fatal(err)
			}
			var edits []workspace.Edit
			for _, h := range rw.Hunks {
				edits = append(edits, h.Edits...)
			}
			if _, err := workspace.ApplyEdits(in.Text, edits); err != nil {
				t.Errorf("hunks do not apply: %v", err)
			}
		}
	})
}
