package lsp

import (
	"context"
	"fmt"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/workspace"
)

func (s *server) didOpen(_ context.Context, p *protocol.DidOpenTextDocumentParams) error {
	name := string(p.TextDocument.URI)
	doc := &document{uri: name, version: p.TextDocument.Version, text: []byte(p.TextDocument.Text)}
	s.docs.put(doc)
	err := s.client.DidOpen(name, string(p.TextDocument.LanguageID), doc.version, p.TextDocument.Text)
	s.diags.changed(name)
	return err
}

func (s *server) didChange(_ context.Context, p *protocol.DidChangeTextDocumentParams) error {
	name := string(p.TextDocument.URI)
	doc := s.docs.get(name)
	if doc == nil {
		return fmt.Errorf("%s changed but is not open", name)
	}
	text, edits, err := applyChanges(doc.text, s.caps.encoding, p.ContentChanges)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.docs.put(&document{uri: doc.uri, version: p.TextDocument.Version, text: text})
	err = s.client.DidChange(name, p.TextDocument.Version, edits)
	s.diags.changed(name)
	return err
}

func (s *server) didSave(_ context.Context, p *protocol.DidSaveTextDocumentParams) error {
	return s.client.DidSave(string(p.TextDocument.URI), p.Text)
}

func (s *server) didClose(_ context.Context, p *protocol.DidCloseTextDocumentParams) error {
	name := string(p.TextDocument.URI)
	s.docs.remove(name)
	err := s.client.DidClose(name)
	s.diags.closed(name)
	return err
}

// applyChanges turns the changes of one didChange, each against the text that
// the change before it left, into byte edits of the same meaning, and returns
// the text after them. text is not modified.
func applyChanges(text []byte, enc workspace.PositionEncoding, changes []protocol.TextDocumentContentChangeEvent) ([]byte, []workspace.Edit, error) {
	var (
		edits  = make([]workspace.Edit, 0, len(changes))
		mapper *workspace.Mapper // of the text as it was when it was made
		above  uint32            // lines before this one are still as mapper knows them
	)
	for i, change := range changes {
		var edit workspace.Edit
		switch change := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			edit = workspace.Edit{Start: 0, End: len(text), New: change.Text}
			mapper = nil
		case *protocol.TextDocumentContentChangePartial:
			r := change.Range
			// Several cursors send their changes from the bottom up; then one
			// index of the lines serves them all.
			if mapper == nil || r.Start.Line >= above || r.End.Line >= above {
				mapper = workspace.NewMapper(text, enc)
			}
			above = min(r.Start.Line, r.End.Line)
			edit = workspace.Edit{Start: mapper.Offset(position(r.Start)), End: mapper.Offset(position(r.End)), New: change.Text}
			if edit.End < edit.Start {
				edit.Start, edit.End = edit.End, edit.Start
			}
		default:
			return nil, nil, fmt.Errorf("change %d is of a kind that LSP does not define", i)
		}
		if !utf8.ValidString(edit.New) {
			return nil, nil, fmt.Errorf("change %d is not UTF-8", i)
		}
		next, err := workspace.ApplyEdits(text, []workspace.Edit{edit})
		if err != nil {
			return nil, nil, err
		}
		text, edits = next, append(edits, edit)
	}
	return text, edits, nil
}

// position reads a position of the wire.
func position(p protocol.Position) workspace.Position {
	return workspace.Position{Line: int(p.Line), Character: int(p.Character)}
}

// lspPosition writes a position for the wire.
func lspPosition(p workspace.Position) protocol.Position {
	return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Character)}
}

// lspRange returns the bytes [start, end) as a range of the wire.
func lspRange(m *workspace.Mapper, start, end int) protocol.Range {
	return protocol.Range{Start: lspPosition(m.Position(start)), End: lspPosition(m.Position(end))}
}
