package konveyor

import (
	"errors"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// metaKeys stand beside a condition and say how its outcome is used.
var metaKeys = []string{"as", "from", "ignore", "not"}

// parseWhen reads one condition with its meta keys.
func (p *parser) parseWhen(n *yamldoc.Node) (*Condition, error) {
	if n.Kind != yamldoc.Mapping {
		return nil, n.Errorf("a condition must be a mapping, not %s", n.Kind)
	}
	c := &Condition{Line: n.Line, Col: n.Col}
	var bodies []yamldoc.Pair
	for _, pair := range n.Pairs {
		v := pair.Value
		var err error
		switch pair.Key.Text {
		case "as":
			c.As = v.Text
		case "from":
			c.From = v.Text
		case "ignore":
			c.Ignore, err = v.Bool("ignore")
		case "not":
			c.Not, err = v.Bool("not")
		default:
			bodies = append(bodies, pair)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(bodies) == 0 {
		return nil, n.Errorf("there is no condition")
	}
	var first error
	for _, pair := range bodies {
		// The analyzer takes any of several conditions that stand side by
		// side. Take the first that can be evaluated.
		err := p.parseBody(c, pair)
		if err == nil {
			if len(bodies) > 1 {
				p.report(LevelError, n, "side-by-side", "several conditions stand side by side and only %s is used; put them below `and` or `or`", c.Name)
			}
			return c, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// parseBody reads the condition itself.
func (p *parser) parseBody(c *Condition, pair yamldoc.Pair) (err error) {
	c.Name, c.Op, c.Children, c.Spec = pair.Key.Text, Leaf, nil, nil
	switch c.Name {
	case "and", "or":
		return p.parseChildren(c, pair.Value)
	}
	c.Spec, err = p.parseSpec(c.Name, pair.Value)
	return err
}

// parseChildren reads a list of conditions. An `or` goes on without those that
// cannot be evaluated, an `and` does not.
func (p *parser) parseChildren(c *Condition, body *yamldoc.Node) error {
	if body.Kind != yamldoc.Sequence {
		return body.Errorf("`%s` must be a list of conditions, not %s", c.Name, body.Kind)
	}
	c.Op = And
	if c.Name == "or" {
		c.Op = Or
	}
	if len(body.Items) == 0 {
		p.warn(body, "empty", "`%s` has no conditions, so the rule never matches", c.Name)
		return nil
	}
	var first error
	for _, item := range body.Items {
		child, err := p.parseWhen(item)
		switch {
		case err == nil:
			c.Children = append(c.Children, child)
		case c.Op == And:
			return err
		default:
			if first == nil {
				first = err
			}
			at, msg := item, err.Error()
			var e *yamldoc.Error
			if errors.As(err, &e) {
				at, msg = &yamldoc.Node{Line: e.Line, Col: e.Col}, e.Msg
			}
			p.report(LevelError, at, "dropped", "one of several conditions is not evaluated: %s", msg)
		}
	}
	if len(c.Children) == 0 {
		return first
	}
	return nil
}

// specs is the table of leaf conditions: everything that is derived from their
// names comes from here.
var specs = []struct {
	name  string
	keys  []string
	parse func(*parser, *yamldoc.Node, *fields) (Spec, error)
}{
	{"builtin.filecontent", []string{"pattern", "filePattern", "filepaths"}, func(_ *parser, n *yamldoc.Node, f *fields) (Spec, error) {
		s := &FileContent{Scope: f.scope(), Pattern: f.text("pattern"), FilePattern: f.text("filePattern")}
		return s, required(n, "pattern", s.Pattern)
	}},
	{"builtin.file", []string{"pattern", "filepaths"}, func(_ *parser, n *yamldoc.Node, f *fields) (Spec, error) {
		s := &File{Scope: f.scope(), Pattern: f.text("pattern")}
		return s, required(n, "pattern", s.Pattern)
	}},
	{"builtin.xml", []string{"xpath", "namespaces", "filepaths"}, func(_ *parser, n *yamldoc.Node, f *fields) (Spec, error) {
		s := &XML{Scope: f.scope(), XPath: f.text("xpath"), Namespaces: f.mapping("namespaces")}
		return s, required(n, "xpath", s.XPath)
	}},
	{"builtin.xmlPublicID", []string{"regex", "namespaces", "filepaths"}, func(_ *parser, _ *yamldoc.Node, f *fields) (Spec, error) {
		return &XMLPublicID{Scope: f.scope(), Regex: f.text("regex"), Namespaces: f.mapping("namespaces")}, nil
	}},
	{"builtin.json", []string{"xpath", "filepaths"}, func(_ *parser, n *yamldoc.Node, f *fields) (Spec, error) {
		s := &JSON{Scope: f.scope(), XPath: f.text("xpath")}
		return s, required(n, "xpath", s.XPath)
	}},
	{"builtin.hasTags", nil, func(p *parser, n *yamldoc.Node, _ *fields) (Spec, error) {
		s := &HasTags{Tags: p.strings(n, "hasTags")}
		if len(s.Tags) == 0 {
			return nil, n.Errorf("hasTags must be a list of tags")
		}
		return s, nil
	}},
	{"java.referenced", []string{"pattern", "location", "annotated", "filepaths"}, (*parser).parseJava},
	{"java.dependency", dependencyKeys, dependency("java")},
	{"go.dependency", dependencyKeys, dependency("go")},
	{"go.referenced", referencedKeys, referenced("go")},
	{"nodejs.referenced", referencedKeys, referenced("nodejs")},
	{"python.referenced", referencedKeys, referenced("python")},
	{"csharp.referenced", csharpKeys, referenced("csharp")},
	{"dotnet.referenced", csharpKeys, referenced("csharp")}, // its name in the documentation
}

var (
	dependencyKeys = []string{"name", "nameregex", "name_regex", "lowerbound", "upperbound"}
	referencedKeys = []string{"pattern", "filepaths"}
	csharpKeys     = []string{"pattern", "location", "namespace", "filepaths", "file_paths"}
)

func conditionNames() []string {
	var names []string
	for _, s := range specs {
		names = append(names, s.name)
	}
	return names
}

func (p *parser) parseSpec(name string, body *yamldoc.Node) (Spec, error) {
	for _, s := range specs {
		if s.name != name {
			continue
		}
		if s.keys != nil {
			if body.Kind != yamldoc.Mapping {
				return nil, body.Errorf("%s must be a mapping with %s, not %s", name, strings.Join(s.keys, ", "), body.Kind)
			}
			p.known(body, name, slices.Concat(s.keys, metaKeys)...)
			for _, meta := range metaKeys {
				if k := body.Get(meta); k != nil {
					p.warn(k, "misplaced-key", "`%s` stands inside %s, where it means nothing; it belongs beside it", meta, name)
				}
			}
		}
		spec, err := s.parse(p, body, &fields{p: p, n: body})
		if err != nil {
			return nil, err
		}
		return spec, p.checkSpec(body, spec)
	}
	return nil, body.Errorf("condition %s is not supported; supported are %s", name, strings.Join(conditionNames(), ", "))
}

func required(n *yamldoc.Node, key, value string) error {
	if value == "" {
		return n.Errorf("it needs a %s", key)
	}
	return nil
}

// fields reads the keys of a condition.
type fields struct {
	p *parser
	n *yamldoc.Node
}

func (f *fields) text(key string) string {
	v := f.n.Get(key)
	if v == nil {
		return ""
	}
	if v.Kind == yamldoc.Sequence || v.Kind == yamldoc.Mapping {
		f.p.warn(v, "shape", "%s must be a string, not %s; it is ignored", key, v.Kind)
		return ""
	}
	return v.Text
}

func (f *fields) mapping(key string) map[string]string {
	v := f.n.Get(key)
	if v == nil || len(v.Pairs) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, pair := range v.Pairs {
		m[pair.Key.Text] = pair.Value.Text
	}
	return m
}

// scope reads `filepaths`: a list of patterns, or a template that names the
// files of another condition.
func (f *fields) scope() Scope {
	v := f.n.Get("filepaths")
	if v == nil {
		return Scope{}
	}
	list := []*yamldoc.Node{v}
	if v.Kind == yamldoc.Sequence {
		list = v.Items
	}
	var s Scope
	for _, item := range list {
		text := strings.TrimSpace(item.Text)
		name, field, isTemplate := templateName(text)
		switch {
		case text == "":
		case !isTemplate:
			// The analyzer separates rendered paths by spaces.
			s.Patterns = append(s.Patterns, strings.Fields(text)...)
		case strings.EqualFold(field, "filepaths"):
			s.From = name
		default:
			f.p.warn(item, "template", "%s names no files, so the condition is not narrowed; write {{%s.filepaths}}", text, name)
		}
	}
	return s
}

// templateName splits "{{name.field}}".
func templateName(s string) (name, field string, ok bool) {
	if !strings.HasPrefix(s, "{{") || !strings.HasSuffix(s, "}}") {
		return "", "", false
	}
	inner := strings.TrimSpace(strings.Trim(s, "{}"))
	i := strings.LastIndexByte(inner, '.')
	if i < 0 {
		return inner, "", true
	}
	return inner[:i], inner[i+1:], true
}

func (p *parser) parseJava(n *yamldoc.Node, f *fields) (Spec, error) {
	s := &Java{Scope: f.scope(), Pattern: strings.TrimSpace(f.text("pattern")), Location: f.text("location")}
	if a := n.Get("annotated"); a != nil {
		p.known(a, "annotated", "pattern", "elements")
		inner := fields{p: p, n: a}
		s.Annotated = &Annotated{Pattern: inner.text("pattern")}
		for _, e := range items(a.Get("elements")) {
			p.known(e, "an element of annotated", "name", "value")
			el := fields{p: p, n: e}
			s.Annotated.Elements = append(s.Annotated.Elements, AnnotationElement{el.text("name"), el.text("value")})
		}
	}
	return s, required(n, "pattern", s.Pattern)
}

func dependency(language string) func(*parser, *yamldoc.Node, *fields) (Spec, error) {
	return func(p *parser, n *yamldoc.Node, f *fields) (Spec, error) {
		s := &Dependency{Language: language, Name: f.text("name"), NameRegex: f.text("nameregex"),
			Lowerbound: f.text("lowerbound"), Upperbound: f.text("upperbound")}
		if s.NameRegex == "" {
			s.NameRegex = f.text("name_regex")
		}
		if s.Name == "" && s.NameRegex == "" {
			return nil, n.Errorf("it needs a name or a nameregex")
		}
		return s, nil
	}
}

func referenced(language string) func(*parser, *yamldoc.Node, *fields) (Spec, error) {
	return func(p *parser, n *yamldoc.Node, f *fields) (Spec, error) {
		s := &Referenced{Scope: f.scope(), Language: language, Pattern: f.text("pattern"),
			Location: strings.ToUpper(f.text("location")), Namespace: f.text("namespace")}
		return s, required(n, "pattern", s.Pattern)
	}
}

// checkChain puts the conditions of one level into the order of evaluation
// (a condition comes after the one whose files it uses) and reports names that
// lead nowhere.
func (p *parser) checkChain(c *Condition, n *yamldoc.Node) error {
	names := map[string]bool{}
	c.walk(func(c *Condition) {
		if c.As != "" {
			names[c.As] = true
		}
	})
	var err error
	c.walk(func(c *Condition) {
		place := &yamldoc.Node{Line: c.Line, Col: c.Col}
		if c.From != "" && !names[c.From] && err == nil {
			err = place.Errorf("`from: %s` names no condition; give one `as: %s`", c.From, c.From)
		}
		if c.Spec != nil {
			if from := c.Spec.scope().From; from != "" && (!names[from] || from == c.As) {
				p.warn(place, "template", "{{%s.filepaths}} names no earlier condition, so the condition is not narrowed", from)
				c.Spec.scope().From = ""
			}
		}
		c.Children = ordered(c.Children)
	})
	return err
}

// ordered sorts conditions so that each follows what it refers to; those that
// refer to each other in a circle keep their order.
func ordered(list []*Condition) []*Condition {
	uses := func(c *Condition, name string) bool {
		found := false
		c.walk(func(c *Condition) {
			found = found || c.From == name || c.Spec != nil && c.Spec.scope().From == name
		})
		return found
	}
	var out []*Condition
	left := slices.Clone(list)
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(c *Condition) bool {
			return !slices.ContainsFunc(left, func(other *Condition) bool {
				return other != c && other.As != "" && uses(c, other.As)
			})
		})
		next = max(next, 0)
		out = append(out, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return out
}
