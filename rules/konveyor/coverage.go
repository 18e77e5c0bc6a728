package konveyor

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// A Coverage says which rules of a set have an offline fix.
type Coverage struct {
	Fixed   []string // ids, each once, sorted
	Unfixed []string

	Sets []SetCoverage // by ruleset, in the order of their names
}

// A SetCoverage is the coverage of one ruleset; rules count by id.
type SetCoverage struct {
	Name         string
	Fixed, Total int
}

// NewCoverage counts the rules of a set that fixes are bound to. bound are the
// rule ids that the fixes name (metadata.fixes); they may be globs.
func NewCoverage(set *Set, bound []string) *Coverage {
	exact := map[string]bool{}
	var globs []string
	for _, b := range bound {
		if strings.ContainsAny(b, "*?[") {
			globs = append(globs, b)
		} else {
			exact[b] = true
		}
	}
	covered := func(id string) bool {
		return exact[id] || slices.ContainsFunc(globs, func(g string) bool { ok, _ := path.Match(g, id); return ok })
	}
	c := &Coverage{}
	for _, rs := range set.RuleSets {
		s := SetCoverage{Name: rs.Name}
		seen := map[string]bool{}
		for _, r := range rs.Rules {
			if seen[r.ID] {
				continue
			}
			seen[r.ID] = true
			s.Total++
			if covered(r.ID) {
				s.Fixed++
				c.Fixed = append(c.Fixed, r.ID)
			} else {
				c.Unfixed = append(c.Unfixed, r.ID)
			}
		}
		c.Sets = append(c.Sets, s)
	}
	for _, list := range []*[]string{&c.Fixed, &c.Unfixed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return c
}

// Write writes a line for each ruleset that has a fix, and the totals. all adds
// the rulesets without one.
func (c *Coverage) Write(w io.Writer, all bool) error {
	var b strings.Builder
	for _, s := range c.Sets {
		if s.Fixed > 0 || all && s.Total > 0 {
			fmt.Fprintf(&b, "%5d of %5d  %s\n", s.Fixed, s.Total, s.Name)
		}
	}
	fmt.Fprintf(&b, "%d of %d rules have an offline fix\n", len(c.Fixed), len(c.Fixed)+len(c.Unfixed))
	_, err := io.WriteString(w, b.String())
	return err
}
