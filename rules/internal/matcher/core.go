package matcher

import (
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
)

// A Core is a compiled rule: what ast-grep's YAML says under rule, constraints,
// utils, transform, rewriters and fix.
type Core struct {
	lang        *treesitter.Language
	vars        *pattern.Vars
	rule        rule
	only        Kinds
	constraints []constraint
	transforms  []transform
	rewriters   map[string]*Core // shared by a rule and its rewriters
	message     *pattern.Template
	Fixes       []*Fix // alternatives, the first is the default

	// Warnings say what the author of the rule probably did not mean.
	Warnings []*yamldoc.Error
}

// constraint: what $A is bound to satisfies this.
type constraint struct {
	slot int
	rule rule
}

// Kinds returns the kinds of node that c can match.
func (c *Core) Kinds() Kinds { return c.only }

// Vars returns the metavariables of c.
func (c *Core) Vars() *pattern.Vars { return c.vars }

// Language returns the language of the code that c matches.
func (c *Core) Language() *treesitter.Language { return c.lang }

// A Match is one node that satisfies a [Core].
type Match struct {
	Node treesitter.Node
	Env  *pattern.Env
}

// Match tries c on n, with env to bind in, which must be empty and made for the
// variables of c. Where it fails env is empty again.
func (c *Core) Match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	return c.try(s, n, env, nil)
}

// try is Match for a rule (enclosing nil) and for a rewriter, whose transforms
// see the environment of the rule around it.
func (c *Core) try(s *State, n treesitter.Node, env, enclosing *pattern.Env) (treesitter.Node, bool) {
	if !c.only.Has(n.KindID()) || !s.step() {
		return n, false
	}
	mark := env.Mark()
	found, ok := c.rule.match(s, n, env)
	if !ok {
		return n, false
	}
	for _, con := range c.constraints {
		bound := env.Single(con.slot)
		if bound.IsZero() {
			continue
		}
		if _, ok := con.rule.match(s, bound, env); !ok {
			env.Undo(mark)
			return n, false
		}
	}
	if len(c.transforms) > 0 {
		if enclosing == nil {
			enclosing = env.Clone()
		}
		for i := range c.transforms {
			c.transforms[i].apply(s, c, env, enclosing)
		}
	}
	return found, true
}

// Message returns the rule's message for a match.
func (c *Core) Message(m Match) string {
	if c.message == nil {
		return ""
	}
	if text, ok := c.message.Literal(); ok {
		return text
	}
	return string(c.message.Fill(m.Env, m.Node.Tree().Source(), m.Node.Start()))
}
