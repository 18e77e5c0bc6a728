// Package wirecheck reads every message between a client and the server in
// tests and finds what the server does wrong on the wire.
//
// Call [New] first, feed it every message with [Checker.ToServer] and
// [Checker.FromServer] in the order in which they pass, and ask for the faults
// with [Checker.Finish] when the connection has ended. It checks the shape of
// every message of the server (members that do not exist, required ones that
// are missing, values of the wrong kind) and the protocol around them: nothing
// but what LSP allows before the initialize answer, every request answered once,
// no id twice, every progress begun and ended once.
//
// Shapes are judged by go.lsp.dev's types, in addition by the LSP metamodel
// where [Options.Metamodel] gives it; kaiak/stream/* by the service's own types,
// and results of kaiak/* by the operation table in [Options.Results]. The package judges the server only; what a test's client sends is its
// own business.
package wirecheck
