package konveyor

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/antchfx/xpath"

	"github.com/kaiak/kaiak/rules/internal/literal"
	"github.com/kaiak/kaiak/rules/konveyor/javaref"
	"github.com/kaiak/kaiak/rules/konveyor/langref"
)

// A plan is the leaf conditions of all rules, each distinct one once, so that a
// file is read and parsed at most once for all of them.
type plan struct {
	leaves   []*leaf
	byKey    map[string]*leaf
	of       map[*Condition]*leaf
	scopes   map[*Condition][]*leaf // the conditions whose files a leaf's scope means
	literals *literal.Set
	paths    pathPatterns

	// Leaves by what they look at.
	names    []*leaf // builtin.file
	contents []*leaf
	xml      []*leaf
	json     []*leaf
	java     []*leaf
	lang     map[string][]*leaf // by language of package langref
	deps     []*leaf

	builder literal.Builder
}

// A leaf is one leaf condition, compiled.
type leaf struct {
	id     int
	spec   Spec
	in     []*pathPattern // of filepaths; nil: every file
	only   *pathPattern   // of filePattern; nil: every file
	within []*leaf        // evaluated in the same file before: one of them has to match; nil: none
	need   literal.Need

	name  *pathPattern   // builtin.file
	text  *textPattern   // builtin.filecontent
	xpath *xpath.Expr    // builtin.xml, xmlPublicID
	regex *regexp.Regexp // xmlPublicID
	java  *javaref.Query
	lang  *langref.Query
}

// newPlan compiles the conditions of rules.
func newPlan(rules []*Rule) (*plan, error) {
	p := &plan{byKey: map[string]*leaf{}, of: map[*Condition]*leaf{}, scopes: map[*Condition][]*leaf{}, lang: map[string][]*leaf{}}
	for _, r := range rules {
		named := map[string]*Condition{}
		r.When.walk(func(c *Condition) {
			if c.As != "" {
				named[c.As] = c
			}
		})
		var err error
		r.When.walk(func(c *Condition) {
			if err == nil && c.Op == Leaf {
				err = p.compile(c, named, 0)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
	}
	p.literals = p.builder.Build()
	p.paths.build()
	return p, nil
}

// compile makes the leaf of a condition, after the leaves whose files it uses.
func (p *plan) compile(c *Condition, named map[string]*Condition, depth int) error {
	if p.of[c] != nil || depth > 20 {
		return nil
	}
	if from := c.Spec.scope().From; from != "" && named[from] != nil && named[from] != c {
		var err error
		contributing(named[from], func(source *Condition) {
			if err == nil && source != c {
				err = p.compile(source, named, depth+1)
			}
			if l := p.of[source]; l != nil {
				p.scopes[c] = append(p.scopes[c], l)
			}
		})
		if err != nil {
			return err
		}
	}
	l := &leaf{spec: c.Spec}
	if sources := p.scopes[c]; len(sources) > 0 && !slices.ContainsFunc(sources, (*leaf).late) && !l.late() {
		l.within = sources
	}
	key := fmt.Sprintf("%T%+v", c.Spec, c.Spec)
	if j, ok := c.Spec.(*Java); ok && j.Annotated != nil {
		key += fmt.Sprintf("%+v", *j.Annotated)
	}
	for _, source := range l.within {
		key += fmt.Sprintf(" in %d", source.id)
	}
	if known := p.byKey[key]; known != nil {
		p.of[c] = known
		return nil
	}
	if err := p.fill(l); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	l.id = len(p.leaves)
	p.leaves = append(p.leaves, l)
	p.byKey[key], p.of[c] = l, l
	return nil
}

// contributing calls f with the leaves whose incidents a condition has.
func contributing(c *Condition, f func(*Condition)) {
	if c.Op == Leaf {
		f(c)
	}
	for _, child := range c.Children {
		if !child.Ignore {
			contributing(child, f)
		}
	}
}

// late reports whether the leaf is evaluated only when all files are known.
func (l *leaf) late() bool {
	switch l.spec.(type) {
	case *Java, *Dependency, *HasTags:
		return true
	}
	return false
}

// fill compiles what the leaf asks for.
func (p *plan) fill(l *leaf) (err error) {
	for _, pattern := range l.spec.scope().Patterns {
		l.in = append(l.in, p.paths.get(pattern))
	}
	switch s := l.spec.(type) {
	case *FileContent:
		if s.FilePattern != "" {
			l.only = p.paths.get(s.FilePattern)
		}
		if l.text, err = compileText(s.Pattern); err == nil {
			l.need = p.builder.Need(l.text.need)
			p.contents = append(p.contents, l)
		}
	case *File:
		l.name = p.paths.get(s.Pattern)
		p.names = append(p.names, l)
	case *XML:
		if l.xpath, err = xpath.CompileWithNS(s.XPath, s.Namespaces); err == nil {
			l.need = p.builder.Need(xpathLiterals(s.XPath))
			p.xml = append(p.xml, l)
		}
	case *XMLPublicID:
		if l.regex, err = regexp.Compile(s.Regex); err == nil {
			l.xpath, err = xpath.Compile("//*[@public-id]")
			l.need = p.builder.Need([][]string{{"public-id"}})
			p.xml = append(p.xml, l)
		}
	case *JSON:
		l.xpath, err = xpath.Compile(s.XPath)
		p.json = append(p.json, l)
	case *Java:
		err = p.fillJava(l, s)
	case *Referenced:
		l.lang, err = langref.NewQuery(s.Language, s.Pattern, s.Location, s.Namespace)
		if err == nil {
			l.need = p.builder.Need(l.lang.Literals())
			p.lang[s.Language] = append(p.lang[s.Language], l)
		}
	case *Dependency:
		p.deps = append(p.deps, l)
	}
	return err
}

func (p *plan) fillJava(l *leaf, s *Java) error {
	loc, _ := javaref.ParseLocation(s.Location)
	q := &javaref.Query{Pattern: javaref.CompilePattern(s.Pattern, loc), Location: loc}
	if a := s.Annotated; a != nil && loc.Annotatable() {
		q.Annotated = &javaref.Annotated{}
		if a.Pattern != "" {
			re, err := javaref.Whole(a.Pattern)
			if err != nil {
				return err
			}
			q.Annotated.Pattern = re
		}
		for _, e := range a.Elements {
			re, err := javaref.Whole(e.Value)
			if err != nil {
				return err
			}
			q.Annotated.Elements = append(q.Annotated.Elements, javaref.Element{Name: e.Name, Value: re})
		}
	}
	l.java = q
	l.need = p.builder.Need(q.Pattern.Literals())
	p.java = append(p.java, l)
	return nil
}

// wants reports whether the leaf looks at the current path.
func (l *leaf) wants(m *pathMatcher) bool {
	return (l.only == nil || m.match(l.only)) && (len(l.in) == 0 || slices.ContainsFunc(l.in, m.match))
}

// wantsXML adds the extensions that XML conditions are about, even those that
// name other files.
func (l *leaf) wantsXML(m *pathMatcher) bool { return isXMLName(m.rel) && l.wants(m) }

func isXMLName(rel string) bool {
	ext := path.Ext(rel)
	return ext == ".xml" || ext == ".xhtml"
}

// xpathLiterals returns strings that an XML file must contain for a path to
// select anything: the names of the steps outside predicates, and names that a
// predicate consists of. It is nil for expressions it does not understand.
func xpathLiterals(expr string) [][]string {
	var clause []string
	for _, alternative := range splitXPath(expr, '|') {
		alternative = strings.TrimSpace(alternative)
		if alternative == "" || strings.HasPrefix(alternative, "(") || xpathCall.MatchString(alternative) {
			return nil
		}
		best := ""
		for _, step := range splitXPath(alternative, '/') {
			if name := stepLiteral(strings.TrimSpace(step)); len(name) > len(best) {
				best = name
			}
		}
		if len(best) < 2 {
			return nil
		}
		clause = append(clause, best)
	}
	return [][]string{clause}
}

var (
	xpathCall = regexp.MustCompile(`^[\w:.-]+\(`) // a function at the top, not a path
	xpathStep = regexp.MustCompile(`^(?:@|[a-z-]+::)?(?:[\w.-]+:)?([\w.-]+)\s*(\[|$)`)
	localName = regexp.MustCompile(`^\*\[\s*local-name\(\)\s*=\s*['"]([^'"]+)['"]\s*(?:\]|and\b)`)
)

func stepLiteral(step string) string {
	if m := localName.FindStringSubmatch(step); m != nil && !strings.Contains(step, " or ") {
		return m[1]
	}
	if m := xpathStep.FindStringSubmatch(step); m != nil {
		return m[1]
	}
	return ""
}

// splitXPath splits at a character outside of brackets, parentheses and strings.
func splitXPath(expr string, at byte) []string {
	var parts []string
	depth, start := 0, 0
	var quote byte
	for i := range len(expr) {
		c := expr[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == at && depth == 0:
			parts = append(parts, expr[start:i])
			start = i + 1
		}
	}
	return append(parts, expr[start:])
}
