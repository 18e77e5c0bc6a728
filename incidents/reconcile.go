package incidents

import (
	"slices"
	"strconv"
)

// keepIDs gives newly found incidents the ids of the ones they are: found is
// what a source sees now, old what it saw before, moved along with the edits
// since. Both are in the order of the file. What is recognised, in this order:
//
//  1. the same text of the same rule at the very place;
//  2. the same rule at a place whose text an edit changed;
//  3. the id that the identity gives, where nobody has it.
//
// An incident that is new gets its identity's id, or, where another already
// has that one (the identity counts ordinals anew each time, ids stay), one
// derived from it.
func keepIDs(old []entry, found []Incident, taken func(id string) bool) {
	if len(old) == 0 && !slices.ContainsFunc(found, func(in Incident) bool { return taken(in.ID) }) {
		return
	}
	byRule := map[string][]int{} // indexes into old
	for i, e := range old {
		byRule[e.RuleID] = append(byRule[e.RuleID], i)
	}
	usedOld := make([]bool, len(old))
	named := make([]bool, len(found))
	used := map[string]bool{}
	keep := func(o, f int) {
		usedOld[o], named[f] = true, true
		found[f].ID = old[o].ID
		used[old[o].ID] = true
	}
	pass := func(same func(e *entry, in *Incident) bool) {
		for f := range found {
			if named[f] {
				continue
			}
			for _, o := range byRule[found[f].RuleID] {
				if !usedOld[o] && same(&old[o], &found[f]) {
					keep(o, f)
					break
				}
			}
		}
	}
	pass(func(e *entry, in *Incident) bool {
		return samePlace(&e.Incident, in) && NormalizeSnippet(e.Snippet) == NormalizeSnippet(in.Snippet)
	})
	pass(func(e *entry, in *Incident) bool {
		return e.touched && (samePlace(&e.Incident, in) || e.Span.Start < in.Span.End && in.Span.Start < e.Span.End)
	})
	pass(func(e *entry, in *Incident) bool { return e.ID == in.ID })

	for f := range found {
		if named[f] {
			continue
		}
		base := found[f].ID
		for n := 1; used[found[f].ID] || taken(found[f].ID); n++ {
			found[f].ID = Identify(Identity{RuleID: found[f].RuleID, Path: found[f].FilePath, Declaration: base, Snippet: strconv.Itoa(n)})
		}
		used[found[f].ID] = true
	}
}

// samePlace reports whether two incidents begin at the same place.
func samePlace(a, b *Incident) bool {
	if a.Span != (Span{}) && b.Span != (Span{}) {
		return a.Span.Start == b.Span.Start
	}
	if a.Range != nil && b.Range != nil {
		return a.Range.Start == b.Range.Start
	}
	return a.LineNumber == b.LineNumber
}
