package store

import (
	"context"
	"fmt"
	"time"
)

// An Event is one message of a session's stream. Sequence counts from 1 without
// gaps in each session, across restarts and processes.
type Event struct {
	SessionID string
	Sequence  int64 // given by Append
	RequestID string
	Method    string
	At        time.Time // kept to the microsecond, in UTC
	Data      []byte    // JSON, exactly as it is replayed

	// Encode makes Data once Sequence is known, for events that carry it. It
	// must not use the store. It is nil on events that were read.
	Encode func(sequence int64) ([]byte, error)
}

// Append adds events to one session's stream in their order and sets their
// Sequence, and Data where Encode makes it.
func (tx *Tx) Append(sessionID string, events ...*Event) error {
	if len(events) == 0 {
		return nil
	}
	last, err := tx.LastSequence(context.Background(), sessionID)
	if err != nil {
		return err
	}
	for i, e := range events {
		e.SessionID, e.Sequence = sessionID, last+int64(i)+1
		if e.Encode != nil {
			if e.Data, err = e.Encode(e.Sequence); err != nil {
				return fmt.Errorf("event %s: %w", e.Method, err)
			}
		}
		if _, err := tx.exec("INSERT INTO events (session_id, sequence, request_id, method, at, data) VALUES (?, ?, ?, ?, ?, ?)",
			sessionID, e.Sequence, e.RequestID, e.Method, e.At.UnixMicro(), nonNil(e.Data)); err != nil {
			return fmt.Errorf("event %d of session %q: %w", e.Sequence, sessionID, err)
		}
	}
	return nil
}

// Append is [Tx.Append], alone and [Quick].
func (s *Store) Append(ctx context.Context, sessionID string, events ...*Event) error {
	return s.Update(ctx, Quick, func(tx *Tx) error { return tx.Append(sessionID, events...) })
}

// Events returns the events of a session after a sequence number (0: from the
// start), in order; of one request only when requestID is not empty, and at
// most limit when it is positive.
func (r reader) Events(ctx context.Context, sessionID string, after int64, requestID string, limit int) ([]Event, error) {
	query := "SELECT sequence, request_id, method, at, data FROM events WHERE session_id = ? AND sequence > ?"
	args := []any{sessionID, after}
	if requestID != "" {
		query += " AND request_id = ?"
		args = append(args, requestID)
	}
	query += " ORDER BY sequence"
	if limit > 0 {
		query += " LIMIT ?"
		args = append(args, limit)
	}
	rows, err := r.query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("events of session %q: %w", sessionID, err)
	}
	defer rows.Close()
	var events []Event
	for rows.Next() {
		e := Event{SessionID: sessionID}
		var at int64
		if err := rows.Scan(&e.Sequence, &e.RequestID, &e.Method, &at, &e.Data); err != nil {
			return nil, fmt.Errorf("events of session %q: %w", sessionID, err)
		}
		e.At = time.UnixMicro(at).UTC()
		events = append(events, e)
	}
	return events, rows.Err()
}

// LastSequence returns the number of a session's newest event, 0 for none.
func (r reader) LastSequence(ctx context.Context, sessionID string) (int64, error) {
	var last int64
	if err := r.scanRow(ctx, "SELECT coalesce(max(sequence), 0) FROM events WHERE session_id = ?", []any{sessionID}, &last); err != nil {
		return 0, fmt.Errorf("events of session %q: %w", sessionID, err)
	}
	return last, nil
}
