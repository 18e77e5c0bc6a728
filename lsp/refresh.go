package lsp

import (
	"context"
	"sync"
)

// A refresher asks the client to ask for something again. Requests that come
// while one is on its way become one.
type refresher struct {
	server *server
	method string // e.g. "workspace/diagnostic/refresh"

	mu      sync.Mutex // guards the fields below
	running bool
	again   bool
}

func (r *refresher) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		r.again = true
		return
	}
	r.running = r.server.conn.spawn(r.run)
}

func (r *refresher) run(ctx context.Context) {
	for more := true; more; {
		if err := r.server.conn.request(ctx, r.method, nil, nil); err != nil {
			r.server.log.Debug("the client did not refresh", "method", r.method, "error", err)
		}
		r.mu.Lock()
		more = r.again && ctx.Err() == nil
		r.again, r.running = false, more
		r.mu.Unlock()
	}
}
