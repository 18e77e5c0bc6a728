// Package matcher decides whether a node satisfies a rule: a pattern, a kind, a
// regular expression, a place among its siblings, and how these combine with
// each other and with the nodes around (inside, has, precedes, follows, all,
// any, not, matches). It also holds what a rule does with a match: constraints
// on metavariables, transforms, rewriters and fix templates.
//
// A rule is read by [Compile] from YAML into a [Core]; [Core.Match] tries it on
// one node. A Core is immutable and safe for concurrent use; what changes during
// a match is in a [State], one for each goroutine and tree.
//
// The behaviour is ast-grep's. What differs is in docs/deviations-astgrep.md.
package matcher
