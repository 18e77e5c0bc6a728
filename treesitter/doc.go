// Package treesitter turns source text into syntax trees: the bundled
// grammars ([Lookup], [ForPath]), trees ([Parse]), trees that follow a buffer
// as it is edited ([Document]), and what can be read off a tree: outline,
// enclosing declaration, imports, syntax errors.
//
// A [Tree] is flat: one crossing into C copies the whole tree into one Go slice
// and the C tree is freed, so that walking costs no C call, nothing has to be
// closed, and a tree is immutable and safe for concurrent use.
//
// The binding (smacker/go-tree-sitter) and the grammars stay behind this
// package's own types. It knows nothing of files, rules or incidents.
// Offsets are bytes; columns are bytes too.
package treesitter
