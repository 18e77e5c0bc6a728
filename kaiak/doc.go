// Package kaiak is the service behind every front: the operation table,
// sessions, requests, proposals, interactions, events, limits and error codes.
//
// Call [New] first; a front then opens a [Client] per connection, reports the
// editor's documents to it in the order of the wire, and projects [Operations]
// onto its own wire by [Client.Call]. The package takes and gives plain structs
// with the contract's field names. It knows nothing of JSON-RPC framing, LSP
// types or any transport.
//
// A session holds requests; a request works on incidents and makes proposals; a
// proposal is changes to files, bound to their exact bytes, with the hunks in
// which it can be accepted. An interaction asks about one. Only an explicit
// decision takes a proposal out of pending, each decision is carried out once,
// and files change by [workspace.Workspace.Apply] alone.
//
// Every change of state is stored together with the event that tells of it,
// and the event is sent only then ([Event]): what a client was told is true
// after a crash, and can be replayed. What a process leaves undone when it dies
// is settled by the next one that opens the workspace.
package kaiak
