package pattern

import (
	"bytes"

	"github.com/kaiak/kaiak/treesitter"
)

// Strictness says which differences between pattern and code do not count.
type Strictness uint8

// The levels of strictness, with the names that rules use.
const (
	Smart     Strictness = iota // tokens and comments that only the code has, and anything after the pattern's last node
	CST                         // none
	AST                         // all tokens
	Relaxed                     // all tokens and comments
	Signature                   // all tokens, comments, and the text of nodes
	TextOnly                    // like Smart, and the kinds of nodes: only text counts
)

var strictnesses = map[string]Strictness{
	"cst": CST, "smart": Smart, "ast": AST, "relaxed": Relaxed, "signature": Signature, "template": TextOnly,
}

// StrictnessNames lists what [ParseStrictness] takes.
var StrictnessNames = []string{"cst", "smart", "ast", "relaxed", "signature", "template"}

// ParseStrictness reads a rule's name for a level.
func ParseStrictness(name string) (Strictness, bool) {
	s, ok := strictnesses[name]
	return s, ok
}

// outcome says what became of one goal and one candidate.
type outcome uint8

const (
	noMatch outcome = iota
	matched
	skipBoth
	skipGoal
	skipCandidate
)

func kindsMatch(goal, candidate uint16) bool { return goal == candidate || goal == errorKind }

// terminal compares a leaf of the pattern with a node.
func (s Strictness) terminal(g *goal, n treesitter.Node) outcome {
	sameKind := kindsMatch(g.kind, n.KindID())
	// The kind of a token is its text; some grammars give tokens wrong spans.
	if sameKind && (!g.named || bytes.Equal(g.text, n.Bytes())) {
		return matched
	}
	var dropGoal, dropCandidate bool
	switch s {
	case CST:
	case Smart:
		dropCandidate = negligible(n)
	case AST:
		dropGoal, dropCandidate = !g.named, !n.Named()
	case Relaxed:
		dropGoal, dropCandidate = !g.named, negligible(n)
	case Signature:
		if sameKind && !negligible(n) {
			return matched
		}
		dropGoal, dropCandidate = !g.named, negligible(n)
	case TextOnly:
		if bytes.Equal(g.text, n.Bytes()) {
			return matched
		}
		dropCandidate = negligible(n)
	}
	switch {
	case dropGoal && dropCandidate:
		return skipBoth
	case dropGoal:
		return skipGoal
	case dropCandidate:
		return skipCandidate
	}
	return noMatch
}

// negligible says that n is a token or a comment.
func negligible(n treesitter.Node) bool {
	return !n.Named() || isComment(n)
}

// trailing says that n may follow the pattern's last node.
func (s Strictness) trailing(n treesitter.Node) bool {
	switch s {
	case Smart, TextOnly:
		return true
	case AST:
		return !n.Named()
	case Relaxed, Signature:
		return negligible(n)
	}
	return false
}

// skippable says that g needs no candidate when the candidates have run out.
func (s Strictness) skippable(g *goal) bool {
	if s == CST {
		return false
	}
	if g.ellipsis() {
		return true
	}
	if s == Smart || s == TextOnly {
		return false
	}
	if g.meta.Kind != NoMeta {
		return !g.meta.Named
	}
	return g.leaf && !g.named
}
