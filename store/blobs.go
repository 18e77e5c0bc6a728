package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// MaxBlob is how many bytes one blob may have.
const MaxBlob = 64 << 20

// PutBlob keeps data under its SHA-256 (lower-case hex) for as long as owner or
// another user of the same bytes is there, and returns the hash.
func (tx *Tx) PutBlob(owner string, data []byte) (string, error) {
	if len(data) > MaxBlob {
		return "", fmt.Errorf("blob of %d bytes: at most %d are kept", len(data), MaxBlob)
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	if _, err := tx.exec("INSERT OR IGNORE INTO blobs (sha256, size, data) VALUES (?, ?, ?)", hash, len(data), nonNil(data)); err != nil {
		return "", fmt.Errorf("blob %s: %w", hash, err)
	}
	if _, err := tx.exec("INSERT OR IGNORE INTO blob_uses (owner, sha256) VALUES (?, ?)", owner, hash); err != nil {
		return "", fmt.Errorf("blob %s: %w", hash, err)
	}
	return hash, nil
}

// ReleaseBlobs says that owner needs its blobs no more. Those that nobody needs
// are gone.
func (tx *Tx) ReleaseBlobs(owner string) error {
	for _, query := range []string{
		`DELETE FROM blobs WHERE sha256 IN (SELECT sha256 FROM blob_uses WHERE owner = ?1)
AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.sha256 = blobs.sha256 AND u.owner <> ?1)`,
		"DELETE FROM blob_uses WHERE owner = ?1",
	} {
		if _, err := tx.exec(query, owner); err != nil {
			return fmt.Errorf("blobs of %q: %w", owner, err)
		}
	}
	return nil
}

// Blob returns the bytes with the given hash, or an error that is
// [ErrNotFound]. Bytes that no longer have their hash are an error.
func (r reader) Blob(ctx context.Context, hash string) ([]byte, error) {
	var data []byte
	if err := r.scanRow(ctx, "SELECT data FROM blobs WHERE sha256 = ?", []any{hash}, &data); err != nil {
		return nil, notFound(err, "blob", hash)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("blob %q is damaged", hash)
	}
	return nonNil(data), nil
}

// Usage is what the store holds.
type Usage struct {
	Blobs     int64 // how many
	BlobBytes int64
	Events    int64
}

// Usage counts what the store holds.
func (r reader) Usage(ctx context.Context) (Usage, error) {
	var u Usage
	err := r.scanRow(ctx, "SELECT (SELECT count(*) FROM blobs), (SELECT coalesce(sum(size), 0) FROM blobs), (SELECT count(*) FROM events)",
		nil, &u.Blobs, &u.BlobBytes, &u.Events)
	return u, err
}

// PurgeJournal forgets the journal entries in one of states that were last
// touched before a time, with the blobs that only they need: the sets can then
// no longer be undone. When the blobs are still more than maxBytes, the oldest
// of the entries go too until they are not. It returns how many went.
func (s *Store) PurgeJournal(ctx context.Context, states []string, before time.Time, maxBytes int64) (int, error) {
	removed := 0
	err := s.Update(ctx, Durable, func(tx *Tx) error {
		entries, _, err := tx.List(ctx, Journal, Filter{States: states})
		if err != nil {
			return err
		}
		usage, err := tx.Usage(ctx)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Updated.Before(before) && usage.BlobBytes <= maxBytes {
				continue
			}
			if _, err := tx.Delete(Journal, e.ID); err != nil {
				return err
			}
			if err := tx.ReleaseBlobs(e.ID); err != nil {
				return err
			}
			removed++
			if usage, err = tx.Usage(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}
