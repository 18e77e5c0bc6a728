// Package store is the durable state: one SQLite database (WAL) under the
// user's state folder, for sessions, events, requests, proposals, interactions,
// the apply journal with its before-images, and the audit log.
//
// Call [Open] first. Reads are methods of [Store]; writes are methods of [Tx],
// in an [Store.Update], and those that often come alone are methods of Store
// too. When a write returns, every process that has the database open sees it;
// when it was [Durable], it is on the disk as well. Several processes may have
// the same database open.
//
// The package knows nothing of what its rows mean to the layers above it: a row
// has the columns it is found by, and JSON. It reads no clock.
package store
