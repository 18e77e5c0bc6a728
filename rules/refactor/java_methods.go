package refactor

import (
	"context"
	"errors"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// RenameMethod renames a method of a type that is declared elsewhere, wherever
// this file calls it, refers to it or overrides it. A call belongs to the type
// when its receiver's type is known from imports, declarations, a cast or a
// constructor call. In a file that knows the type, one call of that name whose
// receiver is not known refuses the whole: half a rename does not compile.
type RenameMethod struct {
	Type string `yaml:"type" json:"type"` // qualified
	From string `yaml:"from" json:"from"`
	To   string `yaml:"to" json:"to"`
	// Arguments, if set, restricts the rename to calls with that many.
	Arguments *int `yaml:"arguments" json:"arguments"`
}

func (s *RenameMethod) validate() error {
	if !strings.Contains(s.Type, ".") || s.From == "" || s.To == "" {
		return errors.New("type (qualified), from and to are required")
	}
	return nil
}

// Edits implements [Step] for Java.
func (s *RenameMethod) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "java")
	if t == nil || err != nil || s.From == s.To {
		return nil, err
	}
	f := newJavaFile(t)
	if !s.concerns(f) {
		return nil, nil
	}
	static := false
	var edits []workspace.Edit
	for _, imp := range f.imports {
		if imp.Static && imp.Path == s.Type && imp.Name == s.From && s.Arguments == nil {
			static = true
			for n := range imp.Stmt.Descendants() {
				if n.Kind() == "identifier" && n.Field() == "name" && n.End() == childOfKind(imp.Stmt, "scoped_identifier").End() {
					edits = append(edits, replace(n, s.To))
				}
			}
		}
	}
	for n := range t.Root().Descendants() {
		if n.Kind() != "identifier" || n.Text() != s.From || !in.covers(n) {
			continue
		}
		p := n.Parent()
		var verdict belongs
		switch {
		case p.Kind() == "method_invocation" && n.Field() == "name":
			if !s.fits(p.ChildByField("arguments"), "") {
				continue
			}
			if object := p.ChildByField("object"); !object.IsZero() {
				verdict = f.isA(object, s.Type)
			} else if static {
				verdict = yes
			} else {
				verdict = f.inherits(n, s.Type)
			}
		case p.Kind() == "method_reference" && p.FirstChild() != n && s.Arguments == nil:
			verdict = f.isA(p.FirstChild(), s.Type)
		case p.Kind() == "method_declaration" && n.Field() == "name":
			if !s.fits(p.ChildByField("parameters"), "formal_parameter") {
				continue
			}
			verdict = f.inherits(n, s.Type)
		}
		switch verdict {
		case yes:
			edits = append(edits, replace(n, s.To))
		case unknown:
			return nil, refuse(Unsafe, "in %s it is not clear whether the %s at byte %d is a method of %s: its receiver's type cannot be told from this file", in.Path, s.From, n.Start(), s.Type)
		}
	}
	return sortEdits(edits), nil
}

// concerns reports whether the file can know the type at all.
func (s *RenameMethod) concerns(f *javaFile) bool {
	pkg, simple := typeName(s.Type)
	for _, imp := range f.imports {
		if imp.Path == s.Type || fullName(imp) == s.Type {
			return true
		}
	}
	return (f.hasWildcard(pkg) || f.pkg == pkg) && f.means(simple, s.Type) || len(f.qualified(s.Type)) > 0
}

// fits reports whether a list has as many elements as the step asks for.
func (s *RenameMethod) fits(list treesitter.Node, kind string) bool {
	if s.Arguments == nil || list.IsZero() {
		return true
	}
	n := 0
	for c := range list.NamedChildren() {
		if !c.Extra() && (kind == "" || c.Kind() == kind) {
			n++
		}
	}
	return n == *s.Arguments
}

// belongs is the answer to whether an expression is of a type.
type belongs int

const (
	no belongs = iota
	yes
	unknown
)

// isA reports whether an expression is of the type full, or is its name.
func (f *javaFile) isA(expr treesitter.Node, full string) belongs {
	switch expr.Kind() {
	case "parenthesized_expression":
		for c := range expr.NamedChildren() {
			return f.isA(c, full)
		}
	case "object_creation_expression", "cast_expression":
		return f.isType(expr.ChildByField("type"), full)
	case "this", "super":
		return f.inherits(expr, full)
	case "string_literal", "class_literal", "array_creation_expression":
		return no
	case "identifier":
		if typ, found := f.variable(expr, expr.Text()); found {
			return f.isType(typ, full)
		}
		if f.means(expr.Text(), full) {
			return yes
		}
		if r := expr.Bytes()[0]; r >= 'A' && r <= 'Z' {
			return no // the name of another type
		}
	case "field_access":
		if dotted(expr) == full {
			return yes
		}
		if object := expr.ChildByField("object"); object.Kind() == "this" {
			if typ, found := f.field(expr, expr.ChildByField("field").Text()); found {
				return f.isType(typ, full)
			}
		}
	}
	return unknown
}

// isType reports whether a type in the source is the type full.
func (f *javaFile) isType(typ treesitter.Node, full string) belongs {
	if typ.IsZero() {
		return unknown
	}
	switch typ.Kind() {
	case "generic_type":
		return f.isType(typ.FirstChild(), full)
	case "type_identifier":
		if typ.Text() == "var" {
			return unknown
		}
		if f.means(typ.Text(), full) {
			return yes
		}
		if d, own := f.types[typ.Text()]; own {
			return f.inherits(d, full)
		}
		return no
	case "scoped_type_identifier":
		if dotted(typ) == full {
			return yes
		}
	}
	return no
}

// inherits reports whether the class around n says that it extends or implements
// the type full. What a superclass from elsewhere inherits in turn is not known
// here; its methods count as its own.
func (f *javaFile) inherits(n treesitter.Node, full string) belongs {
	for p := n.Parent(); !p.IsZero(); p = p.Parent() {
		switch p.Kind() {
		case "class_declaration", "interface_declaration", "enum_declaration", "record_declaration":
			for c := range p.NamedChildren() {
				if k := c.Kind(); k != "superclass" && k != "super_interfaces" && k != "extends_interfaces" {
					continue
				}
				for d := range c.Descendants() {
					switch d.Kind() {
					case "type_identifier", "scoped_type_identifier":
						if d.Parent().Kind() != "type_arguments" && f.isType(d, full) == yes {
							return yes
						}
					}
				}
			}
			return no
		case "object_creation_expression":
			if f.isType(p.ChildByField("type"), full) == yes {
				return yes
			}
			return no
		}
	}
	return no
}

// variable returns the declared type of the variable name as seen from n.
func (f *javaFile) variable(n treesitter.Node, name string) (typ treesitter.Node, found bool) {
	for scope := n.Parent(); !scope.IsZero(); scope = scope.Parent() {
		switch scope.Kind() {
		case "class_body", "enum_body", "interface_body":
			if typ, found = f.field(n, name); found {
				return typ, true
			}
			continue
		}
		for c := range scope.NamedChildren() {
			if typ, found = declaredType(c, name, n); found {
				return typ, true
			}
			if k := c.Kind(); k == "formal_parameters" || k == "resource_specification" {
				for d := range c.NamedChildren() {
					if typ, found = declaredType(d, name, n); found {
						return typ, true
					}
				}
			}
		}
		if k := scope.Kind(); k == "enhanced_for_statement" || k == "catch_clause" || k == "lambda_expression" {
			if typ, found = declaredType(scope, name, n); found {
				return typ, true
			}
			if k == "lambda_expression" && !declaredIn(scope.ChildByField("parameters"), name).IsZero() {
				return treesitter.Node{}, true // its type is inferred
			}
		}
	}
	return treesitter.Node{}, false
}

// field returns the type of a field of the classes around n.
func (f *javaFile) field(n treesitter.Node, name string) (treesitter.Node, bool) {
	for p := n.Parent(); !p.IsZero(); p = p.Parent() {
		if k := p.Kind(); k != "class_body" && k != "enum_body_declarations" && k != "interface_body" {
			continue
		}
		for c := range p.NamedChildren() {
			if c.Kind() == "field_declaration" || c.Kind() == "constant_declaration" {
				if typ, found := declaredType(c, name, treesitter.Node{}); found {
					return typ, true
				}
			}
		}
	}
	return treesitter.Node{}, false
}

// declaredType returns the type that decl gives to the variable name. A use
// before the declaration does not see it.
func declaredType(decl treesitter.Node, name string, use treesitter.Node) (treesitter.Node, bool) {
	switch decl.Kind() {
	case "local_variable_declaration", "field_declaration", "constant_declaration":
		if !use.IsZero() && use.Start() < decl.Start() {
			return treesitter.Node{}, false
		}
		for c := range decl.NamedChildren() {
			if c.Field() != "declarator" || c.ChildByField("name").Text() != name {
				continue
			}
			typ := decl.ChildByField("type")
			if value := c.ChildByField("value"); typ.Text() == "var" && !value.IsZero() && value.Kind() == "object_creation_expression" {
				typ = value.ChildByField("type")
			}
			return typ, true
		}
	case "formal_parameter", "resource", "enhanced_for_statement":
		if n := decl.ChildByField("name"); !n.IsZero() && n.Text() == name {
			return decl.ChildByField("type"), true
		}
	case "spread_parameter":
		if !declaredIn(decl, name).IsZero() {
			return treesitter.Node{}, true // an array
		}
	case "catch_clause":
		if p := childOfKind(decl, "catch_formal_parameter"); !p.IsZero() && p.ChildByField("name").Text() == name {
			if typ := childOfKind(p, "catch_type"); !typ.IsZero() {
				return typ.FirstChild(), true
			}
		}
	}
	return treesitter.Node{}, false
}

// declaredIn returns the identifier name among a node's descendants.
func declaredIn(n treesitter.Node, name string) treesitter.Node {
	if n.IsZero() {
		return n
	}
	for d := range n.Descendants() {
		if d.Kind() == "identifier" && d.Text() == name {
			return d
		}
	}
	return treesitter.Node{}
}
