// Package arch holds the tests of the house as a whole: that dependencies
// point down only, as the table in docs/architecture.md says, and that every
// package introduces itself. It has no code.
package arch
