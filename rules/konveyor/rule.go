package konveyor

import (
	"cmp"
	"regexp"
	"slices"
	"sync"

	"github.com/kaiak/kaiak/incidents"
)

// A Set is rules that were loaded, by ruleset. It is immutable and safe for
// concurrent use.
type Set struct {
	RuleSets []*RuleSet // in the order of their names
	findings []Finding

	compile sync.Once // guards what is below
	plan    *plan
	err     error
}

// compiled returns the conditions of all rules, compiled at the first run.
func (s *Set) compiled() (*plan, error) {
	s.compile.Do(func() { s.plan, s.err = newPlan(s.Rules()) })
	return s.plan, s.err
}

// A RuleSet is the rules of one directory.
type RuleSet struct {
	Name        string
	Description string
	Labels      []string // apply to every rule
	Tags        []string
	Rules       []*Rule // in the order of files and, within them, of lines

	// Skipped are the ids of rules that a selector left out.
	Skipped []string
}

// Rules returns every rule of the set.
func (s *Set) Rules() []*Rule {
	var all []*Rule
	for _, rs := range s.RuleSets {
		all = append(all, rs.Rules...)
	}
	return all
}

// A Rule is one rule as its file has it.
type Rule struct {
	ID          string
	Description string
	Message     string // mustache template; "" when the rule only tags
	Tags        []string
	Links       []incidents.Link
	Labels      []string // the rule's own, then the ruleset's, each once
	Category    string   // "mandatory", "optional", "potential" or ""
	Effort      *int     // story points; nil when the file gives none
	Variables   []CustomVariable
	When        *Condition

	RuleSet string // name of the ruleset
	File    string // as it was reached from the path given to Load
	Line    int    // 1-based
	Col     int
}

// insight reports whether the rule's incidents are insights, not violations.
func (r *Rule) insight() bool { return r.Effort == nil || *r.Effort == 0 }

// A CustomVariable is a variable of the message that is taken from the source
// line of the incident.
type CustomVariable struct {
	Name    string
	Pattern *regexp.Regexp
	Default string
	Group   string // name of the capture group; "": the first, or all
}

// Op says what a [Condition] is.
type Op uint8

// The kinds of condition.
const (
	Leaf Op = iota
	And
	Or
)

// A Condition is a node of a rule's `when` tree.
type Condition struct {
	Op       Op
	Children []*Condition // of And and Or, in the order of evaluation
	As       string       // name under which later conditions see this one's files
	From     string
	Ignore   bool // contributes to the match, but no incidents
	Not      bool

	Name string // "builtin.filecontent", "and", …
	Spec Spec   // of a Leaf
	Line int
	Col  int
}

// walk calls f for c and everything below it.
func (c *Condition) walk(f func(*Condition)) {
	f(c)
	for _, child := range c.Children {
		child.walk(f)
	}
}

// Spec is what a leaf condition asks for: one of the types below.
type Spec interface{ scope() *Scope }

// A Scope narrows a condition to files.
type Scope struct {
	Patterns []string // see matchesPath; nil: every file
	From     string   // name of a condition whose files are meant; "": none
}

func (s *Scope) scope() *Scope { return s }

// FileContent is builtin.filecontent.
type FileContent struct {
	Scope
	Pattern     string
	FilePattern string
}

// File is builtin.file.
type File struct {
	Scope
	Pattern string
}

// XML is builtin.xml.
type XML struct {
	Scope
	XPath      string
	Namespaces map[string]string
}

// XMLPublicID is builtin.xmlPublicID.
type XMLPublicID struct {
	Scope
	Regex      string
	Namespaces map[string]string
}

// JSON is builtin.json.
type JSON struct {
	Scope
	XPath string
}

// HasTags is builtin.hasTags.
type HasTags struct {
	Scope
	Tags []string
}

// Java is java.referenced.
type Java struct {
	Scope
	Pattern   string
	Location  string // as written
	Annotated *Annotated
}

// Annotated asks for an annotation on what java.referenced found.
type Annotated struct {
	Pattern  string // regular expression over the annotation's qualified name; "": see docs
	Elements []AnnotationElement
}

// An AnnotationElement asks for a value of an annotation.
type AnnotationElement struct{ Name, Value string }

// Dependency is java.dependency and go.dependency.
type Dependency struct {
	Scope
	Language   string // "java" or "go"
	Name       string
	NameRegex  string
	Lowerbound string
	Upperbound string
}

// Referenced is go.referenced, nodejs.referenced, python.referenced and
// csharp.referenced.
type Referenced struct {
	Scope
	Language  string // "go", "nodejs", "python", "csharp"
	Pattern   string
	Location  string // csharp: ALL, METHOD, FIELD, CLASS
	Namespace string // csharp
}

func compareRules(a, b *Rule) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// unique returns list without repetitions, in order.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
