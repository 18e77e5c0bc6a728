package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kaiak/kaiak/store"
)

// The states of a session in the store. What a client sees as its status
// follows from these and from its requests.
const (
	sessionOpen       = "open"
	sessionTerminated = "terminated"
)

// sessionData is what the store keeps of a session beside its columns.
type sessionData struct {
	Name          string               `json:"name"`
	Title         string               `json:"title,omitempty"`
	Archived      bool                 `json:"archived,omitempty"`
	Workspace     string               `json:"workspace"`
	Configuration SessionConfiguration `json:"configuration"`
	Errors        int                  `json:"errors"`
	LastResult    string               `json:"last_result,omitempty"` // of the newest request: completed, failed
	TerminatedAt  *time.Time           `json:"terminated_at,omitempty"`
	ForkedAt      int64                `json:"forked_at,omitempty"` // sequence of the parent up to which the fork shares its history
}

// A session is one that is loaded: its state, who listens to it, and the
// requests that run in it.
type session struct {
	service *Service
	id      string
	space   *space
	created time.Time
	parent  string

	out sync.Mutex // held while events are stored and sent, which keeps their order; taken before mu

	mu         sync.Mutex // guards what follows
	data       sessionData
	terminated bool
	updated    time.Time
	last       int64 // sequence of the newest event
	errors     int
	clients    map[*Client]struct{}
	requests   map[string]*request // the ones that run here
	byClientID map[string]string   // client_request_id → request id
	statuses   []time.Time         // when the last status requests were answered
	waiters    []chan struct{}     // closed whenever a request ends
}

// createSession makes a session in a workspace and stores it.
func (c *Client) createSession(ctx context.Context, p SessionCreateParams) (*session, error) {
	sp, err := c.service.openSpace(ctx, p.WorkspacePath, c)
	if err != nil {
		return nil, err
	}
	if err := p.Configuration.check(); err != nil {
		c.service.releaseSpace(sp)
		return nil, err
	}
	now := c.service.now()
	s := &session{
		service: c.service, id: newID(""), space: sp, created: now, updated: now,
		data:    sessionData{Name: p.SessionName, Workspace: sp.ws.Dir(), Configuration: p.Configuration},
		clients: map[*Client]struct{}{}, requests: map[string]*request{}, byClientID: map[string]string{},
	}
	err = s.commit(store.Durable, func(tx *store.Tx) error {
		return tx.Put(store.Sessions, s.record())
	})
	if err != nil {
		c.service.releaseSpace(sp)
		return nil, Errorf(SessionCreationFailed, "the session cannot be stored: %w", err)
	}
	c.service.mu.Lock()
	c.service.sessions[s.id] = s
	c.service.mu.Unlock()
	s.attach(c)
	return s, nil
}

func (conf SessionConfiguration) check() error {
	bad := func(member, want string) error {
		return Errorf(InvalidParams, "params.configuration.%s must be %s", member, want).With("member", "params.configuration."+member)
	}
	switch {
	case conf.Timeout < 0:
		return bad("timeout", "a positive number of seconds")
	case conf.MaxTurns < 0:
		return bad("max_turns", "a positive number")
	case conf.Approval != "" && conf.Approval != approvalAsk && conf.Approval != approvalDefer:
		return bad("approval", `"ask" or "defer"`)
	}
	return checkEngines("params.configuration.engines", conf.Engines)
}

// record is the session as the store has it. mu need not be held by the only
// goroutine that knows the session.
func (s *session) record() store.Record {
	state := sessionOpen
	if s.terminated {
		state = sessionTerminated
	}
	return store.Record{ID: s.id, SessionID: s.id, ParentID: s.parent, Scope: s.space.ws.RealDir(), State: state,
		Created: s.created, Updated: s.updated, Data: mustJSON(s.data)}
}

// save stores a change of the session's data.
func (s *session) save(change func(*sessionData), events ...outgoing) error {
	s.mu.Lock()
	change(&s.data)
	s.updated = s.service.now()
	rec := s.record()
	s.mu.Unlock()
	return s.commit(store.Durable, func(tx *store.Tx) error { return tx.Put(store.Sessions, rec) }, events...)
}

// attach makes c hear the session's events until it closes.
func (s *session) attach(c *Client) {
	s.mu.Lock()
	s.clients[c] = struct{}{}
	s.mu.Unlock()
	c.mu.Lock()
	c.sessions[s.id] = s
	c.mu.Unlock()
}

func (s *session) detach(c *Client) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
}

func sessionNotFound(id string) *Error {
	return Errorf(SessionNotFound, "there is no session %q; kaiak/session/list names those that there are", id).With("session_id", id)
}

// session returns a session, loaded from the store where it is not yet. A
// session that was terminated is -32004 unless ended is true.
func (s *Service) session(ctx context.Context, id string, ended bool) (*session, error) {
	s.mu.Lock()
	ses := s.sessions[id]
	s.mu.Unlock()
	if ses == nil {
		rec, err := s.store.Get(ctx, store.Sessions, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, sessionNotFound(id)
		}
		if err != nil {
			return nil, err
		}
		if ses, err = s.load(ctx, rec); err != nil {
			return nil, err
		}
	}
	ses.mu.Lock()
	terminated := ses.terminated
	ses.mu.Unlock()
	if terminated && !ended {
		return nil, Errorf(SessionTerminated, "session %q was terminated; kaiak/session/resume opens it again", id).With("session_id", id)
	}
	return ses, nil
}

// load brings a stored session to life. Of two that load it at once, one wins.
func (s *Service) load(ctx context.Context, rec store.Record) (*session, error) {
	var data sessionData
	if err := json.Unmarshal(rec.Data, &data); err != nil {
		return nil, Errorf(InternalError, "session %q in the state cannot be read: %w", rec.ID, err)
	}
	last, err := s.store.LastSequence(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	requests, _, err := s.store.List(ctx, store.Requests, store.Filter{SessionID: rec.ID})
	if err != nil {
		return nil, err
	}
	sp, err := s.openSpace(ctx, data.Workspace, nil)
	if err != nil {
		return nil, Errorf(WorkspaceAccessDenied, "the workspace of session %q cannot be opened: %w", rec.ID, err).With("session_id", rec.ID)
	}
	ses := &session{service: s, id: rec.ID, space: sp, created: rec.Created, parent: rec.ParentID,
		data: data, terminated: rec.State == sessionTerminated, updated: rec.Updated, last: last, errors: data.Errors,
		clients: map[*Client]struct{}{}, requests: map[string]*request{}, byClientID: map[string]string{}}
	for _, r := range requests {
		var d requestData
		if json.Unmarshal(r.Data, &d) == nil && d.ClientRequestID != "" {
			ses.byClientID[d.ClientRequestID] = r.ID
		}
	}
	s.mu.Lock()
	if first := s.sessions[rec.ID]; first != nil {
		s.mu.Unlock()
		s.releaseSpace(sp)
		return first, nil
	}
	s.sessions[rec.ID] = ses
	s.mu.Unlock()
	return ses, nil
}

// active returns the requests that run, oldest first.
func (s *session) active() []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*request, 0, len(s.requests))
	for _, r := range s.requests {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *request) int {
		if c := a.created.Compare(b.created); c != 0 {
			return c
		}
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}

// status is the session's status in the contract's words.
func (s *session) status() string {
	waiting := 0
	active := s.active()
	for _, r := range active {
		if r.waiting() {
			waiting++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.terminated:
		return "terminated"
	case len(active) > 0 && waiting == len(active):
		return "waiting_for_user"
	case len(active) > 0:
		return "processing"
	case s.data.LastResult != "":
		return s.data.LastResult
	case s.last > 0:
		return "ready"
	}
	return "created"
}

// allowStatus counts one status request and refuses it when there were too many
// in the last minute.
func (s *session) allowStatus() error {
	now := s.service.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses = slices.DeleteFunc(s.statuses, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if len(s.statuses) >= LimitStatusPerMinute.Value {
		wait := time.Minute - now.Sub(s.statuses[0])
		e := LimitStatusPerMinute.exceeded("session %q was asked for its status %d times in a minute; ask again in %s, or listen to kaiak/stream/system",
			s.id, LimitStatusPerMinute.Value, wait.Round(time.Second)).With("retry_after_ms", wait.Milliseconds()).With("session_id", s.id)
		e.Retryable = true
		return e
	}
	s.statuses = append(s.statuses, now)
	return nil
}

// counts returns how many proposals and interactions of the session wait.
func (s *session) counts(ctx context.Context) (proposals, interactions int, err error) {
	p, _, err := s.service.store.List(ctx, store.Proposals, store.Filter{SessionID: s.id, States: []string{ProposalPending}})
	if err != nil {
		return 0, 0, err
	}
	i, _, err := s.service.store.List(ctx, store.Interactions, store.Filter{SessionID: s.id, States: []string{interactionPending}})
	return len(p), len(i), err
}

// requestEnded wakes those who wait for the session's requests.
func (s *session) requestEnded(r *request) {
	s.mu.Lock()
	delete(s.requests, r.id)
	waiters := s.waiters
	s.waiters = nil
	s.mu.Unlock()
	for _, w := range waiters {
		close(w)
	}
}

// ended returns a channel that closes when a request of the session ends next.
func (s *session) ended() <-chan struct{} {
	ch := make(chan struct{})
	s.mu.Lock()
	s.waiters = append(s.waiters, ch)
	s.mu.Unlock()
	return ch
}
