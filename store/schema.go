package store

import (
	"context"
	"fmt"
	"strings"
)

// applicationID marks the file as ours ("Kaia").
const applicationID = 0x4b616961

// migrations bring a database from version i to i+1. What was released is never
// changed, only followed by another.
var migrations = []string{schema1()}

// schema1 is the first schema. The kinds of record share their columns.
func schema1() string {
	var b strings.Builder
	for _, kind := range []Kind{Sessions, Requests, Proposals, Interactions, Permissions, Journal} {
		fmt.Fprintf(&b, `
CREATE TABLE %[1]s (
	id TEXT PRIMARY KEY, session_id TEXT NOT NULL, request_id TEXT NOT NULL, parent_id TEXT NOT NULL,
	scope TEXT NOT NULL, state TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, data BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX %[1]s_session ON %[1]s (session_id, created, id);
CREATE INDEX %[1]s_request ON %[1]s (request_id, created, id);
CREATE INDEX %[1]s_scope ON %[1]s (scope, created, id);
CREATE INDEX %[1]s_created ON %[1]s (created, id);
`, kind)
	}
	b.WriteString(`
CREATE TABLE events (
	session_id TEXT NOT NULL, sequence INTEGER NOT NULL, request_id TEXT NOT NULL, method TEXT NOT NULL,
	at INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (session_id, sequence)
) WITHOUT ROWID;
CREATE INDEX events_request ON events (session_id, request_id, sequence);
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE blob_uses (owner TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (owner, sha256)) WITHOUT ROWID;
CREATE INDEX blob_uses_sha256 ON blob_uses (sha256);
CREATE TABLE audit (sequence INTEGER PRIMARY KEY, prev TEXT NOT NULL, hash TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE settings (scope TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (scope, name)) WITHOUT ROWID;
CREATE TABLE outcomes (
	engine TEXT NOT NULL, rule TEXT NOT NULL, tier TEXT NOT NULL, n INTEGER NOT NULL, k INTEGER NOT NULL,
	PRIMARY KEY (engine, rule, tier)
) WITHOUT ROWID;
CREATE TABLE artifacts (
	id TEXT PRIMARY KEY, session_id TEXT NOT NULL, request_id TEXT NOT NULL, name TEXT NOT NULL, media_type TEXT NOT NULL,
	created INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE INDEX artifacts_session ON artifacts (session_id, created, id);
`)
	return b.String()
}

// migrate brings the database to the newest version, in one step that several
// processes may begin at once.
func migrate(ctx context.Context, w *writer) (err error) {
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = w.conn.ExecContext(ctx, "ROLLBACK") // the first error is the one to tell
		}
	}()
	var version, owner int
	if err := w.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if err := w.conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&owner); err != nil {
		return err
	}
	if version > 0 && owner != applicationID {
		return fmt.Errorf("it is the database of another program")
	}
	if version > len(migrations) {
		return fmt.Errorf("it was written by a newer version of Kaiak (schema %d, this one knows %d)", version, len(migrations))
	}
	if version == len(migrations) {
		_, err = w.conn.ExecContext(ctx, "COMMIT")
		return err
	}
	for ; version < len(migrations); version++ {
		if _, err := w.conn.ExecContext(ctx, migrations[version]); err != nil {
			return fmt.Errorf("migration to schema %d: %w", version+1, err)
		}
	}
	if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, applicationID)); err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, "COMMIT")
	return err
}
