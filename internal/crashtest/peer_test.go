package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/lsp/client"
)

type m = map[string]any

// A peer is an editor with a server process of its own.
type peer struct {
	*client.Client
	t     testing.TB
	lab   *lab
	cmd   *exec.Cmd
	in    io.Closer         // the server's stdin
	dead  chan struct{}     // closed when the process has ended
	asked chan *editRequest // workspace/applyEdit

	mu      sync.Mutex // guards events and changed
	events  []event
	changed chan struct{} // closed and renewed with every event
}

// An event is a message of the stream.
type event struct {
	Method        string `json:"-"`
	SessionID     string `json:"session_id"`
	RequestID     string `json:"request_id"`
	InteractionID string `json:"interaction_id"`
	ProposalID    string `json:"proposal_id"`
	Sequence      int64  `json:"sequence"`
	Content       struct {
		Event  string `json:"event"`
		Status string `json:"status"`
	} `json:"content"`
}

// An editRequest is a workspace/applyEdit that waits for its answer.
type editRequest struct {
	params json.RawMessage
	answer chan bool // applied
}

// connect starts a server on the lab's workspace and state. args are further
// arguments of kaiak serve.
func (l *lab) connect(args ...string) *peer {
	l.t.Helper()
	p := &peer{t: l.t, lab: l, dead: make(chan struct{}), asked: make(chan *editRequest, 16), changed: make(chan struct{})}
	p.cmd = exec.Command(l.exe, append([]string{"serve", "--stdio", "--state-dir", l.state}, args...)...)
	p.cmd.Stderr = l.t.Output()
	// A pipe that only the server holds ends with it.
	life, held, err := os.Pipe()
	check(l.t, err)
	p.cmd.ExtraFiles = []*os.File{held}
	go func() { // ends with the server
		defer close(p.dead)
		_, _ = io.Copy(io.Discard, life)
		_ = life.Close()
	}()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	in, err := p.cmd.StdinPipe()
	check(l.t, err)
	out, err := p.cmd.StdoutPipe()
	check(l.t, err)
	check(l.t, p.cmd.Start())
	_ = held.Close()
	p.in = in
	p.Client, err = client.New(ctx, struct {
		io.Reader
		io.WriteCloser
	}{out, in}, client.Options{
		Root: l.workspace, Initialization: m{"rules": []string{"rules"}, "interactive": true},
		Capabilities: m{"workspace": m{"applyEdit": true, "workspaceEdit": m{"documentChanges": true}}},
		OnNotification: func(n client.Notification) {
			e := event{Method: n.Method}
			if !strings.HasPrefix(n.Method, "kaiak/stream/") {
				return
			}
			if err := json.Unmarshal(n.Params, &e); err != nil {
				p.t.Errorf("%s: %v", n.Method, err)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.events = append(p.events, e)
			close(p.changed)
			p.changed = make(chan struct{})
		},
		OnRequest: func(ctx context.Context, method string, params json.RawMessage) (any, bool, error) {
			if method != "workspace/applyEdit" {
				return nil, false, nil
			}
			r := &editRequest{params, make(chan bool, 1)}
			p.asked <- r
			select {
			case applied := <-r.answer:
				return m{"applied": applied}, true, nil
			case <-p.dead:
				return nil, true, errors.New("the server is gone")
			}
		},
	})
	check(l.t, err)
	l.t.Cleanup(p.kill)
	return p
}

// kill ends the server's process at once, if it still runs.
func (p *peer) kill() {
	_ = p.cmd.Process.Kill()
	p.gone()
	_ = p.Close()    // its streams are gone already
	_ = p.cmd.Wait() // it was killed
}

// gone waits until the process has ended.
func (p *peer) gone() {
	p.t.Helper()
	select {
	case <-p.dead:
	case <-time.After(patience):
		p.t.Error("the server does not end")
	}
}

// call sends a request that has to succeed.
func call[R any](p *peer, method string, params any) R {
	p.t.Helper()
	result, err := try[R](p, method, params)
	check(p.t, err)
	return result
}

func try[R any](p *peer, method string, params any) (R, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	return client.Call[R](ctx, p.Client, method, params)
}

// await waits for an event.
func (p *peer) await(what string, ok func(event) bool) event {
	p.t.Helper()
	deadline := time.After(patience)
	for seen := 0; ; {
		p.mu.Lock()
		i := slices.IndexFunc(p.events[seen:], ok)
		changed := p.changed
		if i >= 0 {
			defer p.mu.Unlock()
			return p.events[seen+i]
		}
		seen = len(p.events)
		p.mu.Unlock()
		select {
		case <-changed:
		case <-p.Done():
			p.t.Fatalf("the server ended before %s", what)
		case <-deadline:
			p.t.Fatalf("it does not come to that: %s", what)
		}
	}
}

// session opens a session.
func (p *peer) session() string {
	p.t.Helper()
	return call[struct {
		ID string `json:"session_id"`
	}](p, "kaiak/session/create", m{"workspace_path": p.lab.workspace}).ID
}

// scan returns the incidents of some files, or of all.
func (p *peer) scan(session string, paths ...string) []incidents.Incident {
	p.t.Helper()
	return call[struct{ Incidents []incidents.Incident }](p, "kaiak/incident/scan", m{"session_id": session, "paths": paths}).Incidents
}

// generate has incidents fixed and returns the request's id.
func (p *peer) generate(session, approval string, list []incidents.Incident) string {
	p.t.Helper()
	return call[struct {
		ID string `json:"request_id"`
	}](p, "kaiak/fix/generate", m{"session_id": session, "incidents": list, "approval": approval}).ID
}

func (p *peer) completed(request string) event {
	p.t.Helper()
	return p.await("the end of the request", func(e event) bool { return e.RequestID == request && e.Content.Event == "request_completed" })
}

// A view is a proposal as proposal/list shows it.
type view struct {
	ID     string   `json:"proposal_id"`
	Status string   `json:"status"`
	Paths  []string `json:"file_paths"`
}

func (p *peer) proposals(params m) []view {
	p.t.Helper()
	return call[struct{ Proposals []view }](p, "kaiak/proposal/list", params).Proposals
}

// propose makes the one proposal of a file and returns its id.
func (p *peer) propose(session, path string) string {
	p.t.Helper()
	request := p.generate(session, "defer", p.scan(session, path))
	p.completed(request)
	list := p.proposals(m{"session_id": session, "request_id": request})
	if len(list) != 1 || list[0].Status != "pending" {
		p.t.Fatalf("%s has the proposals %+v, want one", path, list)
	}
	return list[0].ID
}

type applied struct {
	Status string `json:"status"`
}

// apply approves a proposal.
func (p *peer) apply(id string) (applied, error) {
	return try[applied](p, "kaiak/proposal/apply", m{"proposal_id": id})
}

// start approves a proposal and goes on; the result comes later.
func (p *peer) start(id string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.apply(id)
		done <- err
	}()
	return done
}

// respond approves what was asked, without waiting for what comes of it.
func (p *peer) respond(question string) {
	go func() { // ends with the answer or with the connection
		_, _ = try[any](p, "kaiak/interaction/respond", m{"interaction_id": question, "response_type": "approval", "response_data": m{"approved": true}})
	}()
}

func (p *peer) uri(path string) string {
	return client.FileURI(filepath.Join(p.lab.workspace, filepath.FromSlash(path)))
}

// open opens a document with a text, which need not be the disk's.
func (p *peer) open(path, text string) {
	p.t.Helper()
	check(p.t, p.Notify(p.t.Context(), "textDocument/didOpen", m{"textDocument": m{"uri": p.uri(path), "languageId": "javascript", "version": 1, "text": text}}))
}

// change gives a document a new text.
func (p *peer) change(path string, version int, text string) {
	p.t.Helper()
	check(p.t, p.Notify(p.t.Context(), "textDocument/didChange", m{"textDocument": m{"uri": p.uri(path), "version": version}, "contentChanges": []m{{"text": text}}}))
}

// question waits until the server asks for an edit of a document.
func (p *peer) question(path string) *editRequest {
	p.t.Helper()
	select {
	case r := <-p.asked:
		if !strings.Contains(string(r.params), p.uri(path)) {
			p.t.Fatalf("an edit of another document than %s: %s", path, r.params)
		}
		return r
	case <-time.After(patience):
		p.t.Fatalf("the server asks for no edit of %s", path)
		return nil
	}
}

func (p *peer) result(done <-chan error) error {
	p.t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		p.t.Fatal("an approval is not answered")
		return nil
	}
}

// jsFile is the n-th of the project's files in JavaScript.
func jsFile(n int) string { return fmt.Sprintf("src/js/c%02d.js", 2+3*n) }
