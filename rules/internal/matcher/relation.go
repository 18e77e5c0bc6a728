package matcher

import (
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/treesitter"
)

// stopBy says how far a relation looks.
type stopBy struct {
	end  bool // as far as there are nodes
	rule rule // up to and with the first node that satisfies it; nil with end false: the neighbour only
}

// seek tries find on the nodes that next yields from first on, as far as s
// says, and returns what it found.
func (b *stopBy) seek(s *State, env *pattern.Env, first treesitter.Node, next func(treesitter.Node) treesitter.Node,
	find func(treesitter.Node) (treesitter.Node, bool)) (treesitter.Node, bool) {
	for n := first; !n.IsZero() && s.step(); n = next(n) {
		if found, ok := find(n); ok {
			return found, true
		}
		if !b.end && (b.rule == nil || b.stops(s, n, env)) {
			break
		}
	}
	return treesitter.Node{}, false
}

// stops reports whether n is where to stop. The rule binds nothing and knows
// no bindings.
func (b *stopBy) stops(s *State, n treesitter.Node, env *pattern.Env) bool {
	if kind, ok := b.rule.(*kindRule); ok {
		return n.KindID() == kind.kind
	}
	// Not the scratch environment: the rule may hold relations that stop, too.
	_, ok := b.rule.match(s, n, pattern.NewEnv(env.Vars()))
	return ok
}

// relation is what inside, has, precedes and follows have in common.
type relation struct {
	sub   rule
	stop  stopBy
	field uint16 // 0: any
}

func (r *relation) kinds() Kinds { return Kinds{} }

// label records the node that a relation found.
func label(env *pattern.Env, n treesitter.Node, ok bool) (treesitter.Node, bool) {
	if ok {
		env.AddLabel(n)
	}
	return n, ok
}

// enter counts the nesting of relations; every enter has its leave.
func (s *State) enter() bool {
	s.depth++
	return s.depth <= maxDepth
}

func (s *State) leave() { s.depth-- }

// insideRule: a node around satisfies the condition.
type insideRule struct{ relation }

func (r *insideRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	defer s.leave()
	if !s.enter() {
		return n, false
	}
	below := n // the child on the way from n to the node that is tried
	found, ok := r.stop.seek(s, env, n.Parent(), treesitter.Node.Parent, func(outer treesitter.Node) (treesitter.Node, bool) {
		child := below
		below = outer
		if r.field != 0 && childByField(outer, r.field) != child {
			return outer, false
		}
		return r.sub.match(s, outer, env)
	})
	return label(env, found, ok)
}

func childByField(n treesitter.Node, field uint16) treesitter.Node {
	for c := n.FirstChild(); !c.IsZero(); c = c.NextSibling() {
		if c.FieldID() == field {
			return c
		}
	}
	return treesitter.Node{}
}

// hasRule: a node below satisfies the condition.
type hasRule struct{ relation }

func (r *hasRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	defer s.leave()
	if !s.enter() {
		return n, false
	}
	if r.field == 0 {
		found, ok := r.below(s, n, env)
		return label(env, found, ok)
	}
	child := childByField(n, r.field)
	if child.IsZero() {
		return n, false
	}
	if found, ok := r.sub.match(s, child, env); ok {
		return label(env, found, true)
	}
	if r.stop.end {
		found, ok := r.below(s, child, env)
		return label(env, found, ok)
	}
	if r.stop.rule == nil || r.stop.stops(s, child, env) {
		return n, false
	}
	// With a field, a stopping rule lets ast-grep look one level further down
	// and no more.
	for c := child.FirstChild(); !c.IsZero() && s.step(); c = c.NextSibling() {
		if found, ok := r.sub.match(s, c, env); ok {
			return label(env, found, true)
		}
	}
	return n, false
}

// below tries the nodes under n in pre-order, as far as the rule says.
func (r *hasRule) below(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	if r.stop.end {
		tree := n.Tree()
		for i := n.Index() + 1; i < n.Last() && s.step(); i++ {
			if found, ok := r.sub.match(s, tree.Node(i), env); ok {
				return found, true
			}
		}
		return n, false
	}
	tree := n.Tree()
	for i := n.Index() + 1; i < n.Last() && s.step(); {
		c := tree.Node(i)
		if found, ok := r.sub.match(s, c, env); ok {
			return found, true
		}
		if r.stop.rule == nil || r.stop.stops(s, c, env) {
			i = c.Last()
		} else {
			i++
		}
	}
	return n, false
}

// precedesRule: a later sibling satisfies the condition.
type precedesRule struct{ relation }

func (r *precedesRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	defer s.leave()
	if !s.enter() {
		return n, false
	}
	found, ok := r.stop.seek(s, env, n.NextSibling(), treesitter.Node.NextSibling, func(later treesitter.Node) (treesitter.Node, bool) {
		return r.sub.match(s, later, env)
	})
	return label(env, found, ok)
}

// followsRule: an earlier sibling satisfies the condition.
type followsRule struct{ relation }

func (r *followsRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	defer s.leave()
	parent := n.Parent()
	if !s.enter() || parent.IsZero() {
		return n, false
	}
	// Siblings have no link backwards: list them once, walk the list from its end.
	var before []treesitter.Node
	for c := parent.FirstChild(); c != n; c = c.NextSibling() {
		before = append(before, c)
	}
	i := len(before)
	prev := func(treesitter.Node) treesitter.Node {
		if i--; i < 0 {
			return treesitter.Node{}
		}
		return before[i]
	}
	found, ok := r.stop.seek(s, env, prev(n), prev, func(former treesitter.Node) (treesitter.Node, bool) {
		return r.sub.match(s, former, env)
	})
	return label(env, found, ok)
}
