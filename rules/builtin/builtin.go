// Package builtin is the rule packs that ship with the binary: one folder per
// pack with a pack.yml that says which projects it is for, the rules, and
// their tests. It has data only; package rules reads it.
package builtin

import "embed"

// FS has the packs' files: PACK/pack.yml, PACK/*.yml, PACK/*-test.yml.
//
//go:embed */*.yml
var FS embed.FS
