// Package konveyor runs Konveyor's rulesets unchanged: the rule YAML of
// konveyor/rulesets, its label selectors, its conditions, its tests and its
// output format.
//
// Call [Load] first; it reads files and directories of rules into a [Set] and
// says, in one line per rule, what could not be loaded. [Set.Select] narrows a
// set by labels, [Set.Run] evaluates it over a tree of [Files], and
// [Result.WriteYAML] writes what was found as output.yaml. [Lint] names the
// traps of the format, [RunTests] runs *.test.yaml files, [NewCoverage] counts
// the rules that have an offline fix.
//
// A run reads each file once and parses it at most once for all rules; files
// that hold none of the strings a condition cannot match without are not looked
// at. Results do not depend on the number of CPUs or on timing.
//
// Source is understood by syntax: names are resolved by imports, scopes and the
// project's own declarations, dependencies by the build files alone. The
// package compiles nothing, runs no build tool, uses no network and writes no
// file. Where that makes it differ from Konveyor's analyzer is listed in
// docs/konveyor.md.
package konveyor
