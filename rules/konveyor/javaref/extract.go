package javaref

import (
	"slices"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// maxDepth bounds how deep source may nest; what is deeper is not looked at.
const maxDepth = 2000

// Extract reads the tree of a Java file.
func Extract(path string, tree *treesitter.Tree) *File {
	x := &extractor{f: &File{Path: path, single: map[string]string{}, names: map[string][]int{}}, owner: -1, decl: -1, member: -1}
	root := tree.Root()
	if !root.IsZero() {
		for c := range root.NamedChildren() {
			switch c.Kind() {
			case "package_declaration":
				x.f.Package = dotted(lastNamed(c))
			case "import_declaration":
				x.addImport(c)
			default:
				x.visit(c)
			}
		}
	}
	x.f.index()
	return x.f
}

func (f *File) index() {
	for i, r := range f.refs {
		name := r.name[strings.LastIndexByte(r.name, '.')+1:]
		f.names[name] = append(f.names[name], i)
	}
	for name := range f.names {
		f.order = append(f.order, name)
	}
	slices.Sort(f.order)
}

type extractor struct {
	f      *File
	owner  int // type that is being read; -1: none
	decl   int // declaration whose type or annotations are being read
	role   role
	member int                // method or field that is being read; -1: none
	vars   []map[string]*expr // scopes of local variables, innermost last
	depth  int
}

func span(n treesitter.Node) Span { return Span{n.Start(), n.End()} }

func lastNamed(n treesitter.Node) treesitter.Node {
	var last treesitter.Node
	for c := range n.NamedChildren() {
		if k := c.Kind(); k == "identifier" || k == "scoped_identifier" {
			last = c
		}
	}
	return last
}

// dotted returns a name without the white space and comments that may stand in it.
func dotted(n treesitter.Node) string {
	if n.IsZero() {
		return ""
	}
	text := n.Text()
	if !strings.ContainsAny(text, " \t\r\n/@<") {
		return text
	}
	var parts []string
	for c := range n.Descendants() {
		switch c.Kind() {
		case "identifier", "type_identifier":
			if !insideTypeArguments(c, n) {
				parts = append(parts, c.Text())
			}
		}
	}
	return strings.Join(parts, ".")
}

func insideTypeArguments(n, top treesitter.Node) bool {
	for p := n; !p.IsZero() && p != top; p = p.Parent() {
		switch p.Kind() {
		case "type_arguments", "marker_annotation", "annotation":
			return true
		}
	}
	return false
}

func (x *extractor) addImport(n treesitter.Node) {
	imp := importDecl{name: dotted(lastNamed(n)), span: span(n)}
	for c := range n.Children() {
		switch c.Kind() {
		case "static":
			imp.static = true
		case "asterisk":
			imp.star = true
		}
	}
	if imp.name == "" {
		return
	}
	x.f.imports = append(x.f.imports, imp)
	if !imp.star && !imp.static {
		simple := imp.name[strings.LastIndexByte(imp.name, '.')+1:]
		if _, ok := x.f.single[simple]; !ok {
			x.f.single[simple] = imp.name
		}
	}
}

func (x *extractor) add(r ref) int {
	r.owner, r.decl, r.member = x.owner, x.decl, x.member
	if r.kind == refType || r.kind == refAnnotation {
		if r.role == roleOther {
			r.role = x.role
		}
	}
	x.f.refs = append(x.f.refs, r)
	return len(x.f.refs) - 1
}

// children visits what is below n, except for the given fields.
func (x *extractor) children(n treesitter.Node, except ...string) {
	for c := range n.NamedChildren() {
		if len(except) > 0 && slices.Contains(except, c.Field()) {
			continue
		}
		x.visit(c)
	}
}

// with visits n while its types play a role for a declaration.
func (x *extractor) with(decl int, role role, n treesitter.Node) {
	if n.IsZero() {
		return
	}
	oldDecl, oldRole := x.decl, x.role
	x.decl, x.role = decl, role
	x.visit(n)
	x.decl, x.role = oldDecl, oldRole
}

// scoped visits in a new scope of local variables.
func (x *extractor) scoped(visit func()) {
	x.vars = append(x.vars, nil)
	visit()
	x.vars = x.vars[:len(x.vars)-1]
}

func (x *extractor) declare(name string, typ *expr) {
	if len(x.vars) == 0 || name == "" {
		return
	}
	top := len(x.vars) - 1
	if x.vars[top] == nil {
		x.vars[top] = map[string]*expr{}
	}
	x.vars[top][name] = typ
}

// variable returns the type of a local variable.
func (x *extractor) variable(name string) (*expr, bool) {
	for i := len(x.vars) - 1; i >= 0; i-- {
		if t, ok := x.vars[i][name]; ok {
			return t, true
		}
	}
	return nil, false
}

func (x *extractor) visit(n treesitter.Node) {
	if x.depth++; x.depth < maxDepth {
		x.visitKind(n)
	}
	x.depth--
}

func (x *extractor) visitKind(n treesitter.Node) {
	switch n.Kind() {
	case "line_comment", "block_comment":
	case "class_declaration":
		x.typeDecl(n, classType)
	case "interface_declaration":
		x.typeDecl(n, interfaceType)
	case "enum_declaration":
		x.typeDecl(n, enumType)
	case "record_declaration":
		x.typeDecl(n, recordType)
	case "annotation_type_declaration":
		x.typeDecl(n, annotationType)
	case "enum_constant":
		x.enumConstant(n)
	case "field_declaration", "constant_declaration":
		x.fieldDecl(n)
	case "method_declaration", "annotation_type_element_declaration", "constructor_declaration", "compact_constructor_declaration":
		x.methodDecl(n)
	case "local_variable_declaration":
		x.localDecl(n)
	case "formal_parameter", "spread_parameter", "catch_formal_parameter", "resource", "enhanced_for_statement", "type_pattern", "instanceof_expression":
		x.binding(n)
	case "block", "constructor_body", "for_statement", "catch_clause", "try_with_resources_statement", "switch_block_statement_group", "switch_rule", "static_initializer":
		x.scoped(func() { x.children(n) })
	case "lambda_expression":
		x.scoped(func() { x.lambda(n) })
	case "marker_annotation", "annotation":
		x.annotation(n)
	case "type_identifier", "scoped_type_identifier":
		x.typeName(n)
	case "method_invocation":
		x.call(n)
	case "object_creation_expression":
		x.creation(n)
	case "explicit_constructor_invocation":
		x.constructorCall(n)
	case "method_reference":
		x.methodReference(n)
	case "field_access":
		x.fieldAccess(n)
	case "identifier":
		x.bareName(n)
	case "labeled_statement", "break_statement", "continue_statement":
		x.skipLabel(n)
	default:
		x.children(n)
	}
}

// skipLabel keeps labels from being taken for names.
func (x *extractor) skipLabel(n treesitter.Node) {
	for c := range n.NamedChildren() {
		if c.Kind() != "identifier" {
			x.visit(c)
		}
	}
}

// typeName records a type where the grammar says that one stands.
func (x *extractor) typeName(n treesitter.Node) {
	x.add(ref{kind: refType, name: dotted(n), span: span(n)})
	if n.Kind() == "scoped_type_identifier" {
		for c := range n.NamedChildren() {
			switch c.Kind() {
			case "type_identifier", "scoped_type_identifier":
				x.typeArguments(c)
			default:
				x.visit(c) // annotations, type arguments
			}
		}
	}
}

// typeArguments visits the arguments inside a qualified type name.
func (x *extractor) typeArguments(n treesitter.Node) {
	for c := range n.NamedChildren() {
		if c.Kind() == "type_arguments" {
			x.visit(c)
		} else {
			x.typeArguments(c)
		}
	}
}

// typeExpr returns the type that a type node stands for.
func typeExpr(n treesitter.Node) *expr {
	if n.IsZero() {
		return unknownExpr
	}
	switch n.Kind() {
	case "type_identifier", "scoped_type_identifier", "identifier", "scoped_identifier":
		return named(dotted(n))
	case "generic_type", "annotated_type":
		for c := range n.NamedChildren() {
			switch c.Kind() {
			case "type_identifier", "scoped_type_identifier", "generic_type", "array_type":
				return typeExpr(c)
			}
		}
	case "array_type":
		return typeExpr(n.ChildByField("element"))
	}
	return unknownExpr
}
