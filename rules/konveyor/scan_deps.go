package konveyor

import (
	"regexp"
	"slices"

	"github.com/kaiak/kaiak/rules/konveyor/deps"
	"github.com/kaiak/kaiak/workspace"
)

// dependencies evaluates the dependency conditions on the build files.
func (s *scan) dependencies() {
	if len(s.plan.deps) == 0 {
		return
	}
	index := map[string]int{}
	for i, p := range s.paths {
		index[p] = i
	}
	list, problems := deps.Resolve(s.depText)
	s.notes = append(s.notes, problems...)
	// The analyzer takes the first of a name; what is declared comes first.
	slices.SortStableFunc(list, func(a, b deps.Dependency) int { return indirectness(a) - indirectness(b) })
	lines := map[string]*workspace.Mapper{}
	for _, l := range s.plan.deps {
		spec := l.spec.(*Dependency)
		var name *regexp.Regexp
		if spec.NameRegex != "" {
			name = regexp.MustCompile(spec.NameRegex)
		}
		named := map[string]bool{}
		for _, d := range list {
			exact := spec.Name != "" && d.Name == spec.Name
			if d.Language != spec.Language || !exact && (name == nil || d.Platform || !name.MatchString(d.Name)) ||
				exact && named[d.Manifest] || !spec.admits(d) {
				continue
			}
			named[d.Manifest] = named[d.Manifest] || exact
			m := lines[d.Manifest]
			if m == nil {
				m = workspace.NewMapper(s.depText[d.Manifest], workspace.UTF16)
				lines[d.Manifest] = m
			}
			i := index[d.Manifest]
			s.hits[l.id][i] = append(s.hits[l.id][i], placed(m, s.depText[d.Manifest], d.Start, d.End,
				map[string]any{"name": d.Name, "version": d.Version, "type": d.Type}))
		}
	}
}

func indirectness(d deps.Dependency) int {
	if d.Indirect {
		return 1
	}
	return 0
}

// admits reports whether a dependency's version lies within the bounds. One
// that is not known does, unless the dependency itself is only presumed.
func (s *Dependency) admits(d deps.Dependency) bool {
	if d.Version == "" && d.Indirect {
		return s.Upperbound == "" && isZero(s.Lowerbound)
	}
	return inBounds(d.Version, s.Lowerbound, s.Upperbound)
}
