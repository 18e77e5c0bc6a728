package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Kind is one family of records; each is a table.
type Kind string

// The kinds of record.
const (
	Sessions     Kind = "sessions"
	Requests     Kind = "requests"
	Proposals    Kind = "proposals"
	Interactions Kind = "interactions"
	Permissions  Kind = "permissions"
	Journal      Kind = "journal" // sets that are being applied, were applied or undone
)

// A Record is one row: the columns it can be found by, and the JSON that only
// the layer above understands. Columns that mean nothing to it stay empty.
type Record struct {
	ID        string
	SessionID string
	RequestID string
	ParentID  string // what it came from: a forked session, the proposal it replaces, the set it undoes
	Scope     string // what it is about: the workspace
	State     string
	Created   time.Time // kept to the microsecond, in UTC
	Updated   time.Time
	Data      []byte // JSON
}

const recordColumns = "id, session_id, request_id, parent_id, scope, state, created, updated, data"

func scanRecord(row interface{ Scan(...any) error }) (Record, error) {
	var r Record
	var created, updated int64
	err := row.Scan(&r.ID, &r.SessionID, &r.RequestID, &r.ParentID, &r.Scope, &r.State, &created, &updated, &r.Data)
	r.Created, r.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	return r, err
}

// Get returns the record with the given id, or an error that is [ErrNotFound].
func (r reader) Get(ctx context.Context, kind Kind, id string) (Record, error) {
	st, err := r.stmts.get("SELECT " + recordColumns + " FROM " + string(kind) + " WHERE id = ?")
	if err != nil {
		return Record{}, err
	}
	rec, err := scanRecord(st.QueryRowContext(ctx, id))
	if err != nil {
		return Record{}, notFound(err, string(kind), id)
	}
	return rec, nil
}

// A Filter selects records. Empty fields select everything.
type Filter struct {
	SessionID string
	RequestID string
	ParentID  string
	Scope     string
	States    []string
	Newest    bool   // newest first; else oldest first
	After     string // cursor that a List with the same filter returned
	Limit     int    // at most so many; 0: all
}

// List returns the records that f selects, ordered by creation and id, and the
// cursor for the rest, "" when there is none.
func (r reader) List(ctx context.Context, kind Kind, f Filter) (records []Record, next string, err error) {
	var where []string
	var args []any
	and := func(cond string, values ...any) {
		where = append(where, cond)
		args = append(args, values...)
	}
	for _, c := range []struct{ column, value string }{
		{"session_id", f.SessionID}, {"request_id", f.RequestID}, {"parent_id", f.ParentID}, {"scope", f.Scope},
	} {
		if c.value != "" {
			and(c.column+" = ?", c.value)
		}
	}
	if len(f.States) > 0 {
		states := make([]any, len(f.States))
		for i, s := range f.States {
			states[i] = s
		}
		and("state IN (?"+strings.Repeat(", ?", len(states)-1)+")", states...)
	}
	order, cmp := "ASC", ">"
	if f.Newest {
		order, cmp = "DESC", "<"
	}
	if f.After != "" {
		created, id, err := parseCursor(f.After)
		if err != nil {
			return nil, "", err
		}
		and("(created, id) "+cmp+" (?, ?)", created, id)
	}
	query := "SELECT " + recordColumns + " FROM " + string(kind)
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	query += " ORDER BY created " + order + ", id " + order
	if f.Limit > 0 {
		query += " LIMIT ?"
		args = append(args, f.Limit+1)
	}
	rows, err := r.query(ctx, query, args...)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", kind, err)
	}
	defer rows.Close()
	for rows.Next() {
		rec, err := scanRecord(rows)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", kind, err)
		}
		records = append(records, rec)
	}
	if err := rows.Err(); err != nil {
		return nil, "", fmt.Errorf("%s: %w", kind, err)
	}
	if f.Limit > 0 && len(records) > f.Limit {
		records = records[:f.Limit]
		last := records[len(records)-1]
		next = strconv.FormatInt(last.Created.UnixMicro(), 36) + "." + last.ID
	}
	return records, next, nil
}

// ErrCursor says that a cursor did not come from List.
var ErrCursor = fmt.Errorf("cursor is not one that a list returned")

func parseCursor(s string) (created int64, id string, err error) {
	n, id, ok := strings.Cut(s, ".")
	created, err = strconv.ParseInt(n, 36, 64)
	if !ok || err != nil {
		return 0, "", ErrCursor
	}
	return created, id, nil
}

// Put inserts a record, or replaces the one with its id.
func (tx *Tx) Put(kind Kind, r Record) error {
	_, err := tx.exec("INSERT OR REPLACE INTO "+string(kind)+" ("+recordColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.ID, r.SessionID, r.RequestID, r.ParentID, r.Scope, r.State, r.Created.UnixMicro(), r.Updated.UnixMicro(), nonNil(r.Data))
	if err != nil {
		return fmt.Errorf("%s %q: %w", kind, r.ID, err)
	}
	return nil
}

// Move changes a record's state from one of from to another, and its data when
// data is not nil. It returns whether this call did it: of several that try to
// move a record out of a state, one wins.
func (tx *Tx) Move(kind Kind, id string, from []string, to string, at time.Time, data []byte) (bool, error) {
	if len(from) == 0 {
		return false, nil
	}
	args := []any{to, at.UnixMicro(), data, id}
	for _, s := range from {
		args = append(args, s)
	}
	res, err := tx.exec("UPDATE "+string(kind)+" SET state = ?, updated = ?, data = coalesce(?, data) WHERE id = ? AND state IN (?"+
		strings.Repeat(", ?", len(from)-1)+")", args...)
	return changed(res, err, kind, id)
}

// Delete removes a record and returns whether it was there.
func (tx *Tx) Delete(kind Kind, id string) (bool, error) {
	res, err := tx.exec("DELETE FROM "+string(kind)+" WHERE id = ?", id)
	return changed(res, err, kind, id)
}

func changed(res sql.Result, err error, kind Kind, id string) (bool, error) {
	if err != nil {
		return false, fmt.Errorf("%s %q: %w", kind, id, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// DeleteSession removes a session with everything that belongs to it: its
// events, requests, proposals, interactions and artifacts. The journal and the
// audit log stay.
func (tx *Tx) DeleteSession(id string) error {
	for _, query := range []string{
		"DELETE FROM sessions WHERE id = ?",
		"DELETE FROM requests WHERE session_id = ?",
		"DELETE FROM proposals WHERE session_id = ?",
		"DELETE FROM interactions WHERE session_id = ?",
		"DELETE FROM artifacts WHERE session_id = ?",
		"DELETE FROM events WHERE session_id = ?",
	} {
		if _, err := tx.exec(query, id); err != nil {
			return fmt.Errorf("session %q: %w", id, err)
		}
	}
	return nil
}

// Put is [Tx.Put], alone and [Durable].
func (s *Store) Put(ctx context.Context, kind Kind, r Record) error {
	return s.Update(ctx, Durable, func(tx *Tx) error { return tx.Put(kind, r) })
}

// Move is [Tx.Move], alone and [Durable].
func (s *Store) Move(ctx context.Context, kind Kind, id string, from []string, to string, at time.Time, data []byte) (won bool, err error) {
	err = s.Update(ctx, Durable, func(tx *Tx) (err error) {
		won, err = tx.Move(kind, id, from, to, at, data)
		return err
	})
	return won, err
}

// Delete is [Tx.Delete], alone and [Durable].
func (s *Store) Delete(ctx context.Context, kind Kind, id string) (was bool, err error) {
	err = s.Update(ctx, Durable, func(tx *Tx) (err error) {
		was, err = tx.Delete(kind, id)
		return err
	})
	return was, err
}

// nonNil keeps empty data from being NULL.
func nonNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
