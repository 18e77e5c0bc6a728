// Package kaiak is the service behind every front: the operation table,
// sessions, requests, proposals, interactions, events, limits and error codes.
//
// Call [New] first; a front then opens a [Client] per connection and projects
// [Service.Operations] onto its wire. The package takes and gives plain
// structs with the contract's field names. It knows nothing of JSON-RPC
// framing, LSP types or any transport, and it writes to the workspace only by
// an approval that names the bytes.
package kaiak
