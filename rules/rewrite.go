package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/refactor"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Rewrite turns the first fix of each match into hunks of one file and refuses,
// one by one, the fixes that cannot be shown to be safe. Applied together, the
// hunks that it returns give a text with no new syntax error, in which the rule
// no longer matches where it was fixed, and on which a second Rewrite of the
// same rules would change nothing that this one fixed.
//
// matches are those of [Set.Check] or [Set.Match] for the very text of file;
// tree is its tree, or nil. The error is ctx's, or that the text cannot be parsed.
func (s *Set) Rewrite(ctx context.Context, file *workspace.File, tree *treesitter.Tree, matches []Match) (Rewrite, error) {
	rw := &rewriter{set: s, file: file, tree: tree}
	if len(matches) == 0 {
		return Rewrite{}, nil
	}
	if reason, kind := s.untouchable(file); reason != "" {
		for _, m := range matches {
			rw.refuse(m, kind, "%s", reason)
		}
		return rw.out, nil
	}
	if tree == nil {
		var err error
		if rw.tree, err = treesitter.Parse(ctx, matches[0].Rule.lang, file.Text); err != nil {
			return Rewrite{}, fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	if err := rw.choose(ctx, matches); err != nil {
		return Rewrite{}, err
	}
	if err := rw.verify(ctx); err != nil {
		return Rewrite{}, err
	}
	for _, p := range rw.plans {
		rw.out.Hunks = append(rw.out.Hunks, p.hunk)
	}
	slices.SortStableFunc(rw.out.Refused, func(a, b Refusal) int {
		return cmp.Compare(rw.order[a.IncidentID], rw.order[b.IncidentID])
	})
	return rw.out, nil
}

// rewriter is one call of Rewrite.
type rewriter struct {
	set   *Set
	file  *workspace.File
	tree  *treesitter.Tree
	out   Rewrite
	plans []*plan // in the order of the text; upkeep last
	order map[string]int
	base  map[*Rule][]incidents.Span // where rules match in the base

	beside map[string]string // by name: the file that declares it for the package, "" for none
}

// plan is a hunk on its way through the checks.
type plan struct {
	hunk    Hunk
	match   Match
	also    []Match        // further matches with the very same edits
	nested  []Match        // matches in code that the fix carries to another place
	upkeep  bool           // of imports: no match of its own
	extent  incidents.Span // around all that the fix claims and edits
	imports *refactor.Imports
}

func (rw *rewriter) refuse(m Match, kind RefusalKind, format string, args ...any) {
	rw.out.Refused = append(rw.out.Refused, Refusal{m.Incident.ID, m.Rule.ID, kind, fmt.Sprintf(format, args...)})
}

// drop refuses a plan and everything in it.
func (rw *rewriter) drop(p *plan, kind RefusalKind, format string, args ...any) {
	rw.plans = slices.DeleteFunc(rw.plans, func(q *plan) bool { return q == p })
	if p.upkeep {
		return
	}
	for _, m := range slices.Concat([]Match{p.match}, p.also, p.nested) {
		rw.refuse(m, kind, format, args...)
	}
}

// choose takes the fixes that may be applied each for itself and that do not
// claim the same text.
func (rw *rewriter) choose(ctx context.Context, matches []Match) error {
	matches = slices.Clone(matches)
	slices.SortStableFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Incident.Span.Start, b.Incident.Span.Start), cmp.Compare(b.Incident.Span.End, a.Incident.Span.End))
	})
	rw.order = map[string]int{}
	for i, m := range matches {
		rw.order[m.Incident.ID] = i
	}
	for _, m := range matches {
		if len(m.Fixes) == 0 {
			rw.refuse(m, RefusedNoFix, "rule %s finds this but has no fix for it", m.Rule.ID)
			continue
		}
		fix := m.Fixes[0]
		if fix.refusal != nil {
			rw.refuse(m, fix.refusal.Kind, "%s", fix.refusal.Detail)
			continue
		}
		if kind, reason := rw.unsafeHere(m); reason != "" {
			rw.refuse(m, kind, "%s", reason)
			continue
		}
		if len(fix.Edits) == 0 {
			rw.refuse(m, RefusedNotIdem, "the fix of rule %s leaves the text as it is", m.Rule.ID)
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rw.add(m, fix)
	}
	return nil
}

func (rw *rewriter) add(m Match, fix Fix) {
	all := extent(fix)
	for _, p := range rw.plans {
		if p.extent.End < all.Start || all.End < p.extent.Start {
			continue
		}
		if !clash(p.match.Fixes[0].claims, fix.claims) && !editsClash(p.hunk.Edits, fix.Edits) {
			continue
		}
		if slices.Equal(p.hunk.Edits, fix.Edits) {
			p.also = append(p.also, m)
			p.hunk.IncidentIDs = append(p.hunk.IncidentIDs, m.Incident.ID)
			return
		}
		if p.nest(rw.file.Text, m, fix) {
			return
		}
		rw.refuse(m, RefusedOverlap, "it overlaps the fix of rule %s in line %d; fix it again after that one is applied", p.match.Rule.ID, p.match.Incident.LineNumber)
		return
	}
	rw.plans = append(rw.plans, &plan{
		hunk:    Hunk{Path: rw.file.Path, Edits: slices.Clone(fix.Edits), IncidentIDs: []string{m.Incident.ID}, RuleID: m.Rule.ID},
		match:   m,
		imports: m.Rule.imports,
		extent:  all,
	})
}

// extent returns the span around all that a fix claims and edits.
func extent(fix Fix) incidents.Span {
	out := fix.span
	for _, e := range fix.Edits {
		out.Start, out.End = min(out.Start, e.Start), max(out.End, e.End)
	}
	return out
}

// nest takes a fix of code that p's fix carries to another place into p, and
// reports whether it could.
func (p *plan) nest(text []byte, m Match, fix Fix) bool {
	outer := &p.match.Fixes[0]
	carried := func(piece pattern.Piece) bool {
		return piece.Carried && piece.Start <= fix.span.Start && fix.span.End <= piece.End
	}
	if !slices.ContainsFunc(outer.pieces, carried) || fix.pieces != nil || m.Rule.imports != nil {
		return false
	}
	for _, other := range p.nested {
		if clash(other.Fixes[0].claims, fix.claims) {
			return false
		}
	}
	p.nested = append(p.nested, m)
	p.hunk.IncidentIDs = append(p.hunk.IncidentIDs, m.Incident.ID)
	pieces := slices.Clone(outer.pieces)
	for i := range pieces {
		if pieces[i].Carried {
			pieces[i].Text = p.carry(text, pieces[i])
			pieces[i].Carried = string(pieces[i].Text) == string(text[pieces[i].Start:pieces[i].End])
		}
	}
	p.hunk.Edits, _, _, _ = fixEdits(text, outer.span.Start, outer.span.End, pieces)
	return true
}

// carry returns the text of a piece with the nested fixes in it.
func (p *plan) carry(text []byte, piece pattern.Piece) []byte {
	var edits []workspace.Edit
	for _, m := range p.nested {
		for _, e := range m.Fixes[0].Edits {
			if piece.Start <= e.Start && e.End <= piece.End {
				edits = append(edits, workspace.Edit{Start: e.Start - piece.Start, End: e.End - piece.Start, New: e.New})
			}
		}
	}
	out, err := workspace.ApplyEdits(text[piece.Start:piece.End], edits)
	if err != nil {
		return piece.Text // nested fixes that clash were not taken
	}
	return out
}

// clash reports whether two lists of spans share a byte, or a span of one has a
// place of the other inside.
func clash(a, b []incidents.Span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Start < y.End && y.Start < x.End || x == y {
				return true
			}
		}
	}
	return false
}

func editsClash(a, b []workspace.Edit) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Start < y.End && y.Start < x.End || x.Start == y.Start && (x.End == x.Start || y.End == y.Start) {
				return true
			}
		}
	}
	return false
}

// upkeep returns the hunk that puts the imports right once the plans' hunks are
// applied, or nil. It is made for the result, so that it knows what is unused.
func (rw *rewriter) upkeep(ctx context.Context, result []byte, tree *treesitter.Tree) (*plan, error) {
	var all refactor.Imports
	var first *plan
	for _, p := range rw.plans {
		if p.imports == nil {
			continue
		}
		if first == nil {
			first = p
		}
		all.Add = union(all.Add, p.imports.Add)
		all.Remove = union(all.Remove, p.imports.Remove)
		all.Unused = union(all.Unused, p.imports.Unused)
	}
	if first == nil {
		return nil, nil
	}
	edits, err := all.Edits(ctx, refactor.Input{Path: rw.file.Path, Text: result, Tree: tree})
	if err != nil {
		return nil, err
	}
	if len(edits) == 0 {
		return nil, nil
	}
	applied, err := workspace.ApplyEdits(result, edits)
	if err != nil {
		return nil, err
	}
	// What is needed are edits of the base, beside those of the hunks: the
	// import block is not theirs, so shifting the offsets back is enough.
	back, ok := rw.rebase(edits)
	if !ok {
		return nil, &refactor.Refusal{Kind: string(RefusedOverlap), Detail: "the fix changes the import that has to be put right after it"}
	}
	p := &plan{upkeep: true, match: first.match, hunk: Hunk{Path: rw.file.Path, Edits: back, RuleID: first.hunk.RuleID, IncidentIDs: []string{}}}
	if combined, err := workspace.ApplyEdits(rw.file.Text, append(rw.edits(), back...)); err != nil || string(combined) != string(applied) {
		return nil, &refactor.Refusal{Kind: string(RefusedOverlap), Detail: "the fix and the upkeep of the imports change the same place"}
	}
	return p, nil
}

func union(list, more []refactor.ImportSpec) []refactor.ImportSpec {
	for _, spec := range more {
		if !slices.Contains(list, spec) {
			list = append(list, spec)
		}
	}
	return list
}

// edits returns the edits of all plans.
func (rw *rewriter) edits() []workspace.Edit {
	var out []workspace.Edit
	for _, p := range rw.plans {
		out = append(out, p.hunk.Edits...)
	}
	return out
}

// rebase turns edits of the result into edits of the base. ok is false when one
// of them touches text that a plan changes.
func (rw *rewriter) rebase(edits []workspace.Edit) (out []workspace.Edit, ok bool) {
	done := rw.edits()
	slices.SortFunc(done, func(a, b workspace.Edit) int { return cmp.Compare(a.Start, b.Start) })
	for _, e := range edits {
		shift := 0 // of the result against the base, before e
		for _, d := range done {
			from := d.Start + shift // of d's new text in the result
			to := from + len(d.New)
			if e.End <= from && !(e.End == from && e.Start == from) {
				break
			}
			if e.Start < to {
				return nil, false
			}
			shift += len(d.New) - (d.End - d.Start)
		}
		out = append(out, workspace.Edit{Start: e.Start - shift, End: e.End - shift, New: e.New})
	}
	return out, true
}
