package refactor

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// goPackageUsed reports whether name, taken as a package, is referred to: as
// what is left of a dot, where no local declaration hides it.
func goPackageUsed(t *treesitter.Tree, _ treesitter.Import, name string) bool {
	for n := range t.Root().Descendants() {
		if n.End()-n.Start() != len(name) || !n.FirstChild().IsZero() || string(n.Bytes()) != name {
			continue
		}
		p := n.Parent()
		switch {
		case n.Kind() == "package_identifier" && p.Kind() == "qualified_type":
			return true
		case n.Kind() == "identifier" && p.Kind() == "selector_expression" && n.Field() == "operand" && !hiddenInGo(n, name):
			return true
		}
	}
	return false
}

// hiddenInGo reports whether a local declaration of name is in force at n.
func hiddenInGo(n treesitter.Node, name string) bool {
	for scope := n.Parent(); !scope.IsZero(); scope = scope.Parent() {
		switch scope.Kind() {
		case "block", "if_statement", "for_statement", "expression_switch_statement", "type_switch_statement", "select_statement",
			"expression_case", "default_case", "type_case", "communication_case", "function_declaration", "method_declaration", "func_literal":
		default:
			continue
		}
		for i := scope.Index() + 1; i < scope.Last(); i++ {
			d := n.Tree().Node(i)
			if d.Start() >= n.Start() {
				break
			}
			if d.Kind() == "identifier" && declares(d) && string(d.Bytes()) == name && goScope(d) == scope {
				// x := x.F() declares x only behind it.
				if declaringStatement(d).End() <= n.Start() {
					return true
				}
			}
		}
	}
	return false
}

// goScope returns the node in which the declaration of d is in force.
func goScope(d treesitter.Node) treesitter.Node {
	for p := d.Parent(); !p.IsZero(); p = p.Parent() {
		switch p.Kind() {
		case "block", "if_statement", "for_statement", "expression_switch_statement", "type_switch_statement", "select_statement",
			"expression_case", "default_case", "type_case", "communication_case", "function_declaration", "method_declaration", "func_literal":
			return p
		}
	}
	return treesitter.Node{}
}

func declaringStatement(d treesitter.Node) treesitter.Node {
	for p := d.Parent(); !p.IsZero(); p = p.Parent() {
		switch p.Kind() {
		case "short_var_declaration", "range_clause", "parameter_declaration", "variadic_parameter_declaration", "var_spec", "const_spec", "type_spec", "receive_statement":
			return p
		}
	}
	return d
}

// isGoStd reports whether path is of the standard library: its first element
// has no dot.
func isGoStd(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// addGoImport adds to the group of imports of the same sort (standard library
// or not), in its order; where there is none it begins one.
func addGoImport(t *treesitter.Tree, have []treesitter.Import, spec ImportSpec) ([]workspace.Edit, error) {
	text, nl := t.Source(), eol(t.Source())
	line := strconv.Quote(spec.Path)
	if spec.Alias != "" {
		line = spec.Alias + " " + line
	}
	var list []treesitter.Import // of the first block in parentheses, or the last single import
	for _, imp := range have {
		if imp.Path == "C" {
			continue // its comment is C code; gofmt keeps it alone
		}
		if len(list) == 0 || imp.Stmt == list[0].Stmt || imp.Stmt != imp.Spec && !inParens(list[0].Stmt) {
			if len(list) > 0 && imp.Stmt != list[0].Stmt {
				list = nil
			}
			list = append(list, imp)
		}
	}
	if len(list) == 0 {
		clause := childOfKind(t.Root(), "package_clause")
		if clause.IsZero() {
			return nil, refuse(Unsafe, "the file has no package clause to put the import of %s behind", spec.Path)
		}
		end := lineEnd(text, clause.End())
		lead := ""
		if end == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
			lead = nl
		}
		return []workspace.Edit{insert(end, lead+nl+"import "+line+nl)}, nil
	}
	if !inParens(list[0].Stmt) {
		return addBesideSingleGoImport(text, have, spec, line)
	}
	groups := goGroups(text, list)
	std := isGoStd(spec.Path)
	for _, g := range groups {
		if isGoStd(g[0].Path) != std {
			continue
		}
		for _, imp := range g {
			if imp.Path > spec.Path {
				at := lineStart(text, imp.Spec.Start())
				for above := at; above > 0; { // a comment above an import belongs to it
					prev := lineStart(text, above-1)
					if !strings.HasPrefix(strings.TrimSpace(string(text[prev:above])), "//") {
						break
					}
					above, at = prev, prev
				}
				return []workspace.Edit{insert(at, "\t"+line+nl)}, nil
			}
		}
		return []workspace.Edit{insert(lineEnd(text, g[len(g)-1].Spec.End()), "\t"+line+nl)}, nil
	}
	if std { // a group of its own, before the others
		at := lineStart(text, list[0].Spec.Start())
		return []workspace.Edit{insert(at, "\t"+line+nl+nl)}, nil
	}
	return []workspace.Edit{insert(lineEnd(text, list[len(list)-1].Spec.End()), nl+"\t"+line+nl)}, nil
}

// addBesideSingleGoImport turns a lone import "a" into a block of two. Where
// several stand alone, one more does.
func addBesideSingleGoImport(text []byte, have []treesitter.Import, spec ImportSpec, line string) ([]workspace.Edit, error) {
	nl := eol(text)
	single := have[:0:0]
	for _, imp := range have {
		if imp.Path != "C" {
			single = append(single, imp)
		}
	}
	if len(single) > 1 {
		for _, imp := range single {
			if imp.Path > spec.Path {
				return []workspace.Edit{insert(lineStart(text, imp.Stmt.Start()), "import "+line+nl)}, nil
			}
		}
		return []workspace.Edit{insert(lineEnd(text, single[len(single)-1].Stmt.End()), "import "+line+nl)}, nil
	}
	imp := single[0]
	old := string(imp.Spec.Bytes())
	sep := nl
	if isGoStd(imp.Path) != isGoStd(spec.Path) {
		sep = nl + nl
	}
	first, second := old, line
	if isGoStd(spec.Path) && (!isGoStd(imp.Path) || spec.Path < imp.Path) {
		first, second = line, old
	} else if !isGoStd(spec.Path) && !isGoStd(imp.Path) && spec.Path < imp.Path {
		first, second = line, old
	}
	return []workspace.Edit{replace(imp.Spec, "("+nl+"\t"+first+sep+"\t"+second+nl+")")}, nil
}

func inParens(stmt treesitter.Node) bool { return !childOfKind(stmt, "import_spec_list").IsZero() }

// goGroups splits the imports of a block where blank lines do.
func goGroups(text []byte, list []treesitter.Import) [][]treesitter.Import {
	var groups [][]treesitter.Import
	for i, imp := range list {
		if i == 0 || hasBlankLine(text[list[i-1].Spec.End():imp.Spec.Start()]) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], imp)
	}
	return groups
}

// hasBlankLine reports whether there is an empty line between two lines' ends.
func hasBlankLine(between []byte) bool {
	lines := bytes.Split(between, []byte("\n"))
	for i := 1; i < len(lines)-1; i++ {
		if len(bytes.TrimSpace(lines[i])) == 0 {
			return true
		}
	}
	return false
}

// removeGoImport removes a line of a block, and the blank line that would
// double; the last import of a block takes the block with it.
func removeGoImport(t *treesitter.Tree, imp treesitter.Import) []workspace.Edit {
	text := t.Source()
	list := childOfKind(imp.Stmt, "import_spec_list")
	alone := list.IsZero()
	if !alone {
		specs := 0
		for c := range list.NamedChildren() {
			if c.Kind() == "import_spec" {
				specs++
			}
		}
		alone = specs == 1
	}
	if alone {
		return removeStatement(t, imp)
	}
	cut := cutLines(text, imp.Spec.Start(), imp.Spec.End())
	above := lineStart(text, max(cut.Start-1, 0))
	opens := bytes.HasSuffix(bytes.TrimSpace(text[above:cut.Start]), []byte("("))
	if blankLine(text, cut.End) && (opens || blankLine(text, above)) {
		cut.End = lineEnd(text, cut.End)
	} else if blankLine(text, above) && bytes.HasPrefix(bytes.TrimSpace(text[cut.End:]), []byte(")")) {
		cut.Start = above
	}
	return []workspace.Edit{cut}
}

func childOfKind(n treesitter.Node, kinds ...string) treesitter.Node {
	if n.IsZero() {
		return n
	}
	for c := range n.NamedChildren() {
		for _, k := range kinds {
			if c.Kind() == k {
				return c
			}
		}
	}
	return treesitter.Node{}
}
