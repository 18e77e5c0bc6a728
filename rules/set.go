package rules

import (
	"cmp"
	"path"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/literal"
	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/sgconfig"
	"github.com/kaiak/kaiak/treesitter"
)

// A Set is the rules that [Load] compiled. It is immutable and safe for
// concurrent use.
type Set struct {
	opts   LoadOptions
	sum    string  // of everything that was loaded, for the cache
	rules  []*Rule // by id, then language
	byLang map[*treesitter.Language]*langRules
	exact  map[string][]*Rule // by rule id that they are bound to, without *
	wild   []*Rule            // bound to ids with *
	globs  []sgconfig.Glob    // what sgconfig.yml says of the languages of files
}

// langRules is the rules of one language, as checking a file needs them.
type langRules struct {
	rules  []*Rule // those that are not off
	scoped bool    // some have files or ignores

	// What tells from the text alone which rules cannot match in it.
	literals *literal.Set
	needs    []matcher.Numbered

	byKind [][]int32 // rules by the kind of node they can begin at
}

func newSet(rules []*Rule, opts LoadOptions, sum string) *Set {
	s := &Set{opts: opts, sum: sum, rules: rules, byLang: map[*treesitter.Language]*langRules{}, exact: map[string][]*Rule{}}
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
			s.wild = append(s.wild, r)
		} else if id != r.ID {
			s.exact[id] = append(s.exact[id], r)
		}
	}
}

func (l *langRules) index() {
	var b literal.Builder
	for i, r := range l.rules {
		l.needs = append(l.needs, r.core.Need().Number(&b))
		r.core.Kinds().Each(func(kind uint16) {
			for len(l.byKind) <= int(kind) {
				l.byKind = append(l.byKind, nil)
			}
			l.byKind[kind] = append(l.byKind[kind], int32(i))
		})
	}
	l.literals = b.Build()
}

// candidates returns which of l's rules may match in a file with this name and
// text; nil for none.
func (l *langRules) candidates(name string, text []byte) []bool {
	found := l.literals.Scan(text, nil)
	var out []bool
	for i := range l.rules {
		if !l.needs[i].Met(found, text) || l.scoped && !l.rules[i].AppliesTo(name) {
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
	for _, r := range s.wild {
		if !slices.Contains(out, r) && r.BoundTo(in.RuleID) {
			out = append(out, r)
		}
	}
	return out
}

// Applies reports whether any rule looks at a file, by its name alone.
func (s *Set) Applies(name string) bool {
	l := s.byLang[s.language(name)]
	return l != nil && (!l.scoped || slices.ContainsFunc(l.rules, func(r *Rule) bool { return r.AppliesTo(name) }))
}

// language returns the language of a file by its name, nil for none.
func (s *Set) language(name string) *treesitter.Language {
	for _, g := range s.globs {
		if ok, _ := path.Match(g.Pattern, path.Base(name)); ok {
			return g.Language
		}
	}
	return treesitter.ForPath(name)
}
