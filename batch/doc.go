// Package batch is the headless run: it starts a server as a child, gives it
// incidents, and shows or applies what the server proposes, with one row per
// incident to report.
//
// Call [Run]. It drives the server over the wire only, by the methods of
// docs/protocol.md, as any other program could: whatever a batch can do, a
// client can. By default it writes nothing; with [Options.Apply] it approves
// proposals by a [Policy], each by the hashes of the bytes it saw. A run that
// was killed is continued by [Options.Resume]: the server's session is durable,
// requests are repeated under the same id, and a proposal that was applied is
// never applied again.
//
// The package never writes into the workspace; the server does, for an approval.
package batch
