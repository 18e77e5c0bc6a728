package konveyor

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/incidents"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// An archive is a project (files below "app/"), its rules (below "rules/") and
// what a run is to report ("want").
type archive struct {
	name  string
	data  *txtar.Archive
	rules fs.FS
	app   fs.FS
}

func readArchive(t testing.TB, name string) *archive {
	t.Helper()
	data, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := txtar.FS(data)
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{name: name, data: data}
	if a.rules, err = fs.Sub(whole, "rules"); err != nil {
		t.Fatal(err)
	}
	if a.app, err = fs.Sub(whole, "app"); err != nil {
		t.Fatal(err)
	}
	return a
}

// want compares got with a golden part of the archive.
func (a *archive) want(t *testing.T, part, got string) {
	t.Helper()
	i := slices.IndexFunc(a.data.Files, func(f txtar.File) bool { return f.Name == part })
	if i < 0 {
		t.Fatalf("%s has no part %s", a.name, part)
	}
	if *update {
		a.data.Files[i].Data = []byte(got)
		if err := os.WriteFile(a.name, txtar.Format(a.data), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(a.data.Files[i].Data), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", part, diff)
	}
}

func eachArchive(t *testing.T, dir string, test func(*testing.T, *archive)) {
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives in %s: %v", dir, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { test(t, readArchive(t, name)) })
	}
}

// summary writes a result as one line for each fact.
func summary(r *Result) string {
	var b strings.Builder
	incident := func(in *incidents.Incident, kind string) {
		place := in.FilePath
		if place == "" {
			place = "-"
		}
		if in.LineNumber > 0 {
			place += fmt.Sprintf(":%d", in.LineNumber)
		}
		if in.Range != nil {
			place += fmt.Sprintf(" [%d:%d-%d:%d]", in.Range.Start.Line+1, in.Range.Start.Character+1, in.Range.End.Line+1, in.Range.End.Character+1)
		}
		fmt.Fprintf(&b, "  %s %s %s %q\n", kind, in.RuleID, place, in.Message)
	}
	for i := range r.RuleSets {
		rs := &r.RuleSets[i]
		fmt.Fprintf(&b, "%s tags=%q unmatched=%q skipped=%q errors=%v\n", rs.Name, rs.Tags, rs.Unmatched, rs.Skipped, rs.Errors)
		for j := range r.Incidents {
			in := &r.Incidents[j]
			if in.Metadata[incidents.MetaRuleset] != rs.Name {
				continue
			}
			kind := "violation"
			if in.Metadata[incidents.MetaInsight] == true {
				kind = "insight"
			}
			incident(in, kind)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	return b.String()
}

// TestRun runs each archive and compares the summary; the result must not
// depend on how many workers there are.
func TestRun(t *testing.T) {
	eachArchive(t, "run", func(t *testing.T, a *archive) {
		set, problems := LoadFS(a.rules, ".")
		for _, p := range problems {
			t.Errorf("problem: %s", p)
		}
		var first string
		for _, workers := range []int{1, 4} {
			res, err := set.Run(context.Background(), FromFS(a.app, "/app"), RunOptions{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			got := summary(res)
			if workers == 1 {
				first = got
				a.want(t, "want", got)
			} else if got != first {
				t.Errorf("with %d workers:\n%s", workers, cmp.Diff(first, got))
			}
			for i := range res.Incidents {
				checkPlace(t, a.app, &res.Incidents[i])
			}
		}
	})
}

// checkPlace checks that an incident's range and span say the same.
func checkPlace(t *testing.T, app fs.FS, in *incidents.Incident) {
	t.Helper()
	if in.ID == "" {
		t.Errorf("%s in %s has no id", in.RuleID, in.FilePath)
	}
	if in.Range == nil {
		return
	}
	text, err := fs.ReadFile(app, in.FilePath)
	if err != nil {
		t.Error(err)
		return
	}
	line := bytes.Count(text[:in.Span.Start], []byte("\n"))
	if line != in.Range.Start.Line {
		t.Errorf("%s in %s: the span begins on line %d, the range on %d", in.RuleID, in.FilePath, line, in.Range.Start.Line)
	}
	if in.URI != "file:///app/"+in.FilePath {
		t.Errorf("URI is %s", in.URI)
	}
}

// TestWriteYAML compares output.yaml as a whole, however its strings are quoted.
func TestWriteYAML(t *testing.T) {
	eachArchive(t, "output", func(t *testing.T, a *archive) {
		set, _ := LoadFS(a.rules, ".")
		sel, err := ParseSelector("!konveyor.io/target=other")
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Select(sel).Run(context.Background(), FromFS(a.app, "/app"), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		text := func(p string) ([]byte, bool) { data, err := fs.ReadFile(a.app, p); return data, err == nil }
		if err := res.WriteYAML(&b, text); err != nil {
			t.Fatal(err)
		}
		var got any
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		pretty, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		a.want(t, "want", string(pretty)+"\n")
	})
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := readArchive(t, "testdata/run/java.txtar")
	set, _ := LoadFS(a.rules, ".")
	if _, err := set.Run(ctx, FromFS(a.app, "/app"), RunOptions{}); err == nil {
		t.Error("a cancelled run returned no error")
	}
}

func TestRunLimit(t *testing.T) {
	a := readArchive(t, "testdata/run/builtin.txtar")
	set, _ := LoadFS(a.rules, ".")
	res, err := set.Run(context.Background(), FromFS(a.app, "/app"), RunOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	cut := false
	for _, rs := range res.RuleSets {
		for id, v := range rs.Violations {
			if len(v.Incidents) > 1 {
				t.Errorf("%s has %d incidents", id, len(v.Incidents))
			}
		}
	}
	for _, n := range res.Notes {
		cut = cut || strings.Contains(n.Reason, "left out")
	}
	if !cut {
		t.Error("nothing says that incidents were left out")
	}
}
