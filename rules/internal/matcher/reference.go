package matcher

import (
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/treesitter"
)

// localRef matches a utility of the same rule, which binds the rule's own
// metavariables. The target is set when all utilities are compiled: they may
// refer to each other through relations.
type localRef struct{ target *rule }

func (r *localRef) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	defer s.leave()
	if !s.enter() {
		return n, false
	}
	return (*r.target).match(s, n, env)
}

func (r *localRef) kinds() Kinds {
	if *r.target == nil { // refers to itself through a relation, which allows any kind
		return Kinds{}
	}
	return (*r.target).kinds()
}

// globalRef matches a global utility, which has metavariables of its own:
// nothing of what it binds is seen outside, but for what its arguments bind.
type globalRef struct {
	target *Core
	args   map[string]rule // nil: it takes none
	binds  []int           // slots of the arguments' metavariables
}

func (r *globalRef) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	defer s.leave()
	if !s.enter() {
		return n, false
	}
	inner := pattern.NewEnv(r.target.vars)
	if r.args == nil {
		return r.target.try(s, n, inner, nil)
	}
	export := pattern.NewEnv(env.Vars())
	outer := s.args
	s.args = &frame{args: r.args, export: export, parent: outer}
	found, ok := r.target.try(s, n, inner, nil)
	s.args = outer
	if !ok {
		return n, false
	}
	mark := env.Mark()
	if !r.export(export, env) {
		env.Undo(mark)
		return n, false
	}
	return found, true
}

// export hands what the arguments bound on to the environment of the call.
func (r *globalRef) export(from, to *pattern.Env) bool {
	for _, slot := range r.binds {
		if n := from.Single(slot); !n.IsZero() {
			if !to.Bind(slot, n) {
				return false
			}
			continue
		}
		if list, ok := from.Multi(slot); ok && len(list) > 0 {
			if !to.BindMulti(slot, list) {
				return false
			}
			continue
		}
		if text, ok := from.Text(slot); ok {
			to.SetText(slot, text)
		}
	}
	return true
}

func (r *globalRef) kinds() Kinds { return r.target.only }

// paramRef matches the argument that a parameterised utility was called with.
// The argument binds in the environment of the call.
type paramRef struct{ name string }

func (r *paramRef) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	f := s.args
	for f != nil && f.args[r.name] == nil {
		f = f.parent
	}
	if f == nil {
		return n, false
	}
	defer s.leave()
	if !s.enter() {
		return n, false
	}
	// The argument is a rule of the caller: it sees the caller's parameters,
	// and binds what the caller will get.
	here := s.args
	s.args = f.parent
	found, ok := f.args[r.name].match(s, n, f.export)
	s.args = here
	return found, ok
}

func (r *paramRef) kinds() Kinds { return Kinds{} }
