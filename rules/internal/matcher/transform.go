package matcher

import (
	"regexp"
	"unicode/utf8"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/treesitter"
)

// transform makes a new metavariable out of another one's text.
type transform struct {
	slot   int // of the result
	source int // slot
	multi  bool
	fn     transformer
}

// transformer is what a transform does with the text.
type transformer interface {
	transform(call *transformCall) []byte
}

// transformCall is one application of a transform.
type transformCall struct {
	state     *State
	core      *Core
	env       *pattern.Env
	enclosing *pattern.Env
	nodes     []treesitter.Node // what the source is bound to; nil: the result of a transform
	text      []byte            // of the source
}

// apply computes the transform and binds its result, which is empty where the
// source is not bound.
func (t *transform) apply(s *State, c *Core, env, enclosing *pattern.Env) {
	text, ok := env.Bytes(t.source, t.multi)
	if !ok {
		env.SetText(t.slot, nil)
		return
	}
	call := &transformCall{s, c, env, enclosing, nil, text}
	if t.multi {
		call.nodes, _ = env.Multi(t.source)
	} else if n := env.Single(t.source); !n.IsZero() {
		call.nodes = []treesitter.Node{n}
	}
	out := t.fn.transform(call)
	if len(call.nodes) > 0 {
		first := call.nodes[0]
		out = pattern.Dedent(out, first.Tree().Source(), first.Start())
	}
	env.SetText(t.slot, out)
}

// substring cuts by characters; negative positions count from the end.
type substring struct{ start, end *int }

func (f *substring) transform(c *transformCall) []byte {
	chars := []rune(string(c.text))
	at := func(p *int, missing int) int {
		switch {
		case p == nil:
			return missing
		case *p >= 0:
			return min(*p, len(chars))
		}
		return max(0, len(chars)+*p)
	}
	start, end := at(f.start, 0), at(f.end, len(chars))
	if start >= end {
		return nil
	}
	return []byte(string(chars[start:end]))
}

// replace replaces every match of a regular expression.
type replace struct {
	re *regexp.Regexp
	by []byte
}

func (f *replace) transform(c *transformCall) []byte { return f.re.ReplaceAll(c.text, f.by) }

// convert changes the case of words.
type convert struct {
	to   string
	seps separators
}

func (f *convert) transform(c *transformCall) []byte {
	if !utf8.Valid(c.text) {
		return c.text
	}
	return []byte(cases[f.to](string(c.text), f.seps))
}

// rewriteWith applies rewriters to the nodes of the source.
type rewriteWith struct {
	ids    []string
	joinBy *string // nil: what is between the replacements stays
}

func (f *rewriteWith) transform(c *transformCall) []byte {
	defer c.state.leave()
	if !c.state.enter() || len(c.nodes) == 0 {
		return nil
	}
	var rewriters []*Core
	for _, id := range f.ids {
		if r := c.core.rewriters[id]; r != nil {
			rewriters = append(rewriters, r)
		}
	}
	start := c.nodes[0].Start()
	var out []byte
	at, first := 0, true
	for _, n := range c.nodes {
		for _, r := range rewriteNode(c.state, n, rewriters, c.enclosing) {
			from := r.start - start
			if from < at || r.end-start > len(c.text) {
				continue // inside what is replaced already, or outside the source
			}
			if f.joinBy == nil {
				out = append(out, c.text[at:from]...)
			} else if !first {
				out = append(out, *f.joinBy...)
			}
			out = append(out, r.text...)
			at, first = r.end-start, false
		}
	}
	if f.joinBy == nil {
		out = append(out, c.text[at:]...)
	}
	return out
}
