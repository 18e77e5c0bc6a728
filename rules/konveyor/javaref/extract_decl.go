package javaref

import "github.com/kaiak/kaiak/treesitter"

// newDecl adds a declaration and visits its annotations.
func (x *extractor) newDecl(kind declKind, name treesitter.Node, n treesitter.Node) int {
	d := decl{kind: kind, owner: x.owner, typeIndex: -1}
	if !name.IsZero() {
		d.name, d.span = name.Text(), span(name)
	} else {
		d.span = Span{n.Start(), n.Start()}
	}
	index := len(x.f.decls)
	x.f.decls = append(x.f.decls, d)
	if kind == declMethod || kind == declField {
		x.member = index // until the caller has read the declaration
	}
	for c := range n.NamedChildren() {
		if c.Kind() == "modifiers" {
			x.with(index, roleOther, c)
		}
	}
	return index
}

func (x *extractor) typeDecl(n treesitter.Node, kind typeKind) {
	d := x.newDecl(declType, n.ChildByField("name"), n)
	t := typeDecl{kind: kind, name: x.f.decls[d].name, outer: x.owner, decl: d}
	if x.owner >= 0 && x.f.types[x.owner].name != "" {
		t.name = x.f.types[x.owner].name + "." + t.name
	}
	x.inType(t, func() {
		for c := range n.NamedChildren() {
			switch c.Kind() {
			case "modifiers":
			case "superclass":
				x.supertypes(c, d, roleSuperclass)
			case "super_interfaces", "extends_interfaces":
				x.supertypes(c, d, roleInterface)
			case "formal_parameters": // of a record: its components
				for p := range c.NamedChildren() {
					x.component(p)
				}
			case "identifier":
			default:
				x.visit(c)
			}
		}
	})
}

// inType reads the inside of a type; the scopes of a type's methods see the
// local variables around a local or anonymous class.
func (x *extractor) inType(t typeDecl, visit func()) {
	t.fields, t.methods = map[string]*expr{}, map[string][]*expr{}
	x.f.types = append(x.f.types, t)
	index := len(x.f.types) - 1
	x.f.decls[t.decl].typeIndex = index
	oldOwner, oldDecl, oldRole, oldMember := x.owner, x.decl, x.role, x.member
	x.owner, x.decl, x.role, x.member = index, -1, roleOther, -1
	visit()
	x.owner, x.decl, x.role, x.member = oldOwner, oldDecl, oldRole, oldMember
}

// supertypes reads an extends or implements clause. The names belong to the
// type itself, but are resolved outside of it.
func (x *extractor) supertypes(n treesitter.Node, d int, role role) {
	list := n
	for c := range n.NamedChildren() {
		if c.Kind() == "type_list" {
			list = c
		}
	}
	for c := range list.NamedChildren() {
		name := typeExpr(c).name
		if name == "" {
			continue
		}
		t := &x.f.types[x.owner]
		if role == roleSuperclass {
			t.superclass = name
		} else {
			t.interfaces = append(t.interfaces, name)
		}
		x.supertype(c, d, role)
	}
}

// supertype records the type itself with its role and its arguments without one.
func (x *extractor) supertype(c treesitter.Node, d int, r role) {
	if c.Kind() == "generic_type" || c.Kind() == "annotated_type" {
		for inner := range c.NamedChildren() {
			switch inner.Kind() {
			case "type_identifier", "scoped_type_identifier", "generic_type":
				x.supertype(inner, d, r)
			default:
				x.visit(inner)
			}
		}
		return
	}
	x.with(d, r, c)
}

func (x *extractor) component(p treesitter.Node) {
	if p.Kind() != "formal_parameter" {
		x.visit(p)
		return
	}
	name := p.ChildByField("name")
	d := x.newDecl(declField, name, p)
	typ := p.ChildByField("type")
	x.f.decls[d].typ = typeExpr(typ)
	x.f.types[x.owner].fields[x.f.decls[d].name] = typeExpr(typ)
	x.with(d, roleField, typ)
	x.member = -1
}

func (x *extractor) fieldDecl(n treesitter.Node) {
	typ := n.ChildByField("type")
	first := -1
	for c := range n.NamedChildren() {
		if c.Kind() != "variable_declarator" {
			continue
		}
		d := len(x.f.decls)
		if first < 0 {
			first = x.newDecl(declField, c.ChildByField("name"), n)
			x.with(first, roleField, typ)
		} else {
			shared := x.f.decls[first]
			name := c.ChildByField("name")
			shared.name, shared.span = name.Text(), span(name)
			x.f.decls = append(x.f.decls, shared)
		}
		x.f.decls[d].typ = typeExpr(typ)
		if x.owner >= 0 {
			x.f.types[x.owner].fields[x.f.decls[d].name] = typeExpr(typ)
		}
	}
	for c := range n.NamedChildren() {
		if c.Kind() == "variable_declarator" {
			if v := c.ChildByField("value"); !v.IsZero() {
				x.visit(v)
			}
		}
	}
	x.member = -1
}

func (x *extractor) enumConstant(n treesitter.Node) {
	name := n.ChildByField("name")
	d := x.newDecl(declEnumConstant, name, n)
	if x.owner >= 0 {
		owner := &x.f.types[x.owner]
		owner.fields[x.f.decls[d].name] = named(owner.name)
	}
	x.children(n, "name")
}

func (x *extractor) methodDecl(n treesitter.Node) {
	name := n.ChildByField("name")
	d := x.newDecl(declMethod, name, n)
	typ := n.ChildByField("type")
	params := n.ChildByField("parameters")
	if !params.IsZero() {
		for p := range params.NamedChildren() {
			if k := p.Kind(); k == "formal_parameter" || k == "spread_parameter" {
				x.f.decls[d].params++
			}
		}
	}
	if !typ.IsZero() {
		x.f.decls[d].returns = typeExpr(typ)
		if x.owner >= 0 {
			methods := x.f.types[x.owner].methods
			methods[x.f.decls[d].name] = append(methods[x.f.decls[d].name], typeExpr(typ))
		}
		x.with(d, roleReturn, typ)
	}
	x.scoped(func() {
		for c := range n.NamedChildren() {
			if c.Kind() != "modifiers" && c != name && c != typ {
				x.visit(c)
			}
		}
	})
	x.member = -1
}

func (x *extractor) localDecl(n treesitter.Node) {
	typ := n.ChildByField("type")
	first := true
	for c := range n.NamedChildren() {
		if c.Kind() != "variable_declarator" {
			continue
		}
		name, value := c.ChildByField("name"), c.ChildByField("value")
		t := typeExpr(typ)
		if typ.Kind() == "type_identifier" && typ.Text() == "var" {
			t = unknownExpr
			if !value.IsZero() {
				t = x.exprOf(value)
			}
		} else if first {
			d := x.newDecl(declLocal, name, n)
			x.f.decls[d].typ = t
			x.with(d, roleLocal, typ)
			first = false
		}
		if !value.IsZero() {
			x.visit(value)
		}
		if !name.IsZero() {
			x.declare(name.Text(), t)
		}
	}
}

// binding reads a construct that names a variable of a type.
func (x *extractor) binding(n treesitter.Node) {
	typ, name := n.ChildByField("type"), n.ChildByField("name")
	switch n.Kind() {
	case "catch_formal_parameter":
		for c := range n.NamedChildren() {
			if c.Kind() == "catch_type" {
				typ = c
			}
		}
	case "spread_parameter", "type_pattern":
		for c := range n.NamedChildren() {
			switch c.Kind() {
			case "modifiers":
			case "variable_declarator":
				name = c.ChildByField("name")
			case "identifier":
				name = c
			default:
				typ = c
			}
		}
	case "instanceof_expression":
		typ = n.ChildByField("right")
		x.children(n, "right", "name")
	case "enhanced_for_statement":
		if v := n.ChildByField("value"); !v.IsZero() {
			x.visit(v)
		}
	}
	if typ.IsZero() {
		if n.Kind() != "instanceof_expression" {
			x.children(n, "name")
		}
		return
	}
	t := typeExpr(typ)
	if typ.Kind() == "catch_type" {
		t = unknownExpr
		for c := range typ.NamedChildren() {
			t = typeExpr(c)
		}
	}
	if name.IsZero() {
		x.visit(typ)
	} else {
		d := x.newDecl(declLocal, name, n)
		x.f.decls[d].typ = t
		x.with(d, roleLocal, typ)
		x.declare(name.Text(), t)
	}
	if n.Kind() == "enhanced_for_statement" {
		if body := n.ChildByField("body"); !body.IsZero() {
			x.visit(body)
		}
	}
	if n.Kind() == "resource" {
		if v := n.ChildByField("value"); !v.IsZero() {
			x.visit(v)
		}
	}
}

func (x *extractor) lambda(n treesitter.Node) {
	if params := n.ChildByField("parameters"); !params.IsZero() {
		if params.Kind() == "identifier" {
			x.declare(params.Text(), unknownExpr)
		} else {
			for p := range params.NamedChildren() {
				if p.Kind() == "identifier" {
					x.declare(p.Text(), unknownExpr)
				} else {
					x.visit(p)
				}
			}
		}
	}
	if body := n.ChildByField("body"); !body.IsZero() {
		x.visit(body)
	}
}
