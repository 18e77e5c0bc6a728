package rules

import (
	"fmt"
	"go/version"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/rules/refactor"
	"github.com/kaiak/kaiak/treesitter"
)

// A Rule is one loaded rule. Its fields are read by anyone and changed by none.
type Rule struct {
	ID       string
	Language string // name of the grammar: "go", "csharp", …
	Severity incidents.Severity
	Off      bool   // switched off: it is listed and never matches
	Message  string // as written, with its metavariables
	Note     string
	URL      string
	Pack     string // the built-in pack it is from, "" for none
	Source   string // "file:line" that it was read from
	Text     string // its YAML document

	// What `metadata` says to Kaiak; Metadata has all of it.
	Category           string   // "mechanical", "local", "cross-file" or ""
	Effort             int      // Konveyor's story points
	Labels             []string // Konveyor's labels
	FixesIDs           []string // foreign rule ids that this rule fixes, too; * stands for anything
	MinLanguageVersion string   // of Go: "1.18"; "" for any
	Safety             string   // why the fix is safe, for people
	Metadata           map[string]any

	// The ways to rewrite a match, the first is the default; empty: the rule only finds.
	FixTitles []string

	lang     *treesitter.Language
	core     *matcher.Core
	files    []*regexp.Regexp // globs
	ignores  []*regexp.Regexp
	labels   []labelSpec
	imports  *refactor.Imports // what a fix does to the imports of its file; nil: nothing
	steps    []namedStep
	requires []requirement
}

// labelSpec marks the code that a metavariable is bound to.
type labelSpec struct {
	variable string
	style    LabelStyle
	message  string
}

// namedStep is a refactoring that is the rule's fix.
type namedStep struct {
	name string
	step refactor.Step
}

// requirement is what has to hold for a name where the rule matches.
type requirement struct {
	path string // the import that the name must stand for; "": none, the name must only be free
	name string
}

// Fixable reports whether the rule has a fix.
func (r *Rule) Fixable() bool { return len(r.core.Fixes)+len(r.steps) > 0 }

// AppliesTo reports whether the rule looks at a file, by its name alone.
func (r *Rule) AppliesTo(filePath string) bool {
	if r.Off {
		return false
	}
	if matchesAny(r.ignores, filePath) {
		return false
	}
	return len(r.files) == 0 || matchesAny(r.files, filePath)
}

func matchesAny(globs []*regexp.Regexp, filePath string) bool {
	return slices.ContainsFunc(globs, func(re *regexp.Regexp) bool { return re.MatchString(filePath) })
}

// BoundTo reports whether the rule fixes incidents of a rule id: its own or one
// that `metadata.fixes` names.
func (r *Rule) BoundTo(ruleID string) bool {
	return ruleID == r.ID || slices.ContainsFunc(r.FixesIDs, func(p string) bool {
		return p == ruleID || strings.Contains(p, "*") && wildcard(p, ruleID)
	})
}

// wildcard matches a pattern in which * stands for any text.
func wildcard(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return len(s) >= len(last) && strings.HasSuffix(s, last)
}

// topKeys are the keys of a rule document, as ast-grep has them.
var topKeys = []string{"id", "language", "rule", "constraints", "utils", "transform", "fix", "rewriters",
	"message", "note", "severity", "labels", "files", "ignores", "url", "metadata"}

// severities are the severities of rules; "off" is not among them.
var severities = map[string]incidents.Severity{
	"error": incidents.Error, "warning": incidents.Warning, "info": incidents.Info, "hint": incidents.Hint,
}

// newRule compiles one rule document. source names its file, defaultID is for
// documents without an id. Errors are [*yamldoc.Error].
func newRule(doc *yamldoc.Node, source, defaultID string, globals matcher.Globals) (*Rule, error) {
	if err := doc.Keys("the rule", topKeys...); err != nil {
		return nil, err
	}
	r := &Rule{ID: defaultID, Severity: incidents.Hint, Source: fmt.Sprintf("%s:%d", source, doc.Line)}
	for key, into := range map[string]*string{"id": &r.ID, "message": &r.Message, "note": &r.Note, "url": &r.URL} {
		if n := doc.Get(key); n != nil && n.Kind != yamldoc.Null {
			if n.Kind == yamldoc.Sequence || n.Kind == yamldoc.Mapping {
				return nil, n.Errorf("`%s` must be a string, not %s", key, n.Kind)
			}
			*into = n.Text
		}
	}
	lang, err := language(doc)
	if err != nil {
		return nil, err
	}
	r.lang, r.Language = lang, lang.Name
	if n := doc.Get("severity"); n != nil && n.Kind != yamldoc.Null {
		severity, ok := severities[n.Text]
		if n.Text == "off" || n.Kind == yamldoc.Bool && n.Text == "false" {
			r.Off = true
		} else if !ok {
			return nil, n.Errorf("there is no severity %q; there are error, warning, info, hint and off", n.Text)
		} else {
			r.Severity = severity
		}
	}
	if r.files, err = globs(doc.Get("files"), "`files`"); err != nil {
		return nil, err
	}
	if r.ignores, err = globs(doc.Get("ignores"), "`ignores`"); err != nil {
		return nil, err
	}
	if r.core, err = matcher.Compile(doc, lang, globals); err != nil {
		return nil, err
	}
	for _, f := range r.core.Fixes {
		r.FixTitles = append(r.FixTitles, f.Title)
	}
	if err := r.readLabels(doc.Get("labels")); err != nil {
		return nil, err
	}
	if err := r.readMetadata(doc.Get("metadata")); err != nil {
		return nil, err
	}
	return r, nil
}

func language(doc *yamldoc.Node) (*treesitter.Language, error) {
	n := doc.Get("language")
	if n == nil {
		return nil, doc.Errorf("`language` is missing")
	}
	name, err := n.Str("`language`")
	if err != nil {
		return nil, err
	}
	lang := treesitter.Lookup(name)
	if lang == nil {
		var names []string
		for _, l := range treesitter.All() {
			names = append(names, l.Name)
		}
		return nil, n.Errorf("there is no language %q; there are %s", name, strings.Join(names, ", "))
	}
	return lang, nil
}

func globs(doc *yamldoc.Node, what string) ([]*regexp.Regexp, error) {
	if doc == nil || doc.Kind == yamldoc.Null {
		return nil, nil
	}
	if doc.Kind != yamldoc.Sequence {
		return nil, doc.Errorf("%s must be a list of globs, not %s", what, doc.Kind)
	}
	var out []*regexp.Regexp
	for _, item := range doc.Items {
		fold := false
		source := item
		if item.Kind == yamldoc.Mapping {
			if err := item.Keys("an entry of "+what, "glob", "caseInsensitive"); err != nil {
				return nil, err
			}
			if source = item.Get("glob"); source == nil {
				return nil, item.Errorf("an entry of %s must have `glob`", what)
			}
			if n := item.Get("caseInsensitive"); n != nil {
				var err error
				if fold, err = n.Bool("`caseInsensitive`"); err != nil {
					return nil, err
				}
			}
		}
		pattern, err := source.Str("an entry of " + what)
		if err != nil {
			return nil, err
		}
		re, err := compileGlob(pattern, fold)
		if err != nil {
			return nil, source.Errorf("%s", err.Error())
		}
		out = append(out, re)
	}
	return out, nil
}

func (r *Rule) readLabels(doc *yamldoc.Node) error {
	if doc == nil || doc.Kind == yamldoc.Null {
		return nil
	}
	if doc.Kind != yamldoc.Mapping {
		return doc.Errorf("`labels` must be a mapping of metavariables (without $) to labels, not %s", doc.Kind)
	}
	for _, p := range doc.Pairs {
		if err := p.Value.Keys("a label", "style", "message"); err != nil {
			return err
		}
		if !r.core.Defines(p.Key.Text) {
			return p.Key.Errorf("label %s is not a metavariable of the rule", p.Key.Text)
		}
		spec := labelSpec{variable: p.Key.Text}
		style := p.Value.Get("style")
		if style == nil {
			return p.Value.Errorf("a label must have `style`: primary or secondary")
		}
		switch spec.style = LabelStyle(style.Text); spec.style {
		case PrimaryLabel, SecondaryLabel:
		default:
			return style.Errorf("there is no label style %q; there are primary and secondary", style.Text)
		}
		if m := p.Value.Get("message"); m != nil {
			spec.message = m.Text
		}
		r.labels = append(r.labels, spec)
	}
	return nil
}

// readMetadata reads what `metadata` says to Kaiak. Keys that it does not know
// are the author's own.
func (r *Rule) readMetadata(doc *yamldoc.Node) error {
	if doc == nil || doc.Kind == yamldoc.Null {
		return nil
	}
	if doc.Kind != yamldoc.Mapping {
		return doc.Errorf("`metadata` must be a mapping, not %s", doc.Kind)
	}
	r.Metadata, _ = doc.Value().(map[string]any)
	for _, p := range doc.Pairs {
		var err error
		switch what := "`metadata." + p.Key.Text + "`"; p.Key.Text {
		case "category":
			r.Category, err = p.Value.Str(what)
			if err == nil && !slices.Contains([]string{"mechanical", "local", "cross-file"}, r.Category) {
				err = p.Value.Errorf("there is no category %q; there are mechanical, local and cross-file", r.Category)
			}
		case "effort":
			r.Effort, err = p.Value.Int(what)
		case "labels":
			r.Labels, err = p.Value.Strs(what)
		case "fixes":
			r.FixesIDs, err = p.Value.Strs(what)
		case "safety":
			r.Safety, err = p.Value.Str(what)
		case "imports":
			r.imports, err = imports(p.Value, what, r.Language)
		case "steps":
			r.steps, err = steps(p.Value, what)
		case "requires":
			r.requires, err = requirements(p.Value, what)
		case "minLanguageVersion":
			r.MinLanguageVersion = p.Value.Text
			switch {
			case r.Language != "go":
				err = p.Value.Errorf("%s is only for go, whose modules state their version", what)
			case !version.IsValid("go" + r.MinLanguageVersion):
				err = p.Value.Errorf("%s must be a version such as \"1.18\", not %q", what, p.Value.Text)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// requirements reads `requires`: one or a list of {import, name}. A name without
// an import must be free: nothing in scope declares it.
func requirements(doc *yamldoc.Node, what string) ([]requirement, error) {
	items := []*yamldoc.Node{doc}
	if doc.Kind == yamldoc.Sequence {
		items = doc.Items
	}
	var out []requirement
	for _, item := range items {
		if err := item.Keys(what, "import", "name"); err != nil {
			return nil, err
		}
		var req requirement
		for key, into := range map[string]*string{"import": &req.path, "name": &req.name} {
			if n := item.Get(key); n != nil {
				var err error
				if *into, err = n.Str("`" + key + "`"); err != nil {
					return nil, err
				}
			}
		}
		if req.name == "" {
			if req.path == "" {
				return nil, item.Errorf("%s must have `import`, `name` or both", what)
			}
			req.name = path.Base(req.path)
		}
		out = append(out, req)
	}
	return out, nil
}

// LabelNames returns the metavariables that `labels` marks; none: the match and
// what its relations found are marked.
func (r *Rule) LabelNames() []string {
	names := make([]string, len(r.labels))
	for i, l := range r.labels {
		names[i] = l.variable
	}
	return names
}
