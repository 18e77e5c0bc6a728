package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kaiak/kaiak/workspace"
)

// patience bounds every wait of the tests; nothing is asserted about time.
const patience = 30 * time.Second

// A sent is one notification that a fake front received.
type sent struct {
	Method string
	Event
	Raw json.RawMessage
}

func (s sent) content(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(s.Content, into); err != nil {
		t.Fatal(err)
	}
}

func (s sent) system() SystemContent {
	var c SystemContent
	if s.Method == StreamSystem {
		_ = json.Unmarshal(s.Content, &c) // the zero content matches nothing
	}
	return c
}

// fakeFront is an editor: it keeps what it is told, and applies edits to its
// buffers as an editor does, by telling of the change.
type fakeFront struct {
	client *Client

	mu      sync.Mutex
	events  []sent
	changed chan struct{} // closed and replaced with every event
	answer  string        // to Ask; "" cannot be asked
	asked   []string
	stale   map[string]int // IncidentsChanged by uri
	refuse  bool           // EditBuffer changes nothing, as a stale editor does
	docs    map[string]int32
}

func newFront() *fakeFront {
	return &fakeFront{changed: make(chan struct{}), stale: map[string]int{}, docs: map[string]int32{}}
}

func (f *fakeFront) Notify(method string, params any) {
	raw := params.(json.RawMessage)
	s := sent{Method: method, Raw: raw}
	if err := json.Unmarshal(raw, &s.Event); err != nil {
		panic(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, s)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeFront) EditBuffer(ctx context.Context, path string, version int32, text []byte, edits []workspace.Edit) error {
	f.mu.Lock()
	refuse := f.refuse
	uri := path
	_, open := f.docs[uri]
	f.docs[uri]++
	next := f.docs[uri]
	f.mu.Unlock()
	if !open {
		return errors.New("not open: " + path)
	}
	if refuse {
		return nil
	}
	// The edits are against one text; told from the end, each fits what the
	// one before left.
	var told []workspace.Edit
	for i := len(edits) - 1; i >= 0; i-- {
		told = append(told, edits[i])
	}
	return f.client.DidChange(uri, next, told)
}

func (f *fakeFront) Ask(ctx context.Context, prompt string, actions []string) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, prompt)
	return f.answer, f.answer != ""
}

func (f *fakeFront) IncidentsChanged(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stale[uri]++
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeFront) Progress(context.Context, string, func()) Progress { return noProgress{} }

type noProgress struct{}

func (noProgress) Report(string, int) {}
func (noProgress) End(string)         {}

// await returns the first event that ok accepts, waiting for it.
func (f *fakeFront) await(t testing.TB, what string, ok func(sent) bool) sent {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	seen := 0
	for {
		f.mu.Lock()
		events, changed := f.events[seen:], f.changed
		seen = len(f.events)
		f.mu.Unlock()
		for _, e := range events {
			if ok(e) {
				return e
			}
		}
		select {
		case <-changed:
		case <-deadline.C:
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, e := range f.events {
				t.Logf("%s", e.Raw)
			}
			t.Fatalf("no %s came", what)
		}
	}
}

// system waits for a system event of a request ("" for any).
func (f *fakeFront) system(t testing.TB, event, requestID string) sent {
	t.Helper()
	return f.await(t, event, func(s sent) bool {
		return s.system().Event == event && (requestID == "" || s.RequestID == requestID)
	})
}

// all returns the events that came so far.
func (f *fakeFront) all() []sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]sent(nil), f.events...)
}

// testRules are the rules of the tests' workspaces.
const testRules = `id: old-call
language: go
severity: warning
message: oldCall is deprecated, use newCall
rule: {pattern: oldCall($A)}
fix: newCall($A)
metadata: {category: mechanical}
---
id: find-only
language: go
severity: info
message: lonely is only found
rule: {pattern: lonely()}
`

// an env is a service with a workspace and a client that knows kaiak/*.
type env struct {
	t       testing.TB
	service *Service
	front   *fakeFront
	client  *Client
	dir     string // the workspace
	state   string
	opts    Options
}

func newEnv(t testing.TB, files map[string]string, change ...func(*Options)) *env {
	t.Helper()
	e := &env{t: t, dir: t.TempDir(), state: t.TempDir()}
	if err := os.Chmod(e.state, 0o700); err != nil {
		t.Fatal(err)
	}
	e.write(".kaiak/rules/test.yml", testRules)
	e.write("go.mod", "module example.com/test\n\ngo 1.22\n")
	for name, text := range files {
		e.write(name, text)
	}
	e.opts = Options{StateDir: e.state, Version: "test"}
	for _, f := range change {
		f(&e.opts)
	}
	e.start()
	t.Cleanup(func() { e.service.Close() })
	return e
}

// start opens the service on the environment's state, as a new process would.
func (e *env) start() {
	e.t.Helper()
	s, err := New(context.Background(), e.opts)
	if err != nil {
		e.t.Fatal(err)
	}
	e.service = s
	e.front, e.client = connect(s, ClientInfo{Name: "test", Interactive: true})
}

func connect(s *Service, info ClientInfo) (*fakeFront, *Client) {
	f := newFront()
	f.client = s.Connect(f, info)
	return f, f.client
}

func (e *env) restart() {
	e.t.Helper()
	if err := e.service.Close(); err != nil {
		e.t.Fatal(err)
	}
	e.start()
}

func (e *env) write(name, text string) {
	e.t.Helper()
	path := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) read(name string) string {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(name)))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

// call runs an operation and returns its error.
func call[R any](c *Client, method string, params any) (R, error) {
	var r R
	raw, err := json.Marshal(params)
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := c.Call(ctx, method, raw)
	if err != nil {
		return r, err
	}
	// Through JSON, as on the wire.
	if raw, err = json.Marshal(result); err == nil {
		err = json.Unmarshal(raw, &r)
	}
	return r, err
}

// must is call for operations that succeed.
func must[R any](t testing.TB, c *Client, method string, params any) R {
	t.Helper()
	r, err := call[R](c, method, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return r
}

// wantError checks an error's number and kind.
func wantError(t testing.TB, err error, code Code, kind string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want %d %s", err, code.Number, code.Kind)
	}
	data := e.WireData()
	if kind == "" {
		kind = code.Kind
	}
	if e.Code.Number != code.Number || data["kind"] != kind {
		t.Fatalf("error %d %v (%v), want %d %s", e.Code.Number, data["kind"], e, code.Number, kind)
	}
	if _, ok := data["retryable"].(bool); !ok {
		t.Errorf("error.data %v says nothing about trying again", data)
	}
	return e
}

type m = map[string]any

func (e *env) session() string {
	e.t.Helper()
	return must[SessionCreateResult](e.t, e.client, "kaiak/session/create", m{"workspace_path": e.dir}).SessionID
}

// incident is one of the old-call rule in a line.
func incident(id, path string, line int) m {
	return m{"id": id, "rule_id": "old-call", "file_path": path, "line_number": line, "severity": "warning", "message": "oldCall is deprecated"}
}

func (e *env) generate(session string, incidents []m, more m) FixGenerateResult {
	e.t.Helper()
	params := m{"session_id": session, "incidents": incidents}
	for k, v := range more {
		params[k] = v
	}
	return must[FixGenerateResult](e.t, e.client, "kaiak/fix/generate", params)
}

// proposals lists a request's proposals.
func (e *env) proposals(requestID string) []ProposalView {
	e.t.Helper()
	return must[ProposalListResult](e.t, e.client, "kaiak/proposal/list", m{"request_id": requestID}).Proposals
}

// checkStream checks what holds for every session: sequences without gaps from
// 1, replay equal to what was sent, one terminal event per request.
func (e *env) checkStream(session string) {
	e.t.Helper()
	var live []sent
	for _, s := range e.front.all() {
		if s.SessionID == session {
			live = append(live, s)
		}
	}
	replay := must[SessionEventsResult](e.t, e.client, "kaiak/session/events", m{"session_id": session, "limit": 1000})
	offset := len(replay.Events) - len(live) // a client that came later heard the rest
	if offset < 0 {
		e.t.Fatalf("%d events were sent, %d are stored", len(live), len(replay.Events))
	}
	terminal, started := map[string]int{}, map[string]bool{}
	for i, stored := range replay.Events {
		var ev Event
		if err := json.Unmarshal(stored.Params, &ev); err != nil {
			e.t.Fatal(err)
		}
		if ev.Sequence != int64(i+1) {
			e.t.Fatalf("event %d has sequence %d", i+1, ev.Sequence)
		}
		if i >= offset && string(live[i-offset].Raw) != string(stored.Params) {
			e.t.Errorf("event %d was sent as\n%s\nand is replayed as\n%s", i+1, live[i-offset].Raw, stored.Params)
		}
		var c SystemContent
		_ = json.Unmarshal(stored.Params, &struct {
			Content *SystemContent `json:"content"`
		}{&c}) // other contents have no event
		switch c.Event {
		case "request_started":
			started[c.RequestID] = true
		case "request_completed":
			terminal[c.RequestID]++
		}
	}
	for id := range started {
		if terminal[id] > 1 {
			e.t.Errorf("request %s has %d terminal events", id, terminal[id])
		}
	}
}

const before = "package p\n\nfunc f() {\n\toldCall(1)\n\toldCall(2)\n\tlonely()\n}\n"
const after = "package p\n\nfunc f() {\n\tnewCall(1)\n\tnewCall(2)\n\tlonely()\n}\n"
