// Package ruletest runs the tests of ast-grep rules: files that list valid code,
// in which a rule must find nothing, and invalid code, in which it must, and
// snapshots of what it finds and how it fixes that.
//
// [Run] is all there is to call. Tests and snapshots are ast-grep's own files:
// either tool reads what the other wrote. The package writes nothing but
// snapshots, and those only with Options.Update.
package ruletest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/internal/sgconfig"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Options tune [Run]. The zero value compares with the snapshots that are there.
type Options struct {
	Update        bool           // write snapshots of what comes out
	SkipSnapshots bool           // only whether rules find something
	Filter        *regexp.Regexp // of rule ids; nil: all
	IncludeOff    bool           // test rules that are switched off, too
}

// Outcome says how a case went.
type Outcome string

// The outcomes of a case.
const (
	Passed  Outcome = "passed"
	Updated Outcome = "updated" // its snapshot was written
	Noisy   Outcome = "noisy"   // the rule finds something in valid code
	Missing Outcome = "missing" // the rule finds nothing in invalid code
	Wrong   Outcome = "wrong"   // the snapshot says something else, or there is none
	Skipped Outcome = "skipped" // the rule is off, or there is no such rule
)

// A Case is one piece of code in a test.
type Case struct {
	Rule    string
	File    string // of the test, relative to the directory
	Line    int    // of the code in it, 1-based
	Valid   bool
	Code    string
	Outcome Outcome
	Detail  string // what was expected and what was found; "" when it passed
}

// A Report is what became of all cases, in the order of the files.
type Report struct {
	Cases    []Case
	Problems []incidents.Problem // of rules and test files that could not be read
}

// Count returns how many cases passed, failed and were skipped.
func (r *Report) Count() (passed, failed, skipped int) {
	for _, c := range r.Cases {
		switch c.Outcome {
		case Passed, Updated:
			passed++
		case Skipped:
			skipped++
		default:
			failed++
		}
	}
	return passed, failed, skipped
}

// Summary is the closing line: "3 passed, 1 failed, 0 skipped".
func (r *Report) Summary() string {
	passed, failed, skipped := r.Count()
	return fmt.Sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped)
}

// Run runs the tests of a directory: those that its sgconfig.yml names, else
// every *-test.yml below it, on the rules that the directory has. The error is
// for what cannot be read or written at all.
func Run(ctx context.Context, dir string, opts Options) (*Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("rule tests: %w", err)
	}
	defer root.Close()
	set, problems, err := rules.Load(ctx, []string{dir}, rules.LoadOptions{})
	if err != nil {
		return nil, err
	}
	r := &runner{root: root, fsys: root.FS(), set: set, opts: opts, report: &Report{Problems: problems}}
	folders, err := r.folders()
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		if err := r.folder(ctx, f); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

type runner struct {
	root   *os.Root
	fsys   fs.FS
	set    *rules.Set
	opts   Options
	report *Report
}

func (r *runner) problem(file string, err error) {
	p := incidents.Problem{Source: file, Where: "the file", Reason: err.Error()}
	var at *yamldoc.Error
	if errors.As(err, &at) {
		p.Reason = at.Msg
		if at.Line > 0 {
			p.Where = fmt.Sprintf("line %d, column %d", at.Line, at.Col)
		}
	}
	r.report.Problems = append(r.report.Problems, p)
}

// folders returns where the tests are.
func (r *runner) folders() ([]sgconfig.Test, error) {
	for _, name := range sgconfig.Names {
		text, err := fs.ReadFile(r.fsys, name)
		if err != nil {
			continue
		}
		config, _, err := sgconfig.Read(text)
		if err != nil {
			return nil, nil // rules.Load has reported it
		}
		return config.Tests, nil
	}
	return []sgconfig.Test{{Dir: ".", Snapshots: sgconfig.DefaultSnapshots}}, nil
}

// folder runs the tests of one folder. Snapshots are in a folder beside the
// tests' top folder, or, in a directory without sgconfig.yml, beside each test.
func (r *runner) folder(ctx context.Context, test sgconfig.Test) error {
	whole := test.Dir == "."
	dir := path.Clean(test.Dir)
	if !fs.ValidPath(dir) {
		r.problem(sgconfig.Names[0], fmt.Errorf("test folder %s is outside the project", test.Dir))
		return nil
	}
	return fs.WalkDir(r.fsys, dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("rule tests: %w", err)
		case d.IsDir() && (d.Name() == test.Snapshots || p != dir && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !isYAML(p) || whole && !isTest(p):
			return nil
		}
		snapshots := path.Join(dir, test.Snapshots)
		if whole {
			snapshots = path.Join(path.Dir(p), test.Snapshots)
		}
		return r.file(ctx, p, snapshots)
	})
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}

func isTest(name string) bool {
	stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".yaml"), ".yml")
	return strings.HasSuffix(stem, "-test")
}

// file runs the tests of one file.
func (r *runner) file(ctx context.Context, name, snapshots string) error {
	text, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		return fmt.Errorf("rule tests: %w", err)
	}
	docs, err := yamldoc.Parse(text)
	if err != nil {
		r.problem(name, err)
		return nil
	}
	for _, doc := range docs {
		if err := r.test(ctx, name, snapshots, doc); err != nil {
			var at *yamldoc.Error
			if !errors.As(err, &at) {
				return err
			}
			r.problem(name, err)
		}
	}
	return nil
}

// test runs one document: the cases of one rule.
func (r *runner) test(ctx context.Context, name, snapshots string, doc *yamldoc.Node) error {
	if err := doc.Keys("a rule test", "id", "valid", "invalid"); err != nil {
		return err
	}
	id := doc.Get("id")
	if id == nil {
		return doc.Errorf("a rule test must have `id`, the rule that it tests")
	}
	if r.opts.Filter != nil && !r.opts.Filter.MatchString(id.Text) {
		return nil
	}
	var cases []Case
	for _, list := range []struct {
		key   string
		valid bool
	}{{"valid", true}, {"invalid", false}} {
		n := doc.Get(list.key)
		if n == nil || n.Kind == yamldoc.Null {
			continue
		}
		codes, err := n.Strs("`" + list.key + "`")
		if err != nil {
			return err
		}
		for i, code := range codes {
			cases = append(cases, Case{Rule: id.Text, File: name, Line: n.Items[i].Line, Valid: list.valid, Code: code})
		}
	}
	rule := r.rule(id.Text)
	if reason := r.unusable(id.Text, rule); reason != "" {
		for i := range cases {
			cases[i].Outcome, cases[i].Detail = Skipped, reason
		}
		r.report.Cases = append(r.report.Cases, cases...)
		return nil
	}
	file := path.Join(snapshots, id.Text+"-snapshot.yml")
	have, err := r.readSnapshots(file)
	if err != nil {
		return err
	}
	changed := false
	for i := range cases {
		c := &cases[i]
		got, err := find(ctx, r.set, rule, c.Code)
		if err != nil {
			return fmt.Errorf("rule tests: %s: rule %s: %w", name, id.Text, err)
		}
		r.judge(c, got, have)
		if c.Outcome == Updated {
			have[c.Code], changed = *got, true
		}
	}
	r.report.Cases = append(r.report.Cases, cases...)
	if !changed {
		return nil
	}
	return r.writeSnapshots(file, id.Text, cases, have)
}

func (r *runner) rule(id string) *rules.Rule {
	list := r.set.Rules()
	if i := slices.IndexFunc(list, func(rule *rules.Rule) bool { return rule.ID == id }); i >= 0 {
		return list[i]
	}
	return nil
}

func (r *runner) unusable(id string, rule *rules.Rule) string {
	switch {
	case rule == nil:
		return fmt.Sprintf("there is no rule %q", id)
	case rule.Off && !r.opts.IncludeOff:
		return "the rule is off"
	}
	return ""
}

// judge sets the outcome of a case. got is nil when the rule found nothing.
func (r *runner) judge(c *Case, got *snapshot, have map[string]snapshot) {
	c.Outcome = Passed
	switch {
	case c.Valid && got != nil:
		c.Outcome, c.Detail = Noisy, "the rule must find nothing here and finds "+got.String()
	case c.Valid || got == nil && c.Valid:
	case got == nil:
		c.Outcome, c.Detail = Missing, "the rule must find something here and finds nothing"
	case r.opts.SkipSnapshots:
	default:
		want, ok := have[c.Code]
		switch {
		case ok && want.equal(got):
		case r.opts.Update:
			c.Outcome = Updated
		case !ok:
			c.Outcome, c.Detail = Wrong, "there is no snapshot of it; what comes out is "+got.String()
		default:
			c.Outcome, c.Detail = Wrong, fmt.Sprintf("the snapshot is %s and what comes out is %s", want.String(), got.String())
		}
	}
}

// find returns what a rule makes of code: its first match.
func find(ctx context.Context, set *rules.Set, rule *rules.Rule, code string) (*snapshot, error) {
	lang := treesitter.Lookup(rule.Language)
	tree, err := treesitter.Parse(ctx, lang, []byte(code))
	if err != nil {
		return nil, err
	}
	file := &workspace.File{Path: "test." + lang.Extensions[0], Text: []byte(code)}
	matches, err := set.CheckRule(ctx, rule, file, tree)
	if err != nil || len(matches) == 0 {
		return nil, err
	}
	m := matches[0]
	out := &snapshot{}
	if len(m.Fixes) > 0 {
		fixed, err := workspace.ApplyEdits(file.Text, m.Fixes[0].Verbatim())
		if err != nil {
			return nil, err
		}
		text := string(fixed)
		out.fixed = &text
	}
	span := m.Incident.Span
	if len(rule.LabelNames()) == 0 {
		out.labels = append(out.labels, label{source: code[span.Start:span.End], style: string(rules.PrimaryLabel), start: span.Start, end: span.End})
	}
	for _, l := range m.Labels {
		out.labels = append(out.labels, label{source: code[l.Span.Start:l.Span.End], message: l.Message, style: string(l.Style), start: l.Span.Start, end: l.Span.End})
	}
	return out, nil
}
