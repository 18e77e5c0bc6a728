package treesitter

import (
	"path"
	"strings"
)

// An Import is one name, or one module, that a file takes from elsewhere. One
// statement may hold several.
type Import struct {
	Path  string // of the module or package: "fmt", "java.util", "./item", "vector"
	Name  string // the member imported from it: "List", "useState"; "*" for all, "" for the module itself
	Alias string // the name given to it here, "" for its own; in Go also "_" and "."
	// Static marks Java's import static, where Path is the type and Name its member.
	Static bool
	Stmt   Node // the whole statement
	Spec   Node // this import's own part of it; Stmt where it holds just one
}

// Local returns the name by which the file refers to what is imported, or ""
// where there is none (an import for its side effects, a wildcard). For a Go
// import without an alias it is the last element of the path, which is only a
// guess at the package's name.
func (i Import) Local() string {
	switch {
	case i.Alias == "_" || i.Alias == ".":
		return ""
	case i.Alias != "":
		return i.Alias
	case i.Name == "*":
		return ""
	case i.Name != "":
		return i.Name
	}
	return i.Stmt.tree.lang.ImportName(i.Path)
}

// ImportName returns the name by which a file refers to a module or package
// that it imports without naming a member or an alias; "" where it cannot.
func (l *Language) ImportName(module string) string {
	switch l.Name {
	case "go":
		return goPackageName(module)
	case "python":
		first, _, _ := strings.Cut(module, ".")
		return first
	case "javascript", "typescript", "tsx", "c", "cpp", "ruby", "csharp":
		return ""
	}
	return module[strings.LastIndexAny(module, ".:\\")+1:]
}

// goPackageName guesses the name of the package at an import path: the last
// element, but for a major version ("…/v2") or gopkg.in's suffix (".v3").
func goPackageName(p string) string {
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" && strings.Contains(p, "/") {
		base = path.Base(path.Dir(p))
	}
	if i := strings.LastIndex(base, ".v"); i > 0 {
		base = base[:i]
	}
	base = strings.TrimPrefix(base, "go-")
	return strings.ReplaceAll(strings.TrimSuffix(base, "-go"), "-", "_")
}

// An importReader adds to list what one statement imports.
type importReader func(stmt Node, list []Import) []Import

// importReaders is the table of import statements by language and kind of node.
var importReaders = map[string]map[string]importReader{
	"go":         {"import_spec": goImport},
	"java":       {"import_declaration": javaImport},
	"python":     {"import_statement": pythonImport, "import_from_statement": pythonFrom, "future_import_statement": pythonFrom},
	"javascript": {"import_statement": jsImport, "export_statement": jsImport, "call_expression": jsRequire},
	"typescript": {"import_statement": jsImport, "export_statement": jsImport, "call_expression": jsRequire},
	"tsx":        {"import_statement": jsImport, "export_statement": jsImport, "call_expression": jsRequire},
	"rust":       {"use_declaration": rustUse, "extern_crate_declaration": rustCrate},
	"csharp":     {"using_directive": csharpUsing},
	"kotlin":     {"import_header": kotlinImport},
	"ruby":       {"call": rubyRequire},
	"php":        {"namespace_use_clause": phpUse, "namespace_use_declaration": nil},
	"c":          {"preproc_include": cInclude},
	"cpp":        {"preproc_include": cInclude},
	"scala":      {"import_declaration": scalaImport},
	"swift":      {"import_declaration": swiftImport},
}

// HasImports reports whether [Imports] knows the language's import statements.
func (l *Language) HasImports() bool { return importReaders[l.Name] != nil }

// Imports returns what a file imports, in source order; nil for a language
// whose imports are not known ([Language.HasImports]).
func Imports(t *Tree) []Import {
	if t.Root().IsZero() || !t.lang.HasImports() {
		return nil
	}
	readers := map[uint16]importReader{}
	for kind, r := range importReaders[t.lang.Name] {
		if id := t.lang.KindID(kind, true); id != 0 && r != nil {
			readers[id] = r
		}
	}
	var list []Import
	for i := range t.nodes {
		if r := readers[t.nodes[i].symbol]; r != nil && t.nodes[i].flags&flagNamed != 0 {
			list = r(t.Node(i), list)
		}
	}
	return list
}

func goImport(n Node, list []Import) []Import {
	imp := Import{Path: unquote(n.ChildByField("path")), Stmt: n, Spec: n}
	if name := n.ChildByField("name"); !name.IsZero() {
		imp.Alias = name.Text()
	}
	for p := n.Parent(); !p.IsZero(); p = p.Parent() {
		if p.Kind() == "import_declaration" {
			imp.Stmt = p
		}
	}
	return append(list, imp)
}

func javaImport(n Node, list []Import) []Import {
	imp := Import{Stmt: n, Spec: n}
	for c := range n.Children() {
		switch c.Kind() {
		case "static":
			imp.Static = true
		case "scoped_identifier", "identifier":
			imp.Path, imp.Name = splitLast(compact(c), ".")
		case "asterisk":
			imp.Path, imp.Name = joinNonEmpty(imp.Path, imp.Name, "."), "*"
		}
	}
	return append(list, imp)
}

func pythonImport(n Node, list []Import) []Import {
	for c := range n.NamedChildren() {
		switch c.Kind() {
		case "dotted_name":
			list = append(list, Import{Path: compact(c), Stmt: n, Spec: c})
		case "aliased_import":
			list = append(list, Import{Path: compact(c.ChildByField("name")), Alias: compact(c.ChildByField("alias")), Stmt: n, Spec: c})
		}
	}
	return list
}

func pythonFrom(n Node, list []Import) []Import {
	module := compact(n.ChildByField("module_name"))
	if n.Kind() == "future_import_statement" {
		module = "__future__"
	}
	for c := range n.NamedChildren() {
		switch {
		case c.Kind() == "wildcard_import":
			list = append(list, Import{Path: module, Name: "*", Stmt: n, Spec: c})
		case c.Field() != "name":
		case c.Kind() == "aliased_import":
			list = append(list, Import{Path: module, Name: compact(c.ChildByField("name")), Alias: compact(c.ChildByField("alias")), Stmt: n, Spec: c})
		default:
			list = append(list, Import{Path: module, Name: compact(c), Stmt: n, Spec: c})
		}
	}
	return list
}

// jsImport reads import and re-export statements: both need their module.
func jsImport(n Node, list []Import) []Import {
	source := n.ChildByField("source")
	if source.IsZero() {
		return list
	}
	module := unquote(source)
	before := len(list)
	for i := n.Index() + 1; i < n.Last(); i++ {
		c := n.tree.Node(i)
		switch c.Kind() {
		case "identifier":
			if p := c.Parent(); p.Kind() == "import_clause" {
				list = append(list, Import{Path: module, Name: "default", Alias: c.Text(), Stmt: n, Spec: c})
			}
		case "namespace_import":
			list = append(list, Import{Path: module, Name: "*", Alias: compact(childOfKind(c, "identifier")), Stmt: n, Spec: c})
		case "import_specifier", "export_specifier":
			list = append(list, Import{Path: module, Name: unquote(c.ChildByField("name")), Alias: compact(c.ChildByField("alias")), Stmt: n, Spec: c})
		}
	}
	if len(list) == before {
		imp := Import{Path: module, Stmt: n, Spec: n}
		if n.Kind() == "export_statement" {
			imp.Name = "*"
		}
		list = append(list, imp)
	}
	return list
}

// jsRequire reads require("m"), alone or as the value of a variable.
func jsRequire(n Node, list []Import) []Import {
	if f := n.ChildByField("function"); f.IsZero() || f.Kind() != "identifier" || f.Text() != "require" {
		return list
	}
	arg := childOfKind(n.ChildByField("arguments"), "string")
	if arg.IsZero() {
		return list
	}
	imp := Import{Path: unquote(arg), Stmt: n, Spec: n}
	d := n.Parent()
	if d.IsZero() || d.Kind() != "variable_declarator" {
		return append(list, imp)
	}
	imp.Stmt = d.Parent()
	name := d.ChildByField("name")
	if name.Kind() != "object_pattern" {
		imp.Name, imp.Alias, imp.Spec = "*", name.Text(), d
		return append(list, imp)
	}
	for c := range name.NamedChildren() {
		switch c.Kind() {
		case "shorthand_property_identifier_pattern":
			list = append(list, Import{Path: imp.Path, Name: c.Text(), Stmt: imp.Stmt, Spec: c})
		case "pair_pattern":
			list = append(list, Import{Path: imp.Path, Name: compact(c.ChildByField("key")), Alias: compact(c.ChildByField("value")), Stmt: imp.Stmt, Spec: c})
		}
	}
	return list
}

func rustUse(n Node, list []Import) []Import {
	var walk func(c Node, prefix string)
	walk = func(c Node, prefix string) {
		if c.IsZero() {
			return
		}
		join := func(s string) string { return joinNonEmpty(prefix, s, "::") }
		switch c.Kind() {
		case "use_list":
			for e := range c.NamedChildren() {
				walk(e, prefix)
			}
		case "scoped_use_list":
			walk(c.ChildByField("list"), join(compact(c.ChildByField("path"))))
		case "use_as_clause":
			p, name := splitLast(join(compact(c.ChildByField("path"))), "::")
			list = append(list, Import{Path: p, Name: name, Alias: compact(c.ChildByField("alias")), Stmt: n, Spec: c})
		case "use_wildcard":
			list = append(list, Import{Path: strings.TrimSuffix(join(compact(c)), "::*"), Name: "*", Stmt: n, Spec: c})
		case "self":
			p, name := splitLast(prefix, "::")
			list = append(list, Import{Path: p, Name: name, Stmt: n, Spec: c})
		case "identifier", "scoped_identifier", "crate":
			p, name := splitLast(join(compact(c)), "::")
			list = append(list, Import{Path: p, Name: name, Stmt: n, Spec: c})
		}
	}
	walk(n.ChildByField("argument"), "")
	return list
}

func rustCrate(n Node, list []Import) []Import {
	return append(list, Import{Path: compact(n.ChildByField("name")), Alias: compact(n.ChildByField("alias")), Stmt: n, Spec: n})
}

func csharpUsing(n Node, list []Import) []Import {
	imp := Import{Stmt: n, Spec: n, Alias: compact(n.ChildByField("name"))}
	for c := range n.Children() {
		switch c.Kind() {
		case "static":
			imp.Static = true
		case "qualified_name", "identifier", "generic_name", "alias_qualified_name":
			if c.Field() != "name" {
				imp.Path = compact(c)
			}
		}
	}
	return append(list, imp)
}

func kotlinImport(n Node, list []Import) []Import {
	imp := Import{Stmt: n, Spec: n}
	imp.Path, imp.Name = splitLast(compact(childOfKind(n, "identifier")), ".")
	if !childOfKind(n, "wildcard_import").IsZero() {
		imp.Path, imp.Name = joinNonEmpty(imp.Path, imp.Name, "."), "*"
	}
	if alias := childOfKind(n, "import_alias"); !alias.IsZero() {
		imp.Alias = compact(childOfKind(alias, "type_identifier", "simple_identifier"))
	}
	return append(list, imp)
}

func rubyRequire(n Node, list []Import) []Import {
	m := n.ChildByField("method")
	if m.IsZero() || !n.ChildByField("receiver").IsZero() || (m.Text() != "require" && m.Text() != "require_relative" && m.Text() != "load") {
		return list
	}
	if arg := childOfKind(n.ChildByField("arguments"), "string"); !arg.IsZero() {
		list = append(list, Import{Path: unquote(arg), Stmt: n, Spec: n})
	}
	return list
}

func phpUse(n Node, list []Import) []Import {
	imp := Import{Stmt: n.Parent(), Spec: n}
	imp.Path, imp.Name = splitLast(strings.TrimPrefix(compact(childOfKind(n, "qualified_name", "name")), `\`), `\`)
	if a := childOfKind(n, "namespace_aliasing_clause"); !a.IsZero() {
		imp.Alias = compact(childOfKind(a, "name"))
	}
	return append(list, imp)
}

func cInclude(n Node, list []Import) []Import {
	return append(list, Import{Path: strings.Trim(compact(n.ChildByField("path")), `<>"`), Stmt: n, Spec: n})
}

func scalaImport(n Node, list []Import) []Import {
	text := compact(n)
	p, name := splitLast(strings.TrimPrefix(text, "import"), ".")
	if name == "_" {
		name = "*"
	}
	return append(list, Import{Path: p, Name: name, Stmt: n, Spec: n})
}

func swiftImport(n Node, list []Import) []Import {
	return append(list, Import{Path: compact(childOfKind(n, "identifier")), Stmt: n, Spec: n})
}

// packageKinds names, by language, the node that says which package a file
// belongs to and the kinds of the child that is its name.
var packageKinds = map[string]struct {
	clause string
	names  []string
}{
	"go":     {"package_clause", []string{"package_identifier"}},
	"java":   {"package_declaration", []string{"scoped_identifier", "identifier"}},
	"kotlin": {"package_header", []string{"identifier"}},
	"scala":  {"package_clause", []string{"package_identifier"}},
	"csharp": {"file_scoped_namespace_declaration", []string{"qualified_name", "identifier"}},
	"php":    {"namespace_definition", []string{"namespace_name"}},
}

// Package returns the name of the package or namespace that a file declares
// itself part of, and where the name stands; "" when it declares none or its
// language has no such declaration.
func Package(t *Tree) (string, Node) {
	spec, ok := packageKinds[t.lang.Name]
	if !ok || t.Root().IsZero() {
		return "", Node{}
	}
	for c := range t.Root().NamedChildren() {
		if c.Kind() == spec.clause {
			if name := childOfKind(c, spec.names...); !name.IsZero() {
				return compact(name), name
			}
		}
	}
	return "", Node{}
}

// compact returns a node's text without white space and comments: a dotted name
// may be written on several lines. No node gives "".
func compact(n Node) string {
	if n.IsZero() {
		return ""
	}
	if text := n.Text(); !strings.ContainsAny(text, " \t\r\n/") {
		return text
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.FirstChild().IsZero() && !n.tree.lang.IsComment(d.KindID()) {
			b.WriteString(d.Text())
		}
	}
	return b.String()
}

// unquote returns the text of a string literal without its quotes. Escapes in a
// module's path do not occur in practice and stay as they are.
func unquote(n Node) string {
	if n.IsZero() {
		return ""
	}
	return strings.Trim(n.Text(), "\"'`")
}

func splitLast(s, sep string) (head, last string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return "", s
}

func joinNonEmpty(a, b, sep string) string {
	if a == "" {
		return b
	}
	if b == "" {
		return a
	}
	return a + sep + b
}
