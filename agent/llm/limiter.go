package llm

import (
	"container/list"
	"context"
	"sync"
)

// A Limiter lets a number of holders in at a time, first come first served. A
// limiter of an endpoint adapts: it halves what it allows when the endpoint says
// that it is too much, and allows one more after twenty successes, up to where
// it began.
type Limiter struct {
	mu        sync.Mutex // guards what follows
	most      int
	allowed   int
	held      int
	successes int
	queue     *list.List // of chan struct{}, closed when it is their turn
}

// successesPerStep is how many successes in a row allow one more.
const successesPerStep = 20

// NewLimiter returns a limiter of n holders, at least one.
func NewLimiter(n int) *Limiter {
	n = max(n, 1)
	return &Limiter{most: n, allowed: n, queue: list.New()}
}

// Acquire waits for its turn or for the end of ctx. Call release exactly once.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	if l.held < l.allowed && l.queue.Len() == 0 {
		l.held++
		l.mu.Unlock()
		return l.release, nil
	}
	turn := make(chan struct{})
	e := l.queue.PushBack(turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return l.release, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-turn: // it was let in at the same moment
		l.held--
		l.admit()
	default:
		l.queue.Remove(e)
	}
	return nil, context.Cause(ctx)
}

func (l *Limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held--
	l.admit()
}

// admit lets in who waits. l.mu is held.
func (l *Limiter) admit() {
	for l.held < l.allowed && l.queue.Len() > 0 {
		l.held++
		close(l.queue.Remove(l.queue.Front()).(chan struct{}))
	}
}

// Succeeded reports a request that the endpoint served.
func (l *Limiter) Succeeded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.successes++; l.successes >= successesPerStep && l.allowed < l.most {
		l.allowed++
		l.successes = 0
		l.admit()
	}
}

// Overloaded reports a request that the endpoint refused as one too many.
func (l *Limiter) Overloaded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed = max(l.allowed/2, 1)
	l.successes = 0
}

// Allowed returns how many holders are let in at present.
func (l *Limiter) Allowed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.allowed
}
