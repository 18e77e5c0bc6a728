package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"
	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/kaiak"
)

// progresses are the progresses that are running, by token.
type progresses struct {
	mu      sync.Mutex // guards the fields below
	running map[string]*progress
	closed  bool // none begins any more
}

func (p *progresses) init() { p.running = map[string]*progress{} }

// add registers a progress, and reports whether it may begin.
func (p *progresses) add(one *progress) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running[tokenKey(one.token)] = one
	}
	return !p.closed
}

func (p *progresses) get(key string) *progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running[key]
}

func (p *progresses) remove(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, key)
}

// endAll ends what is running and lets nothing more begin, so that no client is
// left with a progress that nothing will move any more.
func (p *progresses) endAll(message string) {
	p.mu.Lock()
	p.closed = true
	all := slices.Collect(maps.Values(p.running))
	p.mu.Unlock()
	for _, one := range all {
		one.End(message)
	}
}

// tokenKey tells 1 and "1" apart.
func tokenKey(token protocol.ProgressToken) string { return fmt.Sprintf("%T %v", token, token) }

// cancelProgress is window/workDoneProgress/cancel.
func (s *server) cancelProgress(_ context.Context, p *protocol.WorkDoneProgressCancelParams) error {
	if one := s.tasks.get(tokenKey(p.Token)); one != nil {
		one.cancel()
	}
	return nil
}

type tokenContextKey struct{}

// tokenBox holds the workDoneToken of a request until one progress takes it.
type tokenBox struct {
	mu    sync.Mutex
	token protocol.ProgressToken
}

// withToken lets the first progress of a request report under the token that
// the client gave.
func withToken(ctx context.Context, token protocol.ProgressToken) context.Context {
	return context.WithValue(ctx, tokenContextKey{}, &tokenBox{token: token})
}

// takeToken returns the client's token, nil when there is none (any more).
func takeToken(ctx context.Context) protocol.ProgressToken {
	box, _ := ctx.Value(tokenContextKey{}).(*tokenBox)
	if box == nil {
		return nil
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	token := box.token
	box.token = nil
	return token
}

// Progress begins a progress: under the token of the client's request where it
// gave one, else under one that the client is asked to create.
func (f front) Progress(ctx context.Context, title string, cancel func()) kaiak.Progress {
	if cancel == nil {
		cancel = func() {}
	}
	p := &progress{server: f.server, title: title, token: takeToken(ctx), cancel: sync.OnceFunc(cancel)}
	given := p.token != nil
	if !given && f.caps.progress {
		p.token = protocol.String(uuid.NewString())
	}
	switch {
	case p.token == nil || !f.tasks.add(p):
		p.token = nil
	case given:
		p.begin()
	default:
		p.create()
	}
	return p
}

// A progress is one work-done progress. The client's consent to its token may
// still be awaited; until then the newest report waits.
type progress struct {
	server *server
	title  string
	token  protocol.ProgressToken // nil: the client shows none
	cancel func()                 // stops the work; once

	mu      sync.Mutex // guards the fields below
	begun   bool
	refused bool
	ended   bool
	last    *protocol.WorkDoneProgressReport
}

// create asks the client for a token without holding up the work.
func (p *progress) create() {
	p.server.conn.spawn(func(ctx context.Context) {
		err := p.server.conn.request(ctx, "window/workDoneProgress/create", &protocol.WorkDoneProgressCreateParams{Token: p.token}, nil)
		if err != nil {
			p.server.log.Debug("the client shows no progress", "error", err)
			p.mu.Lock()
			p.refused = true
			p.mu.Unlock()
			return
		}
		p.begin()
	})
}

// begin shows the progress. One that has ended before that is never shown.
func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.begun = true
	p.send("", &protocol.WorkDoneProgressBegin{Kind: "begin", Title: p.title, Cancellable: ptr(true), Percentage: ptr(uint32(0))})
	if p.last != nil {
		p.send("", p.last)
	}
}

// Report shows how far the work is, in percent; a negative percentage leaves
// that open.
func (p *progress) Report(message string, percentage int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == nil || p.ended || p.refused {
		return
	}
	p.last = &protocol.WorkDoneProgressReport{Kind: "report", Message: &message}
	if percentage >= 0 {
		p.last.Percentage = ptr(uint32(min(percentage, 100)))
	}
	if p.begun {
		p.send("progress "+tokenKey(p.token), p.last)
	}
}

// End ends the progress. A second End does nothing.
func (p *progress) End(message string) {
	if p.token == nil {
		return
	}
	p.end(message)
	// Not before: whoever ends all that is registered must find it ended.
	p.server.tasks.remove(tokenKey(p.token))
}

func (p *progress) end(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if !p.begun {
		return
	}
	end := &protocol.WorkDoneProgressEnd{Kind: "end"}
	if message != "" {
		end.Message = &message
	}
	p.send("", end)
}

// send queues one $/progress; mu must be held, so that begin comes first and
// end last.
func (p *progress) send(key string, value any) {
	raw, err := protocol.Marshal(value)
	if err != nil {
		p.server.log.Error("a progress cannot be encoded", "error", err)
		return
	}
	p.server.conn.notify(key, "$/progress", &protocol.ProgressParams{Token: p.token, Value: protocol.LSPAny(raw)})
}
