package client

import "sync"

// A queue holds the notifications that were read and not handled yet. It is
// not bounded: the reader must go on to read, since the answer that the handler
// waits for comes on the same connection.
type queue struct {
	mu     sync.Mutex
	cond   *sync.Cond
	items  []Notification // guarded by mu
	closed bool           // guarded by mu
}

func newQueue() *queue {
	q := &queue{}
	q.cond = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(n Notification) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, n)
	q.cond.Signal()
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.cond.Signal()
}

// all yields the notifications in order, until the queue is closed and empty.
func (q *queue) all(yield func(Notification) bool) {
	for {
		q.mu.Lock()
		for len(q.items) == 0 && !q.closed {
			q.cond.Wait()
		}
		batch := q.items
		q.items = nil
		q.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, n := range batch {
			if !yield(n) {
				return
			}
		}
	}
}
