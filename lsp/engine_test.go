package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/workspace"
)

// A testEngine is an engine whose only rule finds the word "old" and replaces
// it by "new". Its kaiak/* methods are what a test sets.
type testEngine struct {
	mu      sync.Mutex
	calls   map[string]func(ctx context.Context, front kaiak.Front, params json.RawMessage) (any, error)
	clients []*testClient
}

func newTestEngine() *testEngine {
	return &testEngine{calls: map[string]func(context.Context, kaiak.Front, json.RawMessage) (any, error){}}
}

// on mounts a kaiak/* method or a command.
func (e *testEngine) on(method string, f func(ctx context.Context, front kaiak.Front, params json.RawMessage) (any, error)) {
	e.calls[method] = f
}

func (e *testEngine) Capabilities() map[string]any {
	return map[string]any{"protocol_version": 1}
}

func (e *testEngine) Connect(front kaiak.Front, info kaiak.ClientInfo) client {
	c := &testClient{engine: e, front: front, info: info, docs: map[string]*workspace.File{}, changed: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clients = append(e.clients, c)
	return c
}

// client returns the client of the only connection.
func (e *testEngine) client() *testClient {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.clients[len(e.clients)-1]
}

type testClient struct {
	engine *testEngine
	front  kaiak.Front
	info   kaiak.ClientInfo

	mu       sync.Mutex
	docs     map[string]*workspace.File
	settings []string
	folders  []string
	watched  []string
	closed   bool
	changed  chan struct{} // closed and renewed at each change of the above
}

func (c *testClient) update(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}

// until waits for a condition on the client's fields.
func (c *testClient) until(ctx context.Context, ok func() bool) error {
	for {
		c.mu.Lock()
		done, changed := ok(), c.changed
		c.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *testClient) Close() { c.update(func() { c.closed = true }) }

func (c *testClient) Call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	f := c.engine.calls[method]
	if f == nil {
		return nil, kaiak.Errorf(kaiak.MethodNotFound, "there is no method %q", method)
	}
	return f(ctx, c.front, params)
}

func (c *testClient) Command(ctx context.Context, name string, args []json.RawMessage) (any, error) {
	f := c.engine.calls[name]
	if f == nil {
		return nil, kaiak.Errorf(kaiak.MethodNotFound, "there is no command %q", name)
	}
	var first json.RawMessage
	if len(args) > 0 {
		first = args[0]
	}
	return f(ctx, c.front, first)
}

func (c *testClient) Commands() []string { return []string{"kaiak.fixRule"} }

func (c *testClient) SetFolders(_ context.Context, added, _ []string) error {
	c.update(func() { c.folders = append(c.folders, added...) })
	return nil
}

func (c *testClient) Configure(_ context.Context, settings json.RawMessage) error {
	c.update(func() { c.settings = append(c.settings, string(settings)) })
	var known struct {
		Bad json.RawMessage `json:"bad"`
	}
	if json.Unmarshal(settings, &known) == nil && known.Bad != nil {
		return kaiak.Errorf(kaiak.ConfigurationError, "there is no setting %q", "bad")
	}
	return nil
}

func (c *testClient) FilesChanged(_ context.Context, uris []string) {
	c.update(func() { c.watched = append(c.watched, uris...) })
}

func (c *testClient) DidOpen(uri, _ string, version int32, text string) error {
	c.update(func() { c.docs[uri] = &workspace.File{Path: uri, Version: version, Text: []byte(text), Open: true} })
	return nil
}

func (c *testClient) DidChange(uri string, version int32, edits []workspace.Edit) (err error) {
	c.update(func() {
		doc := c.docs[uri]
		text := doc.Text
		for _, e := range edits {
			if text, err = workspace.ApplyEdits(text, []workspace.Edit{e}); err != nil {
				return
			}
		}
		c.docs[uri] = &workspace.File{Path: uri, Version: version, Text: text, Open: true}
	})
	return err
}

func (c *testClient) DidSave(string, *string) error { return nil }

func (c *testClient) DidClose(uri string) error {
	c.update(func() { delete(c.docs, uri) })
	return nil
}

func (c *testClient) document(uri string) *workspace.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.docs[uri]
}

func (c *testClient) Incidents(_ context.Context, uri string) (kaiak.Incidents, error) {
	doc := c.document(uri)
	if doc == nil {
		return kaiak.Incidents{}, nil
	}
	m := workspace.NewMapper(doc.Text, workspace.UTF16)
	out := kaiak.Incidents{Version: doc.Version, ResultID: workspace.SHA256(doc.Text)}
	for at := 0; ; {
		i := bytes.Index(doc.Text[at:], []byte("old"))
		if i < 0 {
			return out, nil
		}
		start := at + i
		at = start + 3
		out.List = append(out.List, incidents.Incident{
			ID: fmt.Sprintf("in-%d", len(out.List)), RuleID: "no-old", Severity: incidents.Warning,
			Message: "old is old", LineNumber: m.Position(start).Line + 1, URI: uri,
			Range:  &incidents.Range{Start: m.Position(start), End: m.Position(at)},
			Span:   incidents.Span{Start: start, End: at},
			Labels: []string{"deprecated"},
			Links:  []incidents.Link{{URL: "https://example.com/no-old"}},
		})
	}
}

func (c *testClient) Actions(ctx context.Context, uri string, span incidents.Span, given []incidents.Incident) ([]kaiak.Action, error) {
	found, _ := c.Incidents(ctx, uri)
	var out []kaiak.Action
	for _, in := range append(found.List, given...) {
		if in.Span.End < span.Start || in.Span.Start > span.End || in.Source != "" && in.Source != "lint" {
			continue
		}
		out = append(out, kaiak.Action{
			Title: "Replace old by new", Kind: "quickfix.kaiak", IncidentIDs: []string{in.ID}, Preferred: true,
			Data: kaiak.ActionData{Action: "fix", URI: uri, Version: found.Version, IncidentIDs: []string{in.ID}},
		})
	}
	if len(found.List) > 0 {
		out = append(out,
			kaiak.Action{Title: "Fix all of no-old", Kind: "quickfix.kaiak", Command: "kaiak.fixRule", Data: kaiak.ActionData{Action: "fix_rule_file", URI: uri, RuleID: "no-old"}},
			kaiak.Action{Title: "Rewrite", Kind: "refactor.rewrite.kaiak", Disabled: "no model is configured", Command: "kaiak.model", Data: kaiak.ActionData{Action: "model", URI: uri}},
			kaiak.Action{Title: "Fix everything", Kind: "source.fixAll.kaiak", Data: kaiak.ActionData{Action: "fix_all", URI: uri, Version: found.Version}},
			kaiak.Action{Title: "Apply", Kind: "quickfix.kaiak", Command: "kaiak.apply", IncidentIDs: []string{"in-0"}, Data: kaiak.ActionData{Action: "apply", URI: uri, ProposalID: "prop-1"}},
		)
	}
	return out, nil
}

func (c *testClient) Resolve(ctx context.Context, data kaiak.ActionData) (kaiak.Resolved, error) {
	found, _ := c.Incidents(ctx, data.URI)
	if found.Version != data.Version {
		return kaiak.Resolved{Disabled: "stale: the file changed"}, nil
	}
	r := kaiak.Resolved{URI: data.URI, Version: found.Version}
	for _, in := range found.List {
		r.Edits = append(r.Edits, workspace.Edit{Start: in.Span.Start, End: in.Span.End, New: "new"})
	}
	return r, nil
}
