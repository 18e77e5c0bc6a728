package fakeeditor

import (
	"context"
	"path"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/kaiak/kaiak/workspace"
)

// languages by extension, as editors name them.
var languages = map[string]string{
	".go": "go", ".java": "java", ".py": "python", ".js": "javascript", ".ts": "typescript",
	".tsx": "typescriptreact", ".rs": "rust", ".cs": "csharp", ".yaml": "yaml", ".json": "json", ".xml": "xml",
}

// OpenFile opens a file of the workspace.
func (e *Editor) OpenFile(name string) {
	e.t.Helper()
	e.OpenText(name, e.ReadFile(name))
}

// OpenText opens a document of which the content need not be on disk.
func (e *Editor) OpenText(name, text string) {
	e.t.Helper()
	e.update(func(s *State) { s.Buffers[name] = Buffer{Text: text, Version: 1} })
	language := languages[path.Ext(name)]
	if language == "" {
		language = "plaintext"
	}
	e.notify("textDocument/didOpen", &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
		URI: e.URI(name), LanguageID: protocol.LanguageKind(language), Version: 1, Text: text,
	}})
	e.pull(e.URI(name))
}

// buffer returns an open document.
func (e *Editor) buffer(name string) Buffer {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	b, ok := e.state.Buffers[name]
	if !ok {
		e.t.Fatalf("%s is not open", name)
	}
	return b
}

// Text returns the text of an open document.
func (e *Editor) Text(name string) string {
	e.t.Helper()
	return e.buffer(name).Text
}

// Replace types: the only occurrence of old in an open document becomes text.
func (e *Editor) Replace(name, old, text string) {
	e.t.Helper()
	b := e.buffer(name)
	if strings.Count(b.Text, old) != 1 {
		e.t.Fatalf("%q occurs %d times in %s", old, strings.Count(b.Text, old), name)
	}
	start := strings.Index(b.Text, old)
	e.Edit(name, workspace.Edit{Start: start, End: start + len(old), New: text})
}

// Edit applies byte edits to an open document and sends them as one didChange.
func (e *Editor) Edit(name string, edits ...workspace.Edit) {
	e.t.Helper()
	if err := e.edit(name, edits); err != nil {
		e.t.Fatalf("editing %s: %v", name, err)
	}
}

// edit does it on any goroutine. Changes are sent from the bottom up, so that
// each is right for the text that the one before it left.
func (e *Editor) edit(name string, edits []workspace.Edit) error {
	var params protocol.DidChangeTextDocumentParams
	var failed error
	e.update(func(s *State) {
		b := s.Buffers[name]
		m := workspace.NewMapper([]byte(b.Text), e.enc)
		text, err := workspace.ApplyEdits([]byte(b.Text), edits)
		if err != nil {
			failed = err
			return
		}
		order := slices.Clone(edits)
		slices.SortStableFunc(order, func(x, y workspace.Edit) int { return x.Start - y.Start })
		slices.Reverse(order)
		for _, edit := range order {
			params.ContentChanges = append(params.ContentChanges, &protocol.TextDocumentContentChangePartial{
				Range: e.lspRange(m, edit.Start, edit.End), Text: edit.New,
			})
		}
		s.Buffers[name] = Buffer{Text: string(text), Version: b.Version + 1, Dirty: true}
		params.TextDocument = protocol.VersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: e.URI(name)}, Version: b.Version + 1,
		}
	})
	if failed != nil {
		return failed
	}
	if err := e.conn.Notify(context.Background(), "textDocument/didChange", &params); err != nil {
		return err
	}
	e.pull(e.URI(name))
	return nil
}

// SetText replaces the whole text in one change without a range.
func (e *Editor) SetText(name, text string) {
	e.t.Helper()
	version := e.buffer(name).Version + 1
	e.update(func(s *State) { s.Buffers[name] = Buffer{Text: text, Version: version, Dirty: true} })
	e.notify("textDocument/didChange", &protocol.DidChangeTextDocumentParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: e.URI(name)}, Version: version,
		},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangeWholeDocument{Text: text}},
	})
	e.pull(e.URI(name))
}

// Save writes a document to disk and says so.
func (e *Editor) Save(name string) {
	e.t.Helper()
	b := e.buffer(name)
	e.WriteFile(name, b.Text)
	e.update(func(s *State) {
		b := s.Buffers[name]
		b.Dirty = false
		s.Buffers[name] = b
	})
	e.notify("textDocument/didSave", &protocol.DidSaveTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.URI(name)},
	})
}

// CloseFile closes a document; what was not saved is lost.
func (e *Editor) CloseFile(name string) {
	e.t.Helper()
	e.update(func(s *State) { delete(s.Buffers, name) })
	e.notify("textDocument/didClose", &protocol.DidCloseTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.URI(name)},
	})
}

// Range returns the range of the only occurrence of needle in an open document,
// in the units that were negotiated.
func (e *Editor) Range(name, needle string) protocol.Range {
	e.t.Helper()
	b := e.buffer(name)
	if strings.Count(b.Text, needle) != 1 {
		e.t.Fatalf("%q occurs %d times in %s", needle, strings.Count(b.Text, needle), name)
	}
	start := strings.Index(b.Text, needle)
	return e.lspRange(workspace.NewMapper([]byte(b.Text), e.enc), start, start+len(needle))
}

// At returns the text of an open document that a range covers.
func (e *Editor) At(name string, r protocol.Range) string {
	e.t.Helper()
	b := e.buffer(name)
	m := workspace.NewMapper([]byte(b.Text), e.enc)
	return b.Text[offset(m, r.Start):offset(m, r.End)]
}

func (e *Editor) lspRange(m *workspace.Mapper, start, end int) protocol.Range {
	at := func(off int) protocol.Position {
		p := m.Position(off)
		return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Character)}
	}
	return protocol.Range{Start: at(start), End: at(end)}
}

func offset(m *workspace.Mapper, p protocol.Position) int {
	return m.Offset(workspace.Position{Line: int(p.Line), Character: int(p.Character)})
}

// pull asks for the diagnostics of a document, where this editor does that. A
// pull for an older version is cancelled.
func (e *Editor) pull(u uri.URI) {
	if !e.pulls {
		return
	}
	name := e.relative(u)
	e.mu.Lock()
	b, open := e.state.Buffers[name]
	e.mu.Unlock()
	if !open {
		return
	}
	e.pullMu.Lock()
	defer e.pullMu.Unlock()
	if e.leaving {
		return
	}
	if old := e.pulling[u]; old != nil {
		old()
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.pulling[u] = cancel
	e.pullers.Go(func() { // ends with the answer, or with the connection
		defer cancel()
		e.pulled(ctx, u, b.Version)
	})
}

// pulled asks once and takes up the answer.
func (e *Editor) pulled(ctx context.Context, u uri.URI, version int32) {
	params := &protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}}
	var report struct {
		Kind  string                `json:"kind"`
		Items []protocol.Diagnostic `json:"items"`
	}
	id, err := e.conn.Call(ctx, "textDocument/diagnostic", params, &report)
	if ctx.Err() != nil {
		_ = e.conn.Notify(context.Background(), "$/cancelRequest", map[string]any{"id": id})
		return
	}
	if err != nil {
		return
	}
	e.update(func(s *State) {
		d := s.Diagnostics[e.relative(u)]
		d.Count++
		d.Version = version
		if report.Kind == "full" {
			d.List = report.Items
		}
		s.Diagnostics[e.relative(u)] = d
	})
}
