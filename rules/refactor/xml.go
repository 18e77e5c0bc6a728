package refactor

import (
	"context"
	"errors"
	"html"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// An element is one XML element with the places of its parts.
type element struct {
	name     string // without a namespace prefix
	node     treesitter.Node
	tag      treesitter.Node // STag or EmptyElemTag
	parent   *element
	children []*element
	attrs    []attribute
	// [textStart, textEnd) is the text between the tags without white space at
	// its ends, where there are no elements in it; -1 for an empty element tag.
	textStart, textEnd int
	text               string
}

type attribute struct {
	name, value string
	node        treesitter.Node
	start, end  int // of the value, inside its quotes
}

// xmlElements returns the file's elements in source order.
func xmlElements(t *treesitter.Tree) []*element {
	var all []*element
	src := t.Source()
	open := map[treesitter.Node]*element{}
	for n := range t.Root().Descendants() {
		if n.Kind() != "element" {
			continue
		}
		e := &element{node: n, textStart: -1, textEnd: -1}
		for p := n.Parent(); !p.IsZero(); p = p.Parent() {
			if e.parent = open[p]; e.parent != nil {
				e.parent.children = append(e.parent.children, e)
				break
			}
		}
		end := n.End()
		for c := range n.NamedChildren() {
			switch c.Kind() {
			case "STag", "EmptyElemTag":
				e.tag = c
			case "ETag":
				end = c.Start()
			}
		}
		if e.tag.IsZero() {
			continue
		}
		if name := childOfKind(e.tag, "Name"); !name.IsZero() {
			e.name = name.Text()[strings.LastIndexByte(name.Text(), ':')+1:]
		}
		for c := range e.tag.NamedChildren() {
			if c.Kind() != "Attribute" {
				continue
			}
			name, value := childOfKind(c, "Name"), childOfKind(c, "AttValue")
			if name.IsZero() || value.IsZero() || value.End()-value.Start() < 2 {
				continue
			}
			e.attrs = append(e.attrs, attribute{name.Text(), html.UnescapeString(string(src[value.Start()+1 : value.End()-1])), c, value.Start() + 1, value.End() - 1})
		}
		if e.tag.Kind() == "STag" {
			e.textStart, e.textEnd = e.tag.End(), max(end, e.tag.End())
			for e.textStart < e.textEnd && isSpace(src[e.textStart]) {
				e.textStart++
			}
			for e.textEnd > e.textStart && isSpace(src[e.textEnd-1]) {
				e.textEnd--
			}
			e.text = html.UnescapeString(string(src[e.textStart:e.textEnd]))
		}
		open[n] = e
		all = append(all, e)
	}
	return all
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// child returns the first child element of that name, or nil.
func (e *element) child(name string) *element {
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// value returns the text of a child element, or "".
func (e *element) value(name string) string {
	if c := e.child(name); c != nil {
		return c.text
	}
	return ""
}

// at reports whether the element's place in the file ends in path, e.g.
// "persistence/persistence-unit"; a leading slash anchors it at the root.
func (e *element) at(path string) bool {
	steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := len(steps) - 1; i >= 0; i-- {
		if e == nil || steps[i] != "*" && e.name != steps[i] {
			return false
		}
		e = e.parent
	}
	return e == nil || !strings.HasPrefix(path, "/")
}

// XMLSetAttribute sets an attribute of the elements at a place. Namespace
// prefixes of elements do not count, those of attributes do.
type XMLSetAttribute struct {
	Element   string `yaml:"element" json:"element"` // "web-app", "persistence/persistence-unit", "/beans"
	Attribute string `yaml:"attribute" json:"attribute"`
	Value     string `yaml:"value" json:"value"`
	// From, if set, changes the attribute only where this is its value; an
	// attribute that is not there is then not added.
	From   string `yaml:"from" json:"from"`
	Remove bool   `yaml:"remove" json:"remove"`
	// Rename, if set, is the attribute's new name; its value stays unless Value is set.
	Rename string `yaml:"rename" json:"rename"`
}

func (s *XMLSetAttribute) validate() error {
	if s.Element == "" || s.Attribute == "" {
		return errors.New("element and attribute are required")
	}
	if s.Remove && (s.Value != "" || s.Rename != "") {
		return errors.New("remove does not go together with value or rename")
	}
	return nil
}

// Edits implements [Step] for XML.
func (s *XMLSetAttribute) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "xml")
	if t == nil || err != nil {
		return nil, err
	}
	var edits []workspace.Edit
	for _, e := range xmlElements(t) {
		if !e.at(s.Element) || !in.covers(e.tag) {
			continue
		}
		found := false
		for _, a := range e.attrs {
			if a.name != s.Attribute {
				continue
			}
			found = true
			if s.From != "" && strings.Join(strings.Fields(a.value), " ") != strings.Join(strings.Fields(s.From), " ") {
				continue
			}
			if s.Remove {
				start := a.node.Start()
				for isSpace(in.Text[start-1]) {
					start--
				}
				edits = append(edits, workspace.Edit{Start: start, End: a.node.End()})
				continue
			}
			if s.Rename != "" {
				edits = append(edits, replace(childOfKind(a.node, "Name"), s.Rename))
			}
			if (s.Value != "" || s.Rename == "") && a.value != s.Value {
				quote := in.Text[a.start-1]
				edits = append(edits, workspace.Edit{Start: a.start, End: a.end, New: escapeXML(s.Value, quote)})
			}
		}
		if !found && s.From == "" && !s.Remove && s.Rename == "" {
			at := childOfKind(e.tag, "Name").End()
			if len(e.attrs) > 0 {
				at = e.attrs[len(e.attrs)-1].node.End()
			}
			edits = append(edits, insert(at, " "+s.Attribute+`="`+escapeXML(s.Value, '"')+`"`))
		}
	}
	return edits, nil
}

// escapeXML escapes a text for an attribute in the given quotes, or for an
// element when quote is 0.
func escapeXML(s string, quote byte) string {
	s = strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s)
	switch quote {
	case '"':
		s = strings.ReplaceAll(s, `"`, "&quot;")
	case '\'':
		s = strings.ReplaceAll(s, "'", "&apos;")
	}
	return s
}
