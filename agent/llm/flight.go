package llm

import (
	"context"
	"sync"
)

// flights makes concurrent requests of the same bytes one. Everybody who joins
// hears every delta from the first; the request is cancelled when the last one
// has left.
type flights struct {
	mu      sync.Mutex // guards what follows, and refs of each flight
	running map[string]*flight
	wg      sync.WaitGroup // the goroutines of running
}

type flight struct {
	refs   int
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards what follows
	deltas  []Delta
	done    bool
	resp    *Response
	err     error
	changed chan struct{} // closed and replaced at every change
}

// do runs f, or joins the flight with the same key, and reports to sink.
func (fs *flights) do(ctx context.Context, key string, sink func(Delta), f func(context.Context, func(Delta)) (*Response, error)) (*Response, error) {
	fs.mu.Lock()
	fl := fs.running[key]
	if fl == nil {
		run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		fl = &flight{cancel: cancel, changed: make(chan struct{})}
		if fs.running == nil {
			fs.running = map[string]*flight{}
		}
		fs.running[key] = fl
		fs.wg.Add(1)
		go func() {
			defer fs.wg.Done()
			resp, err := f(run, func(d Delta) { fl.change(func() { fl.deltas = append(fl.deltas, d) }) })
			fs.forget(key, fl)
			fl.change(func() { fl.done, fl.resp, fl.err = true, resp, err })
			cancel(nil)
		}()
	}
	fl.refs++
	fs.mu.Unlock()
	defer fs.leave(key, fl)
	return fl.follow(ctx, sink)
}

func (fl *flight) change(f func()) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	f()
	close(fl.changed)
	fl.changed = make(chan struct{})
}

// follow reports the deltas until the flight or ctx ends.
func (fl *flight) follow(ctx context.Context, sink func(Delta)) (*Response, error) {
	for heard := 0; ; {
		fl.mu.Lock()
		news, done, changed := fl.deltas[heard:], fl.done, fl.changed
		fl.mu.Unlock()
		for _, d := range news {
			sink(d)
		}
		heard += len(news)
		if done {
			if fl.resp == nil {
				return nil, fl.err
			}
			shared := *fl.resp
			return &shared, fl.err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// leave is called by everybody who joined; the last one ends the request.
func (fs *flights) leave(key string, fl *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fl.refs--; fl.refs == 0 {
		fl.cancel(context.Canceled)
		if fs.running[key] == fl {
			delete(fs.running, key) // whoever comes now needs a request of its own
		}
	}
}

func (fs *flights) forget(key string, fl *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.running[key] == fl {
		delete(fs.running, key)
	}
}
