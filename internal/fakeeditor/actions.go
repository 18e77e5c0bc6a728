package fakeeditor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"
)

// CodeActions asks what can be done at a range, with the diagnostics that the
// editor shows there and, in addition, those given. only may be empty.
func (e *Editor) CodeActions(name string, r protocol.Range, only []string, also ...protocol.Diagnostic) []protocol.CodeAction {
	e.t.Helper()
	params := &protocol.CodeActionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.URI(name)},
		Range:        r,
		Context:      protocol.CodeActionContext{Diagnostics: slices.Concat([]protocol.Diagnostic{}, e.shown(name, r), also)},
	}
	for _, kind := range only {
		params.Context.Only = append(params.Context.Only, protocol.CodeActionKind(kind))
	}
	var raw []json.RawMessage
	if err := e.Call("textDocument/codeAction", params, &raw); err != nil {
		e.fatalf("code actions: %v", err)
	}
	actions := make([]protocol.CodeAction, len(raw))
	for i := range raw {
		if err := protocol.Unmarshal(raw[i], &actions[i]); err != nil {
			e.fatalf("code actions: %v", err)
		}
	}
	return actions
}

// shown returns the diagnostics that touch a range.
func (e *Editor) shown(name string, r protocol.Range) []protocol.Diagnostic {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []protocol.Diagnostic
	for _, d := range e.state.Diagnostics[name].List {
		if !before(d.Range.End, r.Start) && !before(r.End, d.Range.Start) {
			out = append(out, d)
		}
	}
	return out
}

func before(a, b protocol.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// Action returns the only action with this title.
func (e *Editor) Action(actions []protocol.CodeAction, title string) protocol.CodeAction {
	e.t.Helper()
	var found []protocol.CodeAction
	var titles []string
	for _, a := range actions {
		titles = append(titles, a.Title)
		if a.Title == title {
			found = append(found, a)
		}
	}
	if len(found) != 1 {
		e.fatalf("%d actions are called %q, of %q", len(found), title, titles)
	}
	return found[0]
}

// Resolve has the server complete an action, where it is not complete.
func (e *Editor) Resolve(a protocol.CodeAction) (protocol.CodeAction, error) {
	if a.Edit != nil || a.Command.Command != "" || a.Data == nil {
		return a, nil
	}
	var out protocol.CodeAction
	err := e.Call("codeAction/resolve", &a, &out)
	return out, err
}

// Choose does what an editor does with the action that its user chose: resolve
// it, apply its edit, run its command.
func (e *Editor) Choose(a protocol.CodeAction) error {
	a, err := e.Resolve(a)
	if err != nil {
		return err
	}
	if a.Disabled.Reason != "" {
		return fmt.Errorf("it is disabled: %s", a.Disabled.Reason)
	}
	if a.Edit != nil {
		if err := e.apply(a.Edit); err != nil {
			return err
		}
	}
	if a.Command.Command == "" {
		return nil
	}
	args := make([]any, len(a.Command.Arguments))
	for i, arg := range a.Command.Arguments {
		args[i] = json.RawMessage(arg)
	}
	_, err = e.Execute(a.Command.Command, args...)
	return err
}

// Execute runs a command and returns its result.
func (e *Editor) Execute(command string, args ...any) (json.RawMessage, error) {
	return e.ExecuteContext(context.Background(), "", command, args...)
}

// ExecuteContext runs a command, with a progress token if it is not "".
func (e *Editor) ExecuteContext(ctx context.Context, token, command string, args ...any) (json.RawMessage, error) {
	params := map[string]any{"command": command}
	if len(args) > 0 {
		params["arguments"] = args
	}
	if token != "" {
		params["workDoneToken"] = token
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var result json.RawMessage
	err = e.CallContext(ctx, "workspace/executeCommand", json.RawMessage(raw), &result)
	return result, err
}

// CancelProgress presses the cancel button of a progress.
func (e *Editor) CancelProgress(title string) {
	e.t.Helper()
	var token string
	e.Read(func(s *State) {
		for _, p := range s.Progresses {
			if p.Title == title && !p.Ended {
				token = p.Token
			}
		}
	})
	if token == "" {
		e.fatalf("no progress %q is running", title)
	}
	e.notify("window/workDoneProgress/cancel", &protocol.WorkDoneProgressCancelParams{Token: protocol.String(token)})
}

// Foreign makes a diagnostic of another server over the only occurrence of
// needle.
func (e *Editor) Foreign(name, needle, source, code, message string) protocol.Diagnostic {
	e.t.Helper()
	return protocol.Diagnostic{
		Range:    e.Range(name, needle),
		Severity: protocol.DiagnosticSeverityWarning,
		Source:   protocol.NewOptional(source),
		Code:     protocol.String(code),
		Message:  protocol.String(message),
	}
}
