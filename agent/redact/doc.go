// Package redact hides secrets in text before it goes to a model, into a log or
// into a recording.
//
// Make [Rules] once by [New]; they are safe for concurrent use. [Rules.Text] hides
// what it finds; a [Run] does the same with stable numbers, so that the same
// secret has the same placeholder throughout one conversation. [HasPlaceholder]
// tells text that must never be written back into a file.
//
// The detectors are one table of our own: the libraries in this field bring a
// whole scanner (configuration, git history, reporting), while what is needed
// here is a table and a function. A secret of a shape that nobody knows, in a
// place that does not name it, passes: this is a net, not a proof.
package redact
