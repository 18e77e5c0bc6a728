package konveyor

import (
	"maps"
	"slices"
)

// An incident is a hit in a file, on its way to a violation.
type incident struct {
	file int // index of the path; -1: none (hasTags)
	hit
}

// outcome is what a condition came to.
type outcome struct {
	matched   bool
	incidents []incident
}

// evaluator combines the leaves' hits by one rule's conditions.
type evaluator struct {
	scan *scan
	tags map[string]bool
	seen map[*Condition]outcome // conditions with a name
}

// evaluate returns the outcome of a rule.
func (s *scan) evaluate(r *Rule, tags map[string]bool) outcome {
	e := evaluator{scan: s, tags: tags, seen: map[*Condition]outcome{}}
	return e.condition(r.When, named(r.When))
}

// named returns the conditions of a tree by their names.
func named(c *Condition) map[string]*Condition {
	out := map[string]*Condition{}
	c.walk(func(c *Condition) {
		if c.As != "" {
			out[c.As] = c
		}
	})
	return out
}

// condition evaluates without short cuts: every branch contributes incidents,
// whatever the others came to.
func (e *evaluator) condition(c *Condition, names map[string]*Condition) outcome {
	if done, ok := e.seen[c]; ok {
		return done
	}
	var out outcome
	switch c.Op {
	case Leaf:
		out = e.leaf(c, names)
	case And, Or:
		out.matched = c.Op == And && len(c.Children) > 0
		for _, child := range c.Children {
			o := e.condition(child, names)
			if c.Op == And {
				out.matched = out.matched && o.matched
			} else {
				out.matched = out.matched || o.matched
			}
			if !child.Ignore {
				out.incidents = append(out.incidents, o.incidents...)
			}
		}
	}
	if c.Not {
		out.matched = !out.matched
	}
	if c.As != "" {
		e.seen[c] = out
	}
	return out
}

func (e *evaluator) leaf(c *Condition, names map[string]*Condition) outcome {
	if tags, ok := c.Spec.(*HasTags); ok {
		for _, t := range tags.Tags {
			if !e.tags[t] {
				return outcome{}
			}
		}
		return outcome{true, []incident{{file: -1, hit: hit{vars: map[string]any{"tags": tags.Tags}}}}}
	}
	hits := e.scan.hits[e.scan.plan.of[c].id]
	var within map[int]bool
	if from := c.Spec.scope().From; from != "" && names[from] != nil && names[from] != c {
		within = map[int]bool{}
		for _, in := range e.condition(names[from], names).incidents {
			within[in.file] = true
		}
	}
	var out outcome
	for _, file := range slices.Sorted(maps.Keys(hits)) {
		if within != nil && !within[file] {
			continue
		}
		for _, h := range hits[file] {
			out.incidents = append(out.incidents, incident{file, h})
		}
	}
	out.matched = len(out.incidents) > 0
	return out
}

// usesTags reports whether the rule asks for tags of other rules.
func (r *Rule) usesTags() bool {
	found := false
	r.When.walk(func(c *Condition) {
		_, ok := c.Spec.(*HasTags)
		found = found || ok
	})
	return found
}
