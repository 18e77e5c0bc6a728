package konveyor

import (
	"regexp"

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
			if d.Language != spec.Language || !exact && (name == nil || !name.MatchString(d.Name)) ||
				exact && named[d.Manifest] || !inBounds(d.Version, spec.Lowerbound, spec.Upperbound) {
				continue
			}
			named[d.Manifest] = named[d.Manifest] || exact // the analyzer takes the first of a name
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
