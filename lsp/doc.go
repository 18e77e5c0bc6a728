// Package lsp is the editor front: it speaks the Language Server Protocol and
// kaiak/* over stdio or a socket, and projects [kaiak.Service] onto it.
//
// Call [Serve] for one client on a pair of streams, or [ListenAndServe] for
// several on a Unix socket. One connection is one server value; what its client
// can do is settled once, in the initialize request.
//
// From the bytes up: frame.go and envelope.go split and judge what comes in,
// outbox.go queues what goes out, conn.go and wire.go dispatch, dispatch.go is
// the table of methods, and then there is one file per family of methods.
//
// The front translates, it never decides: what an incident is, what can be done
// about it, whether an edit may be applied are the service's answers. It never
// writes a file, and it writes nothing but frames to the client.
package lsp
