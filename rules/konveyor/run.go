package konveyor

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
)

// DefaultLimit is how many incidents one rule reports at most, as in the
// analyzer.
const DefaultLimit = 1500

// RunOptions tune [Set.Run]. The zero value is ready to use.
type RunOptions struct {
	Limit   int // incidents of one rule; 0: DefaultLimit, negative: no limit
	Workers int // 0: one for each CPU
}

// A Result is what a run found.
type Result struct {
	RuleSets []RuleSetResult // in the order of their names

	// Incidents are all incidents of violations, then of insights, in the order
	// of rulesets, rules and files, with identity and place.
	Incidents []incidents.Incident

	// Notes say what no rule could look at, and where a limit was reached.
	Notes []incidents.Problem

	uri func(string) string
}

// A RuleSetResult is what the rules of one set found. Keys are rule ids.
type RuleSetResult struct {
	Name        string
	Description string
	Tags        []string
	Violations  map[string]*Violation
	Insights    map[string]*Violation // rules without effort, and rules that tag
	Errors      map[string]string
	Unmatched   []string
	Skipped     []string
}

// A Violation is what one rule found.
type Violation struct {
	Description string
	Category    string
	Labels      []string
	Links       []incidents.Link
	Effort      *int
	Incidents   []incidents.Incident
}

// Run evaluates the rules of the set over a tree of files. The error is that of
// ctx or of listing the files; a rule that fails is in the result.
func (s *Set) Run(ctx context.Context, files Files, opts RunOptions) (*Result, error) {
	if opts.Limit == 0 {
		opts.Limit = DefaultLimit
	}
	p, err := s.compiled()
	if err != nil {
		return nil, err
	}
	sc, err := newScan(ctx, p, files, opts.Limit)
	if err != nil {
		return nil, err
	}
	if err := sc.run(opts.Workers); err != nil {
		return nil, err
	}
	r := &runner{scan: sc, limit: opts.Limit, tags: map[string]bool{}, results: map[string]*RuleSetResult{}}
	for _, rs := range s.RuleSets {
		r.results[rs.Name] = newResult(rs)
	}
	r.evaluate(s.Rules())
	return r.result(), nil
}

func newResult(rs *RuleSet) *RuleSetResult {
	out := &RuleSetResult{Name: rs.Name, Description: rs.Description, Violations: map[string]*Violation{},
		Insights: map[string]*Violation{}, Errors: map[string]string{}}
	out.Tags = append(out.Tags, rs.Tags...)
	out.Skipped = append(out.Skipped, rs.Skipped...)
	return out
}

// runner turns outcomes into violations.
type runner struct {
	scan    *scan
	limit   int
	tags    map[string]bool // names of tags that rules have set so far
	results map[string]*RuleSetResult
	notes   []incidents.Problem
}

// evaluate runs the rules that tag first, those of them that ask for tags last,
// and then the others: a rule sees the tags of the rules before it.
func (r *runner) evaluate(rules []*Rule) {
	stage := func(rule *Rule) int {
		switch {
		case len(rule.Tags) == 0:
			return 2
		case rule.usesTags():
			return 1
		}
		return 0
	}
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b *Rule) int { return stage(a) - stage(b) })
	for _, rule := range rules {
		result := r.results[rule.RuleSet]
		if rule.When.Op != Leaf && len(rule.When.Children) == 0 {
			result.Errors[rule.ID] = "it has no conditions"
			continue
		}
		out := r.scan.evaluate(rule, r.tags)
		if !out.matched || len(out.incidents) == 0 {
			result.Unmatched = append(result.Unmatched, rule.ID)
			continue
		}
		m := newMessage(rule)
		v := r.violation(rule, out.incidents, m)
		if len(rule.Tags) > 0 {
			tags := renderTags(rule, out.incidents, m)
			r.tag(result, tags)
			r.insight(result, rule, v, tags)
			if rule.Message == "" || rule.insight() {
				continue
			}
			v = r.violation(rule, out.incidents, m)
		}
		if rule.insight() {
			merge(result.Insights, rule.ID, v)
		} else {
			merge(result.Violations, rule.ID, v)
		}
	}
}

func (r *runner) tag(result *RuleSetResult, tags []string) {
	for _, t := range tags {
		if !slices.Contains(result.Tags, t) {
			result.Tags = append(result.Tags, t)
		}
		names, _ := splitTag(t)
		for _, name := range names {
			r.tags[name] = true
		}
	}
}

// insight reports where a tag comes from.
func (r *runner) insight(result *RuleSetResult, rule *Rule, v *Violation, tags []string) {
	v.Effort, v.Category = nil, ""
	for _, t := range tags {
		v.Labels = append(slices.Clip(v.Labels), "tag="+t)
	}
	for i := range v.Incidents {
		in := &v.Incidents[i]
		in.Effort, in.Category, in.Severity, in.Labels = 0, "", incidents.Info, v.Labels
		in.Metadata[incidents.MetaInsight] = true
	}
	merge(result.Insights, rule.ID, v)
}

// merge puts the incidents of rules with the same id together.
func merge(into map[string]*Violation, id string, v *Violation) {
	known := into[id]
	if known == nil {
		into[id] = v
		return
	}
	known.Incidents = append(known.Incidents, v.Incidents...)
}

// violation renders the incidents of a rule and throws those together that say
// the same of the same line, as the analyzer does.
func (r *runner) violation(rule *Rule, list []incident, m *message) *Violation {
	v := &Violation{Description: rule.Description, Category: rule.Category, Labels: rule.Labels, Links: rule.Links, Effort: rule.Effort}
	type key struct {
		file, line int
		message    string
	}
	seen := map[key]bool{}
	for i := range list {
		in := &list[i]
		vars := m.variables(in)
		text := m.render(in.line, vars)
		k := key{in.file, in.line, text}
		if seen[k] {
			continue
		}
		seen[k] = true
		if r.limit > 0 && len(v.Incidents) >= r.limit {
			r.notes = append(r.notes, incidents.Problem{Source: rule.File, Where: "rule " + rule.ID,
				Reason: fmt.Sprintf("has more than %d incidents; the others are left out", r.limit)})
			break
		}
		v.Incidents = append(v.Incidents, r.incident(rule, in, text, vars))
	}
	return v
}

func (r *runner) incident(rule *Rule, in *incident, text string, vars map[string]any) incidents.Incident {
	out := incidents.Incident{
		RuleID:      rule.ID,
		LineNumber:  in.line,
		Severity:    severity(rule),
		Description: rule.Description,
		Message:     text,
		Category:    rule.Category,
		Source:      "konveyor",
		Labels:      rule.Labels,
		Links:       rule.Links,
		Snippet:     in.text,
		Metadata:    map[string]any{incidents.MetaRuleset: rule.RuleSet},
	}
	if out.Description == "" {
		out.Description, _, _ = strings.Cut(text, "\n")
	}
	if rule.Effort != nil {
		out.Effort = *rule.Effort
	}
	if rule.insight() {
		out.Metadata[incidents.MetaInsight] = true
	}
	if len(vars) > 0 {
		out.Metadata[incidents.MetaVariables] = vars
	}
	if in.file >= 0 {
		out.FilePath = r.scan.paths[in.file]
		out.URI = r.scan.files.URI(out.FilePath)
	}
	if in.place != nil {
		rng := in.place.rng
		out.Range, out.Span, out.Snippet = &rng, in.place.span, in.place.snippet
	}
	return out
}

// severity says in the contract's words how bad a rule's incidents are.
func severity(rule *Rule) incidents.Severity {
	switch {
	case rule.insight():
		return incidents.Info
	case rule.Category == "mandatory":
		return incidents.Error
	case rule.Category == "optional":
		return incidents.Info
	}
	return incidents.Warning
}

// result puts everything in order and gives the incidents their ids.
func (r *runner) result() *Result {
	out := &Result{Notes: append(r.scan.notes, r.notes...), uri: r.scan.files.URI}
	for _, name := range slices.Sorted(maps.Keys(r.results)) {
		rs := r.results[name]
		slices.Sort(rs.Unmatched)
		slices.Sort(rs.Skipped)
		rs.Unmatched, rs.Skipped = slices.Compact(rs.Unmatched), slices.Compact(rs.Skipped)
		out.RuleSets = append(out.RuleSets, *rs)
	}
	for _, pick := range []func(*RuleSetResult) map[string]*Violation{
		func(rs *RuleSetResult) map[string]*Violation { return rs.Violations },
		func(rs *RuleSetResult) map[string]*Violation { return rs.Insights },
	} {
		for i := range out.RuleSets {
			violations := pick(&out.RuleSets[i])
			for _, id := range slices.Sorted(maps.Keys(violations)) {
				out.Incidents = append(out.Incidents, violations[id].Incidents...)
			}
		}
	}
	incidents.AssignIDs(out.Incidents, nil)
	return out
}

// WriteYAML writes the result as Konveyor's output.yaml, with columns, ends and
// ids as extra members. text returns a file's text for the code snips; nil
// leaves them out.
func (r *Result) WriteYAML(w io.Writer, text func(path string) ([]byte, bool)) error {
	opts := incidents.KonveyorOptions{Text: text}
	if root := strings.TrimPrefix(r.uri("."), "file://"); root != "" {
		opts.Root = path.Clean(root)
	}
	for _, rs := range r.RuleSets {
		opts.RuleSets = append(opts.RuleSets, incidents.KonveyorRuleSet{
			Name: rs.Name, Description: rs.Description, Tags: rs.Tags, Errors: rs.Errors, Unmatched: rs.Unmatched, Skipped: rs.Skipped,
		})
	}
	return incidents.WriteKonveyor(w, r.Incidents, opts)
}
