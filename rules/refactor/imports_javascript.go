package refactor

import (
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// addJSImport adds a name to the import statement of its module that is there,
// or a statement behind the last one, written as the file writes them.
func addJSImport(t *treesitter.Tree, have []treesitter.Import, spec ImportSpec) ([]workspace.Edit, error) {
	text, nl := t.Source(), eol(t.Source())
	item := spec.Name
	if spec.Alias != "" {
		item += " as " + spec.Alias
	}
	named := spec.Name != "" && spec.Name != "default" && spec.Name != "*"
	var last treesitter.Import
	var items []treesitter.Node
	var clause treesitter.Node // an import of the module that has only a default
	for _, imp := range have {
		if imp.Stmt.Parent() != t.Root() || imp.Stmt.Kind() != "import_statement" {
			continue
		}
		last = imp
		if !named || imp.Path != spec.Path || isTypeOnly(imp.Stmt) {
			continue
		}
		switch imp.Spec.Kind() {
		case "import_specifier":
			if len(items) == 0 || items[0].Parent() == imp.Spec.Parent() {
				items = append(items, imp.Spec)
			}
		case "identifier":
			if c := imp.Spec.Parent(); childOfKind(c, "named_imports", "namespace_import").IsZero() {
				clause = c
			}
		}
	}
	if len(items) > 0 {
		return []workspace.Edit{addListItem(text, items, item)}, nil
	}
	if !clause.IsZero() {
		return []workspace.Edit{insert(clause.End(), ", { "+item+" }")}, nil
	}
	quote, semicolon := jsStyle(t, have)
	module := quote + spec.Path + quote
	if last.Stmt.IsZero() && len(have) > 0 && usesRequire(have) {
		return addRequire(t, have, spec, module, semicolon)
	}
	var line string
	switch {
	case spec.Name == "":
		line = "import " + module
	case spec.Name == "default":
		line = "import " + spec.Alias + " from " + module
	case spec.Name == "*":
		line = "import * as " + spec.Alias + " from " + module
	default:
		line = "import { " + item + " } from " + module
	}
	if (spec.Name == "default" || spec.Name == "*") && spec.Alias == "" {
		return nil, refuse(Unsafe, "an import of %s of %s needs an alias", spec.Name, spec.Path)
	}
	line += semicolon
	if !last.Stmt.IsZero() {
		at := lineEnd(text, last.Stmt.End())
		if at == len(text) && text[at-1] != '\n' {
			return []workspace.Edit{insert(at, nl+line)}, nil
		}
		return []workspace.Edit{insert(at, line+nl)}, nil
	}
	at := top(text)
	for c := range t.Root().NamedChildren() { // behind #! , licence and "use strict"
		directive := c.Kind() == "expression_statement" && !childOfKind(c, "string").IsZero()
		if c.Kind() != "hash_bang_line" && c.Kind() != "comment" && !directive {
			break
		}
		if next := c.NextSibling(); c.Kind() == "comment" && !next.IsZero() && !hasBlankLine(text[c.End():next.Start()]) {
			break // the comment belongs to what follows
		}
		at = lineEnd(text, c.End())
	}
	if at > top(text) {
		line = nl + line
	}
	return []workspace.Edit{insert(at, line+nl)}, nil
}

func isTypeOnly(stmt treesitter.Node) bool {
	for c := range stmt.Children() {
		if c.Kind() == "type" {
			return true
		}
	}
	return false
}

func usesRequire(have []treesitter.Import) bool {
	for _, imp := range have {
		if imp.Stmt.Kind() == "import_statement" || imp.Stmt.Kind() == "export_statement" {
			return false
		}
	}
	return true
}

// jsStyle returns the quote that the file's imports use and whether statements
// end in a semicolon.
func jsStyle(t *treesitter.Tree, have []treesitter.Import) (quote, semicolon string) {
	quote, semicolon = `"`, ";"
	if len(have) > 0 {
		for n := range have[0].Stmt.Descendants() {
			if n.Kind() == "string" {
				quote = string(n.Bytes()[:1])
			}
		}
		if !strings.HasSuffix(have[0].Stmt.Text(), ";") {
			semicolon = ""
		}
		return quote, semicolon
	}
	for n := range t.Root().Descendants() {
		if n.Kind() == "string" {
			return string(n.Bytes()[:1]), semicolon
		}
	}
	return quote, semicolon
}

func addRequire(t *treesitter.Tree, have []treesitter.Import, spec ImportSpec, module, semicolon string) ([]workspace.Edit, error) {
	text := t.Source()
	call := "require(" + module + ")" + semicolon
	var line string
	switch {
	case spec.Name == "":
		line = call
	case spec.Name == "default" || spec.Name == "*":
		if spec.Alias == "" {
			return nil, refuse(Unsafe, "an import of %s of %s needs an alias", spec.Name, spec.Path)
		}
		line = "const " + spec.Alias + " = " + call
	case spec.Alias != "":
		line = "const { " + spec.Name + ": " + spec.Alias + " } = " + call
	default:
		line = "const { " + spec.Name + " } = " + call
	}
	var after treesitter.Node
	for _, imp := range have {
		if imp.Stmt.Parent() == t.Root() {
			after = imp.Stmt
		}
	}
	if after.IsZero() {
		return nil, refuse(Unsafe, "no require at the top of the file shows where one of %s belongs", spec.Path)
	}
	return []workspace.Edit{insert(lineEnd(text, after.End()), line+eol(text))}, nil
}

// removeJSImport removes one name, and the statement with its last.
func removeJSImport(t *treesitter.Tree, imp treesitter.Import) []workspace.Edit {
	text := t.Source()
	inStmt, inBraces := 0, 0
	for _, other := range treesitter.Imports(t) {
		if other.Stmt == imp.Stmt {
			inStmt++
			if other.Spec.Parent() == imp.Spec.Parent() {
				inBraces++
			}
		}
	}
	switch {
	case inStmt == 1:
		return removeStatement(t, imp)
	case imp.Spec.Kind() == "import_specifier" && inBraces == 1: // import a, { b } from: the braces go
		return []workspace.Edit{cutListItem(text, imp.Spec.Parent())}
	}
	return []workspace.Edit{cutListItem(text, imp.Spec)}
}
