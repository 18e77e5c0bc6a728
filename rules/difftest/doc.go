// Package difftest compares the rule engine with ast-grep's own: it generates
// patterns and rules from code, runs both over it, and compares matches,
// ranges, metavariables, transforms and replacements.
//
// The tests need the ast-grep binary (npm's @ast-grep/cli 0.51.1), whose path is
// in the environment variable KAIAK_ASTGREP; without it they skip. What differs
// on purpose, or because grammars have different versions, is named in
// deviations.go and docs/deviations-astgrep.md, and nothing else is let through.
package difftest
