package refactor

import (
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// addPythonImport adds a member to the from statement of its module that is
// there, or a statement behind the last one at the top of the file.
func addPythonImport(t *treesitter.Tree, have []treesitter.Import, spec ImportSpec) ([]workspace.Edit, error) {
	text, nl := t.Source(), eol(t.Source())
	item := spec.Name
	if spec.Alias != "" {
		item += " as " + spec.Alias
	}
	line := "from " + spec.Path + " import " + item
	if spec.Name == "" {
		line = "import " + spec.Path
		if spec.Alias != "" {
			line += " as " + spec.Alias
		}
	}
	var last treesitter.Import
	var items []treesitter.Node
	for _, imp := range have {
		if imp.Stmt.Parent() != t.Root() {
			continue // inside a function, or under a condition
		}
		last = imp
		if spec.Name != "" && imp.Path == spec.Path && imp.Name != "" && imp.Name != "*" {
			if len(items) > 0 && items[0].Parent() != imp.Spec.Parent() {
				continue
			}
			items = append(items, imp.Spec)
		}
	}
	if len(items) > 0 {
		return []workspace.Edit{addListItem(text, items, item)}, nil
	}
	if !last.Stmt.IsZero() {
		at := lineEnd(text, last.Stmt.End())
		if at == len(text) && text[at-1] != '\n' {
			return []workspace.Edit{insert(at, nl+line+nl)}, nil
		}
		return []workspace.Edit{insert(at, line+nl)}, nil
	}
	// Behind the comments and the docstring that the file begins with.
	at := top(text)
	for c := range t.Root().NamedChildren() {
		docstring := c.Kind() == "expression_statement" && !childOfKind(c, "string").IsZero()
		if c.Kind() != "comment" && !docstring {
			break
		}
		at = lineEnd(text, c.End())
		if docstring {
			break
		}
	}
	if at == top(text) {
		return []workspace.Edit{insert(at, line+nl)}, nil
	}
	if blankLine(text, at) {
		return []workspace.Edit{insert(at, nl+line+nl)}, nil
	}
	return []workspace.Edit{insert(at, nl+line+nl+nl)}, nil
}

// addListItem adds an item to a list: in its order if the list has one, else at
// its end; on a line of its own where the others have theirs.
func addListItem(text []byte, items []treesitter.Node, item string) workspace.Edit {
	sorted := true
	for i := 1; i < len(items); i++ {
		sorted = sorted && strings.ToLower(items[i-1].Text()) <= strings.ToLower(items[i].Text())
	}
	last := items[len(items)-1]
	ownLine := len(items) > 1 && lineStart(text, items[0].Start()) != lineStart(text, items[1].Start()) ||
		len(items) == 1 && strings.TrimSpace(string(text[lineStart(text, last.Start()):last.Start()])) == ""
	sep := ", "
	if ownLine {
		sep = "," + eol(text) + indentOf(text, last.Start())
	}
	if sorted {
		for _, n := range items {
			if strings.ToLower(n.Text()) > strings.ToLower(item) {
				return insert(n.Start(), item+sep)
			}
		}
	}
	return insert(last.End(), sep+item)
}

// removePythonImport removes one item of a statement, and the statement with
// its last item.
func removePythonImport(t *treesitter.Tree, imp treesitter.Import) []workspace.Edit {
	items := 0
	for _, other := range treesitter.Imports(t) {
		if other.Stmt == imp.Stmt {
			items++
		}
	}
	if items > 1 {
		return []workspace.Edit{cutListItem(t.Source(), imp.Spec)}
	}
	if b := imp.Stmt.Parent(); b.Kind() == "block" {
		statements := 0
		for range b.NamedChildren() {
			statements++
		}
		if statements == 1 { // try: import x — a block must not become empty
			return []workspace.Edit{replace(imp.Stmt, "pass")}
		}
	}
	return removeStatement(t, imp)
}
