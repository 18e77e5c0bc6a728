package refactor

import "github.com/kaiak/kaiak/treesitter"

// Declaration returns a node that declares name in the file (a variable, a
// parameter, a type, …), or no node. Where a span in bytes is given (end > 0)
// only the outermost declaration around it and the file's own declarations
// count. Members that are only reached through something else (fields, methods)
// do not hide a name and are not found.
func Declaration(t *treesitter.Tree, name string, start, end int) treesitter.Node {
	return declaration(t, name, start, end)
}
