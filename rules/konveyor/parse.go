package konveyor

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cbroglie/mustache"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// ruleKeys are the keys a rule may have. migration_complexity is not the
// analyzer's, but hundreds of published rules carry it.
var ruleKeys = []string{"ruleID", "description", "message", "tag", "links", "labels", "category", "effort",
	"customVariables", "when", "migration_complexity"}

// A parser reads the rules of one file and collects what is wrong with them.
type parser struct {
	loader *loader
	file   string
	rule   string // id of the rule that is being read
}

func (p *parser) report(level Level, n *yamldoc.Node, code, format string, args ...any) {
	f := Finding{File: p.file, RuleID: p.rule, Level: level, Code: code, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		f.Line, f.Col = n.Line, n.Col
	}
	p.loader.findings = append(p.loader.findings, f)
}

func (p *parser) warn(n *yamldoc.Node, code, format string, args ...any) {
	p.report(LevelWarning, n, code, format, args...)
}

// known reports keys of a mapping that mean nothing, with the key that was
// probably meant.
func (p *parser) known(n *yamldoc.Node, what string, keys ...string) {
	for _, pair := range n.Pairs {
		if slices.Contains(keys, pair.Key.Text) {
			continue
		}
		hint := ""
		if near := nearest(pair.Key.Text, keys); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		p.warn(pair.Key, "unknown-key", "%s has no key %q, it is ignored%s", what, pair.Key.Text, hint)
	}
}

// parseFile returns the rules of a file that can be used.
func parseFile(l *loader, file string, src []byte) []*Rule {
	p := &parser{loader: l, file: file}
	docs, err := yamldoc.Parse(src)
	if err != nil {
		var at *yamldoc.Error
		place := &yamldoc.Node{}
		msg := err.Error()
		if errors.As(err, &at) {
			place.Line, place.Col, msg = at.Line, at.Col, at.Msg
		}
		p.report(LevelError, place, "yaml", "is not valid YAML: %s", msg)
		return nil
	}
	if len(docs) == 0 {
		p.report(LevelError, nil, "no-rules", "holds no rules; the file is empty")
		return nil
	}
	if docs[0].Kind != yamldoc.Sequence {
		p.report(LevelError, docs[0], "no-rules", "holds no rules: a rule file is a list of rules, not %s", docs[0].Kind)
		return nil
	}
	var rules []*Rule
	ids := map[string]bool{}
	for _, n := range docs[0].Items {
		p.rule = ""
		if id := n.Get("ruleID"); id != nil {
			p.rule = id.Text
		}
		r, err := p.parseRule(n)
		if err != nil {
			at := n
			var e *yamldoc.Error
			if errors.As(err, &e) {
				at = &yamldoc.Node{Line: e.Line, Col: e.Col}
				err = errors.New(e.Msg)
			}
			p.report(LevelError, at, "rule", "is not loaded: %v", err)
			continue
		}
		if ids[r.ID] {
			p.report(LevelError, n, "duplicate-id", "is not loaded: an earlier rule of this file has the same ruleID")
			continue
		}
		ids[r.ID] = true
		if first, ok := l.seen[r.ID]; ok {
			p.warn(n, "duplicate-id", "has the ruleID of a rule in %s; reports put their incidents together", first)
		} else {
			l.seen[r.ID] = file
		}
		rules = append(rules, r)
	}
	return rules
}

func (p *parser) parseRule(n *yamldoc.Node) (*Rule, error) {
	if n.Kind != yamldoc.Mapping {
		return nil, n.Errorf("a rule must be a mapping, not %s", n.Kind)
	}
	r := &Rule{File: p.file, Line: n.Line, Col: n.Col}
	id := n.Get("ruleID")
	if id == nil || id.Text == "" {
		return nil, n.Errorf("it has no ruleID")
	}
	if strings.ContainsAny(id.Text, "\n;") {
		return nil, id.Errorf("a ruleID may hold neither a line break nor a semicolon")
	}
	r.ID = id.Text
	p.known(n, "a rule", ruleKeys...)
	if d := n.Get("description"); d != nil {
		r.Description = d.Text
	}
	if err := p.parsePerform(n, r); err != nil {
		return nil, err
	}
	r.Labels = p.labels(n.Get("labels"))
	p.parseCategory(n, r)
	if e := n.Get("effort"); e != nil && e.Kind != yamldoc.Null {
		v, err := e.Int("effort")
		if err != nil {
			p.warn(e, "effort", "effort is not a whole number, so the rule counts as an insight")
		} else {
			r.Effort = &v
		}
	}
	var err error
	if r.Variables, err = p.parseVariables(n.Get("customVariables")); err != nil {
		return nil, err
	}
	when := n.Get("when")
	if when == nil || when.Kind != yamldoc.Mapping {
		return nil, n.Errorf("it has no `when` with a condition")
	}
	if r.When, err = p.parseWhen(when); err != nil {
		return nil, err
	}
	return r, p.checkChain(r.When, when)
}

// parsePerform reads what a rule does when it matches.
func (p *parser) parsePerform(n *yamldoc.Node, r *Rule) error {
	message, tag := n.Get("message"), n.Get("tag")
	if message == nil && tag == nil {
		return n.Errorf("it has neither message nor tag")
	}
	if message != nil {
		if message.Kind == yamldoc.Sequence || message.Kind == yamldoc.Mapping {
			return message.Errorf("message must be a string, not %s", message.Kind)
		}
		r.Message = message.Text
		if strings.TrimSpace(r.Message) == "" {
			p.warn(message, "message", "the message is empty")
		}
		if _, err := mustache.ParseStringPartials(r.Message, noPartials); err != nil {
			p.warn(message, "message", "the message is no valid mustache template, so it is shown as it is: %v", err)
		}
	}
	if tag != nil {
		r.Tags = p.strings(tag, "tag")
		if len(r.Tags) == 0 && message == nil {
			return tag.Errorf("tag must be a list of strings")
		}
		for _, t := range r.Tags {
			if _, ok := splitTag(t); !ok && !strings.Contains(t, "{{") {
				p.warn(tag, "tag", "tag %q is not of the form `Name` or `Category=Name,Name`; hasTags does not see it", t)
			}
		}
	}
	for _, link := range items(n.Get("links")) {
		l := incidents.Link{}
		if u := link.Get("url"); u != nil {
			l.URL = u.Text
		}
		if t := link.Get("title"); t != nil {
			l.Title = t.Text
		}
		if l.URL == "" {
			p.warn(link, "link", "a link has no url")
			continue
		}
		r.Links = append(r.Links, l)
	}
	return nil
}

func items(n *yamldoc.Node) []*yamldoc.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

func (p *parser) parseCategory(n *yamldoc.Node, r *Rule) {
	category := n.Get("category")
	if category != nil {
		switch c := strings.ToLower(category.Text); c {
		case "mandatory", "optional", "potential":
			r.Category = c
			return
		case "":
		default:
			p.warn(category, "category", "category %q is none of mandatory, optional, potential; potential is taken", category.Text)
		}
	}
	if r.Message != "" {
		r.Category = "potential"
	}
}

func (p *parser) labels(n *yamldoc.Node) []string {
	var out []string
	for _, item := range items(n) {
		if _, err := parseLabel(item.Text); err != nil {
			p.warn(item, "label", "%v; no selector sees it", err)
		}
		out = append(out, item.Text)
	}
	return out
}

func (p *parser) strings(n *yamldoc.Node, what string) []string {
	var out []string
	for _, item := range items(n) {
		if item.Kind == yamldoc.Sequence || item.Kind == yamldoc.Mapping || item.Kind == yamldoc.Null {
			p.warn(item, "shape", "an entry of %s is not a string, it is ignored", what)
			continue
		}
		out = append(out, item.Text)
	}
	return out
}

func (p *parser) parseVariables(n *yamldoc.Node) ([]CustomVariable, error) {
	var out []CustomVariable
	for _, item := range items(n) {
		p.known(item, "a custom variable", "name", "pattern", "defaultValue", "nameOfCaptureGroup")
		text := func(key string) string {
			if v := item.Get(key); v != nil {
				return v.Text
			}
			return ""
		}
		re, err := regexp.Compile(text("pattern"))
		if err != nil {
			return nil, item.Errorf("the pattern of custom variable %q is no valid expression: %v", text("name"), err)
		}
		v := CustomVariable{Name: text("name"), Pattern: re, Default: text("defaultValue"), Group: text("nameOfCaptureGroup")}
		if v.Group != "" && re.SubexpIndex(v.Group) < 0 {
			p.warn(item, "capture-group", "the pattern of custom variable %q has no group %q; its first group is taken", v.Name, v.Group)
		}
		if v.Group == "" && re.NumSubexp() > 1 {
			p.warn(item, "capture-group", "the pattern of custom variable %q has several groups and nameOfCaptureGroup names none; the variable stays empty", v.Name)
		}
		out = append(out, v)
	}
	return out, nil
}
