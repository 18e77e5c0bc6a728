// Package client is the client's side of the wire: it starts a server as a
// child process or dials its socket, performs the LSP handshake, calls methods
// and hears notifications in the order in which they were sent.
//
// Call [Start], [Dial] or [New] first and end with [Client.Shutdown]; [Call] is
// a typed request. Errors of the server arrive as [*Error] with code, kind and
// data.
//
// The package knows the wire and nothing of the server behind it: it is for
// programs that drive the server, and for tests.
package client
