package matcher

import (
	"sort"
	"unicode/utf8"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/treesitter"
)

// A State is what matching needs besides rule and node. It belongs to one
// goroutine and one tree.
type State struct {
	tree  *treesitter.Tree
	lines []int // offsets of line starts; built on first use

	args   *frame // arguments of the parameterised utility that is being matched
	steps  int    // nodes tried so far
	budget int    // how many may be
	depth  int    // of nested relations, utilities and rewriters
}

// frame is one call of a parameterised utility: its parameters, which are rules
// of the caller, and where they bind the caller's metavariables.
type frame struct {
	args   map[string]rule
	export *pattern.Env
	parent *frame
}

// The work in one tree is bounded by a number of nodes to try, which nested
// relations over a whole tree could otherwise make exponential, and by the
// nesting of utilities and rewriters that call themselves. Beyond the bounds
// nothing matches, and the state says so.
const (
	baseSteps    = 20_000_000
	stepsPerNode = 2_000
	maxDepth     = 400
)

// NewState returns the state for matching in one tree.
func NewState(tree *treesitter.Tree) *State {
	return &State{tree: tree, budget: baseSteps + stepsPerNode*tree.Len()}
}

// Exhausted reports whether the bound on work was reached: matches may be missing.
func (s *State) Exhausted() bool { return s.steps > s.budget }

// step counts one node and says whether there is budget left.
func (s *State) step() bool {
	s.steps++
	return s.steps <= s.budget
}

// position returns the 0-based line and column of an offset, in characters.
func (s *State) position(offset int) (line, column int) {
	src := s.tree.Source()
	if s.lines == nil {
		s.lines = []int{0}
		for i, c := range src {
			if c == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	}
	line = sort.SearchInts(s.lines, offset+1) - 1
	return line, utf8.RuneCount(src[s.lines[line]:offset])
}
