package konveyor

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// A pathPattern is a pattern of paths as filePattern, builtin.file and
// filepaths have it: a plain name, path or folder, a regular expression, or,
// where that does not compile, a glob.
type pathPattern struct {
	plain string
	re    *regexp.Regexp
	glob  string
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

// pathPatterns compiles each pattern once.
type pathPatterns struct {
	mu    sync.Mutex
	known map[string]*pathPattern // guarded by mu
}

func (c *pathPatterns) get(pattern string) *pathPattern {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.known[pattern]
	if p == nil {
		if c.known == nil {
			c.known = map[string]*pathPattern{}
		}
		p = compilePath(pattern)
		c.known[pattern] = p
	}
	return p
}
