// Package pattern matches code by example, as ast-grep does: a snippet of the
// language with metavariables in it ($A, $_, $$$ARGS) is parsed with the
// language's own grammar and compared with a tree node by node.
//
// [Compile] and [CompileContext] make a [Pattern]; [Pattern.Match] tries it on
// one node and binds metavariables in an [Env]; a [Template] turns an Env back
// into text, with the indentation of what it inserts put right.
//
// The package knows one node at a time. Rules (which combine patterns), files
// and edits are its callers' business. Offsets are bytes.
package pattern
