package konveyor

import (
	"path"
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/literal"
)

// A pathPattern is a pattern of paths as filePattern, builtin.file and
// filepaths have it: a plain name, path or folder, a regular expression, or,
// where that does not compile, a glob.
type pathPattern struct {
	plain string
	re    *regexp.Regexp
	glob  string
	need  literal.Need // strings that the path has to contain
}

// compilePath never fails: a pattern that is neither expression nor glob
// matches nothing, which the linter says.
func compilePath(pattern string) *pathPattern {
	if !strings.ContainsAny(pattern, `\^$*+?()[]{}|`) {
		return &pathPattern{plain: strings.Trim(strings.TrimPrefix(pattern, "./"), "/")}
	}
	if re, err := regexp.Compile(pattern); err == nil {
		return &pathPattern{re: re}
	}
	return &pathPattern{glob: pattern}
}

// match reports whether a path (relative, slash-separated) fits. An expression
// is searched in "/rel/path" and in the base name.
func (p *pathPattern) match(rel string) bool {
	base := path.Base(rel)
	switch {
	case p.re != nil:
		return p.re.MatchString(base) || p.re.MatchString("/"+rel)
	case p.glob != "":
		inBase, _ := path.Match(p.glob, base)
		inPath, _ := path.Match(p.glob, rel)
		return inBase || inPath
	}
	return p.plain == base || p.plain == rel || strings.HasPrefix(rel, p.plain+"/") ||
		strings.Contains(p.plain, "/") && strings.HasSuffix(rel, "/"+p.plain)
}

// pathPatterns holds each pattern once, and finds by the fixed strings of the
// patterns which of them a path can match at all.
type pathPatterns struct {
	known   map[string]*pathPattern
	builder literal.Builder
	set     *literal.Set
}

func (c *pathPatterns) get(pattern string) *pathPattern {
	p := c.known[pattern]
	if p == nil {
		if c.known == nil {
			c.known = map[string]*pathPattern{}
		}
		p = compilePath(pattern)
		switch {
		case p.re != nil:
			p.need = c.builder.Need(literal.FromRegexp(pattern))
		case p.glob == "":
			p.need = c.builder.Need([][]string{{p.plain}})
		}
		c.known[pattern] = p
	}
	return p
}

// build is called when all patterns are known.
func (c *pathPatterns) build() { c.set = c.builder.Build() }

// A pathMatcher matches one path against many patterns.
type pathMatcher struct {
	patterns *pathPatterns
	rel      string
	found    literal.Found
	memo     map[*pathPattern]bool
}

func (m *pathMatcher) reset(rel string) {
	m.rel = rel
	m.found = m.patterns.set.Scan([]byte("/"+rel), m.found)
	if m.memo == nil {
		m.memo = map[*pathPattern]bool{}
	}
	clear(m.memo)
}

func (m *pathMatcher) match(p *pathPattern) bool {
	if !p.need.Met(m.found) {
		return false
	}
	hit, ok := m.memo[p]
	if !ok {
		hit = p.match(m.rel)
		m.memo[p] = hit
	}
	return hit
}
