package javaref

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kaiak/kaiak/treesitter"
)

func (x *extractor) annotation(n treesitter.Node) {
	name := n.ChildByField("name")
	if name.IsZero() {
		x.children(n)
		return
	}
	r := ref{kind: refAnnotation, name: dotted(name), span: span(name)}
	if args := n.ChildByField("arguments"); !args.IsZero() {
		r.values = annotationValues(args)
	}
	i := x.add(r)
	if x.decl >= 0 {
		d := &x.f.decls[x.decl]
		d.annotations = append(d.annotations, i)
	}
	if args := n.ChildByField("arguments"); !args.IsZero() {
		x.annotationArguments(args)
	}
}

// annotationArguments visits the values; their keys are no names.
func (x *extractor) annotationArguments(n treesitter.Node) {
	for c := range n.NamedChildren() {
		if c.Kind() == "element_value_pair" {
			if v := c.ChildByField("value"); !v.IsZero() {
				x.visit(v)
			}
		} else {
			x.visit(c)
		}
	}
}

func annotationValues(args treesitter.Node) []annotationValue {
	var out []annotationValue
	for c := range args.NamedChildren() {
		switch c.Kind() {
		case "line_comment", "block_comment":
		case "element_value_pair":
			key := c.ChildByField("key")
			if !key.IsZero() {
				out = append(out, annotationValue{key.Text(), valueTexts(c.ChildByField("value"))})
			}
		default:
			out = append(out, annotationValue{"value", valueTexts(c)})
		}
	}
	return out
}

// valueTexts returns a value as rules compare it: strings without quotes,
// classes without ".class", constants as written.
func valueTexts(n treesitter.Node) []string {
	if n.IsZero() {
		return nil
	}
	switch n.Kind() {
	case "element_value_array_initializer":
		var out []string
		for c := range n.NamedChildren() {
			out = append(out, valueTexts(c)...)
		}
		return out
	case "string_literal":
		return []string{strings.Trim(n.Text(), `"`)}
	case "character_literal":
		return []string{strings.Trim(n.Text(), `'`)}
	case "class_literal":
		return []string{strings.TrimSuffix(n.Text(), ".class")}
	case "line_comment", "block_comment":
		return nil
	}
	return []string{n.Text()}
}

func countArguments(n treesitter.Node) int {
	args := n.ChildByField("arguments")
	count := 0
	if !args.IsZero() {
		for c := range args.NamedChildren() {
			if !c.Extra() {
				count++
			}
		}
	}
	return count
}

func (x *extractor) call(n treesitter.Node) {
	name, object := n.ChildByField("name"), n.ChildByField("object")
	if name.IsZero() {
		x.children(n)
		return
	}
	r := ref{kind: refCall, name: name.Text(), span: Span{name.Start(), n.End()}, args: countArguments(n)}
	if !object.IsZero() {
		r.recv = x.exprOf(object)
		x.visit(object)
	}
	x.add(r)
	for c := range n.NamedChildren() {
		if c != name && c != object && c.Kind() != "super" {
			x.visit(c)
		}
	}
}

func (x *extractor) creation(n treesitter.Node) {
	typ := n.ChildByField("type")
	var body treesitter.Node
	for c := range n.NamedChildren() {
		if c.Kind() == "class_body" {
			body = c
		}
	}
	if t := typeExpr(typ); t.kind == exprNamed {
		x.add(ref{kind: refConstructor, name: t.name, span: Span{n.Start(), n.End()}, args: countArguments(n)})
	}
	for c := range n.NamedChildren() {
		if c != body && c != typ {
			x.visit(c)
		}
	}
	if body.IsZero() {
		if !typ.IsZero() {
			x.visit(typ)
		}
		return
	}
	d := x.newDecl(declType, treesitter.Node{}, typ)
	x.f.decls[d].span = span(typ)
	t := typeDecl{outer: x.owner, decl: d, anonymous: true, superclass: typeExpr(typ).name}
	if x.owner >= 0 {
		t.name = x.f.types[x.owner].name
	}
	x.inType(t, func() {
		x.supertype(typ, d, roleSuperclass)
		x.visit(body)
	})
}

func (x *extractor) constructorCall(n treesitter.Node) {
	constructor := n.ChildByField("constructor")
	if !constructor.IsZero() && constructor.Kind() == "super" && x.owner >= 0 {
		if super := x.f.types[x.owner].superclass; super != "" {
			x.add(ref{kind: refConstructor, name: super, span: span(n), args: countArguments(n)})
		}
	}
	for c := range n.NamedChildren() {
		if c != constructor {
			x.visit(c)
		}
	}
}

func (x *extractor) methodReference(n treesitter.Node) {
	var object, name treesitter.Node
	isNew := false
	for c := range n.Children() {
		switch {
		case c.Kind() == "new":
			isNew = true
		case c.Kind() == "::":
		case object.IsZero():
			object = c
		case c.Kind() == "identifier":
			name = c
		case c.Named():
			x.visit(c)
		}
	}
	if object.IsZero() {
		return
	}
	switch {
	case isNew:
		if t := x.exprOf(object); t.kind == exprNamed || t.kind == exprVariable {
			x.add(ref{kind: refConstructor, name: t.name, span: span(n), args: -1})
		}
	case !name.IsZero():
		x.add(ref{kind: refCall, name: name.Text(), recv: x.exprOf(object), span: Span{name.Start(), n.End()}, args: -1})
	}
	if object.Named() {
		x.visit(object)
	}
}

// bareName is an identifier in an expression: a variable, a constant that is
// imported or inherited, or the type that a member is taken from.
func (x *extractor) bareName(n treesitter.Node) {
	name := n.Text()
	if _, ok := x.variable(name); ok {
		return
	}
	if x.isTypeName(name) {
		x.add(ref{kind: refType, role: roleStatic, name: name, span: span(n)})
	}
	if isConstant(name) {
		x.add(ref{kind: refField, name: name, span: span(n)})
	}
}

// isTypeName tells types from variables by the custom of capital letters, and
// by imports.
func (x *extractor) isTypeName(name string) bool {
	if x.isField(name) {
		return false
	}
	if _, ok := x.f.single[name]; ok {
		return true
	}
	r, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(r)
}

func (x *extractor) isField(name string) bool {
	for t := x.owner; t >= 0; t = x.f.types[t].outer {
		if _, ok := x.f.types[t].fields[name]; ok {
			return true
		}
	}
	return false
}

func isConstant(name string) bool {
	return strings.ToUpper(name) == name && strings.ToLower(name) != name
}

// fieldAccess is a.b: a field of a value, a constant of a type, or a part of a
// qualified type name.
func (x *extractor) fieldAccess(n treesitter.Node) {
	if typ, rest, ok := x.qualifiedType(n); ok {
		x.add(ref{kind: refType, role: roleStatic, name: typ, span: Span{n.Start(), n.Start() + typeLength(n, typ)}})
		if rest != "" {
			x.add(ref{kind: refField, name: firstOf(rest), recv: named(typ), span: span(n)})
		}
		return
	}
	object := n.ChildByField("object")
	if !object.IsZero() && object.Kind() != "this" && object.Kind() != "super" {
		x.visit(object)
	}
}

func firstOf(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}

// typeLength is the number of bytes that the type takes at the start of n.
func typeLength(n treesitter.Node, typ string) int {
	if strings.HasPrefix(n.Text(), typ) {
		return len(typ)
	}
	return n.End() - n.Start()
}

// qualifiedType splits a.b.C.D into the type a.b.C and the member D. Segments
// with a capital first letter are types, except for a constant after one.
func (x *extractor) qualifiedType(n treesitter.Node) (typ, rest string, ok bool) {
	segments, ok := plainPath(n)
	if !ok {
		return "", "", false
	}
	if _, isVar := x.variable(segments[0]); isVar || x.isField(segments[0]) {
		return "", "", false
	}
	end := 0
	for i, s := range segments {
		r, _ := utf8.DecodeRuneInString(s)
		_, imported := x.f.single[s]
		switch {
		case end == 0 && (unicode.IsUpper(r) || i == 0 && imported):
			end = i + 1
		case end > 0 && i == end && unicode.IsUpper(r) && !isConstant(s):
			end = i + 1
		}
	}
	if end == 0 {
		return "", "", false
	}
	return strings.Join(segments[:end], "."), strings.Join(segments[end:], "."), true
}

// plainPath returns the segments of a.b.c, false when anything else is in it.
func plainPath(n treesitter.Node) ([]string, bool) {
	switch n.Kind() {
	case "identifier":
		return []string{n.Text()}, true
	case "field_access":
		object, field := n.ChildByField("object"), n.ChildByField("field")
		if object.IsZero() || field.IsZero() || field.Kind() != "identifier" {
			return nil, false
		}
		path, ok := plainPath(object)
		if !ok || len(path) > 64 {
			return nil, false
		}
		return append(path, field.Text()), true
	}
	return nil, false
}

// exprOf reduces an expression to what its type depends on.
func (x *extractor) exprOf(n treesitter.Node) *expr {
	switch n.Kind() {
	case "identifier":
		if t, ok := x.variable(n.Text()); ok {
			return t
		}
		return &expr{kind: exprVariable, name: n.Text()}
	case "this":
		return &expr{kind: exprThis}
	case "super":
		return &expr{kind: exprSuper}
	case "string_literal", "text_block":
		return named("java.lang.String")
	case "class_literal":
		return named("java.lang.Class")
	case "parenthesized_expression":
		for c := range n.NamedChildren() {
			if !c.Extra() {
				return x.exprOf(c)
			}
		}
	case "object_creation_expression", "cast_expression":
		return typeExpr(n.ChildByField("type"))
	case "type_identifier", "scoped_type_identifier", "generic_type", "array_type":
		return typeExpr(n)
	case "array_access":
		if a := n.ChildByField("array"); !a.IsZero() {
			return x.exprOf(a)
		}
	case "assignment_expression":
		if a := n.ChildByField("left"); !a.IsZero() {
			return x.exprOf(a)
		}
	case "ternary_expression":
		if a := n.ChildByField("consequence"); !a.IsZero() {
			return x.exprOf(a)
		}
	case "field_access":
		return x.fieldExpr(n)
	case "method_invocation":
		name, object := n.ChildByField("name"), n.ChildByField("object")
		if name.IsZero() {
			return unknownExpr
		}
		if object.IsZero() {
			return &expr{kind: exprCallOf, name: name.Text()}
		}
		if x.depth++; x.depth >= maxDepth {
			x.depth--
			return unknownExpr
		}
		base := x.exprOf(object)
		x.depth--
		return &expr{kind: exprCallOf, name: name.Text(), base: base}
	}
	return unknownExpr
}

func (x *extractor) fieldExpr(n treesitter.Node) *expr {
	if typ, rest, ok := x.qualifiedType(n); ok {
		e := named(typ)
		for rest != "" {
			var field string
			field, rest, _ = strings.Cut(rest, ".")
			e = &expr{kind: exprFieldOf, name: field, base: e}
		}
		return e
	}
	object, field := n.ChildByField("object"), n.ChildByField("field")
	if object.IsZero() || field.IsZero() {
		return unknownExpr
	}
	if field.Kind() == "this" {
		return named(dotted(object))
	}
	return &expr{kind: exprFieldOf, name: field.Text(), base: x.exprOf(object)}
}
