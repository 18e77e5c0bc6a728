package rules_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

var update = flag.Bool("update", false, "write what comes out into the fixtures")

// TestFixtures runs testdata/*.txtar. A fixture is a project: rules below
// rules/ (or an sgconfig.yml), sources, and what has to come out: "want" lists
// matches, refusals and problems; fixed/PATH is a source after its fixes. Every
// rewrite is run a second time: it must change nothing more.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := runFixture(t, archive)
			if *update {
				if err := os.WriteFile(f, txtar.Format(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("run with -update to accept (-want +got):\n%s", diff)
			}
		})
	}
}

// isOutput tells what a run writes from what a fixture's author does.
func isOutput(name string) bool { return name == "want" || strings.HasPrefix(name, "fixed/") }

func runFixture(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	dir := t.TempDir()
	out := &txtar.Archive{Comment: archive.Comment}
	var sources []string
	for _, f := range archive.Files {
		if isOutput(f.Name) {
			continue
		}
		out.Files = append(out.Files, f)
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		text := f.Data
		if strings.Contains(string(archive.Comment), "crlf") {
			text = []byte(strings.ReplaceAll(string(text), "\n", "\r\n"))
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(f.Name, "rules/") && !strings.HasPrefix(f.Name, "utils/") && f.Name != "sgconfig.yml" {
			sources = append(sources, f.Name)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	source := "rules"
	if slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "sgconfig.yml" }) {
		source = "."
	}
	ctx := context.Background()
	set, problems, err := rules.Load(ctx, []string{source}, rules.LoadOptions{Dir: dir, Workspace: ws})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&want, "problem %s\n", p)
	}
	slices.Sort(sources)
	for _, name := range sources {
		file, err := ws.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		matches, err := set.Check(ctx, file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			in := m.Incident
			fmt.Fprintf(&want, "%s:%d:%d %s %s: %s\n", name, in.LineNumber, in.Range.Start.Character+1, in.Severity, in.RuleID, in.Message)
			for _, l := range m.Labels {
				fmt.Fprintf(&want, "    %s %q %s\n", l.Style, file.Text[l.Span.Start:l.Span.End], l.Message)
			}
			for _, f := range m.Fixes[min(1, len(m.Fixes)):] {
				fmt.Fprintf(&want, "    or %q: %s\n", f.Title, preview(t, file.Text, f.Edits))
			}
		}
		fixed, refused := rewrite(t, set, file, matches)
		want.WriteString(refused)
		if string(fixed) == string(file.Text) {
			continue
		}
		shown := fixed
		if strings.Contains(string(archive.Comment), "crlf") {
			shown = []byte(strings.ReplaceAll(strings.ReplaceAll(string(fixed), "\r\n", "\n"), "\r", "<CR>"))
		}
		out.Files = append(out.Files, txtar.File{Name: "fixed/" + name, Data: shown})
		again := &workspace.File{Path: name, Text: fixed}
		matches, err = set.Check(ctx, again, nil)
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := rewrite(t, set, again, matches); string(twice) != string(fixed) {
			t.Errorf("%s: a second run changes the text again:\n%s", name, cmp.Diff(string(fixed), string(twice)))
		}
	}
	out.Files = append(out.Files, txtar.File{Name: "want", Data: []byte(want.String())})
	return out
}

func preview(t *testing.T, text []byte, edits []workspace.Edit) string {
	out, err := workspace.ApplyEdits(text, edits)
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(string(out))
}

// rewrite applies what Rewrite proposes and lists what it refuses.
func rewrite(t *testing.T, set *rules.Set, file *workspace.File, matches []rules.Match) (fixed []byte, refused string) {
	var fixable []rules.Match
	for _, m := range matches {
		if m.Rule.Fixable() {
			fixable = append(fixable, m)
		}
	}
	rw, err := set.Rewrite(context.Background(), file, nil, fixable)
	if err != nil {
		t.Fatal(err)
	}
	var edits []workspace.Edit
	var b strings.Builder
	seen := map[string]int{}
	for _, h := range rw.Hunks {
		edits = append(edits, h.Edits...)
		for _, id := range h.IncidentIDs {
			seen[id]++
		}
	}
	for _, r := range rw.Refused {
		seen[r.IncidentID]++
		fmt.Fprintf(&b, "refused %s %s: %s\n", r.RuleID, r.Kind, r.Detail)
	}
	for _, m := range fixable {
		if seen[m.Incident.ID] != 1 {
			t.Errorf("%s: the incident of %s in line %d is fixed or refused %d times, not once", file.Path, m.Rule.ID, m.Incident.LineNumber, seen[m.Incident.ID])
		}
	}
	fixed, err = workspace.ApplyEdits(file.Text, edits)
	if err != nil {
		t.Fatal(err)
	}
	return fixed, b.String()
}
