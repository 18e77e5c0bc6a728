package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "a b?c%20#", "state")
	s := open(t, dir)
	check(t, s.Put(t.Context(), Sessions, Record{ID: "s"}))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v, want 0700", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	check(t, err)
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		check(t, err)
		names = append(names, e.Name())
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, want 0600", e.Name(), info.Mode())
		}
	}
	if want := []string{"kaiak.db", "kaiak.db-shm", "kaiak.db-wal"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Run("folder of others", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("no permission bits")
		}
		dir := t.TempDir()
		check(t, os.Chmod(dir, 0o777))
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "others may write") {
			t.Error(err)
		}
	})
	t.Run("not a database", func(t *testing.T) {
		dir := t.TempDir()
		check(t, os.WriteFile(filepath.Join(dir, fileName), []byte(strings.Repeat("not SQLite ", 1000)), 0o600))
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "not a database") {
			t.Error(err)
		}
	})
	t.Run("newer", func(t *testing.T) {
		dir := t.TempDir()
		check(t, open(t, dir).Update(t.Context(), Durable, func(tx *Tx) error {
			_, err := tx.exec("PRAGMA user_version = 999")
			return err
		}))
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "newer version of Kaiak") {
			t.Error(err)
		}
	})
	t.Run("another program's", func(t *testing.T) {
		dir := t.TempDir()
		db, err := sql.Open("sqlite3", filepath.Join(dir, fileName))
		check(t, err)
		_, err = db.Exec("PRAGMA user_version = 1; CREATE TABLE x (y)")
		check(t, err)
		check(t, db.Close())
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Error(err)
		}
	})
}

func TestDefaultDir(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("KAIAK_STATE_DIR", "")
	if got, err := DefaultDir(); err != nil || got != filepath.Join(dir, "kaiak") {
		t.Error(got, err)
	}
	t.Setenv("KAIAK_STATE_DIR", filepath.Join(dir, "mine"))
	if got, err := DefaultDir(); err != nil || got != filepath.Join(dir, "mine") {
		t.Error(got, err)
	}
}

func TestRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	want := Record{ID: "p1", SessionID: "s1", RequestID: "r1", ParentID: "p0", Scope: "/w", State: "pending", Created: at, Updated: at.Add(time.Second), Data: []byte(`{"a":1}`)}
	check(t, s.Put(ctx, Proposals, want))
	again := open(t, dir) // as another process would
	got, err := again.Get(ctx, Proposals, "p1")
	check(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := again.Get(ctx, Requests, "p1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another kind: %v", err)
	}
	if was, err := again.Delete(ctx, Proposals, "p1"); !was || err != nil {
		t.Error(was, err)
	}
	if _, err := s.Get(ctx, Proposals, "p1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
}

func TestMoveHasOneWinner(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	ctx := t.Context()
	check(t, s.Put(ctx, Interactions, Record{ID: "i", State: "pending", Data: []byte("{}")}))
	var wins sync.Map
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			st := []*Store{s, other}[n%2]
			won, err := st.Move(ctx, Interactions, "i", []string{"pending"}, fmt.Sprint("answered ", n), at, nil)
			if err != nil {
				t.Error(err)
			}
			if won {
				wins.Store(n, true)
			}
		})
	}
	wg.Wait()
	got, err := s.Get(ctx, Interactions, "i")
	check(t, err)
	count := 0
	wins.Range(func(n, _ any) bool {
		count++
		if got.State != fmt.Sprint("answered ", n) {
			t.Errorf("%v won, the state is %q", n, got.State)
		}
		return true
	})
	if count != 1 || string(got.Data) != "{}" {
		t.Errorf("%d winners, data %s", count, got.Data)
	}
}

func TestListPages(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	check(t, s.Update(ctx, Quick, func(tx *Tx) error {
		for i := range 25 {
			r := Record{ID: fmt.Sprintf("x%02d", i), SessionID: fmt.Sprint("s", i%2), State: []string{"a", "b", "c"}[i%3], Created: at.Add(time.Duration(i/4) * time.Second)}
			if err := tx.Put(Requests, r); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, newest := range []bool{false, true} {
		f := Filter{SessionID: "s1", States: []string{"a", "c"}, Newest: newest, Limit: 3}
		var got []string
		for pages := 0; ; pages++ {
			recs, next, err := s.List(ctx, Requests, f)
			check(t, err)
			for _, r := range recs {
				got = append(got, r.ID)
			}
			if next == "" {
				break
			}
			f.After = next
		}
		want := []string{"x03", "x05", "x09", "x11", "x15", "x17", "x21", "x23"}
		if newest {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("newest %v: %v, want %v", newest, got, want)
		}
	}
	if _, _, err := s.List(ctx, Requests, Filter{After: "nonsense"}); !errors.Is(err, ErrCursor) {
		t.Error(err)
	}
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	boom := errors.New("boom")
	err := s.Update(ctx, Durable, func(tx *Tx) error {
		check(t, tx.Put(Sessions, Record{ID: "s"}))
		check(t, tx.Append("s", &Event{Method: "m"}))
		return boom
	})
	if !errors.Is(err, boom) {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Update(ctx, Durable, func(tx *Tx) error {
			check(t, tx.Put(Sessions, Record{ID: "s"}))
			panic("in the middle")
		})
	}()
	if _, err := s.Get(ctx, Sessions, "s"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	check(t, s.Append(ctx, "s", &Event{Method: "m"}))
	if last, err := s.LastSequence(ctx, "s"); last != 1 || err != nil {
		t.Errorf("a failed write took a sequence number: %d %v", last, err)
	}
}

func TestDeleteSession(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	check(t, s.Update(ctx, Durable, func(tx *Tx) error {
		for _, id := range []string{"s1", "s2"} {
			check(t, tx.Put(Sessions, Record{ID: id}))
			check(t, tx.Put(Requests, Record{ID: "r" + id, SessionID: id}))
			check(t, tx.Append(id, &Event{Method: "m"}))
			check(t, tx.PutArtifact(Artifact{ID: "a" + id, SessionID: id, Data: []byte("x")}))
		}
		return tx.DeleteSession("s1")
	}))
	for id, want := range map[string]int{"s1": 0, "s2": 1} {
		events, err := s.Events(ctx, id, 0, "", 0)
		check(t, err)
		requests, _, err := s.List(ctx, Requests, Filter{SessionID: id})
		check(t, err)
		artifacts, err := s.Artifacts(ctx, id)
		check(t, err)
		if len(events) != want || len(requests) != want || len(artifacts) != want {
			t.Errorf("%s: %d events, %d requests, %d artifacts, want %d each", id, len(events), len(requests), len(artifacts), want)
		}
	}
}

func TestBlobsLiveAsLongAsTheirOwners(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	var hash, empty string
	check(t, s.Update(ctx, Durable, func(tx *Tx) (err error) {
		if hash, err = tx.PutBlob("a", []byte("text")); err != nil {
			return err
		}
		if empty, err = tx.PutBlob("a", nil); err != nil {
			return err
		}
		_, err = tx.PutBlob("b", []byte("text"))
		return err
	}))
	release := func(owner string) {
		check(t, s.Update(ctx, Durable, func(tx *Tx) error { return tx.ReleaseBlobs(owner) }))
	}
	if data, err := s.Blob(ctx, empty); err != nil || data == nil || len(data) != 0 {
		t.Errorf("empty blob: %v %v", data, err)
	}
	release("a")
	if data, err := s.Blob(ctx, hash); err != nil || string(data) != "text" {
		t.Errorf("b still needs it: %q %v", data, err)
	}
	if _, err := s.Blob(ctx, empty); !errors.Is(err, ErrNotFound) {
		t.Errorf("nobody needs it: %v", err)
	}
	release("b")
	if _, err := s.Blob(ctx, hash); !errors.Is(err, ErrNotFound) {
		t.Errorf("nobody needs it: %v", err)
	}
	err := s.Update(ctx, Durable, func(tx *Tx) error { _, err := tx.PutBlob("a", make([]byte, MaxBlob+1)); return err })
	if err == nil {
		t.Error("a blob over the cap was kept")
	}
}

func TestDamagedBlobIsReported(t *testing.T) {
	s := open(t, t.TempDir())
	var hash string
	check(t, s.Update(t.Context(), Durable, func(tx *Tx) (err error) {
		if hash, err = tx.PutBlob("a", []byte("text")); err == nil {
			_, err = tx.exec("UPDATE blobs SET data = 'tent'")
		}
		return err
	}))
	if _, err := s.Blob(t.Context(), hash); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

func TestPurgeJournal(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	check(t, s.Update(ctx, Durable, func(tx *Tx) error {
		for i, state := range []string{"committed", "intent", "committed", "committed"} {
			id := fmt.Sprint("j", i)
			when := at.Add(time.Duration(i) * time.Hour)
			check(t, tx.Put(Journal, Record{ID: id, State: state, Created: when, Updated: when}))
			if _, err := tx.PutBlob(id, []byte(strings.Repeat(id, 50))); err != nil {
				return err
			}
		}
		return nil
	}))
	left := func() (ids []string) {
		recs, _, err := s.List(ctx, Journal, Filter{})
		check(t, err)
		for _, r := range recs {
			ids = append(ids, r.ID)
		}
		return ids
	}
	n, err := s.PurgeJournal(ctx, []string{"committed"}, at.Add(time.Minute), 1<<30)
	if err != nil || n != 1 || !slices.Equal(left(), []string{"j1", "j2", "j3"}) {
		t.Fatal(n, err, left())
	}
	n, err = s.PurgeJournal(ctx, []string{"committed"}, at, 200)
	if err != nil || n != 1 || !slices.Equal(left(), []string{"j1", "j3"}) {
		t.Fatal(n, err, left())
	}
	if u, err := s.Usage(ctx); err != nil || u.Blobs != 2 || u.BlobBytes != 200 {
		t.Error(u, err)
	}
}

func TestSettingsAndOutcomes(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	check(t, s.SetSetting(ctx, "/w", "engine", []byte(`"model"`)))
	check(t, s.SetSetting(ctx, "/w", "trust", []byte(`true`)))
	check(t, s.SetSetting(ctx, "/w", "trust", nil))
	if v, err := s.Setting(ctx, "/w", "engine"); err != nil || string(v) != `"model"` {
		t.Error(string(v), err)
	}
	if _, err := s.Setting(ctx, "/other", "engine"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	all, err := s.Settings(ctx, "/w")
	if err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	for i := range 5 {
		check(t, s.CountOutcome(ctx, "recipe", "r1", "R1", i != 2))
	}
	check(t, s.CountOutcome(ctx, "model", "r1", "L1", true))
	got, err := s.Outcomes(ctx, "recipe")
	check(t, err)
	if diff := cmp.Diff([]Outcome{{"recipe", "r1", "R1", 5, 4}}, got); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Outcomes(ctx, ""); len(got) != 2 || err != nil {
		t.Error(got, err)
	}
}

func TestArtifacts(t *testing.T) {
	s := open(t, t.TempDir())
	want := Artifact{ID: "a", SessionID: "s", RequestID: "r", Name: "build", MediaType: "text/plain", Created: at, Data: []byte("out")}
	check(t, s.PutArtifact(t.Context(), want))
	want.Size = 3
	got, err := s.Artifact(t.Context(), "a")
	check(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	want.Data = nil
	list, err := s.Artifacts(t.Context(), "s")
	check(t, err)
	if diff := cmp.Diff([]Artifact{want}, list); diff != "" {
		t.Error(diff)
	}
}
