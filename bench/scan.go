package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A place is one match, in terms that both programs report.
type place struct {
	rule string
	file string // relative to the tree
	line int    // 1-based
}

// scan runs one program once over the tree and returns what it found.
// Extra arguments go to kaiak alone.
func scan(ctx context.Context, p program, project, rules, tree string, extra ...string) (map[place]int, sample, error) {
	var out []byte
	var s sample
	var err error
	if p.name == "kaiak" {
		args := append([]string{"check", "--rules", rules, "--format", "json"}, extra...)
		out, s, err = run(ctx, tree, nil, p.path, append(args, tree)...)
	} else {
		// sgconfig.yml is found from the working directory.
		out, s, err = run(ctx, project, nil, p.path, "scan", "--json=stream", "--no-ignore", "hidden", tree)
	}
	if err != nil {
		return nil, s, err
	}
	found := map[place]int{}
	if p.name == "kaiak" {
		var list []struct {
			RuleID     string `json:"rule_id"`
			FilePath   string `json:"file_path"`
			LineNumber int    `json:"line_number"`
		}
		if err := json.Unmarshal(out, &list); err != nil {
			return nil, s, fmt.Errorf("kaiak check: %w", err)
		}
		for _, m := range list {
			found[place{m.RuleID, m.FilePath, m.LineNumber}]++
		}
		return found, s, nil
	}
	for line := range bytes.Lines(out) {
		var m struct {
			RuleID string `json:"ruleId"`
			File   string `json:"file"`
			Range  struct {
				Start struct {
					Line int `json:"line"`
				} `json:"start"`
			} `json:"range"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, s, fmt.Errorf("ast-grep scan: %w", err)
		}
		rel, err := filepath.Rel(tree, m.File)
		if err != nil {
			return nil, s, err
		}
		found[place{m.RuleID, filepath.ToSlash(rel), m.Range.Start.Line + 1}]++
	}
	return found, s, nil
}

// A contender is one way to run a program in a comparison.
type contender struct {
	label string
	program
	args []string
}

// contenders are kaiak without what it knows from the last scan, kaiak with it,
// and the other program.
func (e *env) contenders() []contender {
	list := []contender{{"kaiak, cold", e.kaiak, []string{"--no-cache"}}, {"kaiak, second check", e.kaiak, nil}}
	if e.peer.path != "" {
		list = append(list, contender{e.peer.name, e.peer, nil})
	}
	return list
}

// A workload is a set of rules to check a tree with.
type workload struct {
	label    string
	language string
	patterns []string
}

// benchScan checks Go's source tree with common and with selective rules.
func benchScan(ctx context.Context, e *env) (table, error) {
	var loads []workload
	for _, n := range []int{1, 10, 50} {
		loads = append(loads, workload{fmt.Sprintf("%d", n), "go", patterns[:n]})
	}
	loads = append(loads,
		workload{"100", "go", slices.Concat(patterns, selective, derived(100-len(patterns)-len(selective)))},
		workload{"1 selective", "go", selective[:1]},
		workload{"10 selective", "go", selective})
	return compare(ctx, e, e.goSrc, loads)
}

// benchModules checks a tree of installed JavaScript packages, most of them
// generated or bundled.
func benchModules(ctx context.Context, e *env) (table, error) {
	tree, err := filepath.Abs("editors/vscode/node_modules")
	if err != nil {
		return table{}, err
	}
	if _, err := os.Stat(tree); err != nil {
		return table{notes: []string{"Not measured: run npm ci in editors/vscode first."}}, nil
	}
	return compare(ctx, e, tree, []workload{
		{"1", "javascript", jsPatterns[:1]},
		{"10", "javascript", jsPatterns},
	})
}

// compare runs every contender over a tree with every workload. The matches are
// compared before the times are of any interest.
func compare(ctx context.Context, e *env, tree string, loads []workload) (table, error) {
	t := table{columns: []string{"rules", "program", "wall", "CPU", "peak memory", "matches"}}
	for _, load := range loads {
		project, rules, err := writeRules(e.work, load)
		if err != nil {
			return t, err
		}
		samples := map[string][]sample{}
		found := map[string]map[place]int{}
		for round := range e.runs + 1 { // the first round warms the page cache and is not counted
			for _, c := range e.contenders() {
				m, s, err := scan(ctx, c.program, project, rules, tree, c.args...)
				if err != nil {
					return t, err
				}
				if round > 0 {
					samples[c.label] = append(samples[c.label], s)
				}
				found[c.label] = m
			}
		}
		for _, c := range e.contenders() {
			t.rows = append(t.rows, append([]string{load.label, c.label}, append(cost(samples[c.label]), fmt.Sprint(total(found[c.label])))...))
		}
		if !maps.Equal(found["kaiak, cold"], found["kaiak, second check"]) {
			return t, fmt.Errorf("%s rules: a second check finds something else than the first", load.label)
		}
		if e.peer.path != "" {
			theirs, long := withoutLong(tree, found[e.peer.name])
			note := difference(load.label, found["kaiak, cold"], theirs)
			if long > 0 {
				note += fmt.Sprintf(" Not compared: ast-grep's %d matches in files over 1 MB, which kaiak skips with a note.", long)
			}
			t.notes = append(t.notes, note)
		}
	}
	return t, nil
}

// withoutLong leaves out the places in files over 1 MB and counts their matches.
func withoutLong(tree string, found map[place]int) (short map[place]int, matches int) {
	short = map[place]int{}
	sizes := map[string]int64{}
	for p, n := range found {
		size, ok := sizes[p.file]
		if !ok {
			if info, err := os.Stat(filepath.Join(tree, filepath.FromSlash(p.file))); err == nil {
				size = info.Size()
			}
			sizes[p.file] = size
		}
		if size > 1<<20 {
			matches += n
		} else {
			short[p] = n
		}
	}
	return short, matches
}

// cost is the medians of samples: wall, CPU, peak memory.
func cost(samples []sample) []string {
	wall := median(samples, func(a, b sample) int { return cmp.Compare(a.wall, b.wall) }).wall
	cpu := median(samples, func(a, b sample) int { return cmp.Compare(a.cpu, b.cpu) }).cpu
	rss := median(samples, func(a, b sample) int { return cmp.Compare(a.rss, b.rss) }).rss
	return []string{seconds(wall), seconds(cpu.Round(10 * time.Millisecond)), megabytes(rss)}
}

func total(found map[place]int) int {
	n := 0
	for _, c := range found {
		n += c
	}
	return n
}

// difference says how two sets of matches differ, with the rules concerned.
func difference(label string, ours, theirs map[place]int) string {
	onlyOurs, onlyTheirs := map[string]int{}, map[string]int{}
	for p, c := range ours {
		if d := c - theirs[p]; d > 0 {
			onlyOurs[p.rule] += d
		}
	}
	for p, c := range theirs {
		if d := c - ours[p]; d > 0 {
			onlyTheirs[p.rule] += d
		}
	}
	if len(onlyOurs)+len(onlyTheirs) == 0 {
		return fmt.Sprintf("%s rules: both found the same matches (rule, file and line).", label)
	}
	list := func(m map[string]int) string {
		var b bytes.Buffer
		for _, rule := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&b, " %s×%d", rule, m[rule])
		}
		if b.Len() == 0 {
			return " none"
		}
		return b.String()
	}
	return fmt.Sprintf("%s rules: the matches differ. Only kaiak:%s. Only ast-grep:%s.", label, list(onlyOurs), list(onlyTheirs))
}
