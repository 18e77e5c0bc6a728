package lsp

import (
	"context"
	"sync"
)

// A queue runs slow work that notifications begin (they must not wait for
// anything themselves), one job after another in the order of the wire. Its
// goroutine belongs to the connection and lives while there are jobs.
type queue struct {
	conn *conn

	mu      sync.Mutex // guards the fields below
	jobs    []func(context.Context)
	running bool
}

func newQueue(c *conn) *queue { return &queue{conn: c} }

// add queues a job.
func (q *queue) add(job func(context.Context)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, job)
	if !q.running {
		q.running = q.conn.spawn(q.run)
	}
}

func (q *queue) run(ctx context.Context) {
	for {
		q.mu.Lock()
		if len(q.jobs) == 0 || ctx.Err() != nil {
			q.running, q.jobs = false, nil
			q.mu.Unlock()
			return
		}
		job := q.jobs[0]
		q.jobs = q.jobs[1:]
		q.mu.Unlock()
		job(ctx)
	}
}
