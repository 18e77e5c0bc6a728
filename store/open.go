package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

// fileName is the database in the state folder.
const fileName = "kaiak.db"

// busyMillis is how long a write waits for another process's write.
const busyMillis = 10_000

// ErrNotFound says that there is no such row.
var ErrNotFound = errors.New("not found")

// A Store is one open database. It is safe for concurrent use.
type Store struct {
	reader
	dir   string
	reads *sql.DB

	mu      sync.Mutex // held during a write: SQLite has one writer, and waiting here is fairer than its retries
	quick   *writer    // synchronous=NORMAL
	durable *writer    // synchronous=FULL
	closed  bool
}

// DefaultDir returns the state folder: $KAIAK_STATE_DIR, else
// $XDG_STATE_HOME/kaiak, else the user's usual place for such things.
func DefaultDir() (string, error) {
	if dir := os.Getenv("KAIAK_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "kaiak"), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir() // %LocalAppData%
		if err != nil {
			return "", fmt.Errorf("no state folder: %w; set KAIAK_STATE_DIR", err)
		}
		return filepath.Join(dir, "kaiak"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no state folder: %w; set KAIAK_STATE_DIR", err)
	}
	return filepath.Join(home, ".local", "state", "kaiak"), nil
}

// Open opens the database in the folder dir, "" for [DefaultDir], and creates
// both when they are missing (0700 and 0600). A database of an older version is
// migrated; one of a newer version is an error.
func Open(dir string) (*Store, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultDir(); err != nil {
			return nil, err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, fileName)
	// SQLite would create it, and the files beside it, with the umask's mode.
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	f.Close()

	s := &Store{dir: dir}
	if err := s.connect(file); err != nil {
		err = errors.Join(err, s.Close())
		return nil, fmt.Errorf("state in %s cannot be opened: %w; move that file away to start anew, or set KAIAK_STATE_DIR to another folder", file, err)
	}
	return s, nil
}

// makeDir makes the state folder, or checks the one that is there: whoever may
// write in it could exchange the database.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state folder: %w; set KAIAK_STATE_DIR to another one", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("state folder %s: others may write in it (mode %v): run chmod 700 on it, or set KAIAK_STATE_DIR to another one",
			dir, info.Mode().Perm())
	}
	return nil
}

func (s *Store) connect(file string) error {
	ctx := context.Background()
	var err error
	if s.durable, err = newWriter(ctx, file, "FULL"); err != nil {
		return err
	}
	if err := migrate(ctx, s.durable); err != nil {
		return err
	}
	if s.quick, err = newWriter(ctx, file, "NORMAL"); err != nil {
		return err
	}
	if s.reads, err = sql.Open("sqlite3", dsn(file, "NORMAL")+"&_query_only=true"); err != nil {
		return err
	}
	s.reads.SetMaxOpenConns(max(4, runtime.NumCPU()))
	s.reads.SetMaxIdleConns(4)
	s.reader = reader{&stmtCache{prepare: s.reads.PrepareContext}}
	return nil
}

func dsn(file, synchronous string) string {
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()}).String() +
		fmt.Sprintf("?_busy_timeout=%d&_journal_mode=WAL&_synchronous=%s", busyMillis, synchronous)
}

// Dir returns the state folder.
func (s *Store) Dir() string { return s.dir }

// Close waits for the write that is under way and closes the database.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.reads != nil {
		errs = append(errs, s.reads.Close())
	}
	for _, w := range []*writer{s.quick, s.durable} {
		if w != nil {
			errs = append(errs, w.db.Close())
		}
	}
	return errors.Join(errs...)
}

// notFound turns the driver's "no rows" into ErrNotFound.
func notFound(err error, what, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s %q: %w", what, id, ErrNotFound)
	}
	return fmt.Errorf("%s %q: %w", what, id, err)
}
