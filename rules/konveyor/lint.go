package konveyor

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/antchfx/xpath"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/rules/konveyor/javaref"
)

// Level is how bad a [Finding] is.
type Level string

// The levels.
const (
	LevelError   Level = "error"   // the rule, or a part of it, is not used
	LevelWarning Level = "warning" // the rule runs, but not as it reads
)

// A Finding is one thing that is wrong with a rule.
type Finding struct {
	File      string
	Line, Col int // 1-based; 0: the whole file
	RuleID    string
	Level     Level
	Code      string // stable name of the kind of finding
	Message   string
}

func (f Finding) String() string {
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Col)
	}
	rule := ""
	if f.RuleID != "" {
		rule = "rule " + f.RuleID + ": "
	}
	return fmt.Sprintf("%s: %s: %s%s [%s]", where, f.Level, rule, f.Message, f.Code)
}

// Problem returns the finding as a record that could not be read.
func (f Finding) Problem() incidents.Problem {
	p := incidents.Problem{Source: f.File, Where: "the file", Reason: f.Message}
	if f.Line > 0 {
		p.Where = fmt.Sprintf("line %d", f.Line)
	}
	if f.RuleID != "" {
		p.Where += ", rule " + f.RuleID
	}
	return p
}

// Lint returns everything that is wrong with the rules of files and
// directories: what keeps a rule from being loaded, and what makes it run
// otherwise than it reads.
func Lint(paths ...string) []Finding {
	set, _ := Load(paths...)
	return set.Findings()
}

// Findings returns everything that was found wrong while the set was loaded.
func (s *Set) Findings() []Finding { return slices.Clone(s.findings) }

// checkSpec reports the traps of one leaf condition. An error means that the
// rule cannot be used.
func (p *parser) checkSpec(n *yamldoc.Node, spec Spec) error {
	for _, pattern := range spec.scope().Patterns {
		p.checkPath(n, "filepaths", pattern)
	}
	switch spec.(type) {
	case *XML, *XMLPublicID:
		for _, pattern := range spec.scope().Patterns {
			if ext := plainExtension.FindStringSubmatch(pattern); ext != nil && ext[1] != "xml" && ext[1] != "xhtml" {
				p.warn(n, "xml-extension", "filepaths %q names files that XML conditions do not look at; they look at .xml and .xhtml", pattern)
			}
		}
	}
	switch s := spec.(type) {
	case *FileContent:
		if s.FilePattern != "" {
			p.checkPath(n, "filePattern", s.FilePattern)
		}
		return p.checkContent(n, s)
	case *File:
		p.checkPath(n, "pattern", s.Pattern)
	case *XML:
		return p.checkXPath(n, s)
	case *XMLPublicID:
		if _, err := regexp.Compile(s.Regex); err != nil {
			return n.Errorf("its regex is no valid expression: %v", err)
		}
		if s.Regex == "" {
			p.warn(n, "empty-regex", "an empty regex matches every public-id")
		}
	case *JSON:
		if _, err := xpath.Compile(s.XPath); err != nil {
			return n.Errorf("its xpath is not valid: %v", err)
		}
	case *Java:
		return p.checkJava(n, s)
	case *Dependency:
		if _, err := regexp.Compile(s.NameRegex); err != nil {
			return n.Errorf("its nameregex is no valid expression: %v", err)
		}
		if s.Name != "" && s.Lowerbound == "" && s.Upperbound == "" {
			p.warn(n, "no-bounds", "it has neither lowerbound nor upperbound; every version matches")
		}
		if s.Lowerbound != "" && s.Upperbound != "" && compareVersions(s.Lowerbound, s.Upperbound) > 0 {
			p.warn(n, "bounds", "lowerbound %s is above upperbound %s; no version matches", s.Lowerbound, s.Upperbound)
		}
	case *Referenced:
		return p.checkReferenced(n, s)
	}
	return nil
}

func (p *parser) checkPath(n *yamldoc.Node, what, pattern string) {
	c := compilePath(pattern)
	if c.glob == "" {
		if strings.HasPrefix(pattern, "*.") {
			p.warn(n, "glob", "%s %q is read as a glob", what, pattern)
		}
		return
	}
	if _, err := path.Match(c.glob, ""); err != nil {
		p.warn(n, "bad-pattern", "%s %q is neither a regular expression nor a glob; it matches nothing", what, pattern)
	}
}

func (p *parser) checkContent(n *yamldoc.Node, s *FileContent) error {
	re, err := compileText(s.Pattern)
	if err != nil {
		return n.Errorf("its pattern is too large: %v", err)
	}
	switch {
	case re.literal && strings.ContainsAny(s.Pattern, `*+?()[]{}|^$\`):
		p.warn(n, "bad-regex", "pattern %q is no valid regular expression; it is searched as plain text", s.Pattern)
	case re.back != nil:
		p.warn(n, "look-around", "pattern %q uses look-around, which is slow; it is given up after %v per file", s.Pattern, backtrackLimit)
	case strings.HasPrefix(s.Pattern, "$") && len(s.Pattern) > 1:
		p.warn(n, "dollar", "pattern %q begins with $, the end of a line, so it cannot match; write \\$", s.Pattern)
	case bracketWord.MatchString(s.Pattern):
		p.warn(n, "brackets", "pattern %q is a set of characters and matches any one of them; write \\[ and \\]", s.Pattern)
	}
	return nil
}

// plainExtension is the extension at the end of a pattern of paths.
var plainExtension = regexp.MustCompile(`\.(?:\(\?i:)?(\w+)\)?\$?$`)

var bracketWord = regexp.MustCompile(`^\[[A-Za-z]{3,}\]$`)

func (p *parser) checkXPath(n *yamldoc.Node, s *XML) error {
	if _, err := xpath.CompileWithNS(s.XPath, s.Namespaces); err != nil {
		return n.Errorf("its xpath is not valid: %v", err)
	}
	for prefix := range usedPrefixes(s.XPath) {
		if s.Namespaces[prefix] == "" {
			p.warn(n, "namespace", "prefix %q of the xpath has no namespace; elements match by prefix", prefix)
		}
	}
	return nil
}

var xpathString = regexp.MustCompile(`'[^']*'|"[^"]*"`)
var xpathPrefix = regexp.MustCompile(`(?:^|[^\w:.-])([A-Za-z_][\w.-]*):[A-Za-z_*]`)

func usedPrefixes(expr string) map[string]bool {
	out := map[string]bool{}
	for _, m := range xpathPrefix.FindAllStringSubmatch(xpathString.ReplaceAllString(expr, "''"), -1) {
		out[m[1]] = true
	}
	return out
}

func (p *parser) checkJava(n *yamldoc.Node, s *Java) error {
	loc, known := javaref.ParseLocation(s.Location)
	if !known {
		p.warn(n, "location", "location %s is unknown and silently becomes the default (types, methods, constructors); known are %s",
			s.Location, strings.Join(javaref.LocationNames(), ", "))
	}
	pattern := javaref.CompilePattern(s.Pattern, loc)
	for _, warning := range pattern.Warnings() {
		p.warn(n, "java-pattern", "pattern %q: %s", s.Pattern, warning)
	}
	if s.Annotated == nil {
		return nil
	}
	if !loc.Annotatable() {
		p.warn(n, "annotated", "annotated means nothing for location %s", loc)
	}
	if _, err := regexp.Compile(s.Annotated.Pattern); err != nil {
		return n.Errorf("the pattern of annotated is no valid expression: %v", err)
	}
	for _, e := range s.Annotated.Elements {
		if _, err := regexp.Compile(e.Value); err != nil {
			return n.Errorf("the value of annotated element %s is no valid expression: %v", e.Name, err)
		}
	}
	return nil
}

func (p *parser) checkReferenced(n *yamldoc.Node, s *Referenced) error {
	if s.Language == "csharp" {
		if !slices.Contains([]string{"", "ALL", "METHOD", "FIELD", "CLASS"}, s.Location) {
			p.warn(n, "location", "location %s is unknown and becomes ALL; known are ALL, METHOD, FIELD, CLASS", s.Location)
		}
		if _, err := regexp.Compile(s.Pattern); err != nil {
			return n.Errorf("its pattern is no valid expression: %v", err)
		}
	}
	return nil
}

// nearest returns the known key that a misspelt one probably means.
func nearest(key string, known []string) string {
	best, limit := "", 1+len(key)/4
	for _, k := range known {
		if d := distance(strings.ToLower(key), strings.ToLower(k)); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}

// distance is the number of characters to insert, delete or replace to get
// from a to b (Levenshtein).
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 40
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
