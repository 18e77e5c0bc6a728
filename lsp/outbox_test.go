package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kaiak/kaiak/kaiak"
)

// bodies returns the bodies of the frames in a stream.
func bodies(t *testing.T, stream []byte) []string {
	t.Helper()
	r := newFrameReader(bytes.NewReader(stream))
	var out []string
	for {
		body, bad, err := r.next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		out = append(out, string(body))
	}
}

// TestOutboxCoalesces checks that of the frames under one key the newest is
// written, in the place of the first that waited.
func TestOutboxCoalesces(t *testing.T) {
	var written bytes.Buffer
	o := newOutbox(&written)
	for _, m := range []struct{ key, body string }{
		{"", "1"}, {"diagnostics a", "old"}, {"", "2"}, {"diagnostics b", "b"}, {"diagnostics a", "new"}, {"", "3"},
	} {
		if err := o.send(m.key, []byte(m.body)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() { done <- o.run() }()
	o.close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(bodies(t, written.Bytes()), " "); got != "1 new 2 b 3" {
		t.Errorf("wrote %s", got)
	}
	if err := o.send("", []byte("late")); !errors.Is(err, errClosed) {
		t.Errorf("sending after the end: %v", err)
	}
}

// TestOutboxLimit checks that what waits is bounded, and that one message that
// is larger than the bound still passes.
func TestOutboxLimit(t *testing.T) {
	o := newOutbox(io.Discard)
	o.limit = 100
	if err := o.send("", make([]byte, 1000)); err != nil {
		t.Errorf("one large message: %v", err)
	}
	if err := o.send("", []byte("x")); !errors.Is(err, errStalled) {
		t.Errorf("beyond the limit: %v", err)
	}
}

// TestClientStopsReading checks the policy for a client that no longer reads:
// what is sent never blocks, and past the limit the connection ends.
func TestClientStopsReading(t *testing.T) {
	e := newTestEngine()
	blocked := make(chan time.Duration, 1)
	e.on("kaiak/flood", func(ctx context.Context, front kaiak.Front, _ json.RawMessage) (any, error) {
		text := strings.Repeat("x", 1<<20)
		begun := time.Now()
		for range 2 * outboxLimit >> 20 {
			front.Notify("kaiak/stream/ai_response", map[string]string{"text": text})
		}
		blocked <- time.Since(begun)
		return nil, nil
	})
	p := dial(t, e)
	p.initialize()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"kaiak/flood"}`)
	select {
	case took := <-blocked:
		t.Logf("128 MiB were taken or refused in %v", took)
	case <-time.After(patience):
		t.Fatal("a client that does not read blocks the engine")
	}
	select {
	case err := <-p.done:
		p.done <- err
		if !errors.Is(err, errStalled) {
			t.Errorf("the connection ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the connection did not end")
	}
}
