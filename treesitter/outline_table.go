package treesitter

import "strings"

// An outlineRule says what a node of one kind declares. A symbol that it leaves
// without Name takes NameNode's text; without Decl it is the node itself.
// Qualified, if set, is a prefix that ends in a dot.
type outlineRule func(n Node) []Symbol

// named declares the node's field "name".
func named(kind SymbolKind) outlineRule {
	return func(n Node) []Symbol {
		return []Symbol{{Kind: kind, NameNode: n.ChildByField("name"), Decl: wrapper(n)}}
	}
}

// names declares each of the node's fields "name", as in Go's var a, b int.
func names(kind SymbolKind) outlineRule {
	return func(n Node) []Symbol {
		var list []Symbol
		for c := range n.NamedChildren() {
			if c.Field() == "name" {
				list = append(list, Symbol{Kind: kind, NameNode: c})
			}
		}
		return list
	}
}

// first declares the node's first child of one of the given kinds.
func first(kind SymbolKind, kinds ...string) outlineRule {
	return func(n Node) []Symbol {
		return []Symbol{{Kind: kind, NameNode: childOfKind(n, kinds...), Decl: wrapper(n)}}
	}
}

// below declares each descendant of the given kind by its field "name" (or its
// first child): the declarators of a field declaration.
func below(kind SymbolKind, declarator string) outlineRule {
	return func(n Node) []Symbol {
		var list []Symbol
		for i := n.Index() + 1; i < n.Last(); i++ {
			d := n.tree.Node(i)
			if d.Kind() != declarator {
				continue
			}
			name := d.ChildByField("name")
			if name.IsZero() {
				name = d.FirstChild()
			}
			list = append(list, Symbol{Kind: kind, NameNode: name, Decl: n})
		}
		return list
	}
}

func childOfKind(n Node, kinds ...string) Node {
	for c := range n.NamedChildren() {
		for _, k := range kinds {
			if c.Kind() == k {
				return c
			}
		}
	}
	return Node{}
}

// wrapper returns the node that holds nothing but n and its decorators or its
// export keyword, else n.
func wrapper(n Node) Node {
	for {
		p := n.Parent()
		if p.IsZero() {
			return n
		}
		switch p.Kind() {
		case "decorated_definition", "export_statement", "template_declaration", "ambient_declaration":
			n = p
		default:
			return n
		}
	}
}

// outlines is the table of what declares what, by language and kind of node.
var outlines = map[string]map[string]outlineRule{
	"go": {
		"function_declaration": named(Function), "method_declaration": goMethod,
		"type_spec": goType, "type_alias": named(TypeName),
		"const_spec": names(Constant), "var_spec": names(Variable),
		"field_declaration": names(Field), "method_elem": named(Method),
	},
	"java": {
		"class_declaration": named(Class), "interface_declaration": named(Interface), "enum_declaration": named(Enum),
		"record_declaration": named(Struct), "annotation_type_declaration": named(Interface),
		"method_declaration": named(Method), "constructor_declaration": named(Constructor),
		"compact_constructor_declaration": named(Constructor), "annotation_type_element_declaration": named(Method),
		"field_declaration": declarators(Field), "constant_declaration": declarators(Constant), "enum_constant": named(EnumMember),
	},
	"python": {
		"class_definition": named(Class), "function_definition": pythonFunction, "assignment": pythonAssignment,
	},
	"javascript": javascriptOutline,
	"typescript": javascriptOutline,
	"tsx":        javascriptOutline,
	"rust": {
		"function_item": rustFunction, "function_signature_item": rustFunction, "struct_item": named(Struct), "enum_item": named(Enum),
		"union_item": named(Struct), "trait_item": named(Interface), "impl_item": rustImpl, "mod_item": named(Namespace),
		"const_item": named(Constant), "static_item": named(Variable), "type_item": named(TypeName),
		"macro_definition": named(Macro), "field_declaration": named(Field), "enum_variant": named(EnumMember),
	},
	"csharp": {
		"namespace_declaration": named(Namespace), "class_declaration": named(Class), "interface_declaration": named(Interface),
		"struct_declaration": named(Struct), "enum_declaration": named(Enum), "record_declaration": named(Struct),
		"delegate_declaration": named(TypeName), "method_declaration": named(Method), "constructor_declaration": named(Constructor),
		"property_declaration": named(Property), "event_declaration": named(Property), "field_declaration": below(Field, "variable_declarator"),
		"event_field_declaration": below(Field, "variable_declarator"), "enum_member_declaration": named(EnumMember),
		"local_function_statement": named(Function),
	},
	"kotlin": {
		"class_declaration": kotlinClass, "object_declaration": first(Class, "type_identifier"), "function_declaration": kotlinFunction,
		"property_declaration": kotlinProperty, "type_alias": first(TypeName, "type_identifier"), "enum_entry": first(EnumMember, "simple_identifier"),
		"companion_object": companion,
	},
	"ruby": {
		"module": named(Namespace), "class": named(Class), "method": named(Method), "singleton_method": named(Method),
		"assignment": rubyConstant,
	},
	"php": {
		"namespace_definition": phpNamespace, "class_declaration": named(Class), "interface_declaration": named(Interface),
		"trait_declaration": named(Interface), "enum_declaration": named(Enum), "function_definition": named(Function),
		"method_declaration": named(Method), "property_declaration": below(Field, "property_element"),
		"const_declaration": below(Constant, "const_element"), "enum_case": named(EnumMember),
	},
	"c":   cOutline,
	"cpp": cOutline,
	"scala": {
		"class_definition": named(Class), "object_definition": named(Class), "trait_definition": named(Interface),
		"enum_definition": named(Enum), "function_definition": named(Function), "function_declaration": named(Function),
		"val_definition": pattern(Constant), "var_definition": pattern(Variable), "type_definition": named(TypeName),
	},
	"swift": {
		"class_declaration": named(Class), "protocol_declaration": named(Interface), "function_declaration": named(Function),
		"protocol_function_declaration": named(Method), "typealias_declaration": named(TypeName), "property_declaration": named(Property),
	},
}

var javascriptOutline = map[string]outlineRule{
	"function_declaration": named(Function), "generator_function_declaration": named(Function), "function_signature": named(Function),
	"class_declaration": named(Class), "abstract_class_declaration": named(Class), "interface_declaration": named(Interface),
	"type_alias_declaration": named(TypeName), "enum_declaration": named(Enum), "enum_assignment": named(EnumMember),
	"enum_body":       enumNames,
	"internal_module": named(Namespace), "module": named(Namespace),
	"method_definition": named(Method), "method_signature": named(Method), "abstract_method_signature": named(Method),
	"public_field_definition": named(Field), "property_signature": named(Field),
	"field_definition":    func(n Node) []Symbol { return []Symbol{{Kind: Field, NameNode: n.ChildByField("property")}} },
	"variable_declarator": javascriptVariable,
	"pair": func(n Node) []Symbol { // a method of an object literal
		if !isFunctionValue(n.ChildByField("value")) {
			return nil
		}
		return []Symbol{{Kind: Method, NameNode: n.ChildByField("key")}}
	},
}

var cOutline = map[string]outlineRule{
	"function_definition": cFunction, "declaration": cDeclaration, "field_declaration": cField,
	"struct_specifier": cRecord(Struct), "union_specifier": cRecord(Struct), "class_specifier": cRecord(Class), "enum_specifier": cRecord(Enum),
	"enumerator": named(EnumMember), "namespace_definition": named(Namespace), "alias_declaration": named(TypeName),
	"type_definition": func(n Node) []Symbol {
		return []Symbol{{Kind: TypeName, NameNode: declaratorName(n.ChildByField("declarator"))}}
	},
	"preproc_def":          named(Macro),
	"preproc_function_def": named(Macro),
}

func goMethod(n Node) []Symbol {
	s := Symbol{Kind: Method, NameNode: n.ChildByField("name")}
	for d := range n.ChildByField("receiver").descendantsOrNone() {
		if d.Kind() == "type_identifier" {
			s.Qualified = d.Text() + "."
			break
		}
	}
	return []Symbol{s}
}

func goType(n Node) []Symbol {
	kind := TypeName
	switch t := n.ChildByField("type"); {
	case t.IsZero():
	case t.Kind() == "struct_type":
		kind = Struct
	case t.Kind() == "interface_type":
		kind = Interface
	}
	return []Symbol{{Kind: kind, NameNode: n.ChildByField("name")}}
}

// declarators declares each field "declarator" by its name.
func declarators(kind SymbolKind) outlineRule {
	return func(n Node) []Symbol {
		var list []Symbol
		for c := range n.NamedChildren() {
			if c.Field() == "declarator" {
				list = append(list, Symbol{Kind: kind, NameNode: c.ChildByField("name"), Decl: n})
			}
		}
		return list
	}
}

func pattern(kind SymbolKind) outlineRule {
	return func(n Node) []Symbol { return []Symbol{{Kind: kind, NameNode: n.ChildByField("pattern")}} }
}

// within returns the nearest ancestor of one of the kinds, up to the nearest of stop.
func within(n Node, kinds []string, stop ...string) Node {
	for p := n.Parent(); !p.IsZero(); p = p.Parent() {
		for _, k := range kinds {
			if p.Kind() == k {
				return p
			}
		}
		for _, k := range stop {
			if p.Kind() == k {
				return Node{}
			}
		}
	}
	return Node{}
}

func pythonFunction(n Node) []Symbol {
	kind := Function
	if !within(n, []string{"class_definition"}, "function_definition").IsZero() {
		kind = Method
	}
	return []Symbol{{Kind: kind, NameNode: n.ChildByField("name"), Decl: wrapper(n)}}
}

func pythonAssignment(n Node) []Symbol {
	left := n.ChildByField("left")
	if left.IsZero() || left.Kind() != "identifier" {
		return nil
	}
	kind := Variable
	if !within(n, []string{"class_definition"}).IsZero() {
		kind = Field
	}
	return []Symbol{{Kind: kind, NameNode: left}}
}

func isFunctionValue(n Node) bool {
	if n.IsZero() {
		return false
	}
	switch n.Kind() {
	case "arrow_function", "function_expression", "function", "generator_function":
		return true
	}
	return false
}

// enumNames declares the members of a TypeScript enum that have no value.
func enumNames(n Node) []Symbol {
	var list []Symbol
	for c := range n.NamedChildren() {
		if c.Kind() == "property_identifier" || c.Kind() == "string" {
			list = append(list, Symbol{Kind: EnumMember, NameNode: c, Decl: c})
		}
	}
	return list
}

func javascriptVariable(n Node) []Symbol {
	name := n.ChildByField("name")
	if name.IsZero() || name.Kind() != "identifier" {
		return nil
	}
	switch value := n.ChildByField("value"); {
	case isFunctionValue(value):
		return []Symbol{{Kind: Function, NameNode: name}}
	case !value.IsZero() && value.Kind() == "class":
		return []Symbol{{Kind: Class, NameNode: name}}
	}
	return []Symbol{{Kind: Variable, NameNode: name}}
}

func rustFunction(n Node) []Symbol {
	kind := Function
	if !within(n, []string{"impl_item", "trait_item"}, "function_item", "mod_item").IsZero() {
		kind = Method
	}
	return []Symbol{{Kind: kind, NameNode: n.ChildByField("name")}}
}

// rustImpl names an impl block after its type, so that its methods are "Cart.total".
func rustImpl(n Node) []Symbol {
	for d := range n.ChildByField("type").descendantsOrNone() {
		if d.Kind() == "type_identifier" {
			return []Symbol{{Kind: Class, NameNode: d}}
		}
	}
	return nil
}

func kotlinClass(n Node) []Symbol {
	kind := Class
	for c := range n.Children() {
		switch c.Kind() {
		case "interface":
			kind = Interface
		case "enum":
			kind = Enum
		}
	}
	return []Symbol{{Kind: kind, NameNode: childOfKind(n, "type_identifier")}}
}

func kotlinFunction(n Node) []Symbol {
	kind := Function
	if !within(n, []string{"class_body", "enum_class_body"}, "function_body").IsZero() {
		kind = Method
	}
	return []Symbol{{Kind: kind, NameNode: childOfKind(n, "simple_identifier")}}
}

func kotlinProperty(n Node) []Symbol {
	v := childOfKind(n, "variable_declaration")
	if v.IsZero() {
		return nil
	}
	return []Symbol{{Kind: Property, NameNode: childOfKind(v, "simple_identifier")}}
}

func companion(n Node) []Symbol {
	if name := childOfKind(n, "type_identifier"); !name.IsZero() {
		return []Symbol{{Kind: Class, NameNode: name}}
	}
	return []Symbol{{Kind: Class, Name: "Companion", NameNode: n.FirstChild()}}
}

func rubyConstant(n Node) []Symbol {
	left := n.ChildByField("left")
	if left.IsZero() || left.Kind() != "constant" {
		return nil
	}
	return []Symbol{{Kind: Constant, NameNode: left}}
}

// phpNamespace declares only a namespace with braces: one without is the file's package.
func phpNamespace(n Node) []Symbol {
	if n.ChildByField("body").IsZero() {
		return nil
	}
	return []Symbol{{Kind: Namespace, NameNode: n.ChildByField("name")}}
}

// declaratorName digs the name out of a C declarator: *(f)(int) names f.
func declaratorName(n Node) Node {
	for !n.IsZero() {
		switch n.Kind() {
		case "identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name", "operator_name", "primitive_type":
			return n
		}
		next := n.ChildByField("declarator")
		if next.IsZero() {
			next = Node{}
			for c := range n.NamedChildren() {
				if strings.HasSuffix(c.Kind(), "declarator") || strings.HasSuffix(c.Kind(), "identifier") {
					next = c
					break
				}
			}
		}
		n = next
	}
	return Node{}
}

func isFunctionDeclarator(n Node) bool {
	for !n.IsZero() {
		if n.Kind() == "function_declarator" {
			return true
		}
		n = n.ChildByField("declarator")
	}
	return false
}

func cFunction(n Node) []Symbol {
	name := declaratorName(n.ChildByField("declarator"))
	if name.IsZero() {
		return nil
	}
	s := Symbol{Kind: Function, NameNode: name, Decl: wrapper(n)}
	if !within(n, []string{"class_specifier", "struct_specifier"}).IsZero() {
		s.Kind = Method
	}
	if name.Kind() == "qualified_identifier" { // Cart::total is a member of Cart
		s.Kind = Method
		s.Name = strings.ReplaceAll(name.Text(), "::", ".")
	}
	return []Symbol{s}
}

func cDeclaration(n Node) []Symbol {
	var list []Symbol
	for c := range n.NamedChildren() {
		if c.Field() != "declarator" {
			continue
		}
		kind := Variable
		if isFunctionDeclarator(c) {
			kind = Function
		}
		list = append(list, Symbol{Kind: kind, NameNode: declaratorName(c)})
	}
	return list
}

func cField(n Node) []Symbol {
	list := cDeclaration(n)
	for i := range list {
		if list[i].Kind = Field; isFunctionDeclarator(n.ChildByField("declarator")) {
			list[i].Kind = Method
		}
	}
	return list
}

// cRecord declares a struct where it has a body: struct point p; only uses one.
func cRecord(kind SymbolKind) outlineRule {
	return func(n Node) []Symbol {
		if n.ChildByField("body").IsZero() {
			return nil
		}
		return []Symbol{{Kind: kind, NameNode: n.ChildByField("name")}}
	}
}

// descendantsOrNone is Descendants, with nothing for no node.
func (n Node) descendantsOrNone() func(yield func(Node) bool) {
	if n.IsZero() {
		return func(func(Node) bool) {}
	}
	return n.Descendants()
}
