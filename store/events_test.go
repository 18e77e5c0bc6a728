package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEventsAreGapFree(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{open(t, dir), open(t, dir)}
	ctx := t.Context()
	const each = 40
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for n := range each {
				events := []*Event{{RequestID: fmt.Sprint("r", g), Method: "m", At: at}}
				if n%2 == 0 {
					events = append(events, &Event{RequestID: "x", Method: "n", At: at})
				}
				for _, e := range events {
					e.Encode = func(sequence int64) ([]byte, error) {
						return json.Marshal(map[string]any{"sequence": sequence, "g": g, "n": n})
					}
				}
				if err := stores[g%2].Append(ctx, "s", events...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := stores[0].Events(ctx, "s", 0, "", 0)
	check(t, err)
	if len(all) != 6*each*3/2 {
		t.Fatalf("%d events", len(all))
	}
	for i, e := range all {
		var data struct{ Sequence int64 }
		check(t, json.Unmarshal(e.Data, &data))
		if e.Sequence != int64(i+1) || data.Sequence != e.Sequence || !e.At.Equal(at) || e.SessionID != "s" {
			t.Fatalf("event %d is %+v %s", i+1, e, e.Data)
		}
	}
	rest, err := stores[1].Events(ctx, "s", 100, "", 7)
	check(t, err)
	if diff := cmp.Diff(all[100:107], rest); diff != "" {
		t.Error(diff)
	}
	mine, err := stores[1].Events(ctx, "s", 0, "r3", 0)
	check(t, err)
	if len(mine) != each {
		t.Errorf("%d events of r3, want %d", len(mine), each)
	}
}

// Many processes may open a new state folder at the same moment.
func TestOpenAtOnce(t *testing.T) {
	if os.Getenv("KAIAK_TEST_STORE") != "" {
		s, err := Open(os.Getenv("KAIAK_TEST_STORE"))
		check(t, err)
		for range 20 {
			check(t, s.Append(t.Context(), "s", &Event{Method: "m"}))
		}
		check(t, s.Put(t.Context(), Sessions, Record{ID: fmt.Sprint(os.Getpid())}))
		check(t, s.Close())
		return
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOpenAtOnce$")
		cmd.Env = append(os.Environ(), "KAIAK_TEST_STORE="+dir)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	if last, err := s.LastSequence(t.Context(), "s"); last != 80 || err != nil {
		t.Errorf("%d events, want 80; %v", last, err)
	}
	if recs, _, err := s.List(t.Context(), Sessions, Filter{}); len(recs) != 4 || err != nil {
		t.Errorf("%d sessions, want 4; %v", len(recs), err)
	}
}

func BenchmarkAppend(b *testing.B) {
	data := []byte(`{"session_id":"s","request_id":"r","type":"progress","timestamp":"2026-03-04T05:06:07Z","data":{"percentage":50}}`)
	for _, batch := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			s := open(b, b.TempDir())
			for n := 0; n < b.N; n += batch {
				events := make([]*Event, batch)
				for i := range events {
					events[i] = &Event{RequestID: "r", Method: "kaiak/stream/progress", At: at, Data: data}
				}
				if err := s.Append(context.Background(), "s", events...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	s := open(b, b.TempDir())
	events := make([]*Event, 10_000)
	for i := range events {
		events[i] = &Event{Method: "kaiak/stream/progress", At: at, Data: []byte(`{"percentage":50}`)}
	}
	check(b, s.Append(b.Context(), "s", events...))
	for b.Loop() {
		if got, err := s.Events(b.Context(), "s", 9_000, "", 1_000); len(got) != 1_000 || err != nil {
			b.Fatal(len(got), err)
		}
	}
}
