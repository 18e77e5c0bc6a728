// Package modelserver is a scripted stand-in for an OpenAI-compatible model
// endpoint, over real sockets on loopback, for tests and examples.
//
// Call [New] in a test, or [Start] elsewhere, with a [Script]: a list of steps,
// each of which says what request it expects and what it replies, down to the
// bytes, how they are split, where the server stalls and how it hangs up. Steps
// are served in order; a request that no step expects fails the test, and so
// does a step that nobody asked for ([Server.Check]).
//
// A stall is a named gate that the test opens ([Server.Release]), never a sleep.
package modelserver
