package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// benchBatch fixes 2,000 places in 200 files by one rule. Kaiak does it as a
// batch over its own wire: validated, journalled, undoable, with a verdict per
// incident. The peer's `scan --update-all` rewrites the files in place.
func benchBatch(ctx context.Context, e *env) (table, error) {
	const files, perFile = 200, 10
	t := table{columns: []string{"program", "wall", "CPU", "peak memory", "left over"}}
	t.notes = append(t.notes,
		"kaiak checks every rewrite, syncs every file and records what undo and resume need; ast-grep rewrites files in place. Peak memory is that of the largest process.")
	rule := ruleYAML("assert-equal", "javascript", "assertEqual($A, $B)", "assert.equal($A, $B)")
	samples := map[string][]sample{}
	left := map[string]int{}
	for round := range e.runs + 1 {
		for _, p := range e.programs() {
			project := filepath.Join(e.work, fmt.Sprintf("batch-%s-%d", p.name, round))
			if err := writeBatchProject(project, rule, files, perFile); err != nil {
				return t, err
			}
			var s sample
			var err error
			if p.name == "kaiak" {
				_, s, err = run(ctx, project, []string{"KAIAK_STATE_DIR=" + filepath.Join(project, "state")},
					p.path, "batch", "--workspace", ".", "--rules", "rules", "--apply", "--report", filepath.Join(e.work, "report.json"))
			} else {
				_, s, err = run(ctx, project, nil, p.path, "scan", "--update-all")
			}
			if err != nil {
				return t, err
			}
			n, err := countLeft(project)
			if err != nil {
				return t, err
			}
			if round > 0 {
				samples[p.name] = append(samples[p.name], s)
				left[p.name] = n
			}
			if err := os.RemoveAll(project); err != nil {
				return t, err
			}
		}
	}
	for _, p := range e.programs() {
		t.rows = append(t.rows, append(append([]string{p.name}, cost(samples[p.name])...), fmt.Sprint(left[p.name])))
	}
	return t, nil
}

// writeBatchProject writes a project with files·perFile places to change.
func writeBatchProject(dir, rule string, files, perFile int) error {
	if err := os.MkdirAll(filepath.Join(dir, "rules"), 0o755); err != nil {
		return err
	}
	put := func(name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	if err := put("sgconfig.yml", "ruleDirs: [rules]\n"); err != nil {
		return err
	}
	if err := put("rules/rule.yml", rule); err != nil {
		return err
	}
	for i := range files {
		var b bytes.Buffer
		for j := range perFile {
			fmt.Fprintf(&b, "test('case %d', () => {\n  const got = run(%d);\n  assertEqual(got, %d);\n});\n\n", j, j, i+j)
		}
		if err := put(fmt.Sprintf("case-%03d.js", i), b.String()); err != nil {
			return err
		}
	}
	return nil
}

// countLeft counts the places that were not changed.
func countLeft(dir string) (int, error) {
	names, err := filepath.Glob(filepath.Join(dir, "case-*.js"))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n += bytes.Count(text, []byte("assertEqual("))
	}
	return n, nil
}
