package matcher

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/treesitter"
)

// nthChildRule: the node is the so-manieth of its named siblings, counted from
// 1, as in CSS's :nth-child.
type nthChildRule struct {
	step, offset int  // positions n*step+offset for n ≥ 0
	of           rule // counts only siblings that satisfy it; nil: all
	reverse      bool // counts from the last
}

func (r *nthChildRule) match(s *State, n treesitter.Node, env *pattern.Env) (treesitter.Node, bool) {
	parent := n.Parent()
	if parent.IsZero() {
		return n, false
	}
	mark := env.Mark()
	position, count := 0, 0
	for c := range parent.NamedChildren() {
		if !s.step() {
			break
		}
		if r.of != nil {
			// What a sibling binds is its own.
			found, ok := r.of.match(s, c, env)
			env.Undo(mark)
			if !ok {
				continue
			}
			c = found
		}
		count++
		if c == n {
			position = count
		}
	}
	if position != 0 && r.reverse {
		position = count - position + 1
	}
	if position == 0 || !r.at(position) {
		return n, false
	}
	if r.of != nil {
		r.of.match(s, n, env)
	}
	return n, true
}

func (r *nthChildRule) at(position int) bool {
	if r.step == 0 {
		return position == r.offset
	}
	n := position - r.offset
	return n/r.step >= 0 && n%r.step == 0
}

func (r *nthChildRule) kinds() Kinds {
	if r.of == nil {
		return Kinds{}
	}
	return r.of.kinds()
}

// maxPosition bounds the numbers of an An+B formula.
const maxPosition = 1 << 30

// parseNth reads CSS's An+B: "3", "2n+1", "-n + 6".
func parseNth(src string) (step, offset int, err error) {
	bad := func() (int, int, error) {
		return 0, 0, fmt.Errorf("%q is no position; write a number or An+B, as in 2n+1", src)
	}
	s := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, src)
	head, tail, hasN := strings.Cut(strings.ToLower(s), "n")
	if !hasN {
		offset, ok := signed(head, false)
		if !ok {
			return bad()
		}
		return 0, offset, nil
	}
	switch head {
	case "", "+":
		step = 1
	case "-":
		step = -1
	default:
		var ok bool
		if step, ok = signed(head, false); !ok {
			return bad()
		}
	}
	if tail != "" {
		var ok bool
		if offset, ok = signed(tail, true); !ok {
			return bad()
		}
	}
	return step, offset, nil
}

func signed(s string, needSign bool) (int, bool) {
	sign := 1
	switch {
	case strings.HasPrefix(s, "-"):
		sign, s = -1, s[1:]
	case strings.HasPrefix(s, "+"):
		s = s[1:]
	case needSign:
		return 0, false
	}
	if s == "" {
		return 0, false
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > maxPosition {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return sign * n, true
}
