package kaiak

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// Every documented code is produced by what really causes it. The codes of the
// framing (-32700, -32600 for what is no request, -32002 before initialize) are
// the front's, and tested there.
func TestEveryErrorCode(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, "big.go": strings.Repeat("// x\n", 1<<20/5+1)}, func(o *Options) { o.EditTimeout = 50 * time.Millisecond })
	session := e.session()
	one := []m{incident("1", "a.go", 4)}
	try := func(name, method string, params any, code Code, kind string) *Error {
		t.Helper()
		_, err := call[any](e.client, method, params)
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		return wantError(t, err, code, kind)
	}

	try("unknown method", "kaiak/nothing", m{}, MethodNotFound, "")
	if got := try("unknown version", "kaiak/v9/session/create", m{}, MethodNotFound, ""); fmt.Sprint(got.Data["supported_versions"]) != "[1]" {
		t.Errorf("data %v", got.Data)
	}
	for name, params := range map[string]m{
		"missing":       {},
		"wrong type":    {"workspace_path": 7},
		"relative path": {"workspace_path": "src"},
		"not there":     {"workspace_path": filepath.Join(e.dir, "gone")},
		"a file":        {"workspace_path": filepath.Join(e.dir, "a.go")},
		"other scheme":  {"workspace_path": "https://example.com/x"},
		"bad timeout":   {"workspace_path": e.dir, "configuration": m{"timeout": -1}},
		"bad approval":  {"workspace_path": e.dir, "configuration": m{"approval": "never"}},
		"bad engine":    {"workspace_path": e.dir, "configuration": m{"engines": []string{"magic"}}},
	} {
		if got := try(name, "kaiak/session/create", params, InvalidParams, ""); !strings.HasPrefix(fmt.Sprint(got.Data["member"]), "params.") {
			t.Errorf("%s: %v does not name the member: %v", name, got, got.Data)
		}
	}
	for name, bad := range map[string]m{
		"no file":         {"id": "x"},
		"outside":         {"id": "x", "file_path": "../etc/passwd"},
		"denied":          {"id": "x", "file_path": ".git/config"},
		"negative line":   {"id": "x", "file_path": "a.go", "line_number": -1},
		"line as text":    {"id": "x", "file_path": "a.go", "line_number": "4"},
		"unknown serious": {"id": "x", "file_path": "a.go", "severity": "fatal"},
	} {
		if got := try(name, "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("1", "a.go", 4), bad}}, InvalidParams, ""); !strings.Contains(got.Message, "params.incidents[1]") {
			t.Errorf("%s: %v does not say which incident", name, got)
		}
	}
	try("no incidents", "kaiak/fix/generate", m{"session_id": session, "incidents": []m{}}, InvalidParams, "")
	try("twice", "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("1", "a.go", 4), incident("1", "a.go", 5)}}, InvalidParams, "")

	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	try("a directory that cannot be opened", "kaiak/session/create", m{"workspace_path": loop}, WorkspaceAccessDenied, "")
	for _, method := range []string{"kaiak/session/status", "kaiak/session/terminate", "kaiak/session/resume", "kaiak/session/events"} {
		try("unknown session", method, m{"session_id": "none"}, SessionNotFound, "")
	}
	try("unknown session", "kaiak/fix/generate", m{"session_id": "none", "incidents": one}, SessionNotFound, "")
	ended := e.session()
	must[any](t, e.client, "kaiak/session/terminate", m{"session_id": ended})
	try("terminated twice", "kaiak/session/terminate", m{"session_id": ended}, SessionTerminated, "")
	try("no model", "kaiak/fix/generate", m{"session_id": session, "incidents": one, "engines": []string{"model"}}, AgentInitFailed, "")
	try("unknown request", "kaiak/fix/cancel", m{"request_id": "req-none"}, RequestNotFound, "")
	try("unknown interaction", "kaiak/interaction/respond", m{"interaction_id": "int-none", "response_type": "approval", "response_data": m{}}, InteractionNotFound, "")
	try("unknown proposal", "kaiak/proposal/get", m{"proposal_id": "prop-none"}, RequestFailed, "PROPOSAL_NOT_FOUND")
	try("not supported", "kaiak/pty/create", m{}, RequestFailed, "NOT_SUPPORTED")
	try("file over the limit", "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("1", "big.go", 1)}}, ResourceExhausted, "")
	if got := try("unknown setting", "kaiak/config/update", m{"session_id": session, "configuration": m{"rulez": []string{}}}, ConfigurationError, ""); got.Data["nearest"] != "rules" {
		t.Errorf("%v: %v", got, got.Data)
	}

	req := e.generate(session, one, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	for name, params := range map[string]m{
		"other type":    {"response_type": "choice", "response_data": m{"choice": "a"}},
		"no answer":     {"response_type": "approval", "response_data": m{}},
		"answer a text": {"response_type": "approval", "response_data": m{"approved": "yes"}},
		"unknown hunk":  {"response_type": "approval", "response_data": m{"approved": true, "hunks": "all"}},
	} {
		params["interaction_id"] = ask.InteractionID
		try(name, "kaiak/interaction/respond", params, ResponseInvalid, "")
	}
	try("delete while it works", "kaiak/session/delete", m{"session_id": session}, SessionInUse, "")
	try("delete under its later name", "kaiak/delete_session", m{"session_id": session}, SessionInUse, "")
	must[any](t, e.client, "kaiak/interaction/respond", m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": false}})
	try("answered twice", "kaiak/interaction/respond", m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}}, InteractionResponded, "")
	e.front.system(t, "request_completed", req.RequestID)
	try("cancelled after its end", "kaiak/fix/cancel", m{"request_id": req.RequestID}, RequestCompleted, "")
	try("applied after the rejection", "kaiak/proposal/apply", m{"proposal_id": got0(e, req)}, RequestFailed, "PROPOSAL_NOT_PENDING")

	pending := func() string {
		r := e.generate(session, one, m{"approval": "defer"})
		e.front.system(t, "request_completed", r.RequestID)
		return got0(e, r)
	}
	// A file with a second name, perhaps outside, is never written.
	if err := os.Link(filepath.Join(e.dir, "a.go"), filepath.Join(t.TempDir(), "b.go")); err != nil {
		t.Fatal(err)
	}
	try("cannot be written", "kaiak/proposal/apply", m{"proposal_id": pending()}, FileModificationFailed, "")
	e.front.await(t, "error", func(s sent) bool { return s.Method == StreamError })
	if err := os.Remove(filepath.Join(e.dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	e.write("a.go", before)

	// Another process writes.
	other := busy(t, e)
	got := try("workspace busy", "kaiak/proposal/apply", m{"proposal_id": pending()}, SessionNotReady, "WORKSPACE_BUSY")
	if !got.Retryable || !strings.Contains(fmt.Sprint(got.Data["owner"]), fmt.Sprint(os.Getpid())) {
		t.Errorf("%v: %v", got, got.Data)
	}
	other()

	// An editor that says nothing.
	uri := "file://" + e.dir + "/a.go"
	if err := e.client.SetFolders(context.Background(), []string{e.dir}, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.client.DidOpen(uri, "go", 1, before); err != nil {
		t.Fatal(err)
	}
	e.front.docs[uri], e.front.refuse = 1, true
	try("the editor does not answer", "kaiak/proposal/apply", m{"proposal_id": pending()}, ToolTimeout, "")

	// A state that cannot be written.
	db, err := sql.Open("sqlite3", filepath.Join(e.state, "kaiak.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DROP TABLE sessions"); err != nil {
		t.Fatal(err)
	}
	try("the state is broken", "kaiak/session/create", m{"workspace_path": e.dir}, SessionCreationFailed, "")
}

// busy makes the workspace one that another process is writing, until the
// function it returns is called.
func busy(t *testing.T, e *env) (done func()) {
	t.Helper()
	st, err := store.Open(e.state)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open(e.dir, workspace.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	e.write("other.go", "package p\n")
	file, err := ws.OpenBuffer("other.go", 1, []byte("package p\n"), "go")
	if err != nil {
		t.Fatal(err)
	}
	editor := &stuckEditor{asked: make(chan struct{}), release: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		text := []byte("package q\n")
		_, _ = ws.Apply(context.Background(), workspace.Set{ID: "other", Changes: []workspace.Change{{Path: "other.go", Kind: workspace.EditFile,
			BaseSHA256: file.SHA256, ProposedSHA256: workspace.SHA256(text), Edits: workspace.EditsBetween(file.Text, text)}}},
			workspace.ApplyOptions{Buffers: editor}) // it fails when it is released, which is what it is for
	}()
	<-editor.asked
	return func() {
		close(editor.release)
		<-ended
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// stuckEditor holds an edit until it is released, and then refuses it.
type stuckEditor struct{ asked, release chan struct{} }

func (s *stuckEditor) EditBuffer(context.Context, string, int32, []byte, []workspace.Edit) error {
	close(s.asked)
	<-s.release
	return fmt.Errorf("refused")
}

func TestLimitsAtTheEdge(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := newEnv(t, map[string]string{"a.go": before}, func(o *Options) { o.Now = func() time.Time { return now } })
	session := e.session()

	for i := range LimitStatusPerMinute.Value {
		if _, err := call[any](e.client, "kaiak/session/status", m{"session_id": session}); err != nil {
			t.Fatalf("status request %d: %v", i+1, err)
		}
	}
	_, err := call[any](e.client, "kaiak/session/status", m{"session_id": session})
	if got := wantError(t, err, ResourceExhausted, ""); !got.Retryable || got.Data["retry_after_ms"] == nil {
		t.Errorf("%v: %v", got, got.Data)
	}
	now = now.Add(time.Minute)
	must[any](t, e.client, "kaiak/session/status", m{"session_id": session})

	many := func(n int) []m {
		list := make([]m, n)
		for i := range list {
			list[i] = incident(fmt.Sprint(i), "a.go", 4)
		}
		return list
	}
	_, err = call[any](e.client, "kaiak/fix/generate", m{"session_id": session, "incidents": many(LimitIncidents.Value + 1)})
	if got := wantError(t, err, InvalidParams, ""); got.Data["limit"] != LimitIncidents.Name {
		t.Errorf("%v: %v", got, got.Data)
	}
	req := e.generate(session, many(LimitIncidents.Value), m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)

	var running []string
	for range LimitConcurrentFixes.Value {
		running = append(running, e.generate(session, []m{incident("1", "a.go", 4)}, nil).RequestID)
	}
	_, err = call[any](e.client, "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("1", "a.go", 4)}})
	wantError(t, err, ResourceExhausted, "")
	must[any](t, e.client, "kaiak/fix/cancel", m{"request_id": running[3]})
	e.generate(session, []m{incident("1", "a.go", 4)}, nil)

	params := func(size int) json.RawMessage {
		head, tail := `{"session_id":"`+session+`","after_sequence":0,"pad":"`, `"}`
		return json.RawMessage(head + strings.Repeat("x", size-len(head)-len(tail)) + tail)
	}
	if _, err := e.client.Call(context.Background(), "kaiak/session/events", params(LimitRequestBytes.Value)); err != nil {
		t.Errorf("a request of the largest size: %v", err)
	}
	_, err = e.client.Call(context.Background(), "kaiak/session/events", params(LimitRequestBytes.Value+1))
	wantError(t, err, InvalidRequest, "")
	_, err = e.client.Call(WithRequestSize(context.Background(), LimitRequestBytes.Value+1), "kaiak/session/events", params(1000))
	wantError(t, err, InvalidRequest, "")

	_, err = call[any](e.client, "kaiak/session/list", m{"limit": LimitPageSize.Value + 1})
	wantError(t, err, InvalidParams, "")
	must[any](t, e.client, "kaiak/session/list", m{"limit": LimitPageSize.Value})
}

// A file of exactly the limit is fixed; one byte more is not.
func TestFileSizeLimit(t *testing.T) {
	fill := func(size int) string { return before + strings.Repeat("//x\n", (size-len(before))/4) }
	largest := fill(LimitFileBytes.Value)
	largest += strings.Repeat("\n", LimitFileBytes.Value-len(largest))
	e := newEnv(t, map[string]string{"edge.go": largest, "over.go": largest + "\n"})
	session := e.session()
	req := e.generate(session, []m{incident("1", "edge.go", 4), incident("2", "over.go", 4)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	rows := must[RequestView](t, e.client, "kaiak/request/status", m{"request_id": req.RequestID}).Incidents
	if rows[0].State != "proposed" || rows[1].State != "skipped" || !strings.Contains(rows[1].Reason, "larger") {
		t.Errorf("rows %+v", rows)
	}
	_, err := call[any](e.client, "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("2", "over.go", 4)}})
	wantError(t, err, ResourceExhausted, "")
	// Both texts do not fit into one message; everything can still be had.
	mod := e.front.await(t, "file modification", func(s sent) bool { return s.Method == StreamFileModification })
	if len(mod.Raw) > LimitStreamBytes.Value {
		t.Errorf("a message of %d bytes", len(mod.Raw))
	}
	var c FileModificationContent
	mod.content(t, &c)
	if !c.Truncated || c.OriginalContent != nil || len(c.Edits) != 1 || c.Diff == "" {
		t.Errorf("shortened to %+v", c)
	}
	view := must[ProposalView](t, e.client, "kaiak/proposal/get", m{"proposal_id": mod.ProposalID})
	if *view.Files[0].OriginalContent != largest {
		t.Error("proposal/get has not the whole text")
	}
}

func TestLongTextsAreSplitBetweenCharacters(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 700_000), strings.Repeat("\x01", 400_000), strings.Repeat("a😀\"", 300_000), strings.Repeat("<", 500_000) + "\xff"} {
		var joined strings.Builder
		parts := fit(outgoing{method: StreamAIResponse, content: AIResponseContent{Text: text}})
		for i, raw := range parts {
			if len(raw) > maxContent {
				t.Errorf("a part of %d bytes", len(raw))
			}
			var c AIResponseContent
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			if c.Partial != (i < len(parts)-1) {
				t.Errorf("part %d of %d: partial is %v", i+1, len(parts), c.Partial)
			}
			joined.WriteString(c.Text)
		}
		if got := strings.ToValidUTF8(text, "\uFFFD"); joined.String() != got {
			t.Errorf("%d parts do not make the text", len(parts))
		}
		if len(parts) < 2 {
			t.Errorf("%d bytes were not split", len(text))
		}
	}
}
