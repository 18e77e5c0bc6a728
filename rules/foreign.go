package rules

import (
	"context"
	"fmt"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Match returns the matches of the rules that can fix an incident, in the
// incident's own place, with the incident's id: so that what another tool found
// is fixed by rule. A place that is only a line takes the matches that begin in
// it, or, if there are none, those that reach into it; line 0 is the whole file.
// A place that is an import without a match takes those of the rules that are
// about what is imported, wherever they are in the file.
// An incident of Konveyor's takes what is in its line where its range has nothing.
func (s *Set) Match(ctx context.Context, file *workspace.File, tree *treesitter.Tree, in incidents.Incident) ([]Match, error) {
	bound := s.ForIncident(in)
	lang := s.language(file.Path)
	if tree != nil {
		lang = tree.Language()
	}
	l := s.byLang[lang]
	if l == nil || len(bound) == 0 {
		return nil, nil
	}
	candidates := make([]bool, len(l.rules))
	any := false
	for i, r := range l.rules {
		for _, b := range bound {
			if r == b && r.AppliesTo(file.Path) {
				candidates[i], any = true, true
			}
		}
	}
	if !any {
		return nil, nil
	}
	if tree == nil {
		var err error
		if tree, err = treesitter.Parse(ctx, lang, file.Text); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	matches, err := s.check(ctx, l, file, tree, candidates)
	if err != nil {
		return nil, err
	}
	// One of the rules' own incidents is known by its id, wherever it is now.
	for _, m := range matches {
		if m.Incident.ID == in.ID && m.Rule.ID == in.RuleID {
			return []Match{m}, nil
		}
	}
	if own := adopt(matches, file, in); len(own) > 0 {
		return own, nil
	}
	return adoptImport(matches, tree, file, in), nil
}

// adopt returns the matches in an incident's place, as that incident's.
func adopt(matches []Match, file *workspace.File, in incidents.Incident) []Match {
	lines := workspace.NewMapper(file.Text, workspace.UTF16)
	var place func(m Match) (begins, touches bool)
	switch {
	case in.Range != nil:
		start, end := lines.Offset(in.Range.Start), lines.Offset(in.Range.End)
		place = func(m Match) (bool, bool) {
			s := m.Incident.Span
			within := start <= s.Start && s.End <= max(end, start+1)
			around := s.Start <= start && end <= s.End
			return within, around || s.Start < end && start < s.End
		}
	case in.LineNumber > 0:
		start, end := lines.Line(in.LineNumber - 1)
		place = func(m Match) (bool, bool) {
			s := m.Incident.Span
			return start <= s.Start && s.Start <= end, s.Start < end && start < s.End
		}
	default:
		place = func(Match) (bool, bool) { return true, true }
	}
	// Konveyor's analyzer reports lines: a range on its incident is that of one
	// condition of the rule, and the fix may belong to what another one matched.
	var lineStart, lineEnd int
	if in.Source == "konveyor" && in.Range != nil {
		lineStart, lineEnd = lines.Line(in.Range.Start.Line)
	}
	var begin, touch, inLine []Match
	for _, m := range matches {
		begins, touches := place(m)
		m = m.as(in)
		if begins {
			begin = append(begin, m)
		} else if touches {
			touch = append(touch, m)
		} else if lineStart <= m.Incident.Span.Start && m.Incident.Span.Start < lineEnd {
			inLine = append(inLine, m)
		}
	}
	switch {
	case len(begin) > 0:
		return begin
	case len(touch) > 0:
		return touch
	}
	return inLine
}

// as returns the match as another tool's incident: with all of it but the place.
func (m Match) as(in incidents.Incident) Match {
	span := m.Incident.Span
	m.Incident = in
	m.Incident.Span = span
	m.Fixes = slices.Clone(m.Fixes)
	for i := range m.Fixes {
		if r := m.Fixes[i].refusal; r != nil {
			own := *r
			own.IncidentID = in.ID
			m.Fixes[i].refusal = &own
		}
	}
	return m
}

// adoptImport is [adopt] for an incident on an import: tools report a
// deprecated package once, where it is imported, and not where it is used.
func adoptImport(matches []Match, tree *treesitter.Tree, file *workspace.File, in incidents.Incident) []Match {
	lines := workspace.NewMapper(file.Text, workspace.UTF16)
	var start, end int
	switch {
	case in.Range != nil:
		start, end = lines.Offset(in.Range.Start), max(lines.Offset(in.Range.End), lines.Offset(in.Range.Start)+1)
	case in.LineNumber > 0:
		start, end = lines.Line(in.LineNumber - 1)
	}
	imported := map[string]bool{}
	for _, imp := range treesitter.Imports(tree) {
		if imp.Spec.Start() < end && start < imp.Spec.End() {
			imported[imp.Path] = true
		}
	}
	var own []Match
	for _, m := range matches {
		if slices.ContainsFunc(m.Rule.requires, func(r requirement) bool { return imported[r.path] }) {
			own = append(own, m.as(in))
		}
	}
	return own
}
