package matcher

import (
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/treesitter"
)

// A Fix is one way to rewrite a match.
type Fix struct {
	Title    string
	Template *pattern.Template
	start    *expansion
	end      *expansion
}

// expansion takes siblings beside the match into what is replaced.
type expansion struct {
	rule rule
	stop stopBy
}

// Expands reports whether the fix may replace more than the matched node.
func (f *Fix) Expands() bool { return f.start != nil || f.end != nil }

// Range returns the bytes [start, end) that the fix replaces.
func (f *Fix) Range(s *State, m Match) (start, end int) {
	start, end = m.Node.Start(), m.Node.End()
	if f.start != nil {
		earlier := followsRule{relation{sub: f.start.rule, stop: f.start.stop}}
		if n, ok := earlier.match(s, m.Node, m.Env.Clone()); ok {
			start = n.Start()
		}
	}
	if f.end != nil {
		later := precedesRule{relation{sub: f.end.rule, stop: f.end.stop}}
		if n, ok := later.match(s, m.Node, m.Env.Clone()); ok {
			end = n.End()
		}
	}
	return start, end
}

// Pieces returns what the fix puts in place of its range.
func (f *Fix) Pieces(m Match) []pattern.Piece {
	return f.Template.Pieces(m.Env, m.Node.Tree().Source(), m.Node.Start())
}

// rewrite is one replacement inside the text that a rewriter works on.
type rewrite struct {
	start, end int
	text       []byte
}

// rewriteNode applies the first of rewriters that matches to n and every node
// below it. The replacements come in the order of the nodes and may overlap.
func rewriteNode(s *State, n treesitter.Node, rewriters []*Core, enclosing *pattern.Env) []rewrite {
	var out []rewrite
	tree := n.Tree()
	for i := n.Index(); i < n.Last(); i++ {
		node := tree.Node(i)
		for _, r := range rewriters {
			if !r.only.Has(node.KindID()) {
				continue
			}
			env := enclosing.Clone()
			found, ok := r.try(s, node, env, enclosing)
			if !ok {
				continue
			}
			m := Match{found, env}
			start, end := r.Fixes[0].Range(s, m)
			out = append(out, rewrite{start, end, r.Fixes[0].Template.Fill(env, tree.Source(), found.Start())})
			break
		}
	}
	return out
}
