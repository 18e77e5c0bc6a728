package konveyor

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kaiak/kaiak/incidents"
)

// TestStatus is how a test case ended.
type TestStatus string

// The outcomes of a test case.
const (
	TestPassed  TestStatus = "passed"
	TestFailed  TestStatus = "failed"
	TestSkipped TestStatus = "skipped" // its input is not there
)

// A TestResult is one test case.
type TestResult struct {
	File   string // the test file
	RuleID string
	Name   string
	Status TestStatus
	Reason string // of a failure or skip
}

// A TestReport is the outcome of [RunTests], every test case once, in the order
// of the files.
type TestReport struct {
	Results                 []TestResult
	Passed, Failed, Skipped int

	// Broken are the test files that could not be read.
	Broken []incidents.Problem
}

// OK reports whether nothing failed.
func (r *TestReport) OK() bool { return r.Failed == 0 && len(r.Broken) == 0 }

// Write writes a line for each test case that did not pass, and the totals:
// "N passed, N failed, N skipped". verbose adds those that passed.
func (r *TestReport) Write(w io.Writer, verbose bool) error {
	var b strings.Builder
	for _, p := range r.Broken {
		fmt.Fprintf(&b, "FAIL  %s\n", p)
	}
	for _, t := range r.Results {
		switch {
		case t.Status == TestPassed && verbose:
			fmt.Fprintf(&b, "PASS  %s: %s %s\n", t.File, t.RuleID, t.Name)
		case t.Status == TestFailed:
			fmt.Fprintf(&b, "FAIL  %s: %s %s: %s\n", t.File, t.RuleID, t.Name, t.Reason)
		case t.Status == TestSkipped:
			fmt.Fprintf(&b, "SKIP  %s: %s %s: %s\n", t.File, t.RuleID, t.Name, t.Reason)
		}
	}
	fmt.Fprintf(&b, "%d passed, %d failed, %d skipped\n", r.Passed, r.Failed, r.Skipped)
	_, err := io.WriteString(w, b.String())
	return err
}

// RunTests runs the *.test.yaml files below paths. As in Konveyor's own runner
// a file's input is the data path of its first provider by name, and only the
// rules that the file names run. A test case whose input is not there is
// skipped. The error is that of ctx or of a path that cannot be read.
func RunTests(ctx context.Context, paths ...string) (*TestReport, error) {
	names, err := findTests(paths)
	if err != nil {
		return nil, err
	}
	results := make([][]TestResult, len(names))
	report := &TestReport{}
	var mu sync.Mutex // guards report.Broken
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		g.Go(func() error {
			f, err := readTest(name)
			switch {
			case err != nil:
				mu.Lock()
				defer mu.Unlock()
				report.Broken = append(report.Broken, incidents.Problem{Source: name, Where: "the file", Reason: err.Error()})
				return nil
			case f == nil:
				return nil
			}
			results[i], err = f.run(ctx)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(report.Broken, func(a, b incidents.Problem) int { return strings.Compare(a.Source, b.Source) })
	for _, r := range slices.Concat(results...) {
		report.Results = append(report.Results, r)
		switch r.Status {
		case TestPassed:
			report.Passed++
		case TestFailed:
			report.Failed++
		case TestSkipped:
			report.Skipped++
		}
	}
	return report, nil
}

// run runs the cases of one file.
func (f *testFile) run(ctx context.Context) ([]TestResult, error) {
	var out []TestResult
	all := func(status TestStatus, reason string) []TestResult {
		for _, rt := range f.rules {
			for _, c := range rt.cases {
				out = append(out, TestResult{f.path, rt.ruleID, c.name, status, reason})
			}
		}
		return out
	}
	dir, ok := f.input()
	if !ok {
		return all(TestSkipped, fmt.Sprintf("its input %s is not there", f.dataPath)), nil
	}
	set, problems := Load(f.ruleFile())
	if len(set.Rules()) == 0 {
		reason := "there are no rules in " + f.rulesPath
		if len(problems) > 0 {
			reason += ": " + problems[0].String()
		}
		return all(TestFailed, reason), nil
	}
	runs := map[string]*Result{}
	for _, params := range f.params() {
		res, err := set.only(f.ruleIDs(params)).Run(ctx, FromFS(os.DirFS(dir), dir), RunOptions{Limit: -1, Workers: 1})
		if err != nil {
			return nil, err
		}
		runs[params] = res
	}
	known := map[string]bool{}
	for _, r := range set.Rules() {
		known[r.ID] = true
	}
	for _, rt := range f.rules {
		for _, c := range rt.cases {
			r := TestResult{File: f.path, RuleID: rt.ruleID, Name: c.name, Status: TestPassed}
			if !known[rt.ruleID] {
				r.Status, r.Reason = TestFailed, "there is no such rule in "+f.rulesPath
			} else if reason := c.check(rt.ruleID, runs[c.params]); reason != "" {
				r.Status, r.Reason = TestFailed, reason
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// params returns the different analysis parameters of the file's cases.
func (f *testFile) params() []string {
	var out []string
	for _, rt := range f.rules {
		for _, c := range rt.cases {
			out = append(out, c.params)
		}
	}
	return unique(out)
}

func (f *testFile) ruleIDs(params string) map[string]bool {
	ids := map[string]bool{}
	for _, rt := range f.rules {
		if slices.ContainsFunc(rt.cases, func(c testCase) bool { return c.params == params }) {
			ids[rt.ruleID] = true
		}
	}
	return ids
}

// only returns the set with the rules of the given ids.
func (s *Set) only(ids map[string]bool) *Set {
	out := &Set{findings: s.findings}
	for _, rs := range s.RuleSets {
		chosen := *rs
		chosen.Rules = nil
		for _, r := range rs.Rules {
			if ids[r.ID] {
				chosen.Rules = append(chosen.Rules, r)
			}
		}
		out.RuleSets = append(out.RuleSets, &chosen)
	}
	return out
}

// check returns why a case fails, "" when it passes.
func (c *testCase) check(rule string, res *Result) string {
	var v *Violation
	var tags []string
	for i := range res.RuleSets {
		rs := &res.RuleSets[i]
		tags = append(tags, rs.Tags...)
		if e, ok := rs.Errors[rule]; ok {
			return "the rule failed: " + e
		}
		if found := rs.Violations[rule]; found != nil {
			v = found
		} else if found := rs.Insights[rule]; found != nil && v == nil {
			v = found
		}
	}
	switch {
	case c.isUnmatched && v != nil:
		return fmt.Sprintf("the rule was expected not to match, but has %d incidents", len(v.Incidents))
	case c.isUnmatched:
		return ""
	case v == nil:
		return "the rule did not match, but was expected to"
	}
	for _, want := range c.hasTags {
		if !slices.ContainsFunc(tags, func(t string) bool { return t == want || matchesText(want, t) }) {
			return fmt.Sprintf("tag %q is missing; there are %q", want, tags)
		}
	}
	if c.incidents != nil {
		return c.incidents.check(v)
	}
	return ""
}

// matchesText reports whether text contains pattern, as an expression or as it is.
func matchesText(pattern, text string) bool {
	if re, err := regexp.Compile(pattern); err == nil && re.MatchString(text) {
		return true
	}
	return strings.Contains(text, pattern)
}

func (t *incidentTest) check(v *Violation) string {
	for _, l := range t.locations {
		if !slices.ContainsFunc(v.Incidents, l.fits) {
			return fmt.Sprintf("there is no incident at %s:%d that fits", l.uri, l.line)
		}
	}
	count := 0
	for i := range v.Incidents {
		in := &v.Incidents[i]
		if (t.message == "" || matchesText(t.message, in.Message)) && (t.snip == "" || matchesText(t.snip, in.Snippet)) {
			count++
		}
	}
	filter := ""
	if t.message != "" || t.snip != "" {
		filter = fmt.Sprintf(" that fit, of %d", len(v.Incidents))
	}
	switch {
	case t.exactly != nil && count != *t.exactly:
		return fmt.Sprintf("expected exactly %d incidents, got %d%s", *t.exactly, count, filter)
	case t.atLeast != nil && count < *t.atLeast:
		return fmt.Sprintf("expected at least %d incidents, got %d%s", *t.atLeast, count, filter)
	case t.atMost != nil && count > *t.atMost:
		return fmt.Sprintf("expected at most %d incidents, got %d%s", *t.atMost, count, filter)
	}
	return ""
}

func (l *locationTest) fits(in incidents.Incident) bool {
	return (l.uri == "" || strings.HasSuffix(in.URI, strings.TrimPrefix(l.uri, "file://"))) &&
		(l.line == 0 || l.line == in.LineNumber) &&
		(l.message == "" || matchesText(l.message, in.Message)) && (l.snip == "" || matchesText(l.snip, in.Snippet))
}
