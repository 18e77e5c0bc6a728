package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/check"
	"github.com/kaiak/kaiak/workspace"
)

// What a baseline hides is counted as hidden and as nothing else.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	rule := filepath.Join(dir, "rule.yml")
	for path, text := range map[string]string{
		rule:                       "id: no-foo\nlanguage: go\nmessage: foo is gone\nrule: {pattern: foo()}\nfix: bar()\n",
		filepath.Join(dir, "a.go"): "package a\n\nfunc a() { foo() }\n",
		filepath.Join(dir, "b.go"): "package a\n\nfunc b() { foo() }\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	run := func(hidden map[string]bool) *check.Result {
		t.Helper()
		res, err := check.Run(t.Context(), check.Options{Workspace: ws, Sources: []string{rule}, Dir: dir, Hidden: hidden})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	all := run(nil)
	if len(all.Incidents) != 2 || all.Fixable != 2 || all.Hidden != 0 {
		t.Fatalf("%d incidents, %d fixable, %d hidden; want 2, 2, 0", len(all.Incidents), all.Fixable, all.Hidden)
	}
	baseline := filepath.Join(dir, "baseline.json")
	f, err := os.Create(baseline)
	if err != nil {
		t.Fatal(err)
	}
	if err := incidents.WriteNative(f, all.Incidents[:1]); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	hidden, err := check.ReadBaseline(baseline)
	if err != nil {
		t.Fatal(err)
	}
	left := run(hidden)
	if len(left.Incidents) != 1 || left.Fixable != 1 || left.Hidden != 1 || left.Incidents[0].FilePath != "b.go" {
		t.Errorf("%d incidents, %d fixable, %d hidden; want 1 in b.go, 1, 1", len(left.Incidents), left.Fixable, left.Hidden)
	}
}
