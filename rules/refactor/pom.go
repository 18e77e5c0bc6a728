package refactor

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

type coordinates struct{ group, artifact string }

// A pom is a parsed pom.xml.
type pom struct {
	text     []byte
	elements []*element
	props    map[string]*element // properties by name
}

func readPOM(ctx context.Context, in Input) (*pom, error) {
	lang := treesitter.Lookup("xml")
	t := in.Tree
	if t == nil || t.Language() != lang {
		var err error
		if t, err = treesitter.Parse(ctx, lang, in.Text); err != nil {
			return nil, err
		}
	}
	p := &pom{text: in.Text, elements: xmlElements(t), props: map[string]*element{}}
	for _, e := range p.elements {
		if e.parent != nil && e.parent.at("project/properties") {
			p.props[e.name] = e
		}
	}
	return p, nil
}

var propertyUse = regexp.MustCompile(`\$\{([^}]+)\}`)

// resolve replaces the properties in a value, those of the project among them.
func (p *pom) resolve(value string) string {
	for range 5 { // properties may refer to properties
		next := propertyUse.ReplaceAllStringFunc(value, func(use string) string {
			name := use[2 : len(use)-1]
			if e := p.props[name]; e != nil {
				return e.text
			}
			if len(p.elements) > 0 {
				switch project := p.elements[0]; name {
				case "project.groupId", "pom.groupId":
					if g := project.value("groupId"); g != "" {
						return g
					}
					if parent := project.child("parent"); parent != nil {
						return parent.value("groupId")
					}
				case "project.version", "pom.version":
					return project.value("version")
				}
			}
			return use
		})
		if next == value {
			break
		}
		value = next
	}
	return value
}

// is reports whether the element names the artifact.
func (p *pom) is(e *element, c coordinates) bool {
	group := p.resolve(e.value("groupId"))
	if group == "" && e.name == "plugin" {
		group = "org.apache.maven.plugins"
	}
	return group == c.group && p.resolve(e.value("artifactId")) == c.artifact
}

// setVersion returns the edits that give an element's version a new value: the
// property that it names where nothing else uses it, else the element itself.
func (p *pom) setVersion(e *element, version string) []workspace.Edit {
	v := e.child("version")
	if v == nil || v.textStart < 0 {
		return nil
	}
	if m := propertyUse.FindStringSubmatch(v.text); m != nil && m[0] == v.text {
		if prop := p.props[m[1]]; prop != nil && bytes.Count(p.text, []byte(m[0])) == 1 {
			v = prop
		}
	}
	if v.text == version || p.resolve(v.text) == version {
		return nil
	}
	return []workspace.Edit{{Start: v.textStart, End: v.textEnd, New: escapeXML(version, 0)}}
}

func replaceInPOM(ctx context.Context, in Input, from, to coordinates, s *ReplaceDependency) ([]workspace.Edit, error) {
	p, err := readPOM(ctx, in)
	if err != nil {
		return nil, err
	}
	var edits []workspace.Edit
	seen := map[workspace.Edit]bool{}
	add := func(list ...workspace.Edit) {
		for _, e := range list {
			if !seen[e] { // two dependencies may share a property
				seen[e] = true
				edits = append(edits, e)
			}
		}
	}
	managed := false
	for _, e := range p.elements {
		if e.name == "dependency" && e.at("dependencyManagement/dependencies/dependency") && p.is(e, from) {
			managed = true
		}
	}
	for _, e := range p.elements {
		if e.name != "dependency" || !e.at("dependencies/dependency") || !p.is(e, from) || !in.covers(e.node) {
			continue
		}
		duplicate := false
		for _, other := range e.parent.children {
			duplicate = duplicate || other != e && other.name == "dependency" && to.artifact != "" && p.is(other, to)
		}
		if to.artifact == "" || duplicate {
			add(cutElement(in.Text, e))
			continue
		}
		if s.Managed && e.child("version") != nil {
			if e.at("dependencyManagement/dependencies/dependency") {
				add(cutElement(in.Text, e)) // the bill of materials has it
				continue
			}
			if !p.hasManagement() {
				return nil, refuse(Unsafe, "%s has neither a parent nor a bill of materials to give %s its version; add one first", in.Path, s.To)
			}
			add(cutElement(in.Text, e.child("version")))
		}
		group, artifact := e.child("groupId"), e.child("artifactId")
		if group.textStart < 0 || artifact.textStart < 0 {
			continue
		}
		if group.text != to.group && p.resolve(group.text) != to.group {
			add(workspace.Edit{Start: group.textStart, End: group.textEnd, New: escapeXML(to.group, 0)})
		}
		if artifact.text != to.artifact {
			add(workspace.Edit{Start: artifact.textStart, End: artifact.textEnd, New: escapeXML(to.artifact, 0)})
		}
		switch {
		case s.Version == "":
		case e.child("version") != nil:
			add(p.setVersion(e, s.Version)...)
		case !managed || e.at("dependencyManagement/dependencies/dependency"):
			// Its version came from a parent or a bill of materials, which need
			// not know the new one.
			nl := eol(in.Text)
			lead := nl + indentOf(in.Text, artifact.node.Start())
			if lineStart(in.Text, artifact.node.Start()) == lineStart(in.Text, group.node.Start()) {
				lead = ""
			}
			add(insert(artifact.node.End(), lead+"<version>"+escapeXML(s.Version, 0)+"</version>"))
		}
	}
	return sortEdits(edits), nil
}

// hasManagement reports whether versions can come from elsewhere.
func (p *pom) hasManagement() bool {
	for _, e := range p.elements {
		if e.at("project/parent") || e.at("dependencyManagement/dependencies/dependency") && e.value("scope") == "import" {
			return true
		}
	}
	return false
}

// cutElement deletes an element with its lines.
func cutElement(text []byte, e *element) workspace.Edit {
	from, to := lineStart(text, e.node.Start()), lineEnd(text, e.node.End())
	if len(bytes.TrimSpace(text[from:e.node.Start()])) == 0 && len(bytes.TrimSpace(text[e.node.End():to])) == 0 {
		return workspace.Edit{Start: from, End: to}
	}
	return workspace.Edit{Start: e.node.Start(), End: e.node.End()}
}

func setVersionInPOM(ctx context.Context, in Input, s *SetVersion) ([]workspace.Edit, error) {
	p, err := readPOM(ctx, in)
	if err != nil {
		return nil, err
	}
	if s.Property != "" {
		var edits []workspace.Edit
		for _, e := range p.elements {
			if e.name == s.Property && e.parent != nil && e.parent.name == "properties" && e.textStart >= 0 && e.text != s.Version {
				edits = append(edits, workspace.Edit{Start: e.textStart, End: e.textEnd, New: escapeXML(s.Version, 0)})
			}
		}
		return edits, nil
	}
	group, artifact, ok := strings.Cut(s.Of, ":")
	if !ok {
		return nil, nil
	}
	var edits []workspace.Edit
	seen := map[workspace.Edit]bool{}
	for _, e := range p.elements {
		switch e.name {
		case "dependency", "plugin", "parent", "extension":
		default:
			continue
		}
		if !p.is(e, coordinates{group, artifact}) || !in.covers(e.node) {
			continue
		}
		// A property that is shared is still the place where this project
		// writes this version: two dependencies of one family share it.
		v := e.child("version")
		if v == nil || v.textStart < 0 {
			continue
		}
		if m := propertyUse.FindStringSubmatch(v.text); m != nil && m[0] == v.text {
			prop := p.props[m[1]]
			if prop == nil {
				continue // written down elsewhere
			}
			if other := p.otherUser(m[0], group); other != "" {
				return nil, refuse(Unsafe, "in %s the property %s is also the version of %s; give %s a version of its own by hand", in.Path, m[1], other, s.Of)
			}
			v = prop
		}
		if edit := (workspace.Edit{Start: v.textStart, End: v.textEnd, New: escapeXML(s.Version, 0)}); v.text != s.Version && !seen[edit] {
			seen[edit] = true
			edits = append(edits, edit)
		}
	}
	return sortEdits(edits), nil
}

// otherUser returns an artifact of another group whose version is the given
// property, or "".
func (p *pom) otherUser(use, group string) string {
	for _, e := range p.elements {
		if e.value("version") == use && e.value("artifactId") != "" && p.resolve(e.value("groupId")) != group {
			return p.resolve(e.value("groupId")) + ":" + e.value("artifactId")
		}
	}
	return ""
}
