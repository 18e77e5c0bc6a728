package cassette_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/llm/cassette"
	"github.com/kaiak/kaiak/internal/modelserver"
)

func client(t *testing.T, url string, c *cassette.Cassette) *llm.Client {
	t.Helper()
	cl, err := llm.New(llm.Profile{BaseURL: url, Model: "m", Key: "sk-canary-key", Proxy: "none"}, llm.Options{Transport: c.Wrap, Jitter: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func open(t *testing.T, mode cassette.Mode, dir string) *cassette.Cassette {
	t.Helper()
	c, err := cassette.Open(mode, dir, func(s string) string { return strings.ReplaceAll(s, "canary-secret", "⟦hidden⟧") })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(cl *llm.Client, text string) (string, error) {
	resp, err := cl.Chat(context.Background(), llm.Request{Messages: []llm.Message{llm.User(text)}}, nil)
	if err != nil {
		return "", err
	}
	return resp.Text, nil
}

func TestRecordAndReplay(t *testing.T) {
	dir := t.TempDir()
	s := modelserver.New(t, modelserver.Script{Steps: []modelserver.Step{
		{Reply: modelserver.Reply{Text: "one with a canary-secret"}},
		{Reply: modelserver.Reply{Text: "two"}},
		{Reply: modelserver.Reply{Status: 400, Frames: []modelserver.Frame{{Raw: `{"error":{"message":"no"}}`}}}},
	}})
	rec := open(t, cassette.Record, dir)
	cl := client(t, s.URL, rec)
	for _, q := range []string{"first canary-secret", "second", "third"} {
		_, _ = ask(cl, q) // the third fails, and that is recorded, too
	}
	cl.Close()
	if err := rec.Err(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != 3 {
		t.Fatalf("%d recordings", len(files))
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "canary") {
			t.Errorf("%s holds a secret:\n%s", f, text)
		}
		if info, _ := os.Stat(f); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f, info.Mode())
		}
	}

	// Another address, another order, nobody listens there.
	cl = client(t, "http://127.0.0.1:1/v1", open(t, cassette.Replay, dir))
	for q, want := range map[string]string{"second": "two", "first canary-secret": "one with a ⟦hidden⟧"} {
		for range 2 { // as often as one likes
			if got, err := ask(cl, q); err != nil || got != want {
				t.Errorf("%s: %q, %v", q, got, err)
			}
		}
	}
	if _, err := ask(cl, "third"); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("third: %v", err)
	}
	_, err := ask(cl, "seconds later")
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindReplayMiss || e.Attempts != 1 {
		t.Fatalf("error = %v", err)
	}
	for _, want := range []string{"not recorded", "messages.0.content", `recorded "second", asked "seconds later"`} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("error %q lacks %q", e, want)
		}
	}
}

func TestCutReplyIsNotRecorded(t *testing.T) {
	dir := t.TempDir()
	s := modelserver.New(t, modelserver.Script{Steps: []modelserver.Step{{Reply: modelserver.Reply{Frames: []modelserver.Frame{
		{JSON: modelserver.Chunk(map[string]any{"content": "x"}, "")}, {Wait: "gate"},
	}}}}})
	cl := client(t, s.URL, open(t, cassette.Record, dir))
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-s.Reached("gate"); cancel() }()
	if _, err := cl.Chat(ctx, llm.Request{Messages: []llm.Message{llm.User("x")}}, nil); err == nil {
		t.Fatal("no error")
	}
	cl.Close()
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
		t.Errorf("recorded %v", files)
	}
}

func TestDamagedRecordingsAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":       "{",
		"other version": `{"schema":"x"}`,
		"changed body":  `{"schema":"kaiak-cassette/1","key":"k","response":{"status":200,"body":"x","sha256":"00"}}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := cassette.Open(cassette.Replay, dir, nil); err == nil || !strings.Contains(err.Error(), "a.json") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	if _, err := cassette.Open(cassette.Replay, filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a folder that is not there is replayed")
	}
	if _, err := cassette.Open("sometimes", t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "off, record and replay") {
		t.Errorf("error = %v", err)
	}
}

func TestMissWithEmptyTape(t *testing.T) {
	cl := client(t, "http://127.0.0.1:1/v1", open(t, cassette.Replay, t.TempDir()))
	if _, err := ask(cl, "x"); err == nil || !strings.Contains(err.Error(), "no recording that is like it") {
		t.Errorf("error = %v", err)
	}
}
