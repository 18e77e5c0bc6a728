package refactor

import (
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// javaFile resolves the names of one Java file as far as its own text tells.
type javaFile struct {
	tree    *treesitter.Tree
	pkg     string
	imports []treesitter.Import
	types   map[string]treesitter.Node // types and type parameters that the file declares, by simple name
}

func newJavaFile(t *treesitter.Tree) *javaFile {
	f := &javaFile{tree: t, imports: treesitter.Imports(t), types: map[string]treesitter.Node{}}
	f.pkg, _ = treesitter.Package(t)
	for n := range t.Root().Descendants() {
		switch n.Kind() {
		case "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration":
			if name := n.ChildByField("name"); !name.IsZero() {
				f.types[name.Text()] = name
			}
		case "type_parameter":
			if name := childOfKind(n, "type_identifier"); !name.IsZero() {
				f.types[name.Text()] = name
			}
		}
	}
	return f
}

// typeName splits a qualified name into its package and its simple name.
func typeName(full string) (pkg, simple string) {
	i := strings.LastIndexByte(full, '.')
	if i < 0 {
		return "", full
	}
	return full[:i], full[i+1:]
}

// means reports whether the simple name refers to the type full in this file:
// by its import, by a wildcard import of its package, or because the file is in
// that package. A type that the file declares hides it.
func (f *javaFile) means(simple, full string) bool {
	pkg, name := typeName(full)
	if simple != name {
		return false
	}
	if _, own := f.types[simple]; own {
		return false
	}
	wildcard := false
	for _, imp := range f.imports {
		switch {
		case imp.Static:
		case imp.Local() == simple:
			return fullName(imp) == full
		case imp.Name == "*" && imp.Path == pkg:
			wildcard = true
		}
	}
	return wildcard || f.pkg == pkg
}

// importOf returns the import that gives the file the type, or false.
func (f *javaFile) importOf(full string) (treesitter.Import, bool) {
	for _, imp := range f.imports {
		if !imp.Static && imp.Name != "*" && fullName(imp) == full {
			return imp, true
		}
	}
	return treesitter.Import{}, false
}

// isTypeUse reports whether the identifier n is used as a type or as the start
// of what may be one, rather than as a member, a label or a declared name.
func isTypeUse(n treesitter.Node) bool {
	p := n.Parent()
	if p.IsZero() {
		return false
	}
	switch n.Kind() {
	case "type_identifier":
		return p.Kind() != "type_parameter" && !(p.Kind() == "scoped_type_identifier" && p.FirstChild() != n)
	case "identifier":
		switch p.Kind() {
		case "method_invocation", "field_access":
			return n.Field() == "object"
		case "method_reference", "array_access":
			return p.FirstChild() == n
		case "annotation", "marker_annotation":
			return n.Field() == "name"
		case "scoped_identifier":
			return n.Field() == "scope" && !inImport(n)
		}
	}
	return false
}

func inImport(n treesitter.Node) bool {
	for p := n; !p.IsZero(); p = p.Parent() {
		if k := p.Kind(); k == "import_declaration" || k == "package_declaration" {
			return true
		}
	}
	return false
}

// qualified yields the outermost-first nodes that spell the dotted name, in
// imports as well as in code.
func (f *javaFile) qualified(full string) []treesitter.Node {
	var found []treesitter.Node
	root, _, _ := strings.Cut(full, ".")
	for n := range f.tree.Root().Descendants() {
		switch n.Kind() {
		case "scoped_identifier", "scoped_type_identifier", "field_access":
		default:
			continue
		}
		if n.End()-n.Start() < len(full) || dotted(n) != full {
			continue
		}
		if n.Kind() == "field_access" && !declaration(f.tree, root, n.Start(), n.End()).IsZero() {
			continue // a variable called javax, not the package
		}
		found = append(found, n)
	}
	return found
}

// dotted returns a dotted name without the white space, comments and
// annotations that may stand in it.
func dotted(n treesitter.Node) string {
	var b strings.Builder
	for i := n.Index(); i < n.Last(); i++ {
		d := n.Tree().Node(i)
		switch d.Kind() {
		case "marker_annotation", "annotation", "line_comment", "block_comment":
			i = d.Last() - 1
		case "identifier", "type_identifier", ".":
			b.Write(d.Bytes())
		case "scoped_identifier", "scoped_type_identifier", "field_access":
		default:
			return "" // a.b<T>.c, f().g: not a plain name
		}
	}
	return b.String()
}
