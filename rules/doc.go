// Package rules finds and rewrites code by rule: ast-grep's rule YAML, the
// pattern matcher behind it, fixes, and the packs that ship with the binary.
//
// Call [Load] first; it compiles rule sources into a [Set], which is immutable
// and safe for concurrent use. [Set.Check] finds matches in one text,
// [Set.Scan] in a tree of files, [Set.Rewrite] turns matches into edits, and
// [Set.ForIncident] finds the rules that can fix an incident somebody else
// reported, [Set.Match] where. [Lint] says what is wrong with rules; package
// ruletest runs their tests.
//
// A file is parsed only when it has the texts that some rule cannot match
// without, once for all rules, and each rule is tried only on nodes of the kinds
// it can begin at. What rules find does not depend on the number of processors.
//
// The package writes nothing but its own [Cache]. A fix that cannot be shown to
// be safe (it overlaps another, drops a node that nobody captured, leaves text
// that does not parse) is refused with its reason, never applied in part.
package rules
