package fakeeditor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/kaiak/kaiak/workspace"
)

// handle takes up what the server sends. It runs on the goroutine that reads,
// so that everything is taken up in its order.
func (e *Editor) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	method, params := strings.Clone(req.Method()), json.RawMessage(append([]byte(nil), req.Params()...))
	switch method {
	case "textDocument/publishDiagnostics":
		return nil, with(params, e.published)
	case "$/progress":
		return nil, with(params, e.progress)
	case "window/showMessage":
		return nil, with(params, func(p *protocol.ShowMessageParams) {
			e.update(func(s *State) { s.Messages = append(s.Messages, p.Message) })
		})
	case "window/showMessageRequest":
		jsonrpc2.Async(ctx) // a person takes time
		return e.asked(params)
	case "window/workDoneProgress/create":
		return nil, nil
	case "workspace/applyEdit":
		var p protocol.ApplyWorkspaceEditParams
		if err := protocol.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		return e.applied(&p), nil
	case "workspace/configuration":
		e.update(func(s *State) { s.Configured++ })
		if e.opts.Profile.Configuration == "" {
			return json.RawMessage(`[null]`), nil
		}
		return json.RawMessage("[" + e.opts.Profile.Configuration + "]"), nil
	case "client/registerCapability":
		return nil, with(params, func(p *protocol.RegistrationParams) {
			e.update(func(s *State) {
				for _, r := range p.Registrations {
					s.Registered[r.Method]++
				}
			})
		})
	case "workspace/diagnostic/refresh", "workspace/codeLens/refresh":
		e.update(func(s *State) { s.Refreshes[method]++ })
		if method == "workspace/diagnostic/refresh" {
			e.pullAll()
		}
		return nil, nil
	}
	if strings.HasPrefix(method, "kaiak/stream/") {
		e.update(func(s *State) { s.Streams = append(s.Streams, Stream{method, params}) })
		return nil, nil
	}
	if !req.IsCall() {
		return nil, nil // the checker has noted it
	}
	return nil, jsonrpc2.ErrMethodNotFound
}

// with reads params and hands them on.
func with[P any](params json.RawMessage, f func(*P)) error {
	var p P
	if err := protocol.Unmarshal(params, &p); err != nil {
		return err
	}
	f(&p)
	return nil
}

func (e *Editor) pullAll() {
	e.mu.Lock()
	names := sorted(e.state.Buffers)
	e.mu.Unlock()
	for _, name := range names {
		e.pull(e.URI(name))
	}
}

func (e *Editor) published(p *protocol.PublishDiagnosticsParams) {
	name := e.relative(p.URI)
	e.update(func(s *State) {
		d := s.Diagnostics[name]
		d.List, d.Count = p.Diagnostics, d.Count+1
		version, versioned := p.Version.Get()
		if !versioned {
			version = s.Buffers[name].Version // all that an editor can assume
		}
		d.Version = version
		s.Diagnostics[name] = d
	})
}

func (e *Editor) progress(p *protocol.ProgressParams) {
	var value struct {
		Kind       string
		Title      string
		Message    string
		Percentage *uint32
	}
	if err := json.Unmarshal(p.Value, &value); err != nil {
		e.check.Fault(fmt.Sprintf("a progress that cannot be read: %v", err))
		return
	}
	token := fmt.Sprint(p.Token)
	e.update(func(s *State) {
		if value.Kind == "begin" {
			s.progress[token] = len(s.Progresses)
			s.Progresses = append(s.Progresses, ProgressState{Title: value.Title, Token: token})
		}
		i, ok := s.progress[token]
		if !ok {
			return // the checker has noted it
		}
		one := &s.Progresses[i]
		if value.Percentage != nil {
			one.Percent = append(one.Percent, *value.Percentage)
		}
		if value.Message != "" {
			one.Message = value.Message
		}
		one.Ended = value.Kind == "end"
	})
}

func (e *Editor) asked(params json.RawMessage) (any, error) {
	var p protocol.ShowMessageRequestParams
	if err := protocol.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	e.update(func(s *State) { s.Questions = append(s.Questions, p.Message) })
	if e.opts.Answer == nil {
		return nil, nil
	}
	var titles []string
	for _, a := range p.Actions {
		titles = append(titles, a.Title)
	}
	if chosen := e.opts.Answer(p.Message, titles); chosen != "" {
		return &protocol.MessageActionItem{Title: chosen}, nil
	}
	return nil, nil
}

// applied applies an edit as this editor would and answers as it would.
func (e *Editor) applied(p *protocol.ApplyWorkspaceEditParams) *protocol.ApplyWorkspaceEditResult {
	err := e.apply(&p.Edit)
	e.update(func(s *State) { s.Edits = append(s.Edits, EditRequest{p.Edit, err == nil}) })
	result := &protocol.ApplyWorkspaceEditResult{Applied: err == nil || e.opts.Profile.SaysApplied}
	if !result.Applied {
		reason := err.Error()
		result.FailureReason = &reason
	}
	return result
}

// apply applies a workspace edit to buffers, and to the disk where a file is
// not open. The edits of a version that is not the buffer's are refused.
func (e *Editor) apply(edit *protocol.WorkspaceEdit) error {
	if len(edit.DocumentChanges) == 0 {
		for u, edits := range edit.Changes {
			if err := e.applyTo(u, nil, edits); err != nil {
				return err
			}
		}
		return nil
	}
	for _, change := range edit.DocumentChanges {
		doc, ok := change.(*protocol.TextDocumentEdit)
		if !ok {
			return fmt.Errorf("%T is not something this editor applies", change)
		}
		var edits []protocol.TextEdit
		for _, one := range doc.Edits {
			switch one := one.(type) {
			case *protocol.TextEdit:
				edits = append(edits, *one)
			case *protocol.AnnotatedTextEdit:
				if _, known := edit.ChangeAnnotations[one.AnnotationID]; !known {
					return fmt.Errorf("the annotation %q is not given", one.AnnotationID)
				}
				edits = append(edits, one.TextEdit)
			default:
				return fmt.Errorf("%T is not something this editor applies", one)
			}
		}
		if err := e.applyTo(doc.TextDocument.URI, doc.TextDocument.Version, edits); err != nil {
			return err
		}
	}
	return nil
}

func (e *Editor) applyTo(u uri.URI, version *int32, edits []protocol.TextEdit) error {
	name := e.relative(u)
	e.mu.Lock()
	b, open := e.state.Buffers[name]
	e.mu.Unlock()
	if !open {
		data, err := os.ReadFile(u.FsPath())
		if err != nil {
			return err
		}
		b.Text = string(data)
	} else if version != nil && *version != b.Version {
		return fmt.Errorf("%s is at version %d, the edit is for %d", name, b.Version, *version)
	}
	m := workspace.NewMapper([]byte(b.Text), e.enc)
	var bytes []workspace.Edit
	for _, one := range edits {
		bytes = append(bytes, workspace.Edit{Start: offset(m, one.Range.Start), End: offset(m, one.Range.End), New: one.NewText})
	}
	if open {
		return e.edit(name, bytes)
	}
	text, err := workspace.ApplyEdits([]byte(b.Text), bytes)
	if err != nil {
		return err
	}
	return os.WriteFile(u.FsPath(), text, 0o644)
}
