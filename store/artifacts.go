package store

import (
	"context"
	"fmt"
	"time"
)

// An Artifact is output that is too long for a message: a tool's, a build's.
type Artifact struct {
	ID        string
	SessionID string
	RequestID string
	Name      string
	MediaType string
	Created   time.Time
	Size      int64  // of Data, in bytes; set by the store
	Data      []byte // nil in lists
}

// PutArtifact inserts an artifact, or replaces the one with its id. It has at
// most [MaxBlob] bytes.
func (tx *Tx) PutArtifact(a Artifact) error {
	if len(a.Data) > MaxBlob {
		return fmt.Errorf("artifact %q of %d bytes: at most %d are kept", a.Name, len(a.Data), MaxBlob)
	}
	_, err := tx.exec("INSERT OR REPLACE INTO artifacts (id, session_id, request_id, name, media_type, created, size, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		a.ID, a.SessionID, a.RequestID, a.Name, a.MediaType, a.Created.UnixMicro(), len(a.Data), nonNil(a.Data))
	if err != nil {
		return fmt.Errorf("artifact %q: %w", a.ID, err)
	}
	return nil
}

// PutArtifact is [Tx.PutArtifact], alone and [Quick].
func (s *Store) PutArtifact(ctx context.Context, a Artifact) error {
	return s.Update(ctx, Quick, func(tx *Tx) error { return tx.PutArtifact(a) })
}

// Artifact returns the artifact with the given id, or an error that is
// [ErrNotFound].
func (r reader) Artifact(ctx context.Context, id string) (Artifact, error) {
	a := Artifact{ID: id}
	var created int64
	err := r.scanRow(ctx, "SELECT session_id, request_id, name, media_type, created, size, data FROM artifacts WHERE id = ?", []any{id},
		&a.SessionID, &a.RequestID, &a.Name, &a.MediaType, &created, &a.Size, &a.Data)
	if err != nil {
		return Artifact{}, notFound(err, "artifact", id)
	}
	a.Created, a.Data = time.UnixMicro(created).UTC(), nonNil(a.Data)
	return a, nil
}

// Artifacts lists the artifacts of a session without their data, oldest first.
func (r reader) Artifacts(ctx context.Context, sessionID string) ([]Artifact, error) {
	rows, err := r.query(ctx, "SELECT id, request_id, name, media_type, created, size FROM artifacts WHERE session_id = ? ORDER BY created, id", sessionID)
	if err != nil {
		return nil, fmt.Errorf("artifacts of session %q: %w", sessionID, err)
	}
	defer rows.Close()
	var all []Artifact
	for rows.Next() {
		a := Artifact{SessionID: sessionID}
		var created int64
		if err := rows.Scan(&a.ID, &a.RequestID, &a.Name, &a.MediaType, &created, &a.Size); err != nil {
			return nil, fmt.Errorf("artifacts of session %q: %w", sessionID, err)
		}
		a.Created = time.UnixMicro(created).UTC()
		all = append(all, a)
	}
	return all, rows.Err()
}
