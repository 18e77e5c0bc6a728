package kaiak

import (
	"context"
	"log/slog"
)

// Options says how a [Service] is to run.
type Options struct {
	StateDir string       // the durable state lives here; "" means the user's state folder
	Version  string       // of the server, as it reports itself
	Log      *slog.Logger // nil discards
}

// A Service is one running engine: the state on disk, the sessions in it, and
// the workspaces that its clients have open. It is safe for concurrent use.
type Service struct {
	opts Options
}

// New opens the durable state and takes up what an earlier process left
// behind. ctx bounds only the opening; [Service.Close] ends the service.
func New(ctx context.Context, opts Options) (*Service, error) {
	return &Service{opts: opts}, nil
}

// Close ends every goroutine of the service and waits for them. Requests that
// run are interrupted and can be resumed; pending proposals stay pending.
func (s *Service) Close() error { return nil }
