package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/workspace"
)

// codeActionKinds are the kinds that are offered.
var codeActionKinds = []protocol.CodeActionKind{
	"quickfix.kaiak", "refactor.rewrite.kaiak", "source.fixAll.kaiak",
}

// codeAction offers what can be done about the diagnostics and the range of the
// request. It computes no edit where the client can ask for it later.
func (s *server) codeAction(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	offers := []protocol.CommandOrCodeAction{}
	doc := s.docs.get(string(p.TextDocument.URI))
	if doc == nil || !wanted(p.Context.Only) {
		return offers, nil
	}
	given, err := s.givenIncidents(doc, p.Context.Diagnostics)
	if err != nil && !errors.Is(err, errNotUnderstood) {
		return nil, err
	}
	m := doc.mapper(s.caps.encoding)
	span := incidents.Span{Start: m.Offset(position(p.Range.Start)), End: m.Offset(position(p.Range.End))}
	actions, err := s.client.Actions(ctx, doc.uri, span, given)
	if err != nil {
		return nil, err
	}
	for _, a := range actions {
		if !offered(a.Kind, p.Context) {
			continue
		}
		offer, err := s.offer(ctx, a, diagnosticsOf(a, given, p.Context.Diagnostics))
		if err != nil {
			return nil, err
		}
		if offer != nil {
			offers = append(offers, offer)
		}
	}
	return offers, nil
}

// wanted reports whether any kind of ours can satisfy the client's filter.
func wanted(only []protocol.CodeActionKind) bool {
	if len(only) == 0 {
		return true
	}
	return slices.ContainsFunc(codeActionKinds, func(kind protocol.CodeActionKind) bool {
		return slices.ContainsFunc(only, func(o protocol.CodeActionKind) bool { return covers(string(o), string(kind)) })
	})
}

// offered reports whether an action of a kind is to be shown. Actions on the
// whole source are not shown unasked each time the cursor moves.
func offered(kind string, c protocol.CodeActionContext) bool {
	if len(c.Only) == 0 {
		return !strings.HasPrefix(kind, "source.") || c.TriggerKind != protocol.CodeActionTriggerKindAutomatic
	}
	return slices.ContainsFunc(c.Only, func(o protocol.CodeActionKind) bool { return covers(string(o), kind) })
}

// covers reports whether kind is filter or a kind below it.
func covers(filter, kind string) bool {
	return filter == "" || kind == filter || strings.HasPrefix(kind, filter+".")
}

// diagnosticsOf returns the diagnostics that an action resolves.
func diagnosticsOf(a kaiak.Action, given []incidents.Incident, list []protocol.Diagnostic) []protocol.Diagnostic {
	if len(given) != len(list) {
		return nil // some were not understood: which is which is not known
	}
	var out []protocol.Diagnostic
	for i, in := range given {
		if slices.Contains(a.IncidentIDs, in.ID) {
			out = append(out, list[i])
		}
	}
	return out
}

// offer writes an action for the wire, nil when this client cannot show it.
func (s *server) offer(ctx context.Context, a kaiak.Action, about []protocol.Diagnostic) (protocol.CommandOrCodeAction, error) {
	data, err := json.Marshal(a.Data)
	if err != nil {
		return nil, err
	}
	if a.Disabled != "" && !s.caps.disabled {
		return nil, nil
	}
	command := protocol.Command{Title: a.Title, Command: a.Command, Arguments: []protocol.LSPAny{data}}
	if !s.caps.literals {
		if command.Command == "" {
			command.Command = applyActionCommand
		}
		return &command, nil
	}
	kind := protocol.CodeActionKind(a.Kind)
	action := &protocol.CodeAction{Title: a.Title, Kind: &kind, Diagnostics: about}
	if a.Preferred && s.caps.preferred {
		action.IsPreferred = ptr(true)
	}
	switch {
	case a.Disabled != "":
		action.Disabled = protocol.CodeActionDisabled{Reason: a.Disabled}
	case a.Command != "":
		action.Command = command
	case s.caps.resolveEdit:
		action.Data = protocol.LSPAny(data)
	default:
		edit, reason, err := s.resolved(ctx, a.Data)
		if err != nil {
			return nil, err
		}
		if reason != "" && !s.caps.disabled {
			return nil, nil
		}
		action.Edit = edit
		action.Disabled = protocol.CodeActionDisabled{Reason: reason}
	}
	return action, nil
}

// resolveCodeAction computes the edit of an action that was offered without.
// An action that is a command is complete: editors ask for it all the same.
func (s *server) resolveCodeAction(ctx context.Context, a *protocol.CodeAction) (*protocol.CodeAction, error) {
	if a.Data == nil && a.Command.Command != "" {
		return a, nil
	}
	data, err := actionData(json.RawMessage(a.Data))
	if err != nil {
		return nil, err
	}
	edit, reason, err := s.resolved(ctx, data)
	if err != nil {
		return nil, err
	}
	if reason != "" && !s.caps.disabled {
		return nil, kaiak.Errorf(kaiak.ContentModified, "%s: %s", a.Title, reason)
	}
	a.Edit = edit
	a.Disabled = protocol.CodeActionDisabled{Reason: reason}
	return a, nil
}

// actionData reads back what an action was offered with.
func actionData(raw json.RawMessage) (kaiak.ActionData, error) {
	var data kaiak.ActionData
	if err := json.Unmarshal(raw, &data); err != nil || data.Action == "" {
		return data, kaiak.Errorf(kaiak.InvalidParams, "the code action does not carry the data it was offered with")
	}
	return data, nil
}

// resolved computes the edit of an action. reason is why there is none.
func (s *server) resolved(ctx context.Context, data kaiak.ActionData) (edit *protocol.WorkspaceEdit, reason string, err error) {
	r, err := s.client.Resolve(ctx, data)
	if err != nil || r.Disabled != "" {
		return nil, r.Disabled, err
	}
	doc := s.docs.get(r.URI)
	if doc == nil {
		return nil, "the document is not open", nil
	}
	if doc.version != r.Version {
		return nil, "", kaiak.Errorf(kaiak.ContentModified, "%s changed while the fix was computed; ask for it again", doc.uri)
	}
	return s.workspaceEdit(doc, r.Edits, ""), "", nil
}

// workspaceEdit writes byte edits of one document for the wire. With a label
// they are annotated with it, where the client shows that.
func (s *server) workspaceEdit(doc *document, edits []workspace.Edit, label string) *protocol.WorkspaceEdit {
	const annotation = "kaiak"
	m := doc.mapper(s.caps.encoding)
	plain := make([]protocol.TextEdit, 0, len(edits))
	for _, e := range edits {
		plain = append(plain, protocol.TextEdit{Range: lspRange(m, e.Start, e.End), NewText: e.New})
	}
	name := uri.URI(doc.uri)
	if !s.caps.documentChanges {
		return &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{name: plain}}
	}
	annotate := label != "" && s.caps.annotations
	elements := make([]protocol.TextDocumentEditElement, 0, len(plain))
	for i := range plain {
		if annotate {
			elements = append(elements, &protocol.AnnotatedTextEdit{TextEdit: plain[i], AnnotationID: annotation})
		} else {
			elements = append(elements, &plain[i])
		}
	}
	out := &protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{&protocol.TextDocumentEdit{
		TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: name},
			Version:                &doc.version,
		},
		Edits: elements,
	}}}
	if annotate {
		out.ChangeAnnotations = map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation{
			annotation: {Label: label},
		}
	}
	return out
}

// plainCode returns a diagnostic's code as text.
func plainCode(code protocol.ProgressToken) string {
	switch c := code.(type) {
	case protocol.String:
		return string(c)
	case protocol.Integer:
		return strconv.Itoa(int(c))
	}
	return ""
}

// plainMessage returns a diagnostic's message as text.
func plainMessage(m protocol.InlayHintTooltip) string {
	switch m := m.(type) {
	case protocol.String:
		return string(m)
	case *protocol.MarkupContent:
		return m.Value
	}
	return fmt.Sprint(m)
}
