package ruletest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// project writes a project with rules and tests.
func project(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var sample = map[string]string{
	"sgconfig.yml": "ruleDirs: [rules]\ntestConfigs: [{testDir: tests}]\n",
	"rules/a.yml": `id: foo
language: js
rule: {pattern: 'foo($A)', inside: {kind: expression_statement}}
fix: bar($A)
labels: {A: {style: secondary, message: arg}}
---
id: nofix
language: js
rule: {pattern: 'baz($A)', has: {kind: number, stopBy: end}}
---
id: sleeping
language: js
severity: off
rule: {pattern: 'baz($A)'}
`,
	"tests/foo-test.yml": `id: foo
valid:
  - bar(1)
invalid:
  - foo(1)
  - |
    if (x) {
      foo('ä')
      foo(3)
    }
---
id: nofix
valid: [baz(x)]
invalid: [baz(2), "x = baz(3)"]
---
id: unknown
valid: [x]
---
id: sleeping
valid: [x]
`,
}

func run(t *testing.T, dir string, opts Options) *Report {
	t.Helper()
	report, err := Run(context.Background(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func outcomes(r *Report) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintln(&b, "problem", p)
	}
	for _, c := range r.Cases {
		fmt.Fprintf(&b, "%s:%d %s %s\n", c.File, c.Line, c.Rule, c.Outcome)
	}
	return b.String() + r.Summary()
}

func TestRunComparesWithSnapshots(t *testing.T) {
	dir := project(t, sample)
	if got := run(t, dir, Options{}).Summary(); got != "2 passed, 4 failed, 2 skipped" {
		t.Errorf("without snapshots: %s", got)
	}
	if got := run(t, dir, Options{SkipSnapshots: true}).Summary(); got != "6 passed, 0 failed, 2 skipped" {
		t.Errorf("skipping them: %s", got)
	}
	want := `tests/foo-test.yml:3 foo passed
tests/foo-test.yml:5 foo updated
tests/foo-test.yml:6 foo updated
tests/foo-test.yml:13 nofix passed
tests/foo-test.yml:14 nofix updated
tests/foo-test.yml:14 nofix updated
tests/foo-test.yml:17 unknown skipped
tests/foo-test.yml:20 sleeping skipped
6 passed, 0 failed, 2 skipped`
	if diff := cmp.Diff(want, outcomes(run(t, dir, Options{Update: true}))); diff != "" {
		t.Error(diff)
	}
	if got := run(t, dir, Options{}).Summary(); got != "6 passed, 0 failed, 2 skipped" {
		t.Errorf("after the update: %s", got)
	}
	// A rule that changes is noticed.
	rules := strings.ReplaceAll(sample["rules/a.yml"], "fix: bar($A)", "fix: qux($A)")
	rules = strings.ReplaceAll(rules, "pattern: 'baz($A)', has", "pattern: 'foo($A)', has")
	if err := os.WriteFile(filepath.Join(dir, "rules/a.yml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	report := run(t, dir, Options{})
	if got := report.Summary(); got != "2 passed, 4 failed, 2 skipped" {
		t.Errorf("after a change: %s\n%s", got, outcomes(report))
	}
	for _, c := range report.Cases {
		if c.Outcome == Wrong && !strings.Contains(c.Detail, `qux(1)`) && !strings.Contains(c.Detail, `qux('ä')`) {
			t.Errorf("detail does not say what comes out: %s", c.Detail)
		}
	}
}

func TestRunFindsTestsBesideRules(t *testing.T) {
	dir := project(t, map[string]string{
		"a.yml":      "id: a\nlanguage: js\nrule: {pattern: 'foo($A)'}\n",
		"a-test.yml": "id: a\nvalid: [foo(1)]\ninvalid: [bar(1)]\n",
		"b-test.yml": "id: a\nbogus: 1\n",
	})
	want := `problem b-test.yml: line 2, column 1: a rule test has no key "bogus"; its keys are id, valid, invalid
a-test.yml:2 a noisy
a-test.yml:3 a missing
0 passed, 2 failed, 0 skipped`
	if diff := cmp.Diff(want, outcomes(run(t, dir, Options{}))); diff != "" {
		t.Error(diff)
	}
}

// TestSnapshotsAreAstGreps: what one tool writes the other reads as the same.
func TestSnapshotsAreAstGreps(t *testing.T) {
	bin := os.Getenv("KAIAK_ASTGREP")
	if bin == "" {
		t.Skip("KAIAK_ASTGREP is not set: it is the path of the ast-grep binary")
	}
	grep := func(dir string, args ...string) (string, error) {
		cmd := exec.Command(bin, append([]string{"test"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	theirs := project(t, sample)
	if out, err := grep(theirs, "-U"); err != nil {
		t.Fatal(err, out)
	}
	if report := run(t, theirs, Options{}); report.Summary() != "6 passed, 0 failed, 2 skipped" {
		t.Errorf("of ast-grep's snapshots:\n%s", outcomes(report))
	}
	ours := project(t, sample)
	run(t, ours, Options{Update: true})
	if out, err := grep(ours); err != nil {
		t.Errorf("ast-grep does not take our snapshots: %v\n%s", err, out)
	}
}
