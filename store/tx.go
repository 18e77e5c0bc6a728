package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Durability says what a write survives when it has returned.
type Durability int

const (
	// Quick survives the death of every process, but not of the machine: the
	// file system may lose the last moments. It costs microseconds.
	Quick Durability = iota

	// Durable survives the death of the machine, and takes every earlier Quick
	// write to the disk with it.
	Durable
)

// A writer is a connection of its own with its statements.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts *stmtCache
}

func newWriter(ctx context.Context, file, synchronous string) (*writer, error) {
	db, err := sql.Open("sqlite3", dsn(file, synchronous))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	w := &writer{db, conn, &stmtCache{prepare: conn.PrepareContext}}
	// A checkpoint waits for the disk: let it come every 16 MiB.
	if _, err := conn.ExecContext(ctx, "PRAGMA wal_autocheckpoint = 4096"); err != nil {
		db.Close()
		return nil, err
	}
	return w, nil
}

func (w *writer) exec(query string) error {
	st, err := w.stmts.get(query)
	if err != nil {
		return err
	}
	_, err = st.Exec()
	return err
}

// stmtCache prepares each statement once.
type stmtCache struct {
	prepare func(context.Context, string) (*sql.Stmt, error)
	mu      sync.Mutex // guards stmts
	stmts   map[string]*sql.Stmt
}

func (c *stmtCache) get(query string) (*sql.Stmt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.stmts[query]; st != nil {
		return st, nil
	}
	st, err := c.prepare(context.Background(), query)
	if err != nil {
		return nil, err
	}
	if c.stmts == nil {
		c.stmts = map[string]*sql.Stmt{}
	}
	c.stmts[query] = st
	return st, nil
}

// reader has the methods that only read; [Store] and [Tx] both are one.
type reader struct{ stmts *stmtCache }

func (r reader) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := r.stmts.get(query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

func (r reader) scanRow(ctx context.Context, query string, args []any, dest ...any) error {
	st, err := r.stmts.get(query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(dest...)
}

// A Tx is a write under way: it sees its own changes, and all of them come to
// be together or not at all. It is used by one goroutine, until fn returns.
//
// Its methods take no context: a write that has begun is finished. Those that
// read take one, as on [Store].
type Tx struct{ reader }

func (tx *Tx) exec(query string, args ...any) (sql.Result, error) {
	st, err := tx.stmts.get(query)
	if err != nil {
		return nil, err
	}
	return st.Exec(args...)
}

// Update runs fn as one write. When fn returns an error nothing has changed.
// fn must not call methods of the Store, and should not wait for anything:
// every other writer waits for it.
func (s *Store) Update(ctx context.Context, d Durability, fn func(*Tx) error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("state: closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w := s.quick
	if d == Durable {
		w = s.durable
	}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		if strings.Contains(err.Error(), "database is locked") { // SQLITE_BUSY; the driver's type needs cgo
			return fmt.Errorf("state in %s: another process has been writing for %d s: %w", s.dir, busyMillis/1000, err)
		}
		return fmt.Errorf("state in %s: %w", s.dir, err)
	}
	done := false
	defer func() {
		if !done { // fn failed or panicked
			// After some errors, as on a full disk, SQLite has done so by itself.
			if e := w.exec("ROLLBACK"); e != nil && err != nil && !strings.Contains(e.Error(), "no transaction is active") {
				err = errors.Join(err, e)
			}
		}
	}()
	if err := fn(&Tx{reader{w.stmts}}); err != nil {
		return err
	}
	if err := w.exec("COMMIT"); err != nil {
		return fmt.Errorf("state in %s: %w", s.dir, err)
	}
	done = true
	return nil
}
