package pattern

import "github.com/kaiak/kaiak/treesitter"

// children walks the children of one node.
type children struct{ at treesitter.Node }

func (c *children) done() bool            { return c.at.IsZero() }
func (c *children) peek() treesitter.Node { return c.at }
func (c *children) next() treesitter.Node {
	n := c.at
	c.at = n.NextSibling()
	return n
}

func (p *Pattern) match(g *goal, n treesitter.Node, env *Env) outcome {
	if g.meta.Kind != NoMeta {
		if bindMeta(g, n, env) {
			return matched
		}
		return noMatch
	}
	if g.leaf {
		return p.strictness.terminal(g, n)
	}
	if p.strictness != TextOnly && !kindsMatch(g.kind, n.KindID()) {
		return noMatch
	}
	if p.matchChildren(g.children, children{n.FirstChild()}, env) {
		return matched
	}
	return noMatch
}

// skipsComment says that n is a comment which the strictness lets the code have
// where the pattern has g. A comment in the pattern has to be there.
func (p *Pattern) skipsComment(g *goal, n treesitter.Node) bool {
	if p.strictness == CST || p.strictness == AST || !n.Named() || g.comment {
		return false
	}
	return p.lang.IsComment(n.KindID())
}

func bindMeta(g *goal, n treesitter.Node, env *Env) bool {
	switch g.meta.Kind {
	case Capture:
		return (!g.meta.Named || n.Named()) && env.Bind(g.slot, n)
	case Dropped:
		return !g.meta.Named || n.Named()
	case MultiCapture:
		return env.BindMulti(g.slot, []treesitter.Node{n})
	}
	return true
}

// matchChildren compares the children of a goal with those of a candidate from
// left to right. An ellipsis takes as few nodes as it can.
func (p *Pattern) matchChildren(goals []goal, cands children, env *Env) bool {
	if cands.done() {
		return false
	}
	for {
		found := false
		if len(goals) == 0 {
			return true
		}
		if goals[0].ellipsis() {
			var ok, more bool
			goals, ok, more = p.matchEllipsis(goals, &cands, env)
			if !ok || !more {
				return ok
			}
			if cands.done() {
				return false
			}
			if goals[0].ellipsis() {
				continue
			}
			found = true // matchEllipsis has matched goals[0] with the candidate
		}
		if !found {
			var ok bool
			if goals, ok = p.matchOne(goals, &cands, env); !ok {
				return false
			}
		}
		if len(goals) > 0 {
			goals = goals[1:]
			if !cands.done() {
				cands.next()
			}
		}
		if len(goals) == 0 {
			for !cands.done() {
				n := cands.next()
				if !p.strictness.trailing(n) {
					return false
				}
				env.pass(n)
			}
			return true
		}
		if cands.done() {
			return false
		}
	}
}

// matchEllipsis gives goals[0], an ellipsis, the candidates up to the first one
// that the next goal matches, and binds that one too: it stays the current
// candidate and its goal the first of those returned. Two ellipses in a row
// share: the first takes one node. more is false when the goals are used up.
func (p *Pattern) matchEllipsis(goals []goal, cands *children, env *Env) (rest []goal, ok, more bool) {
	dots := &goals[0]
	goals = goals[1:]
	// Tokens after an ellipsis (the comma of "$$$A, b") belong to what it takes.
	skipped := 0
	for len(goals) > 0 && goals[0].trivial() {
		goals, skipped = goals[1:], skipped+1
	}
	var taken []treesitter.Node
	if len(goals) == 0 {
		for !cands.done() {
			taken = append(taken, cands.next())
		}
		return nil, bindEllipsis(dots, taken, skipped, env), false
	}
	if goals[0].ellipsis() {
		taken = append(taken, cands.next())
		if cands.done() {
			return goals, false, true
		}
		return goals, bindEllipsis(dots, taken, skipped, env), true
	}
	for {
		mark := env.Mark()
		if !p.skipsComment(&goals[0], cands.peek()) && p.match(&goals[0], cands.peek(), env) == matched {
			return goals, bindEllipsis(dots, taken, skipped, env), true
		}
		env.Undo(mark)
		taken = append(taken, cands.next())
		if cands.done() {
			return goals, false, true
		}
	}
}

// bindEllipsis binds what an ellipsis took, without the tokens at the end that
// the pattern itself has after it.
func bindEllipsis(dots *goal, taken []treesitter.Node, skipped int, env *Env) bool {
	if dots.meta.Kind != MultiCapture {
		return true
	}
	bound := max(0, len(taken)-skipped)
	for _, n := range taken[bound:] {
		env.pass(n)
	}
	return env.BindMulti(dots.slot, taken[:bound])
}

// matchOne finds the candidate for goals[0], passing over what the strictness
// lets it. It returns the goals that are left, the matched one first.
func (p *Pattern) matchOne(goals []goal, cands *children, env *Env) ([]goal, bool) {
	for {
		if cands.done() {
			for len(goals) > 0 {
				if !p.strictness.skippable(&goals[0]) {
					return goals, false
				}
				goals = goals[1:]
			}
			return goals, true
		}
		if p.skipsComment(&goals[0], cands.peek()) {
			env.pass(cands.next())
			continue
		}
		switch p.match(&goals[0], cands.peek(), env) {
		case matched:
			return goals, true
		case noMatch:
			return goals, false
		case skipCandidate:
			env.pass(cands.next())
			continue
		case skipBoth:
			env.pass(cands.next())
			goals = goals[1:]
		case skipGoal:
			goals = goals[1:]
		}
		if len(goals) == 0 {
			return goals, true
		}
	}
}
