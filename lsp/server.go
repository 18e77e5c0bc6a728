package lsp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	glsp317 "github.com/tliron/glsp/protocol_3_17"

	"github.com/kaiak/kaiak/kaiak"
)

// Options says how a connection is served. The zero value is ready to use.
type Options struct {
	Version   string       // of the server, for serverInfo
	Log       *slog.Logger // nil discards; never the stream that carries frames
	ClientPID int          // the process whose death ends the connection, besides initialize's processId
}

// ErrNoShutdown is returned by [Serve] when the client left without a shutdown
// request. A process ends with exit code 1 then, as LSP asks.
var ErrNoShutdown = errors.New("the client left without a shutdown request")

// Serve serves one client on a pair of streams, e.g. stdin and stdout, until it
// leaves, its process dies or ctx ends. It returns nil when the client has said
// shutdown before it left, else [ErrNoShutdown] or the failure of the connection.
//
// Serve closes in and out when it returns if they can be closed. A read of
// stdin that cannot be interrupted is left behind; it ends with the process.
func Serve(ctx context.Context, svc *kaiak.Service, in io.Reader, out io.Writer, opts Options) error {
	return serve(ctx, service{svc}, stdStream(in, out), opts)
}

// stdStream is a pair of streams as a stream.
func stdStream(in io.Reader, out io.Writer) stream {
	closing := func(v any) func() {
		return func() {
			if c, ok := v.(io.Closer); ok {
				_ = c.Close() // there is nobody left to tell
			}
		}
	}
	return stream{in: in, out: out, closeIn: closing(in), closeOut: closing(out)}
}

// serve is Serve for any engine.
func serve(ctx context.Context, e engine, st stream, opts Options) error {
	s := newServer(ctx, e, st, opts)
	if opts.ClientPID > 0 {
		s.watchParent(opts.ClientPID)
	}
	err := s.conn.serve()
	s.release()
	if s.state.Load() == stateShutdown || s.state.Load() == stateLeft {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errExit) || errors.Is(err, errParentDied) {
		return ErrNoShutdown
	}
	return err
}

// A server is one connection with what its client has told about itself.
type server struct {
	engine  engine
	conn    *conn
	log     *slog.Logger
	opts    Options
	methods *glsp317.Handler
	state   atomic.Int32
	speaks  atomic.Bool // the client declared or used kaiak/*

	// Set once by initialize, before the state lets anything else pass.
	caps   capabilities
	client client

	docs     documents
	settings settings
	diags    publisher
	tasks    progresses
	folders  folders
	pulls    refresher // of diagnostics
	lenses   refresher

	background *queue // slow work that notifications begin, in order

	parents sync.Map // pid → struct{}: processes that are watched already
}

func newServer(ctx context.Context, e engine, st stream, opts Options) *server {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{engine: e, log: opts.Log, opts: opts}
	s.docs.init()
	s.tasks.init()
	s.diags.init(s)
	s.pulls = refresher{server: s, method: "workspace/diagnostic/refresh"}
	s.lenses = refresher{server: s, method: "workspace/codeLens/refresh"}
	s.methods = s.table()
	s.conn = newConn(ctx, st, opts.Log, s.handle)
	s.background = newQueue(s.conn)
	return s
}

// release ends the client's connection to the service, once the handshake has
// made one.
func (s *server) release() {
	if s.state.Load() >= stateRunning {
		s.client.Close()
	}
}
