package refactor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// ChangeAnnotation changes an annotation where the file uses it: first its
// attributes, then its name.
type ChangeAnnotation struct {
	Type string `yaml:"type" json:"type"` // qualified
	// To, if set, is the qualified name that takes its place.
	To         string            `yaml:"to" json:"to"`
	Attributes []AttributeChange `yaml:"attributes" json:"attributes"`
	// Allow, if set, lists the attributes that the annotation may have: another
	// one, which the replacement does not know, refuses the change.
	Allow *[]string `yaml:"allow" json:"allow"`
	// Remove deletes the annotation, and its import where nothing else uses it.
	Remove bool `yaml:"remove" json:"remove"`
}

// An AttributeChange is what happens to one attribute. An annotation's single
// unnamed value is its attribute "value".
type AttributeChange struct {
	Name   string `yaml:"name" json:"name"`
	Rename string `yaml:"rename" json:"rename"` // new name
	Set    string `yaml:"set" json:"set"`       // new value as Java source; added where it is not there
	From   string `yaml:"from" json:"from"`     // Set only where this is the value
	Remove bool   `yaml:"remove" json:"remove"`
}

func (s *ChangeAnnotation) validate() error {
	if !strings.Contains(s.Type, ".") {
		return errors.New("type is a qualified annotation name, e.g. javax.ejb.Stateless")
	}
	if s.Remove && (s.To != "" || len(s.Attributes) > 0) {
		return errors.New("remove does not go together with to or attributes")
	}
	if !s.Remove && s.To == "" && len(s.Attributes) == 0 {
		return errors.New("one of to, attributes and remove is required")
	}
	for i, a := range s.Attributes {
		if a.Name == "" || a.Rename == "" && a.Set == "" && !a.Remove || a.Remove && (a.Rename != "" || a.Set != "") {
			return fmt.Errorf("attribute %d needs a name and one of rename, set and remove", i+1)
		}
	}
	return nil
}

// Edits implements [Step] for Java.
func (s *ChangeAnnotation) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "java")
	if t == nil || err != nil {
		return nil, err
	}
	f := newJavaFile(t)
	var edits []workspace.Edit
	for n := range t.Root().Descendants() {
		if k := n.Kind(); k != "annotation" && k != "marker_annotation" {
			continue
		}
		name := n.ChildByField("name")
		if name.Kind() == "identifier" && !f.means(name.Text(), s.Type) || name.Kind() != "identifier" && dotted(name) != s.Type {
			continue
		}
		// A new name is a change of the whole file, so every use has to allow it.
		if other := s.notAllowed(n); other != "" && (s.To != "" || in.covers(n)) {
			return nil, refuse(Unsafe, "in %s @%s at byte %d has the attribute %s, which would be lost; change it by hand", in.Path, name.Text(), n.Start(), other)
		}
		if !in.covers(n) && s.To == "" {
			continue
		}
		if s.Remove {
			edits = append(edits, cutAnnotation(in.Text, n))
			continue
		}
		if e, changed := s.attributes(n, name); changed {
			edits = append(edits, e)
		}
	}
	var follow Step
	switch pkg, simple := typeName(s.Type); {
	case s.To != "" && s.To != s.Type:
		follow = &RenameType{From: s.Type, To: s.To}
	case s.Remove && len(edits) > 0:
		follow = &Imports{Unused: []ImportSpec{{Path: pkg, Name: simple}}}
	default:
		return edits, nil
	}
	text, err := workspace.ApplyEdits(in.Text, edits)
	if err != nil {
		return nil, refuse(Unsafe, "the annotations %s of %s cannot be changed: %v", s.Type, in.Path, err)
	}
	more, err := follow.Edits(ctx, Input{Path: in.Path, Text: text})
	if err != nil {
		return nil, err
	}
	if len(more) == 0 {
		return edits, nil
	}
	if text, err = workspace.ApplyEdits(text, more); err != nil {
		return nil, refuse(Unsafe, "the annotations %s of %s cannot be changed: %v", s.Type, in.Path, err)
	}
	return workspace.EditsBetween(in.Text, text), nil
}

// notAllowed returns an attribute that an annotation has and Allow does not list.
func (s *ChangeAnnotation) notAllowed(n treesitter.Node) string {
	list := n.ChildByField("arguments")
	if s.Allow == nil || list.IsZero() {
		return ""
	}
	for c := range list.NamedChildren() {
		name := "value"
		switch {
		case c.Extra():
			continue
		case c.Kind() == "element_value_pair":
			name = c.ChildByField("key").Text()
		}
		if !slices.Contains(*s.Allow, name) {
			return name
		}
	}
	return ""
}

// cutAnnotation deletes an annotation with its line, or with the space behind it.
func cutAnnotation(text []byte, n treesitter.Node) workspace.Edit {
	cut := cutLines(text, n.Start(), n.End())
	if cut.Start == n.Start() && cut.End == n.End() {
		for cut.End < len(text) && (text[cut.End] == ' ' || text[cut.End] == '\t') {
			cut.End++
		}
	}
	return cut
}

// attributes returns the edit of an annotation's arguments.
func (s *ChangeAnnotation) attributes(n, name treesitter.Node) (workspace.Edit, bool) {
	list := n.ChildByField("arguments")
	type argument struct {
		name, text string // text: the value as it stands, with what is around it
		node       treesitter.Node
	}
	var args []argument
	if !list.IsZero() {
		for c := range list.NamedChildren() {
			switch {
			case c.Extra():
			case c.Kind() == "element_value_pair":
				args = append(args, argument{c.ChildByField("key").Text(), c.ChildByField("value").Text(), c})
			default:
				args = append(args, argument{"value", c.Text(), c})
			}
		}
	}
	src := n.Tree().Source()
	changed := false
	type kept struct{ name, before, text string } // before: what stands between it and the argument in front
	var out []kept
	pending := "" // what stands in front of the arguments that went, up to the comma
	for i, a := range args {
		k := kept{name: a.name, text: a.node.Text()}
		if i > 0 {
			k.before = string(src[args[i-1].node.End():a.node.Start()])
		}
		if comma := strings.IndexByte(k.before, ','); pending != "" && comma >= 0 {
			k.before = pending + k.before[comma+1:]
		}
		keep := true
		for _, c := range s.Attributes {
			if c.Name != a.name || c.From != "" && strings.TrimSpace(a.text) != c.From {
				continue
			}
			if c.Remove {
				keep = false
				continue
			}
			if c.Rename != "" {
				k.name = c.Rename
			}
			if c.Set != "" {
				a.text = c.Set
			}
			k.text = k.name + " = " + a.text
		}
		changed = changed || !keep || k.text != a.node.Text()
		if keep {
			out, pending = append(out, k), ""
		} else if comma := strings.IndexByte(k.before, ','); comma >= 0 {
			pending = k.before[:comma+1]
		}
	}
	separator := ", "
	if len(args) > 1 {
		if between := string(src[args[0].node.End():args[1].node.Start()]); strings.Contains(between, "\n") {
			separator = "," + eol(src) + indentOf(src, args[1].node.Start())
		}
	}
	for _, c := range s.Attributes {
		if c.Set == "" || c.From != "" || c.Rename != "" || slices.ContainsFunc(out, func(k kept) bool { return k.name == c.Name }) {
			continue
		}
		out, changed = append(out, kept{c.Name, separator, c.Name + " = " + c.Set}), true
	}
	if !changed {
		return workspace.Edit{}, false
	}
	if len(out) == 0 {
		if list.IsZero() {
			return workspace.Edit{}, false
		}
		return workspace.Edit{Start: name.End(), End: list.End()}, true
	}
	// An unnamed value may only stand alone, and alone it needs no name.
	if len(args) == 1 && args[0].node.Kind() != "element_value_pair" && len(out) > 1 && out[0].text == args[0].node.Text() {
		out[0].text = "value = " + out[0].text
	}
	if len(out) == 1 && out[0].name == "value" {
		out[0].text = strings.TrimPrefix(out[0].text, "value = ")
	}
	var b strings.Builder
	for i, k := range out {
		if i > 0 {
			b.WriteString(k.before)
		}
		b.WriteString(k.text)
	}
	switch {
	case list.IsZero():
		return insert(name.End(), "("+b.String()+")"), true
	case len(args) == 0:
		return replace(list, "("+b.String()+")"), true
	}
	return workspace.Edit{Start: args[0].node.Start(), End: args[len(args)-1].node.End(), New: b.String()}, true
}
