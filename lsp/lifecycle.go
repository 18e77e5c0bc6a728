package lsp

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/kaiak"
)

// The states of a connection, in their order.
const (
	stateNew          int32 = iota // initialize has not come
	stateInitializing              // it is being answered
	stateRunning
	stateShutdown // shutdown has come: only exit is allowed
	stateLeft     // exit has come after shutdown
)

// errExit ends a connection whose client said exit.
var errExit = errors.New("the client said exit")

// gate lets a message pass where the lifecycle allows it. What it does not let
// pass is answered with err, or dropped when it is a notification.
func (s *server) gate(in *inbound) (pass bool, err error) {
	if in.method == "exit" && !in.call {
		s.state.CompareAndSwap(stateShutdown, stateLeft)
		s.conn.close(errExit)
		return false, nil
	}
	switch state := s.state.Load(); {
	case state == stateNew && in.method == "initialize" && in.call:
		if s.state.CompareAndSwap(stateNew, stateInitializing) {
			return true, nil
		}
		fallthrough
	case state < stateRunning:
		return false, kaiak.Errorf(kaiak.ServerNotInitialized, "%s came before the answer to initialize; send initialize first", in.method)
	case state > stateRunning:
		return false, kaiak.Errorf(kaiak.InvalidRequest, "%s came after shutdown; only exit is allowed now", in.method)
	case in.method == "initialize":
		return false, kaiak.Errorf(kaiak.InvalidRequest, "initialize came a second time")
	case in.call && isNotification(in.method):
		return false, kaiak.Errorf(kaiak.InvalidRequest, "%s is a notification; it has no id", in.method)
	case !in.call && !isNotification(in.method):
		s.log.Debug("ignored a notification", "method", in.method)
		return false, nil
	}
	return true, nil
}

// settle moves on after initialize. One that failed may be tried again.
func (s *server) settle(answered bool) {
	if answered {
		s.state.Store(stateRunning)
		return
	}
	if s.client != nil {
		s.client.Close()
		s.client = nil
	}
	s.state.Store(stateNew)
}

// isNotification reports whether LSP defines method as a notification, going by
// how its names are made.
func isNotification(method string) bool {
	for _, prefix := range []string{"initialized", "exit", "$/", "textDocument/did", "workspace/did", "window/workDoneProgress/cancel"} {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}

// initialize settles what the client can do and answers what the server can.
func (s *server) initialize(ctx context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	experimental, err := encode(map[string]any{"kaiak": s.engine.Capabilities()})
	if err != nil {
		return nil, err
	}
	s.caps = negotiate(p)
	s.speaks.Store(s.caps.interactive)
	s.client = s.engine.Connect(front{s}, kaiak.ClientInfo{
		Name:        s.caps.name,
		Version:     s.caps.version,
		Interactive: s.caps.interactive,
	})
	if p.ProcessID != nil && *p.ProcessID > 0 {
		s.watchParent(int(*p.ProcessID))
	}
	s.settings.options = p.InitializationOptions
	s.configure(ctx)
	s.openFolders(ctx, initialFolders(p))
	result := &protocol.InitializeResult{
		Capabilities: s.serverCapabilities(),
		ServerInfo:   protocol.ServerInfo{Name: "kaiak"},
	}
	result.Capabilities.Experimental = protocol.LSPAny(experimental)
	if s.opts.Version != "" {
		result.ServerInfo.Version = protocol.NewOptional(s.opts.Version)
	}
	return result, nil
}

// serverCapabilities is what the server offers to this client.
func (s *server) serverCapabilities() protocol.ServerCapabilities {
	incremental := protocol.TextDocumentSyncKindIncremental
	caps := protocol.ServerCapabilities{
		PositionEncoding: protocol.PositionEncodingKind(s.caps.encoding),
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: ptr(true),
			Change:    &incremental,
			Save:      &protocol.SaveOptions{IncludeText: ptr(false)},
		},
		CodeActionProvider: protocol.Boolean(true),
		ExecuteCommandProvider: protocol.ExecuteCommandOptions{
			WorkDoneProgressOptions: protocol.WorkDoneProgressOptions{WorkDoneProgress: ptr(true)},
			Commands:                append(s.client.Commands(), applyActionCommand),
		},
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported:           ptr(true),
				ChangeNotifications: protocol.Boolean(true),
			},
		},
	}
	if s.caps.literals {
		caps.CodeActionProvider = &protocol.CodeActionOptions{
			CodeActionKinds: codeActionKinds,
			ResolveProvider: ptr(s.caps.resolveEdit),
		}
	}
	if s.caps.pull {
		caps.DiagnosticProvider = &protocol.DiagnosticOptions{}
	}
	if s.caps.lens {
		caps.CodeLensProvider = &protocol.CodeLensOptions{}
	}
	return caps
}

// initialized asks the client for what can only be asked after the handshake.
func (s *server) initialized(context.Context, *protocol.InitializedParams) error {
	s.background.add(func(ctx context.Context) {
		s.register(ctx)
		s.pullSettings(ctx)
	})
	return nil
}

// settleTime is how long shutdown waits for the requests before it to be
// answered by themselves; after it they are told that the server is ending.
const settleTime = time.Second

// shutdown answers every request that came before it and accepts nothing more
// but exit. What the service has not finished is
// in its store and goes on when a client resumes it.
func (s *server) shutdown() error {
	s.state.Store(stateShutdown)
	s.tasks.endAll("the server is ending")
	s.conn.settle(settleTime)
	return nil
}

// setTrace is accepted: the log is on stderr and has its own level.
func (s *server) setTrace(context.Context, *protocol.SetTraceParams) error { return nil }

// ptr returns a pointer to v, for optional members.
func ptr[T any](v T) *T { return &v }
