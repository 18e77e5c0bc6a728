// Package edit turns what a model proposes into exact edits, or says why it
// cannot.
//
// Read a proposal by [ParseCall] (arguments of propose_edits) or [ParseBlocks]
// (SEARCH/REPLACE text), then call [Resolve] with the files that may change. An
// edit is found by its old text, which must occur exactly once; three relaxations
// (trailing blanks, a uniform shift of the indentation, typographic punctuation)
// are tried in that order and are recorded. Nothing is ever applied because it
// looks similar: similarity only makes the error message better.
//
// A proposal is all or nothing. The package is pure: it reads no file and writes
// none.
package edit
