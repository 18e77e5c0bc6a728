package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// An overlay is one file of a draft before and after it.
type overlay struct {
	file   DraftFile
	before *workspace.File // empty text for a new file
	after  *workspace.File // empty text for a deleted one
	lang   *treesitter.Language
	trees  [2]*treesitter.Tree // before, after; nil where there is no grammar
}

// Inspect validates a draft on an overlay: the edits apply exactly, no syntax
// error is new, the rules that asked for it no longer match, no source has a
// new diagnostic, and nothing was done that nobody asked for. Nothing is
// written. A draft without flaws is returned as a candidate with its evidence.
// The error is ctx's, or a source's that could not judge at all.
func (f *Fixer) Inspect(ctx context.Context, ws *workspace.Workspace, d Draft) (Candidate, []Flaw, error) {
	checks := map[string]Check{CheckApply: ApplyExact, CheckLocality: InRegion}
	if d.Relaxed {
		checks[CheckApply] = ApplyRelaxed
	}
	if d.OutOfRegion {
		checks[CheckLocality] = OutOfRegion
	}
	if d.Engine == Model {
		checks[CheckContext] = ContextFull
		if d.Truncated {
			checks[CheckContext] = ContextShort
		}
	}

	overlays, flaws := applyDraft(d)
	if len(flaws) > 0 {
		return Candidate{}, flaws, nil
	}
	flaws, err := checkParse(ctx, overlays, checks)
	if err != nil || len(flaws) > 0 {
		return Candidate{}, flaws, err
	}
	if flaws, err = f.checkRules(ctx, d, overlays, checks); err != nil || len(flaws) > 0 {
		return Candidate{}, flaws, err
	}
	if flaws, err = f.checkDiagnostics(ctx, ws, d, overlays, checks); err != nil || len(flaws) > 0 {
		return Candidate{}, flaws, err
	}
	if flaws = checkHygiene(d, overlays, checks); len(flaws) > 0 {
		return Candidate{}, flaws, nil
	}
	// The checks above return flaws for every hard stop; this holds the two
	// lists together.
	if name, stop := stopped(checks); stop {
		return Candidate{}, []Flaw{{Check: name, Path: overlays[0].file.Path, Message: "the " + name + " check failed"}}, nil
	}
	return f.candidate(d, overlays, checks), nil, nil
}

// candidate makes the candidate of a draft that passed.
func (f *Fixer) candidate(d Draft, overlays []overlay, checks map[string]Check) Candidate {
	c := Candidate{Engine: d.Engine, Category: cmp.Or(d.Category, Local), RuleIDs: slices.Clone(d.RuleIDs), Description: d.Description, Hunks: d.Hunks}
	for _, in := range d.Incidents {
		c.IncidentIDs = append(c.IncidentIDs, in.ID)
	}
	for _, o := range overlays {
		change := workspace.Change{Path: o.file.Path, Kind: o.file.Kind}
		if o.file.Kind != workspace.CreateFile {
			change.BaseSHA256 = o.before.SHA256
		}
		if o.file.Kind != workspace.DeleteFile {
			change.ProposedSHA256 = o.after.SHA256
		}
		switch o.file.Kind {
		case workspace.EditFile:
			change.Edits = o.file.Edits
		case workspace.CreateFile:
			change.Text = o.file.Text
		}
		c.Changes = append(c.Changes, change)
	}
	// Several rules in one candidate are as sure as the least sure of them.
	ids := d.RuleIDs
	if len(ids) == 0 {
		ids = []string{""}
	}
	for i, id := range ids {
		p, ev := score(inputs{d.Engine, id, c.Category, len(overlays), d.Repairs}, checks, f.opts.Outcomes)
		if i == 0 || p < c.Confidence {
			c.Confidence, c.Evidence = p, ev
		}
	}
	return c
}

// applyDraft is V0: every edit applies to its base and changes something.
func applyDraft(d Draft) ([]overlay, []Flaw) {
	if len(d.Files) == 0 {
		return nil, []Flaw{{Check: CheckApply, Message: "the fix changes no file"}}
	}
	var list []overlay
	seen := map[string]bool{}
	for _, file := range d.Files {
		flaw := func(format string, args ...any) ([]overlay, []Flaw) {
			return nil, []Flaw{{Check: CheckApply, Path: file.Path, Message: fmt.Sprintf(format, args...)}}
		}
		if seen[file.Path] {
			return flaw("the file is changed twice in one fix")
		}
		seen[file.Path] = true
		o := overlay{file: file, before: file.Base, lang: treesitter.ForPath(file.Path)}
		if file.Base == nil {
			o.before = &workspace.File{Path: file.Path}
		}
		var text []byte
		switch file.Kind {
		case workspace.EditFile:
			if file.Base == nil {
				return flaw("the file does not exist")
			}
			if err := workspace.CheckEditable(file.Path, file.Base.Text); err != nil {
				return flaw("%v", err)
			}
			var err error
			if text, err = workspace.ApplyEdits(file.Base.Text, file.Edits); err != nil {
				return flaw("%v", err)
			}
			if bytes.Equal(text, file.Base.Text) {
				return flaw("the edits change nothing")
			}
		case workspace.CreateFile:
			if file.Base != nil {
				return flaw("the file exists already")
			}
			text = file.Text
		case workspace.DeleteFile:
			if file.Base == nil {
				return flaw("the file does not exist")
			}
		default:
			return flaw("%q is no kind of change", file.Kind)
		}
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return flaw("the result is not UTF-8 text")
		}
		if len(text) > workspace.DefaultMaxFileSize {
			return flaw("the result is larger than 1 MiB")
		}
		after := *o.before
		after.Text, after.SHA256 = text, workspace.SHA256(text)
		o.after = &after
		list = append(list, o)
	}
	return list, nil
}

// checkParse is V1: no syntax error that the base does not have. A file whose
// language has no grammar is unchecked.
func checkParse(ctx context.Context, overlays []overlay, checks map[string]Check) ([]Flaw, error) {
	checks[CheckParse] = ParseOK
	var flaws []Flaw
	for i := range overlays {
		o := &overlays[i]
		if o.lang == nil {
			checks[CheckParse] = Unchecked
			continue
		}
		for side, text := range [][]byte{o.before.Text, o.after.Text} {
			tree, err := treesitter.Parse(ctx, o.lang, text)
			if err != nil {
				return nil, err
			}
			o.trees[side] = tree
		}
		if o.file.Kind == workspace.DeleteFile {
			continue
		}
		for _, e := range treesitter.NewErrors(o.trees[0], o.trees[1]) {
			line := 1 + bytes.Count(o.after.Text[:min(e.Example, len(o.after.Text))], []byte{'\n'})
			flaws = append(flaws, Flaw{CheckParse, o.file.Path, line, fmt.Sprintf("the result has a new syntax error (%s) at line %d", e.Kind, line)})
		}
	}
	return flaws, nil
}

// checkRules is V2 and our own part of V4: what was claimed is gone by as many
// matches as were claimed, and no rule of the set matches more than before.
// Matches are counted by rule, not by place: an edit moves all that follow it.
func (f *Fixer) checkRules(ctx context.Context, d Draft, overlays []overlay, checks map[string]Check) ([]Flaw, error) {
	checks[CheckRule] = Unchecked
	claimed := map[string]int{} // by path and rule
	key := func(path, rule string) string { return path + "\x00" + rule }
	bound := 0
	var order []string
	for _, in := range d.Incidents {
		claims, err := f.claims(ctx, in, overlays)
		if err != nil {
			return nil, err
		}
		for _, r := range claims {
			k := key(in.FilePath, r.ID)
			if claimed[k] == 0 {
				order = append(order, k)
			}
			claimed[k]++
		}
		if len(claims) > 0 {
			bound++
		}
	}
	var flaws []Flaw
	lowNew := false
	for _, o := range overlays {
		before, err := f.check(ctx, o.before, o.trees[0])
		if err != nil {
			return nil, err
		}
		after, err := f.check(ctx, o.after, o.trees[1])
		if err != nil {
			return nil, err
		}
		had, has := countRules(before), countRules(after)
		sample := map[string]rules.Match{}
		for _, m := range slices.Backward(after) {
			sample[m.Incident.RuleID] = m
		}
		for _, k := range order {
			path, rule, _ := strings.Cut(k, "\x00")
			if path != o.file.Path || has[rule] == 0 {
				continue
			}
			// A rule that is bound to a foreign incident may match in more
			// places than were claimed, never in as many as before.
			if has[rule] > max(0, had[rule]-claimed[k]) {
				m := sample[rule]
				flaws = append(flaws, Flaw{CheckRule, path, m.Incident.LineNumber,
					fmt.Sprintf("rule %s still matches at line %d", rule, m.Incident.LineNumber)})
			}
		}
		for _, m := range after {
			rule := m.Incident.RuleID
			if claimed[key(o.file.Path, rule)] > 0 || has[rule] <= had[rule] {
				continue
			}
			has[rule] = had[rule] // once per rule
			if severe(m.Incident.Severity) {
				flaws = append(flaws, Flaw{CheckDiagnostics, o.file.Path, m.Incident.LineNumber,
					fmt.Sprintf("rule %s matches the result at line %d, which it did not before: %s", rule, m.Incident.LineNumber, m.Incident.Message)})
			} else {
				lowNew = true
			}
		}
	}
	if len(flaws) > 0 {
		return flaws, nil
	}
	if bound == len(d.Incidents) {
		checks[CheckRule] = Gone
	}
	// An incident that a rule of this set found was re-checked by its own source.
	own := bound > 0 && !slices.ContainsFunc(d.Incidents, func(in incidents.Incident) bool { return !f.own(in) })
	checks[CheckDiagnostics] = Unchecked
	switch {
	case own && lowNew:
		checks[CheckDiagnostics] = GoneNew
	case own:
		checks[CheckDiagnostics] = GoneNoNew
	}
	return nil, nil
}

// claims returns the rules that an incident's fix has to satisfy: of those that
// are bound to it, where it is one of several, the ones that match in its place.
func (f *Fixer) claims(ctx context.Context, in incidents.Incident, overlays []overlay) ([]*rules.Rule, error) {
	bound := f.opts.Rules.ForIncident(in)
	i := slices.IndexFunc(overlays, func(o overlay) bool { return o.file.Path == in.FilePath })
	if len(bound) < 2 || i < 0 || len(overlays[i].before.Text) == 0 {
		return bound, nil
	}
	matches, err := f.opts.Rules.Match(ctx, overlays[i].before, overlays[i].trees[0], in)
	if err != nil || len(matches) == 0 {
		return bound, err
	}
	return slices.DeleteFunc(slices.Clone(bound), func(r *rules.Rule) bool {
		return !slices.ContainsFunc(matches, func(m rules.Match) bool { return m.Incident.RuleID == r.ID })
	}), nil
}

// ownSource is the source of the incidents that rules of ours find.
const ownSource = "kaiak"

// own reports whether a rule of this set reports in itself.
func (f *Fixer) own(in incidents.Incident) bool {
	if in.Source != "" && in.Source != ownSource {
		return false
	}
	return slices.ContainsFunc(f.opts.Rules.ForIncident(in), func(r *rules.Rule) bool { return r.ID == in.RuleID })
}

func (f *Fixer) check(ctx context.Context, file *workspace.File, tree *treesitter.Tree) ([]rules.Match, error) {
	if len(file.Text) == 0 {
		return nil, nil
	}
	return f.opts.Rules.Check(ctx, file, tree)
}

func countRules(matches []rules.Match) map[string]int {
	n := map[string]int{}
	for _, m := range matches {
		n[m.Incident.RuleID]++
	}
	return n
}

func severe(s incidents.Severity) bool { return s != incidents.Info && s != incidents.Hint }

// checkDiagnostics is V3 and V4: the configured source, run on the overlay, no
// longer reports what was claimed and reports nothing new. A diagnostic is told
// by file, rule and message, not by its line, which edits move.
func (f *Fixer) checkDiagnostics(ctx context.Context, ws *workspace.Workspace, d Draft, overlays []overlay, checks map[string]Check) ([]Flaw, error) {
	if f.opts.Diagnostics == nil {
		return nil, nil
	}
	var changes []workspace.Change
	for _, o := range overlays {
		changed := f.candidate(Draft{Files: d.Files}, []overlay{o}, nil).Changes
		for i := range changed { // the base may be another candidate's result, which is nowhere yet
			changed[i].Text = o.after.Text
		}
		changes = append(changes, changed...)
	}
	before, after, err := f.opts.Diagnostics.Diagnose(ctx, ws, changes)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// A source that cannot answer has not judged; it does not forbid.
		return nil, nil
	}
	type key struct{ path, rule, message string }
	keyOf := func(in incidents.Incident) key {
		return key{in.FilePath, in.RuleID, incidents.NormalizeSnippet(in.Message)}
	}
	had := map[key]int{}
	for _, in := range before {
		had[keyOf(in)]++
	}
	left := map[key]int{}
	for _, in := range after {
		left[keyOf(in)]++
	}
	known, claimed := 0, map[key]int{}
	for _, in := range d.Incidents {
		k := keyOf(in)
		claimed[k]++
		if had[k] > 0 {
			known++
		}
	}
	var flaws []Flaw
	lowNew := false
	for _, in := range after {
		k := keyOf(in)
		switch {
		case claimed[k] > 0 && left[k] > max(0, had[k]-claimed[k]):
			flaws = append(flaws, Flaw{CheckDiagnostics, in.FilePath, in.LineNumber, fmt.Sprintf("%s is still reported at line %d: %s", in.RuleID, in.LineNumber, in.Message)})
			left[k] = 0
		case left[k] > had[k]:
			left[k] = had[k]
			if severe(in.Severity) {
				flaws = append(flaws, Flaw{CheckDiagnostics, in.FilePath, in.LineNumber, fmt.Sprintf("%s is newly reported at line %d: %s", in.RuleID, in.LineNumber, in.Message)})
			} else {
				lowNew = true
			}
		}
	}
	if len(flaws) > 0 {
		return flaws, nil
	}
	if known == len(d.Incidents) && known > 0 {
		checks[CheckDiagnostics] = GoneNoNew
	}
	if lowNew && checks[CheckDiagnostics] == GoneNoNew {
		checks[CheckDiagnostics] = GoneNew
	}
	return nil, nil
}

// errorsOf joins flaws into one sentence for a leftover.
func errorsOf(flaws []Flaw) string {
	var errs []error
	for _, fl := range flaws {
		errs = append(errs, errors.New(fl.Message))
	}
	return strings.ReplaceAll(errors.Join(errs...).Error(), "\n", "; ")
}
