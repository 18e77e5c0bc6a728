// Package testclock is a clock that stands still until a test moves it.
//
// Call [New]; code under test asks for timers by [Clock.AfterFunc], the test
// moves time by [Clock.Advance] and waits for timers to be set by [Clock.Await].
package testclock

import (
	"slices"
	"sync"
	"time"
)

// A Clock is a manual clock. It is safe for concurrent use.
type Clock struct {
	mu     sync.Mutex // guards what follows
	cond   *sync.Cond
	now    time.Time
	timers []*Timer // running, in the order in which they were set
	sets   int      // timers that were set, reset included
}

// New returns a clock that shows a fixed moment.
func New() *Clock {
	c := &Clock{now: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)}
	c.cond = sync.NewCond(&c.mu)
	return c
}

// Now returns the moment the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f, on the goroutine of the [Clock.Advance] that gets there,
// when d has passed.
func (c *Clock) AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{clock: c, f: f}
	t.Reset(d)
	return t
}

// Advance moves the clock and calls what becomes due, earliest first.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		var next *Timer
		for _, t := range c.timers {
			if !t.due.After(end) && (next == nil || t.due.Before(next.due)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		c.now = next.due
		c.remove(next)
		c.mu.Unlock()
		next.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// Await waits until cond holds of the delays of the running timers, sorted, and
// of the number of times a timer was set or reset.
func (c *Clock) Await(cond func(delays []time.Duration, sets int) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !cond(c.delays(), c.sets) {
		c.cond.Wait()
	}
}

// Sets returns how often a timer was set or reset.
func (c *Clock) Sets() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sets
}

func (c *Clock) delays() []time.Duration {
	var out []time.Duration
	for _, t := range c.timers {
		out = append(out, t.due.Sub(c.now))
	}
	slices.Sort(out)
	return out
}

// remove takes t off the list and reports whether it was there. c.mu is held.
func (c *Clock) remove(t *Timer) bool {
	i := slices.Index(c.timers, t)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	c.cond.Broadcast()
	return true
}

// A Timer is a pending call of a [Clock].
type Timer struct {
	clock *Clock
	f     func()
	due   time.Time // guarded by clock.mu
}

// Reset sets the timer anew and reports whether it was running.
func (t *Timer) Reset(d time.Duration) bool {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.remove(t)
	t.due = c.now.Add(d)
	c.timers = append(c.timers, t)
	c.sets++
	c.cond.Broadcast()
	return was
}

// Stop stops the timer and reports whether it was running.
func (t *Timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.remove(t)
}
