package langref

import (
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// extractCSharp resolves names by using directives and the namespaces around
// them; a name can come from each of them.
func extractCSharp(f *File, tree *treesitter.Tree) {
	scope := []string{""}
	aliases := map[string]string{}
	for n := range tree.Root().Descendants() {
		switch n.Kind() {
		case "using_directive":
			name, alias := usingParts(n)
			if name.IsZero() {
				continue
			}
			full := compact(name.Text())
			f.add(refImport, name, full, full)
			if alias != "" {
				aliases[alias] = full
			} else {
				scope = append(scope, full)
			}
		case "namespace_declaration", "file_scoped_namespace_declaration":
			if name := n.ChildByField("name"); !name.IsZero() {
				scope = append(scope, compact(name.Text()))
			}
		}
	}
	x := csharp{f, scope, aliases}
	for n := range tree.Root().Descendants() {
		x.node(n)
	}
}

// usingParts splits `using alias = name`.
func usingParts(n treesitter.Node) (name treesitter.Node, alias string) {
	equals := false
	for c := range n.Children() {
		switch c.Kind() {
		case "=":
			equals = true
		case "identifier", "qualified_name", "alias_qualified_name", "generic_name":
			if !name.IsZero() && equals {
				alias = name.Text()
			}
			name = c
		}
	}
	return name, alias
}

// compact removes white space from a name.
func compact(s string) string { return strings.Join(strings.Fields(s), "") }

type csharp struct {
	f       *File
	scope   []string
	aliases map[string]string
}

// candidates returns what a written name can mean.
func (x *csharp) candidates(written string) []string {
	written = compact(written)
	first, rest, dotted := strings.Cut(written, ".")
	if full, ok := x.aliases[first]; ok {
		if dotted {
			return []string{full + "." + rest}
		}
		return []string{full}
	}
	out := make([]string, 0, len(x.scope))
	for _, ns := range x.scope {
		if ns == "" {
			out = append(out, written)
		} else {
			out = append(out, ns+"."+written)
		}
	}
	return out
}

func (x *csharp) node(n treesitter.Node) {
	switch n.Kind() {
	case "class_declaration", "interface_declaration", "struct_declaration", "record_declaration", "enum_declaration":
		if name := n.ChildByField("name"); !name.IsZero() {
			x.f.add(refClass, name, name.Text(), x.candidates(name.Text())...)
		}
	case "member_access_expression":
		text := n.Text()
		if strings.ContainsAny(text, "()[]{}\"") {
			return
		}
		kind := refMember
		if p := n.Parent(); p.Kind() == "invocation_expression" && p.ChildByField("function") == n {
			kind = refCall
		}
		x.f.add(kind, n, compact(text), x.candidates(dropTypeArguments(text))...)
	case "attribute":
		if name := n.ChildByField("name"); !name.IsZero() {
			full := x.candidates(name.Text())
			x.f.add(refType, name, name.Text(), append(full, x.candidates(name.Text()+"Attribute")...)...)
		}
	case "identifier", "qualified_name", "generic_name":
		if isCSharpType(n) {
			x.f.add(refType, n, n.Text(), x.candidates(dropTypeArguments(n.Text()))...)
		}
	}
}

func dropTypeArguments(s string) string {
	if i := strings.IndexByte(s, '<'); i >= 0 {
		if j := strings.LastIndexByte(s, '>'); j > i {
			return s[:i] + s[j+1:]
		}
	}
	return s
}

// isCSharpType reports whether a name stands where a type does.
func isCSharpType(n treesitter.Node) bool {
	p := n.Parent()
	if p.IsZero() {
		return false
	}
	switch p.Kind() {
	case "base_list", "object_creation_expression", "type_argument_list", "typeof_expression", "cast_expression",
		"array_type", "nullable_type", "as_expression", "is_expression", "type_parameter_constraint":
		return n.Field() != "value" && n.Field() != "left"
	case "generic_name":
		return false
	}
	return n.Field() == "type" || n.Field() == "returns"
}

// fitsCSharp searches the expression in what a name can mean. A namespace alone
// does not make every name a match: what is in it must take part.
func fitsCSharp(q *Query, r *reference) bool {
	switch q.location {
	case "METHOD":
		if r.kind != refCall {
			return false
		}
	case "FIELD":
		if r.kind != refMember {
			return false
		}
	case "CLASS":
		if r.kind != refClass && r.kind != refImport && r.kind != refType {
			return false
		}
	}
	for _, full := range r.full {
		if q.namespace != "" && !strings.HasPrefix(full, q.namespace) {
			continue
		}
		if r.kind == refImport {
			if q.re.MatchString(full) {
				return true
			}
			continue
		}
		var written int
		if strings.HasSuffix(full, r.plain) {
			written = len(full) - len(r.plain)
		} else {
			written = max(0, strings.LastIndexByte(full, '.'))
		}
		for _, m := range q.re.FindAllStringIndex(full, -1) {
			if m[1] > written && !q.re.MatchString(strings.TrimSuffix(full[:written], ".")) {
				return true
			}
		}
	}
	return false
}
