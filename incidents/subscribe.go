package incidents

import (
	"slices"
	"sync"
)

// A Subscription hears which files' incidents changed. It never holds up the
// index: changes that were not taken yet are merged.
type Subscription struct {
	index *Index
	ready chan struct{} // holds one element while paths is not empty

	mu    sync.Mutex
	paths map[string]struct{} // guarded by mu
}

// Subscribe begins a subscription; the caller ends it with Close.
func (x *Index) Subscribe() *Subscription {
	s := &Subscription{index: x, ready: make(chan struct{}, 1), paths: map[string]struct{}{}}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.subs[s] = struct{}{}
	return s
}

// notify tells every subscription that a file changed. x.mu is held.
func (x *Index) notify(path string) {
	for s := range x.subs {
		s.mu.Lock()
		s.paths[path] = struct{}{}
		s.mu.Unlock()
		select {
		case s.ready <- struct{}{}:
		default:
		}
	}
}

// Ready receives when [Subscription.Take] has something to give.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns the files whose incidents changed since the last call, sorted.
func (s *Subscription) Take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.paths))
	for p := range s.paths {
		out = append(out, p)
	}
	clear(s.paths)
	slices.Sort(out)
	return out
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	delete(s.index.subs, s)
}
