package check

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/konveyor"
	"github.com/kaiak/kaiak/rules/ruletest"
)

// Test runs the tests of rules below paths, both kinds in one report: Konveyor's
// *.test.yaml, and ast-grep's, which are those of a folder with an sgconfig.yml
// and *-test.yml files. Paths are relative to dir. A path without any test is an
// error, as it is probably misspelt.
func Test(ctx context.Context, paths []string, dir string, opts ruletest.Options) (*konveyor.TestReport, error) {
	report := &konveyor.TestReport{}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		konveyors, patterns, err := testsBelow(p)
		if err != nil {
			return nil, fmt.Errorf("rule tests: %w", err)
		}
		if !konveyors && !patterns {
			return nil, fmt.Errorf("rule tests: %s has none: no *.test.yaml, no *-test.yml and no sgconfig.yml", p)
		}
		if konveyors {
			found, err := konveyor.RunTests(ctx, p)
			if err != nil {
				return nil, err
			}
			report.Results = append(report.Results, found.Results...)
			report.Broken = append(report.Broken, found.Broken...)
			report.Passed, report.Failed, report.Skipped = report.Passed+found.Passed, report.Failed+found.Failed, report.Skipped+found.Skipped
		}
		if patterns {
			found, err := ruletest.Run(ctx, p, opts)
			if err != nil {
				return nil, err
			}
			addCases(report, found)
		}
	}
	return report, nil
}

// testsBelow says which kinds of test a folder has.
func testsBelow(root string) (konveyors, patterns bool, err error) {
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := filepath.Base(p)
		stem, ext := strings.TrimSuffix(base, path.Ext(base)), path.Ext(base)
		if d.IsDir() || ext != ".yaml" && ext != ".yml" {
			return nil
		}
		konveyors = konveyors || strings.HasSuffix(stem, ".test")
		patterns = patterns || strings.HasSuffix(stem, "-test") || stem == "sgconfig"
		return nil
	})
	return konveyors, patterns, err
}

// addCases adds the cases of ast-grep's tests to a report.
func addCases(report *konveyor.TestReport, found *ruletest.Report) {
	report.Broken = append(report.Broken, found.Problems...)
	for _, c := range found.Cases {
		r := konveyor.TestResult{File: fmt.Sprintf("%s:%d", c.File, c.Line), RuleID: c.Rule, Name: "invalid", Reason: c.Detail}
		if c.Valid {
			r.Name = "valid"
		}
		switch c.Outcome {
		case ruletest.Passed, ruletest.Updated:
			r.Status = konveyor.TestPassed
			report.Passed++
		case ruletest.Skipped:
			r.Status = konveyor.TestSkipped
			report.Skipped++
		default:
			r.Status = konveyor.TestFailed
			report.Failed++
		}
		report.Results = append(report.Results, r)
	}
}

// Coverage says which of the Konveyor rules in paths the given pattern rules
// can fix, without a model. No fixers means the built-in packs, all of them.
func Coverage(ctx context.Context, paths, fixers []string, dir string) (*konveyor.Coverage, []incidents.Problem, error) {
	if len(fixers) == 0 {
		packs, err := rules.Packs()
		if err != nil {
			return nil, nil, err
		}
		for _, p := range packs {
			fixers = append(fixers, rules.Builtin+":"+p.ID)
		}
	}
	set, problems, err := rules.Load(ctx, fixers, rules.LoadOptions{Dir: dir})
	if err != nil {
		return nil, nil, err
	}
	var bound []string
	for _, r := range set.Rules() {
		if r.Fixable() {
			bound = append(bound, r.FixesIDs...)
		}
	}
	loaded, more := konveyor.Load(paths...)
	return konveyor.NewCoverage(loaded, bound), append(problems, more...), nil
}
