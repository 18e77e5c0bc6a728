package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
)

// maxConcurrent is how many requests of one connection run at a time. Each
// waits for a parse, a model or a person far more than it computes.
const maxConcurrent = 64

// maxPending is how many requests of one connection may be unanswered.
const maxPending = 1024

// maxNotes is how many notifications of the client may wait for their turn;
// beyond it the connection is not read. They never wait for anything but the
// processor, so it always goes on.
const maxNotes = 1024

// A handler carries out one message. For a notification the result is dropped.
// Notifications are handled one after another in the order of the wire, and no
// later message begins before they return, so they must not wait for anything;
// requests run concurrently.
type handler func(ctx context.Context, in *inbound) (any, error)

// An inbound is one message of the client.
type inbound struct {
	method string
	params json.RawMessage
	call   bool // it asks for an answer
	size   int  // bytes of the message; 0 for a notification or in a batch
}

// A conn is one connection: conceptually one accept(2), or the process's stdio.
//
// jrpc2 does the dispatching: notifications in order, requests concurrently,
// batches, and the pairing of answers. Around it stands what it does not do:
//
//   - Framing that survives a hostile peer ([frameReader]); its own panics on a
//     Content-Length of 2^63-1 and ends the connection at "abc".
//   - $/cancelRequest is seen when it is read, not when the messages before it
//     have been dispatched, and -32800 is the code for it.
//   - Requests wait for one of maxConcurrent places here. Its own limit would
//     count notifications too, so that slow requests would hold up text
//     synchronisation and cancelling.
//   - Our requests to the client ([conn.request]) have their own table: jrpc2
//     answers a reply that comes after we gave up with an error, which is a
//     message no client asked for.
//   - Its errors carry no data; ours always say their kind.
//   - Panics of handlers become -32603.
//   - Writing never blocks ([outbox]).
type conn struct {
	log    *slog.Logger
	frames chan arrival // from [conn.read]
	stream stream
	out    *outbox
	handle handler
	srv    *jrpc2.Server

	ctx   context.Context // of everything the connection does
	end   context.CancelCauseFunc
	group sync.WaitGroup // goroutines begun by [conn.spawn], and the writer
	slots chan struct{}  // one per request that runs
	notes chan struct{}  // one per notification that waits or runs

	mu       sync.Mutex  // guards the fields below
	held     []heldFrame // notifications that wait for the initialize answer
	inflight map[string]*pending
	settled  chan struct{} // not nil: closed when no more than one request is unanswered
	replies  map[string]chan reply
	lastID   int64
	opened   chan struct{} // closed once the initialize answer is sent
	opening  [][]byte      // how that answer may begin, per initialize request
	isOpen   bool
	closing  bool // spawn begins nothing more

	queue []delivery // messages of one frame that jrpc2 has not taken yet; Recv's own
}

type heldFrame struct {
	key  string
	body []byte
}

// A pending is a request of the client that is not answered yet.
type pending struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	size   int
}

type reply struct {
	result json.RawMessage
	err    error
}

// A delivery is a message for jrpc2.
type delivery struct {
	body []byte
	note bool
}

// An arrival is one frame, or what is wrong with it.
type arrival struct {
	body []byte
	bad  *fault
}

// A stream is the two directions of a connection. closeOut says to the peer
// that nothing more comes, and frees a blocked writer; closeIn comes last and
// frees a blocked reader where the system can do that.
type stream struct {
	in                io.Reader
	out               io.Writer
	closeIn, closeOut func()

	// linger is how long the peer's own end is waited for between the two: a
	// socket that is closed with something unread in it makes the peer's read
	// fail, and what was sent to it last may be lost.
	linger time.Duration
}

// errCancelledByClient is the cause of a context that $/cancelRequest ended.
var errCancelledByClient = errors.New("cancelled by the client")

func newConn(ctx context.Context, s stream, log *slog.Logger, handle handler) *conn {
	c := &conn{
		log:      log,
		frames:   make(chan arrival),
		stream:   s,
		out:      newOutbox(s.out),
		handle:   handle,
		slots:    make(chan struct{}, maxConcurrent),
		notes:    make(chan struct{}, maxNotes),
		inflight: map[string]*pending{},
		replies:  map[string]chan reply{},
		opened:   make(chan struct{}),
	}
	c.ctx, c.end = context.WithCancelCause(ctx)
	return c
}

// graceTimeout is how long a connection that ends waits for handlers whose
// context it has cancelled.
const graceTimeout = time.Second

// serve runs the connection until the client leaves, [conn.close] is called or
// ctx ends, and returns the cause; io.EOF when the client closed the stream.
func (c *conn) serve() error {
	c.group.Go(func() {
		if err := c.out.run(); err != nil {
			c.end(err)
		}
	})
	// Ends with the stream. Reading stdin cannot be interrupted: there it ends
	// with the process, which is why nothing waits for it.
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		c.read()
	}()
	c.srv = jrpc2.NewServer(assigner{c}, &jrpc2.ServerOptions{
		Concurrency:    1 << 30, // see conn
		DisableBuiltin: true,
	}).Start((*wire)(c))
	handled := make(chan struct{})
	go func() { // ends soon after the context, or with the handler that ignores it
		_ = c.srv.Wait() // the cause is the context's
		close(handled)
	}()

	<-c.ctx.Done()
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	timer := time.NewTimer(graceTimeout)
	defer timer.Stop()
	select {
	case <-handled:
	case <-timer.C:
		c.log.Warn("the connection ends before all of its handlers have")
	}
	c.out.close()
	c.stream.closeOut()
	if c.stream.linger > 0 {
		timer.Reset(c.stream.linger)
		select {
		case <-drained:
		case <-timer.C:
		}
	}
	c.stream.closeIn()
	c.group.Wait()
	return context.Cause(c.ctx)
}

// read splits the stream into frames until it ends. What comes after the end of
// the connection is read and dropped.
func (c *conn) read() {
	frames := newFrameReader(c.stream.in)
	for {
		body, bad, err := frames.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.log.Debug("reading ended", "error", err)
			}
			close(c.frames) // however the stream ended, there is no more
			return
		}
		select {
		case c.frames <- arrival{body, bad}:
		case <-c.ctx.Done():
			_, _ = io.Copy(io.Discard, c.stream.in) // its end is all that matters
			return
		}
	}
}

// close ends the connection for the given reason.
func (c *conn) close(why error) { c.end(why) }

// spawn runs f in a goroutine that the connection waits for before it is gone,
// and reports whether it did: a connection that ends begins nothing more. f
// must return soon after its context ends.
func (c *conn) spawn(f func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.group.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				c.log.Error("panic in background work", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		f(c.ctx)
	})
	return true
}

// settle waits until every request but the one that asks for it is answered:
// for as long as given by themselves, then by ending them.
func (c *conn) settle(patience time.Duration) {
	c.mu.Lock()
	if len(c.inflight) <= 1 {
		c.mu.Unlock()
		return
	}
	done := make(chan struct{})
	c.settled = done
	others := slices.Collect(maps.Values(c.inflight))
	c.mu.Unlock()

	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-c.ctx.Done():
		return
	case <-timer.C:
	}
	for _, p := range others {
		p.cancel(errEnding)
	}
	timer.Reset(patience)
	select {
	case <-done:
	case <-c.ctx.Done():
	case <-timer.C: // a handler that does not end; its answer comes late or not
	}
}

// answeredLocked takes a request off the list. The caller holds c.mu.
func (c *conn) answeredLocked(key string) {
	delete(c.inflight, key)
	if c.settled != nil && len(c.inflight) <= 1 {
		close(c.settled)
		c.settled = nil
	}
}

// errEnding ends the requests that shutdown does not wait for.
var errEnding = errors.New("the server is ending")
