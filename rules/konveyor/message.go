package konveyor

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/cbroglie/mustache"
)

// noPartials keeps templates from reading files.
var noPartials = &mustache.StaticProvider{}

// A message renders the messages of one rule.
type message struct {
	rule     *Rule
	template *mustache.Template // nil: the text is no template
}

func newMessage(r *Rule) *message {
	m := &message{rule: r}
	if strings.Contains(r.Message, "{{") {
		m.template, _ = parseTemplate(r.Message)
	}
	return m
}

// parseTemplate guards against templates that the library cannot cope with.
func parseTemplate(text string) (t *mustache.Template, err error) {
	defer func() {
		if r := recover(); r != nil {
			t, err = nil, fmt.Errorf("is no template: %v", r)
		}
	}()
	return mustache.ParseStringPartials(text, noPartials)
}

// render returns the message for one incident. Values are HTML-escaped unless
// the template asks for them raw, as the analyzer does it.
func (m *message) render(line int, vars map[string]any) string {
	if m.template == nil {
		return m.rule.Message
	}
	return renderTemplate(m.template, m.rule.Message, line, vars)
}

func renderTemplate(t *mustache.Template, text string, line int, vars map[string]any) (out string) {
	defer func() {
		if r := recover(); r != nil {
			out = text
		}
	}()
	values := maps.Clone(vars)
	if values == nil {
		values = map[string]any{}
	}
	if line > 0 {
		values["lineNumber"] = line
	}
	rendered, err := t.Render(values)
	if err != nil {
		return text
	}
	return rendered
}

// variables returns the variables of an incident with the rule's own, which are
// taken from its source line.
func (m *message) variables(in *incident) map[string]any {
	if len(m.rule.Variables) == 0 {
		return in.vars
	}
	vars := maps.Clone(in.vars)
	if vars == nil {
		vars = map[string]any{}
	}
	for _, v := range m.rule.Variables {
		if value, ok := v.value(in.text); ok {
			vars[v.Name] = value
		}
	}
	return vars
}

// value takes the variable from a trimmed source line: its named group, else
// the only group, else the whole match, else the default. A pattern with several
// groups and no name for one sets nothing.
func (v *CustomVariable) value(line string) (string, bool) {
	match := v.Pattern.FindStringSubmatch(line)
	if i := v.Pattern.SubexpIndex(v.Group); v.Group != "" && i >= 0 && i < len(match) {
		return strings.TrimSpace(match[i]), true
	}
	switch len(match) {
	case 0:
		return v.Default, true
	case 1:
		return strings.TrimSpace(match[0]), true
	case 2:
		return strings.TrimSpace(match[1]), true
	}
	return "", false
}

// tagForm is "Name", "Name,Name" or "Category=Name,Name".
var tagForm = regexp.MustCompile(`^(?:[\w- ()]+=)?([\w- ()]+(?:, *[\w- (),]+)*),?$`)

// splitTag returns the names of a tag.
func splitTag(tag string) ([]string, bool) {
	m := tagForm.FindStringSubmatch(tag)
	if m == nil {
		return nil, false
	}
	var names []string
	for _, name := range strings.Split(m[1], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, true
}

// renderTags returns the tags of a rule that matched.
func renderTags(r *Rule, incidents []incident, m *message) []string {
	var tags []string
	for _, t := range r.Tags {
		if !strings.Contains(t, "{{") || !strings.Contains(t, "}}") {
			tags = append(tags, t)
			continue
		}
		template, err := parseTemplate(t)
		if err != nil {
			tags = append(tags, t)
			continue
		}
		for i := range incidents {
			tags = append(tags, renderTemplate(template, t, incidents[i].line, m.variables(&incidents[i])))
		}
	}
	return unique(tags)
}
