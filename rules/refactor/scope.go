package refactor

import (
	"bytes"

	"github.com/kaiak/kaiak/treesitter"
)

// declaration returns a node that declares name in the file (a variable, a
// parameter, a type, …), or no node. Where a span is given only the outermost
// declaration around it and the file's own declarations count. Members that are
// only reached through something else (fields, methods) do not hide a name.
func declaration(t *treesitter.Tree, name string, start, end int) treesitter.Node {
	if !bytes.Contains(t.Source(), []byte(name)) {
		return treesitter.Node{}
	}
	for n := range t.Root().Descendants() {
		if !n.FirstChild().IsZero() || n.End()-n.Start() != len(name) || !declares(n) || string(n.Bytes()) != name {
			continue
		}
		top := topLevel(n)
		if end == 0 || fileLevel(n, top) || top.Start() <= start && start < top.End() {
			return n
		}
	}
	return treesitter.Node{}
}

// fileLevel reports whether the declaration that n names is top itself or one of
// those that top groups, as Go's "type ( … )" and JavaScript's "export" do.
func fileLevel(n, top treesitter.Node) bool {
	for p := n.Parent(); p != top; p = p.Parent() {
		switch p.Kind() {
		case "type_spec", "type_alias", "var_spec", "var_spec_list", "const_spec", // Go
			"variable_declarator", "lexical_declaration", "variable_declaration", "function_declaration", "class_declaration", // JavaScript
			"assignment": // Python
		default:
			return false
		}
	}
	return true
}

// topLevel returns the ancestor of n (or n) that is a child of the root.
func topLevel(n treesitter.Node) treesitter.Node {
	for {
		p := n.Parent()
		if p.IsZero() || p.Parent().IsZero() {
			return n
		}
		n = p
	}
}

// declares reports whether the identifier n is the name in a declaration that
// can hide an import.
func declares(n treesitter.Node) bool {
	p := n.Parent()
	if p.IsZero() {
		return false
	}
	switch p.Kind() {
	// Go
	case "parameter_declaration", "variadic_parameter_declaration", "var_spec", "const_spec", "type_spec", "type_alias", "type_parameter_declaration", "function_declaration":
		return n.Field() == "name"
	case "expression_list":
		g := p.Parent()
		return p.Field() == "left" && (g.Kind() == "short_var_declaration" || g.Kind() == "range_clause" || g.Kind() == "receive_statement") ||
			p.Field() == "alias"
	// Java
	case "variable_declarator", "formal_parameter", "catch_formal_parameter", "resource", "enhanced_for_statement",
		"class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration":
		return n.Field() == "name"
	case "type_parameter", "inferred_parameters":
		return true
	case "lambda_expression":
		return n.Field() == "parameters"
	// Python
	case "parameters", "lambda_parameters", "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern", "pattern_list", "tuple_pattern", "as_pattern_target":
		return true
	case "default_parameter", "typed_default_parameter", "function_definition", "class_definition":
		return n.Field() == "name"
	case "assignment", "for_statement", "for_in_clause", "named_expression", "augmented_assignment":
		return n.Field() == "left" || n.Field() == "name"
	// JavaScript and TypeScript
	case "required_parameter", "optional_parameter":
		return n.Field() == "pattern"
	case "formal_parameters", "array_pattern", "object_pattern", "rest_pattern":
		return true
	case "assignment_pattern":
		return n.Field() == "left"
	case "pair_pattern":
		return n.Field() == "value"
	case "arrow_function":
		return n.Field() == "parameter"
	case "catch_clause":
		return n.Field() == "parameter"
	case "generator_function_declaration", "type_alias_declaration", "abstract_class_declaration":
		return n.Field() == "name"
	case "for_in_statement":
		return n.Field() == "left"
	}
	return false
}

// identifierUsed reports whether name occurs as an identifier anywhere outside
// the import's own statement, or as a string of that text (Python's __all__).
func identifierUsed(t *treesitter.Tree, imp treesitter.Import, name string) bool {
	for n := range t.Root().Descendants() {
		if !n.FirstChild().IsZero() || n.Start() >= imp.Stmt.Start() && n.End() <= imp.Stmt.End() {
			continue
		}
		if n.End()-n.Start() == len(name) && string(n.Bytes()) == name && !isMember(n) {
			return true
		}
	}
	return false
}

// isMember reports whether the identifier n names a member of what is left of
// its dot, or a key: neither refers to an import.
func isMember(n treesitter.Node) bool {
	switch n.Kind() {
	case "property_identifier", "field_identifier":
		return true
	}
	p := n.Parent()
	return !p.IsZero() && (p.Kind() == "attribute" && n.Field() == "attribute" || p.Kind() == "keyword_argument" && n.Field() == "name")
}
