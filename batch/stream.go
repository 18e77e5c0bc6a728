package batch

import (
	"encoding/json"
	"sync"

	"github.com/kaiak/kaiak/lsp/client"
)

// A stream is what the server tells on its own account, as far as a batch
// listens: which requests are over, what was proposed, how far it is.
type stream struct {
	mu       sync.Mutex // guards what follows
	over     map[string]chan struct{}
	files    map[string][]fileModification // by proposal; without the texts
	budget   bool
	progress func(progressContent)
}

func newStream() *stream {
	return &stream{over: map[string]chan struct{}{}, files: map[string][]fileModification{}}
}

// hear takes a notification of the server. What cannot be read is left out: it
// is the server's, and the answers to requests say the same.
func (s *stream) hear(n client.Notification) {
	var e event
	if json.Unmarshal(n.Params, &e) != nil {
		return
	}
	switch n.Method {
	case streamSystem:
		var c systemContent
		if json.Unmarshal(e.Content, &c) != nil {
			return
		}
		switch c.Event {
		case "request_completed":
			over := s.completed(firstOf(c.RequestID, e.RequestID))
			select {
			case <-over: // told twice
			default:
				close(over)
			}
		case "budget_exceeded":
			s.mu.Lock()
			s.budget = true
			s.mu.Unlock()
		}
	case streamModify:
		var m fileModification
		if json.Unmarshal(e.Content, &m) != nil {
			return
		}
		m.OriginalContent, m.ProposedContent = nil, nil // the diff and the hashes are enough
		s.mu.Lock()
		s.files[e.ProposalID] = append(s.files[e.ProposalID], m)
		s.mu.Unlock()
	case streamProgress:
		var p progressContent
		if json.Unmarshal(e.Content, &p) != nil {
			return
		}
		s.mu.Lock()
		show := s.progress
		s.mu.Unlock()
		if show != nil {
			show(p)
		}
	}
}

// completed is closed when the request's last event has come.
func (s *stream) completed(requestID string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.over[requestID]
	if ch == nil {
		ch = make(chan struct{})
		s.over[requestID] = ch
	}
	return ch
}

// onProgress has show called for each progress from now on; nil for nobody.
func (s *stream) onProgress(show func(progressContent)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress = show
}

// proposed returns the files of a proposal, if all of them were heard of whole.
func (s *stream) proposed(proposalID string) ([]fileModification, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.files[proposalID]
	if len(files) == 0 || len(files) != files[0].SetSize {
		return nil, false
	}
	for _, f := range files {
		if f.Truncated && f.Diff == "" {
			return nil, false
		}
	}
	return files, true
}

func (s *stream) outOfBudget() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.budget
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
