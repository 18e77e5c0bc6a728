package deps

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
)

// maxDepth bounds how deep elements of a pom nest, and how many parents and
// nested properties are followed.
const maxDepth = 30

// An element is one element of a pom with its place.
type element struct {
	name       string
	text       string
	start, end int
	children   []*element
}

// get returns the text of the element at a path of names, "" when it is missing.
func (e *element) get(names ...string) string {
	if c := e.child(names...); c != nil {
		return c.text
	}
	return ""
}

func (e *element) child(names ...string) *element {
	for _, name := range names {
		var next *element
		if e != nil {
			for _, c := range e.children {
				if c.name == name {
					next = c
					break
				}
			}
		}
		e = next
	}
	return e
}

// all returns the elements of a name below the element at a path.
func (e *element) all(name string, at ...string) []*element {
	var out []*element
	if parent := e.child(at...); parent != nil {
		for _, c := range parent.children {
			if c.name == name {
				out = append(out, c)
			}
		}
	}
	return out
}

// parseXML reads a document; Maven's own reader is as forgiving of entities.
func parseXML(text []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	root := &element{}
	stack := []*element{root}
	for {
		at := int(d.InputOffset())
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch t := t.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, start: at}
			top.children = append(top.children, e)
			stack = append(stack, e)
			if len(stack) > 10*maxDepth {
				return nil, errors.New("elements nest too deep")
			}
		case xml.EndElement:
			if len(stack) > 1 {
				top.text = strings.TrimSpace(top.text)
				top.end = int(d.InputOffset())
				stack = stack[:len(stack)-1]
			}
		case xml.CharData:
			top.text += string(t)
		}
	}
	return root.child("project"), nil
}

// A pom is one pom.xml.
type pom struct {
	path    string
	project *element
	parent  *pom              // nil: none, or not in this tree
	managed map[string]string // group:artifact → version as written
	props   map[string]string
}

func (r *resolver) poms() {
	var list []*pom
	byPath, byName := map[string]*pom{}, map[string]*pom{}
	for _, p := range r.paths(func(base string) bool { return base == "pom.xml" }) {
		project, err := parseXML(r.files[p])
		if err != nil || project == nil {
			reason := "it has no <project>"
			if err != nil {
				reason = err.Error()
			}
			r.problem(p, "the file", "is no pom.xml that can be read: "+reason)
			continue
		}
		m := &pom{path: p, project: project, props: map[string]string{}, managed: map[string]string{}}
		list = append(list, m)
		byPath[p] = m
		byName[m.group()+":"+project.get("artifactId")] = m
	}
	for _, m := range list {
		m.parent = findParent(m, byPath, byName)
		m.read()
	}
	for _, m := range list {
		r.dependencies(m, byName)
	}
}

func (m *pom) group() string {
	if g := m.project.get("groupId"); g != "" {
		return g
	}
	return m.project.get("parent", "groupId")
}

// findParent looks where Maven looks first, then for the name in the tree.
func findParent(m *pom, byPath, byName map[string]*pom) *pom {
	parent := m.project.child("parent")
	if parent == nil {
		return nil
	}
	relative := "../pom.xml"
	if c := parent.child("relativePath"); c != nil {
		relative = c.text
	}
	if relative != "" {
		at := path.Join(path.Dir(m.path), relative)
		for _, p := range []string{at, path.Join(at, "pom.xml")} {
			if known := byPath[p]; known != nil && known != m && known.project.get("artifactId") == parent.get("artifactId") {
				return known
			}
		}
	}
	if known := byName[parent.get("groupId")+":"+parent.get("artifactId")]; known != m {
		return known
	}
	return nil
}

// read collects properties and managed versions, those of profiles too: which
// profile is active is not known.
func (m *pom) read() {
	for _, scope := range append([]*element{m.project}, m.project.all("profile", "profiles")...) {
		if props := scope.child("properties"); props != nil {
			for _, p := range props.children {
				if _, ok := m.props[p.name]; !ok {
					m.props[p.name] = p.text
				}
			}
		}
		for _, d := range scope.all("dependency", "dependencyManagement", "dependencies") {
			key := d.get("groupId") + ":" + d.get("artifactId")
			if _, ok := m.managed[key]; !ok {
				m.managed[key] = d.get("version")
			}
		}
	}
}

// lineage calls yield with m and its parents until it returns false.
func (m *pom) lineage(yield func(*pom) bool) {
	for n := 0; m != nil && n < maxDepth; m, n = m.parent, n+1 {
		if !yield(m) {
			return
		}
	}
}

var property = regexp.MustCompile(`\$\{([^${}]+)\}`)

// expand replaces properties. It is "" when one is not known.
func (m *pom) expand(s string) string {
	for range maxDepth {
		at := property.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		value, ok := m.property(s[at[2]:at[3]])
		if !ok {
			return ""
		}
		s = s[:at[0]] + value + s[at[1]:]
		if len(s) > 1<<10 {
			return ""
		}
	}
	if strings.Contains(s, "${") {
		return ""
	}
	return s
}

func (m *pom) property(name string) (value string, ok bool) {
	switch strings.TrimPrefix(strings.TrimPrefix(name, "project."), "pom.") {
	case "version":
		m.lineage(func(p *pom) bool {
			value = p.project.get("version")
			if value == "" {
				value = p.project.get("parent", "version")
			}
			return value == ""
		})
		return value, value != ""
	case "groupId":
		return m.group(), true
	case "artifactId":
		return m.project.get("artifactId"), true
	case "parent.version":
		return m.project.get("parent", "version"), true
	case "parent.groupId":
		return m.project.get("parent", "groupId"), true
	}
	m.lineage(func(p *pom) bool {
		value, ok = p.props[name]
		return !ok
	})
	return value, ok
}

func (r *resolver) dependencies(m *pom, byName map[string]*pom) {
	if parent := m.project.child("parent"); parent != nil && m.parent == nil {
		if d, _, _ := m.declared(parent); d != nil {
			d.Platform = true
			r.out = append(r.out, *d)
		}
	}
	for _, scope := range append([]*element{m.project}, m.project.all("profile", "profiles")...) {
		for _, e := range scope.all("dependency", "dependencyManagement", "dependencies") {
			if d, _, _ := m.declared(e); d != nil && e.get("scope") == "import" {
				d.Platform = true
				r.out = append(r.out, *d)
			}
		}
		for _, e := range scope.all("dependency", "dependencies") {
			d, group, artifact := m.declared(e)
			if d == nil {
				continue
			}
			if e.get("version") == "" {
				d.Version = m.managedVersion(group, artifact, byName)
			}
			r.out = append(r.out, *d)
			r.indirect(*d, group, artifact, func(g, a string) bool { return excludes(e, g, a) })
		}
	}
}

// declared reads the element of a dependency or parent, nil when it has no name.
// Its place is that of the name: the analyzer points at the first line of it.
func (m *pom) declared(e *element) (d *Dependency, group, artifact string) {
	g, a := e.child("groupId"), e.child("artifactId")
	if g == nil || a == nil {
		return nil, "", ""
	}
	group, artifact = m.expand(g.text), m.expand(a.text)
	if group == "" || artifact == "" {
		return nil, "", ""
	}
	return &Dependency{Language: "java", Name: group + "." + artifact, Version: m.expand(e.get("version")), Type: e.get("type"),
		Manifest: m.path, Start: min(g.start, a.start), End: max(g.end, a.end)}, group, artifact
}

// excludes reports whether a dependency leaves an artifact out.
func excludes(d *element, group, artifact string) bool {
	for _, e := range d.all("exclusion", "exclusions") {
		g, a := e.get("groupId"), e.get("artifactId")
		if (g == group || g == "*") && (a == artifact || a == "*") {
			return true
		}
	}
	return false
}

// managedVersion is the version that dependency management gives: of the pom,
// its parents, and the BOMs of the tree that they import. A parent outside of
// the tree is taken to manage its own group, as Spring Boot's does.
func (m *pom) managedVersion(group, artifact string, byName map[string]*pom) string {
	version := ""
	m.lineage(func(p *pom) bool {
		if v, ok := p.managed[group+":"+artifact]; ok {
			version = m.expand(v)
			return false
		}
		for _, d := range p.project.all("dependency", "dependencyManagement", "dependencies") {
			if d.get("scope") != "import" {
				continue
			}
			bom := byName[m.expand(d.get("groupId"))+":"+m.expand(d.get("artifactId"))]
			switch {
			case bom != nil && bom != p:
				if v, ok := bom.managed[group+":"+artifact]; ok {
					version = bom.expand(v)
				}
			case m.expand(d.get("groupId")) == group:
				version = m.expand(d.get("version"))
			}
		}
		if parent := p.project.child("parent"); version == "" && p.parent == nil && parent != nil && parent.get("groupId") == group {
			version = m.expand(parent.get("version"))
		}
		return version == ""
	})
	return version
}
