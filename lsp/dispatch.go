package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tliron/glsp"
	glsp316 "github.com/tliron/glsp/protocol_3_16"
	glsp317 "github.com/tliron/glsp/protocol_3_17"
	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/kaiak"
)

// table mounts every standard method on glsp's table. Whatever is not in it is
// answered "method not found", or ignored when it is a notification.
//
// glsp gives the table and the names; its types are not used, because they lose
// parts of what is sent. Each row is adapted by [call], [note] or one of their
// siblings, which read the params into go.lsp.dev's type and hand its result
// past glsp's signature.
func (s *server) table() *glsp317.Handler {
	h := &glsp317.Handler{
		Initialize:             call[glsp317.InitializeParams](s.initialize),
		TextDocumentDiagnostic: call[glsp317.DocumentDiagnosticParams](s.documentDiagnostic),
	}
	h.Handler = glsp316.Handler{
		Initialized:                        note[glsp316.InitializedParams](s.initialized),
		Shutdown:                           func(c *glsp.Context) error { return s.shutdown() },
		SetTrace:                           note[glsp316.SetTraceParams](s.setTrace),
		WindowWorkDoneProgressCancel:       note[glsp316.WorkDoneProgressCancelParams](s.cancelProgress),
		WorkspaceDidChangeWorkspaceFolders: note[glsp316.DidChangeWorkspaceFoldersParams](s.didChangeFolders),
		WorkspaceDidChangeConfiguration:    note[glsp316.DidChangeConfigurationParams](s.didChangeConfiguration),
		WorkspaceDidChangeWatchedFiles:     note[glsp316.DidChangeWatchedFilesParams](s.didChangeWatchedFiles),
		WorkspaceExecuteCommand:            call[glsp316.ExecuteCommandParams](s.executeCommand),
		TextDocumentDidOpen:                note[glsp316.DidOpenTextDocumentParams](s.didOpen),
		TextDocumentDidChange:              note[glsp316.DidChangeTextDocumentParams](s.didChange),
		TextDocumentDidSave:                note[glsp316.DidSaveTextDocumentParams](s.didSave),
		TextDocumentDidClose:               note[glsp316.DidCloseTextDocumentParams](s.didClose),
		TextDocumentCodeAction:             call[glsp316.CodeActionParams](s.codeAction),
		CodeActionResolve:                  typed[glsp316.CodeAction, *glsp316.CodeAction](s.resolveCodeAction),
		TextDocumentCodeLens:               typed[glsp316.CodeLensParams, []glsp316.CodeLens](s.codeLens),
	}
	return h
}

// An exchange carries a message's own params into a row of the table and its
// result out of it.
type exchange struct {
	params json.RawMessage
	result any
}

type exchangeKey struct{}

// noParams is what glsp decodes instead of the real params.
var noParams = json.RawMessage("{}")

// dispatch carries out one standard message by the table.
func (s *server) dispatch(ctx context.Context, in *inbound) (any, error) {
	x := &exchange{params: in.params}
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	_, known, _, err := s.methods.Handle(&glsp.Context{Method: in.method, Params: noParams, Context: ctx})
	if !known {
		if !in.call {
			s.log.Debug("ignored a notification", "method", in.method)
			return nil, nil
		}
		return nil, kaiak.Errorf(kaiak.MethodNotFound, "there is no method %q", in.method)
	}
	return x.result, err
}

// call adapts a request whose result glsp leaves open.
func call[G, P, R any](f func(context.Context, *P) (R, error)) func(*glsp.Context, *G) (any, error) {
	return typed[G, any](f)
}

// typed adapts a request whose result glsp fixes.
func typed[G, T, P, R any](f func(context.Context, *P) (R, error)) func(*glsp.Context, *G) (T, error) {
	return func(c *glsp.Context, _ *G) (none T, _ error) {
		x := c.Context.Value(exchangeKey{}).(*exchange)
		p, err := decode[P](c.Method, x.params)
		if err != nil {
			return none, err
		}
		result, err := f(c.Context, p)
		if err == nil {
			x.result = result
		}
		return none, err
	}
}

// note adapts a notification.
func note[G, P any](f func(context.Context, *P) error) func(*glsp.Context, *G) error {
	return func(c *glsp.Context, _ *G) error {
		p, err := decode[P](c.Method, c.Context.Value(exchangeKey{}).(*exchange).params)
		if err != nil {
			return err
		}
		return f(c.Context, p)
	}
}

// decode reads params. What cannot be read is a -32602 that says why.
func decode[P any](method string, params json.RawMessage) (*P, error) {
	p := new(P)
	if len(params) == 0 {
		params = noParams
	}
	if err := protocol.Unmarshal(params, p); err != nil {
		return nil, kaiak.Errorf(kaiak.InvalidParams, "%s: the params do not fit: %w", method, err)
	}
	return p, nil
}

// handle is the handler of the connection: the gate of the lifecycle, then
// either kaiak/* or the table.
func (s *server) handle(ctx context.Context, in *inbound) (any, error) {
	if pass, err := s.gate(in); !pass {
		return nil, err
	}
	if strings.HasPrefix(in.method, "kaiak/") {
		return s.kaiakMethod(ctx, in)
	}
	if in.method == "initialize" {
		answered := false
		defer func() { s.settle(answered) }() // also after a panic
		result, err := s.dispatch(ctx, in)
		answered = err == nil
		return result, err
	}
	return s.dispatch(ctx, in)
}

// kaiakMethod hands a kaiak/* request to the service, which has the table of
// them: every operation and alias is mounted by being in it.
func (s *server) kaiakMethod(ctx context.Context, in *inbound) (any, error) {
	if !in.call {
		return nil, fmt.Errorf("%s is a request; sent without an id it is ignored", in.method)
	}
	s.speaks.Store(true)
	return s.client.Call(kaiak.WithRequestSize(ctx, in.size), in.method, in.params)
}
