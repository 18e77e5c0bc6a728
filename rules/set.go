package rules

import (
	"cmp"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/literal"
	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/treesitter"
)

// A Set is the rules that [Load] compiled. It is immutable and safe for
// concurrent use.
type Set struct {
	opts   LoadOptions
	rules  []*Rule // by id, then language
	byLang map[*treesitter.Language]*langRules
	exact  map[string][]*Rule // by rule id that they are bound to, without *
	globs  []*Rule            // bound to ids with *
}

// langRules is the rules of one language, as checking a file needs them.
type langRules struct {
	rules  []*Rule // those that are not off
	scoped bool    // some have files or ignores

	// What tells from the text alone which rules cannot match in it.
	literals *literal.Set
	needs    []numberedNeed
	always   bool // some rule needs nothing, so that every file is parsed

	byKind [][]int32 // rules by the kind of node they can begin at
}

// numberedNeed is a [matcher.Need] over the numbers of a [literal.Set].
type numberedNeed struct {
	text    int // -1: none
	all     []numberedNeed
	any     []numberedNeed
	nothing bool // met by every text
}

func (n *numberedNeed) met(found literal.Found) bool {
	if n.nothing {
		return true
	}
	if n.text >= 0 && !found.Has(n.text) {
		return false
	}
	for i := range n.all {
		if !n.all[i].met(found) {
			return false
		}
	}
	return len(n.any) == 0 || slices.ContainsFunc(n.any, func(sub numberedNeed) bool { return sub.met(found) })
}

func number(n matcher.Need, b *literal.Builder) numberedNeed {
	out := numberedNeed{text: -1, nothing: n.Always()}
	if n.Text != "" {
		out.text = b.Add(n.Text)
	}
	for _, sub := range n.And {
		out.all = append(out.all, number(sub, b))
	}
	for _, sub := range n.Or {
		out.any = append(out.any, number(sub, b))
	}
	return out
}

func newSet(rules []*Rule, opts LoadOptions) *Set {
	s := &Set{opts: opts, rules: rules, byLang: map[*treesitter.Language]*langRules{}, exact: map[string][]*Rule{}}
	slices.SortStableFunc(s.rules, func(a, b *Rule) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Language, b.Language))
	})
	for _, r := range s.rules {
		if r.Off {
			continue
		}
		l := s.byLang[r.lang]
		if l == nil {
			l = &langRules{}
			s.byLang[r.lang] = l
		}
		l.rules = append(l.rules, r)
		l.scoped = l.scoped || len(r.files)+len(r.ignores) > 0
		s.bind(r)
	}
	for _, l := range s.byLang {
		l.index()
	}
	return s
}

func (s *Set) bind(r *Rule) {
	s.exact[r.ID] = append(s.exact[r.ID], r)
	for _, id := range r.FixesIDs {
		if slices.Contains([]byte(id), '*') {
			s.globs = append(s.globs, r)
		} else if id != r.ID {
			s.exact[id] = append(s.exact[id], r)
		}
	}
}

func (l *langRules) index() {
	var b literal.Builder
	for i, r := range l.rules {
		need := number(r.core.Need(), &b)
		l.always = l.always || need.nothing
		l.needs = append(l.needs, need)
		r.core.Kinds().Each(func(kind uint16) {
			for len(l.byKind) <= int(kind) {
				l.byKind = append(l.byKind, nil)
			}
			l.byKind[kind] = append(l.byKind[kind], int32(i))
		})
	}
	l.literals = b.Build()
}

// candidates returns which of l's rules may match in a file with this path and
// text; nil for none.
func (l *langRules) candidates(path string, text []byte) []bool {
	found := l.literals.Scan(text, nil)
	var out []bool
	for i := range l.rules {
		if !l.needs[i].met(found) || l.scoped && !l.rules[i].AppliesTo(path) {
			continue
		}
		if out == nil {
			out = make([]bool, len(l.rules))
		}
		out[i] = true
	}
	return out
}

// Rules returns every rule, by id, those that are off included. Do not modify it.
func (s *Set) Rules() []*Rule { return s.rules }

// ForIncident returns the rules that can fix an incident, whoever found it: the
// rule of its id, and those that name the id in `metadata.fixes`. Rules without
// a fix are among them; [Rule.Fixable] tells.
func (s *Set) ForIncident(in incidents.Incident) []*Rule {
	if in.RuleID == "" {
		return nil
	}
	out := slices.Clone(s.exact[in.RuleID])
	for _, r := range s.globs {
		if !slices.Contains(out, r) && r.BoundTo(in.RuleID) {
			out = append(out, r)
		}
	}
	return out
}

// Applies reports whether any rule looks at a file, by its name alone.
func (s *Set) Applies(path string) bool {
	l := s.byLang[treesitter.ForPath(path)]
	return l != nil && (!l.scoped || slices.ContainsFunc(l.rules, func(r *Rule) bool { return r.AppliesTo(path) }))
}
