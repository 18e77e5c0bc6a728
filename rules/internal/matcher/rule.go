package matcher

import (
	"regexp"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/treesitter"
)

// rule is one condition on a node.
type rule interface {
	// match tries the condition on n. It returns the node that made it true: n
	// itself, or for a relation the node that was found around it. Where it
	// fails, env is as it was.
	match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool)

	// kinds returns the kinds of node that can satisfy the condition.
	kinds() Kinds

	// need returns the texts without which no node of a file can satisfy the
	// condition. depth bounds how far references are followed.
	need(depth int) Need
}

// patternRule: the node looks like this.
type patternRule struct{ p *pattern.Pattern }

func (r *patternRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	return n, r.p.Match(n, env)
}

func (r *patternRule) kinds() Kinds {
	if kind, ok := r.p.Kind(); ok {
		return oneKind(kind)
	}
	return Kinds{}
}

// kindRule: the node is of this kind.
type kindRule struct{ kind uint16 }

func (r *kindRule) match(_ *State, n treesitter.Node, _ *pattern.Env) (treesitter.Node, bool) {
	return n, n.KindID() == r.kind
}

func (r *kindRule) kinds() Kinds { return oneKind(r.kind) }

// regexRule: the node's text has a match of this.
type regexRule struct{ re *regexp.Regexp }

func (r *regexRule) match(_ *State, n treesitter.Node, _ *pattern.Env) (treesitter.Node, bool) {
	return n, r.re.Match(n.Bytes())
}

func (r *regexRule) kinds() Kinds { return Kinds{} }

// rangeRule: the node begins and ends there. Lines and columns are 0-based and
// in characters; a column of -1 is any.
type rangeRule struct{ startLine, startCol, endLine, endCol int }

func (r *rangeRule) match(s *State, n treesitter.Node, _ *pattern.Env) (treesitter.Node, bool) {
	line, col := s.position(n.Start())
	if line != r.startLine || r.startCol >= 0 && col != r.startCol {
		return n, false
	}
	line, col = s.position(n.End())
	return n, line == r.endLine && (r.endCol < 0 || col == r.endCol)
}

func (r *rangeRule) kinds() Kinds { return Kinds{} }

// allRule: every condition holds for the node.
type allRule struct {
	rules []rule
	only  Kinds
}

func newAll(rules []rule) *allRule {
	a := &allRule{rules: rules}
	for _, r := range rules {
		a.only = a.only.intersect(r.kinds())
	}
	return a
}

func (r *allRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	if !r.only.Has(n.KindID()) {
		return n, false
	}
	mark := env.Mark()
	for _, sub := range r.rules {
		if _, ok := sub.match(s, n, env); !ok {
			env.Undo(mark)
			return n, false
		}
	}
	return n, true
}

func (r *allRule) kinds() Kinds { return r.only }

// anyRule: one of the conditions holds for the node; the first that does binds.
type anyRule struct {
	rules []rule
	only  Kinds
}

func newAny(rules []rule) *anyRule {
	a := &anyRule{rules: rules, only: Kinds{limited: true}}
	for _, r := range rules {
		a.only = a.only.union(r.kinds())
	}
	return a
}

func (r *anyRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	if !r.only.Has(n.KindID()) {
		return n, false
	}
	for _, sub := range r.rules {
		if _, ok := sub.match(s, n, env); ok {
			return n, true
		}
	}
	return n, false
}

func (r *anyRule) kinds() Kinds { return r.only }

// notRule: the condition does not hold.
type notRule struct{ sub rule }

func (r *notRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	mark := env.Mark()
	_, ok := r.sub.match(s, n, env)
	env.Undo(mark)
	return n, !ok
}

func (r *notRule) kinds() Kinds { return Kinds{} }
