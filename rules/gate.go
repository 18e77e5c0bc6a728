package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/refactor"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// The gate: what must hold of the text that the hunks make. A hunk that breaks
// a condition is refused, and the rest is looked at again without it.

// verify refuses plans until what is left passes, and adds the upkeep of
// imports and layout.
func (rw *rewriter) verify(ctx context.Context) error {
	for len(rw.plans) > 0 {
		bad, err := rw.flaw(ctx, rw.plans)
		if err != nil {
			return err
		}
		if bad == nil {
			if err := rw.keepImports(ctx); err != nil {
				return err
			}
			return rw.keepLayout()
		}
		culprits, err := rw.culprits(ctx, rw.plans, bad)
		if err != nil {
			return err
		}
		for _, c := range culprits {
			rw.drop(c.plan, c.kind, "%s", c.detail)
		}
	}
	return nil
}

// flaw is a condition that a text breaks.
type flaw struct {
	plan   *plan
	kind   RefusalKind
	detail string
}

// culprits returns the plans to drop of those that have a flaw together, at
// least one: by halves, so that few bad ones among many are found in few parses.
func (rw *rewriter) culprits(ctx context.Context, plans []*plan, together *flaw) ([]flaw, error) {
	if len(plans) == 1 {
		together.plan = plans[0]
		return []flaw{*together}, nil
	}
	var out []flaw
	for _, half := range [][]*plan{plans[:len(plans)/2], plans[len(plans)/2:]} {
		bad, err := rw.flaw(ctx, half)
		if err != nil {
			return nil, err
		}
		if bad == nil {
			continue
		}
		more, err := rw.culprits(ctx, half, bad)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if len(out) == 0 {
		// Each half is good and both are not: the last one has to wait.
		together.plan = plans[len(plans)-1]
		together.detail += " (together with the fixes before it)"
		return []flaw{*together}, nil
	}
	return out, nil
}

// flaw returns a condition that the text breaks when the hunks of plans are
// applied, nil when there is none.
func (rw *rewriter) flaw(ctx context.Context, plans []*plan) (*flaw, error) {
	var edits []workspace.Edit
	for _, p := range plans {
		edits = append(edits, p.hunk.Edits...)
	}
	result, err := workspace.ApplyEdits(rw.file.Text, edits)
	if err != nil {
		return &flaw{kind: RefusedOverlap, detail: "its edits do not apply: " + err.Error()}, nil
	}
	tree, err := treesitter.Parse(ctx, rw.tree.Language(), result)
	if err != nil {
		return nil, err
	}
	if worse := treesitter.NewErrors(rw.tree, tree); len(worse) > 0 {
		at := workspace.NewMapper(result, workspace.UTF16).Position(worse[0].Example)
		return &flaw{kind: RefusedParse, detail: fmt.Sprintf("the fixed text would have a syntax error that the file has not: %s, line %d of the result", worse[0], at.Line+1)}, nil
	}
	return rw.remaining(plans, tree), nil
}

// region is where a plan's hunk ends up in the result.
type region struct {
	plan          *plan
	before, after incidents.Span
}

// regions maps each plan's span in the base to the result.
func regions(plans []*plan) []region {
	var edits []workspace.Edit
	for _, p := range plans {
		edits = append(edits, p.hunk.Edits...)
	}
	slices.SortFunc(edits, func(a, b workspace.Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	growth := make([]int, len(edits)+1) // of the text by the edits before each
	for i, e := range edits {
		growth[i+1] = growth[i] + len(e.New) - (e.End - e.Start)
	}
	out := make([]region, len(plans))
	for i, p := range plans {
		span := p.match.Fixes[0].span
		before := sort.Search(len(edits), func(i int) bool {
			e := edits[i]
			return !(e.End < span.Start || e.End == span.Start && e.Start < span.Start)
		})
		within := sort.Search(len(edits), func(i int) bool { return edits[i].Start > span.End })
		out[i] = region{p, span, incidents.Span{Start: span.Start + growth[before], End: span.End + growth[max(before, within)]}}
	}
	return out
}

// item is one match that plans fix: where it was, and where to look afterwards.
type item struct {
	plan  *plan
	span  incidents.Span // in the base
	place region
}

// remaining checks that in each hunk's place its rule matches less often than
// before. A match that was there and is carried over stays one: it is fixed, or
// refused, for itself.
func (rw *rewriter) remaining(plans []*plan, tree *treesitter.Tree) *flaw {
	byRule := map[*Rule][]item{}
	var order []*Rule
	add := func(m Match, place region) {
		if byRule[m.Rule] == nil {
			order = append(order, m.Rule)
		}
		byRule[m.Rule] = append(byRule[m.Rule], item{place.plan, m.Fixes[0].span, place})
	}
	for _, place := range regions(plans) {
		add(place.plan.match, place)
		for _, m := range place.plan.nested {
			add(m, place)
		}
	}
	for _, r := range order {
		before, after := rw.spansBefore(r), rw.set.spans(r, tree)
		fixes := make([]incidents.Span, len(byRule[r]))
		for i, it := range byRule[r] {
			fixes[i] = it.span
		}
		sortSpans(fixes)
		for _, it := range byRule[r] {
			fixed := inside(fixes, it.place.before) // this one and those nested in it
			if is := inside(after, it.place.after); is > inside(before, it.place.before)-fixed {
				return rw.stillMatches(it.plan, r, is)
			}
		}
		if len(after) > len(before)-len(byRule[r]) {
			return &flaw{kind: RefusedStillMatches, detail: fmt.Sprintf("rule %s would match in a place where it did not before", r.ID)}
		}
	}
	return nil
}

func (rw *rewriter) stillMatches(p *plan, r *Rule, count int) *flaw {
	return &flaw{plan: p, kind: RefusedStillMatches, detail: fmt.Sprintf(
		"rule %s would still match the fixed text (%d times), so that every run would change it again; make the rule exclude what its fix writes", r.ID, count)}
}

// inside counts the spans, which are in the order of their starts, that lie in place.
func inside(spans []incidents.Span, place incidents.Span) int {
	n := 0
	first := sort.Search(len(spans), func(i int) bool { return spans[i].Start >= place.Start })
	for _, s := range spans[first:] {
		if s.Start > place.End {
			break
		}
		if s.End <= place.End {
			n++
		}
	}
	return n
}

func sortSpans(spans []incidents.Span) {
	slices.SortFunc(spans, func(a, b incidents.Span) int { return cmp.Compare(a.Start, b.Start) })
}

// spansBefore returns where a rule matches in the base.
func (rw *rewriter) spansBefore(r *Rule) []incidents.Span {
	if _, ok := rw.base[r]; !ok {
		if rw.base == nil {
			rw.base = map[*Rule][]incidents.Span{}
		}
		rw.base[r] = rw.set.spans(r, rw.tree)
	}
	return rw.base[r]
}

// spans returns where a rule matches in a tree.
func (s *Set) spans(r *Rule, tree *treesitter.Tree) []incidents.Span {
	state := matcher.NewState(tree)
	env := pattern.NewEnv(r.core.Vars())
	kinds := r.core.Kinds()
	var out []incidents.Span
	for i := range tree.Len() {
		n := tree.Node(i)
		if !kinds.Has(n.KindID()) {
			continue
		}
		if node, ok := r.core.Match(state, n, env); ok {
			out = append(out, incidents.Span{Start: node.Start(), End: node.End()})
		}
		env.Undo(0)
	}
	sortSpans(out)
	return out
}

// keepImports adds the upkeep of imports, and refuses the plans that need it
// where it cannot be done.
func (rw *rewriter) keepImports(ctx context.Context) error {
	for {
		if !slices.ContainsFunc(rw.plans, func(p *plan) bool { return p.imports != nil }) {
			return nil
		}
		result, err := workspace.ApplyEdits(rw.file.Text, rw.edits())
		if err != nil {
			return err
		}
		tree, err := treesitter.Parse(ctx, rw.tree.Language(), result)
		if err != nil {
			return err
		}
		keep, err := rw.upkeep(ctx, result, tree)
		if err == nil {
			if keep != nil {
				rw.plans = append(rw.plans, keep)
			}
			return nil
		}
		var refusal *refactor.Refusal
		if !errors.As(err, &refusal) {
			return err
		}
		if !rw.dropImporters(ctx, refusal) {
			return nil
		}
	}
}

// dropImporters refuses the plans whose upkeep cannot be done: those that are
// refused alone, else all that need upkeep. It reports whether any plan that
// needs upkeep is left.
func (rw *rewriter) dropImporters(ctx context.Context, refusal *refactor.Refusal) bool {
	needs := func(p *plan) bool { return p.imports != nil }
	result, err := workspace.ApplyEdits(rw.file.Text, rw.edits())
	if err != nil {
		return false
	}
	dropped := false
	for _, p := range slices.Clone(rw.plans) {
		if !needs(p) {
			continue
		}
		_, err := p.imports.Edits(ctx, refactor.Input{Path: rw.file.Path, Text: result})
		var own *refactor.Refusal
		if errors.As(err, &own) {
			rw.drop(p, RefusalKind(own.Kind), "%s", own.Detail)
			dropped = true
		}
	}
	if !dropped {
		for _, p := range slices.Clone(rw.plans) {
			if needs(p) {
				rw.drop(p, RefusalKind(refusal.Kind), "%s", refusal.Detail)
			}
		}
	}
	return slices.ContainsFunc(rw.plans, needs)
}
