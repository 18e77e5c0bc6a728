// Package store is the durable state: one SQLite database (WAL) under the
// user's state folder, for sessions, events, requests, proposals, interactions,
// the apply journal with its before-images, and the audit log.
//
// Call [Open] first. A row is in the file before a method returns; methods
// named as commit points are on the disk. Several processes may have the same
// database open. The package knows nothing of what its rows mean to the layers
// above it.
package store
