package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/store"
)

// The states of a request.
const (
	RequestProcessing  = "processing"  // a process works on it
	RequestInterrupted = "interrupted" // its process is gone; session/resume takes it up again
	RequestDone        = "completed"
	RequestFailedState = "failed"
	RequestCancel      = "cancelled"
)

// requestData is what the store keeps of a request beside its columns.
type requestData struct {
	Incidents       []incidents.Incident `json:"incidents"`
	Context         map[string]any       `json:"migration_context,omitempty"`
	Engines         []string             `json:"engines"`
	Approval        string               `json:"approval"`
	Alternate       int                  `json:"alternate,omitempty"`
	Comment         string               `json:"comment,omitempty"`
	Supersedes      string               `json:"supersedes,omitempty"` // the proposal that a refined one replaces
	ClientRequestID string               `json:"client_request_id,omitempty"`
	Owner           processID            `json:"owner"`
	Generated       bool                 `json:"generated"` // every incident has its proposal or its leftover
	Leftovers       []agent.Leftover     `json:"leftovers,omitempty"`
	Interactions    int                  `json:"interactions"`
	Summary         *Summary             `json:"summary,omitempty"`
	Error           string               `json:"error,omitempty"`
	EndedAt         *time.Time           `json:"ended_at,omitempty"`
}

// A request is one that runs in this process: its worker makes proposals, asks
// about them, and ends the request when everything it asked is answered.
type request struct {
	session *session
	id      string
	created time.Time
	client  *Client // who asked; nil after a restart
	model   agent.ModelEngine

	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the worker has ended, terminal event included

	applying sync.RWMutex // held for reading while something of this request is applied; for writing by cancel

	mu        sync.Mutex // guards what follows
	data      requestData
	cancelled bool
	asked     map[string]struct{}    // interactions that are open
	replies   map[string]chan answer // of questions that a model waits for
	answered  chan struct{}          // signalled when one is closed; holds one
	pipeline  bool                   // proposals are still being made
	proposals int
}

// errCancelled is the cause of a context that fix/cancel ended.
var errCancelled = errors.New("cancelled by the client")

// errClosing is the cause of a context that the server's end ended.
var errClosing = errors.New("the server is ending")

func requestNotFound(id string) *Error {
	return Errorf(RequestNotFound, "there is no request %q; kaiak/request/list names those that there are", id).With("request_id", id)
}

func checkEngines(member string, engines []string) error {
	for i, e := range engines {
		if e != string(agent.Recipe) && e != string(agent.Model) {
			return Errorf(InvalidParams, `%s[%d] must be "recipe" or "model", not %q`, member, i, e).With("member", fmt.Sprintf("%s[%d]", member, i))
		}
	}
	return nil
}

// newRequest makes a request that this process works on.
func newRequest(s *session, id string, created time.Time, c *Client, data requestData) *request {
	r := &request{session: s, id: id, created: created, client: c, data: data, done: make(chan struct{}),
		asked: map[string]struct{}{}, replies: map[string]chan answer{}, answered: make(chan struct{}, 1)}
	r.data.Owner = s.service.presence.id
	r.ctx, r.cancel = context.WithCancelCause(s.service.ctx)
	return r
}

// startRequest stores a request and starts its worker. It answers as soon as
// the request is durable.
func (s *session) startRequest(ctx context.Context, c *Client, data requestData) (*request, error) {
	model, err := s.modelFor(ctx, data.Engines)
	if err != nil {
		return nil, err
	}
	r := newRequest(s, newID("req-"), s.service.now(), c, data)
	r.model = model

	s.mu.Lock()
	if len(s.requests) >= LimitConcurrentFixes.Value {
		s.mu.Unlock()
		e := LimitConcurrentFixes.exceeded("session %q already works on %d requests; wait for one to complete, or cancel one", s.id, LimitConcurrentFixes.Value).With("session_id", s.id)
		e.Retryable = true
		return nil, e
	}
	if id := data.ClientRequestID; id != "" {
		if first, ok := s.byClientID[id]; ok {
			s.mu.Unlock()
			return s.service.replayRequest(ctx, first)
		}
		s.byClientID[id] = r.id
	}
	s.requests[r.id] = r
	s.mu.Unlock()

	err = s.commit(store.Durable, func(tx *store.Tx) error { return tx.Put(store.Requests, r.record(RequestProcessing)) },
		outgoing{method: StreamSystem, requestID: r.id, content: SystemContent{Event: "request_started", RequestID: r.id, Status: RequestProcessing}})
	if err != nil {
		s.forget(r)
		return nil, Errorf(RequestFailed, "the request cannot be stored: %w", err)
	}
	if !s.service.run(r.work) {
		s.forget(r)
		return nil, Errorf(RequestFailed, "the server is ending")
	}
	return r, nil
}

// forget takes back a request that could not be started.
func (s *session) forget(r *request) {
	s.mu.Lock()
	delete(s.requests, r.id)
	if r.data.ClientRequestID != "" {
		delete(s.byClientID, r.data.ClientRequestID)
	}
	s.mu.Unlock()
}

// replayRequest returns a request that was already made, for a client that asks
// for it again under the same client_request_id.
func (s *Service) replayRequest(ctx context.Context, id string) (*request, error) {
	rec, data, err := s.requestRecord(ctx, id)
	if err != nil {
		return nil, err
	}
	return &request{id: id, created: rec.Created, data: data}, nil
}

// requestRecord reads a request from the store.
func (s *Service) requestRecord(ctx context.Context, id string) (store.Record, requestData, error) {
	rec, err := s.store.Get(ctx, store.Requests, id)
	if errors.Is(err, store.ErrNotFound) {
		return rec, requestData{}, requestNotFound(id)
	}
	if err != nil {
		return rec, requestData{}, err
	}
	return readRequest(rec)
}

func readRequest(rec store.Record) (store.Record, requestData, error) {
	var data requestData
	if err := json.Unmarshal(rec.Data, &data); err != nil {
		return rec, data, Errorf(InternalError, "request %q in the state cannot be read: %w", rec.ID, err)
	}
	return rec, data, nil
}

// modelFor makes the model engine where the engines ask for it.
func (s *session) modelFor(ctx context.Context, engines []string) (agent.ModelEngine, error) {
	if !slices.Contains(engines, string(agent.Model)) {
		return nil, nil
	}
	conf := s.space.config()
	s.mu.Lock()
	own := s.data.Configuration
	s.mu.Unlock()
	if s.service.opts.Model == nil {
		return nil, Errorf(AgentInitFailed, "this server has no model engine; ask for the recipe engine only").With("session_id", s.id)
	}
	hints, err := s.space.promptHints(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.service.opts.Model(ctx, ModelSettings{
		Hints:    hints,
		Provider: own.Provider, Model: first(own.Model, conf.Model.Name), Profile: conf.Model.Profile,
		MaxTurns: first(own.MaxTurns, conf.Model.MaxTurns), MaxTokens: conf.Model.MaxTokens, MaxCost: conf.Model.MaxCostUSD, Workspace: s.space.ws.Dir(), Trusted: conf.Trusted,
	})
	if err != nil {
		return nil, Errorf(AgentInitFailed, "the model cannot be used: %w", err).With("session_id", s.id)
	}
	return m, nil
}

// first returns the first value that is not zero.
func first[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}

// record is the request as the store has it, in a state.
func (r *request) record(state string) store.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return store.Record{ID: r.id, SessionID: r.session.id, RequestID: r.id, Scope: r.session.space.ws.RealDir(), State: state,
		Created: r.created, Updated: r.session.service.now(), Data: mustJSON(r.data)}
}

// waiting reports whether the request only waits for its user.
func (r *request) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.pipeline && len(r.asked) > 0
}

// work is the request's worker: one goroutine from the start to the terminal event.
func (r *request) work() {
	defer close(r.done)
	start := r.session.service.opts.Now()
	var progress Progress
	if r.client != nil {
		progress = r.client.front.Progress(r.ctx, "Kaiak: fixing "+countOf(len(r.data.Incidents), "incident"), func() { r.cancel(errCancelled) })
	}
	err := r.generate(progress)
	if err == nil {
		err = r.await()
	}
	state := r.finish(err, start)
	if progress != nil {
		progress.End(state)
	}
}

// generate makes the proposals. A request that was interrupted goes on with the
// incidents that have none yet.
func (r *request) generate(progress Progress) error {
	r.mu.Lock()
	r.pipeline = true
	data := r.data
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.pipeline = false
		r.mu.Unlock()
	}()
	if data.Generated {
		return nil
	}
	todo, err := r.remaining(r.ctx, data.Incidents)
	if err != nil {
		return err
	}
	fixer, err := r.session.space.fixer(r.ctx, r.model)
	if err != nil {
		return err
	}
	l := &listener{request: r, progress: progress}
	task := agent.Task{Workspace: r.session.space.ws, Incidents: todo, Context: data.Context, Alternate: data.Alternate, Comment: data.Comment, Stream: l}
	for _, e := range data.Engines {
		task.Engines = append(task.Engines, agent.EngineName(e))
	}
	if err := fixer.Fix(r.ctx, task, l); err != nil {
		return err
	}
	if l.failed != nil {
		return l.failed
	}
	r.mu.Lock()
	r.data.Generated = true
	r.data.Leftovers = l.leftovers
	r.mu.Unlock()
	rec := r.record(RequestProcessing)
	return r.session.commit(store.Quick, func(tx *store.Tx) error { return tx.Put(store.Requests, rec) })
}

// remaining returns the incidents that no live proposal of this request covers.
func (r *request) remaining(ctx context.Context, list []incidents.Incident) ([]incidents.Incident, error) {
	covered := map[string]bool{}
	props, err := r.session.service.proposals(ctx, store.Filter{RequestID: r.id})
	if err != nil {
		return nil, err
	}
	for _, p := range props {
		if p.state == ProposalStale || p.state == ProposalSuperseded {
			continue
		}
		for _, id := range p.data.Candidate.IncidentIDs {
			covered[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(in incidents.Incident) bool { return covered[in.ID] }), nil
}

// await waits until everything that was asked is answered, expired or
// withdrawn.
func (r *request) await() error {
	for {
		r.mu.Lock()
		open := len(r.asked)
		r.mu.Unlock()
		if open == 0 {
			return nil
		}
		select {
		case <-r.answered:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
}

// closeInteraction says that a question of the request is no longer open.
func (r *request) closeInteraction(id string) {
	r.mu.Lock()
	delete(r.asked, id)
	r.mu.Unlock()
	select {
	case r.answered <- struct{}{}:
	default:
	}
}

// finish ends the request: its state and its one terminal event are stored
// together. A request that the server's end interrupts has no terminal event
// yet: session/resume takes it up.
func (r *request) finish(err error, start time.Time) string {
	s := r.session
	state, status := RequestDone, "success"
	cause := context.Cause(r.ctx)
	switch {
	case errors.Is(cause, errCancelled):
		state, status = RequestCancel, "cancelled"
	case r.ctx.Err() != nil:
		state = RequestInterrupted
	case err != nil:
		state, status = RequestFailedState, "failed"
	}
	bg := context.WithoutCancel(r.ctx)
	if state == RequestCancel || state == RequestFailedState {
		r.withdraw(bg)
	}
	rows, rowsErr := s.service.rowsOf(bg, r.id, r.snapshot())
	if rowsErr != nil {
		s.service.log.Error("the rows of a request cannot be read", "request", r.id, "error", rowsErr)
	}
	now := s.service.now()
	r.mu.Lock()
	summary := summarize(rows, r.data.Interactions, s.service.opts.Now().Sub(start))
	summary.ProposalsGenerated = max(r.proposals, proposalCount(rows))
	if status == "success" && (summary.Skipped > 0 || summary.Unfixed > 0) && summary.ProposalsGenerated > 0 {
		status = "partial"
	}
	r.data.Summary = &summary
	if state != RequestInterrupted {
		r.data.EndedAt = &now
	}
	if state == RequestFailedState {
		r.data.Error = err.Error()
	}
	r.mu.Unlock()

	var events []outgoing
	if state == RequestFailedState {
		events = append(events, outgoing{method: StreamError, requestID: r.id, content: ErrorContent{
			ErrorCode: "REQUEST_FAILED", Message: "The request could not be completed.", Details: err.Error()}})
	}
	if state != RequestInterrupted {
		events = append(events, outgoing{method: StreamSystem, requestID: r.id, content: SystemContent{
			Event: "request_completed", RequestID: r.id, Status: status, Summary: &summary, Results: rows}})
		s.mu.Lock()
		s.data.LastResult = "completed"
		if state == RequestFailedState {
			s.data.LastResult = "failed"
		}
		s.mu.Unlock()
	}
	rec := r.record(state)
	s.mu.Lock()
	s.updated = now
	sessionRec := s.record()
	s.mu.Unlock()
	if e := s.insist(store.Durable, func(tx *store.Tx) error {
		if err := tx.Put(store.Requests, rec); err != nil {
			return err
		}
		return tx.Put(store.Sessions, sessionRec)
	}, events...); e != nil {
		// No work is lost: for all who ask it is interrupted, and can be resumed.
		s.service.log.Error("the end of a request cannot be stored", "request", r.id, "error", e)
		state = RequestInterrupted
	}
	s.requestEnded(r)
	r.cancel(errClosing) // frees the context
	return state
}

// withdraw closes the questions that a cancelled request left open. Its
// proposals stay pending: they can still be looked at and applied by themselves.
func (r *request) withdraw(ctx context.Context) {
	r.mu.Lock()
	open := make([]string, 0, len(r.asked))
	for id := range r.asked {
		open = append(open, id)
	}
	r.mu.Unlock()
	slices.Sort(open)
	for _, id := range open {
		if err := r.session.service.closeInteraction(ctx, id, interactionCancelled); err != nil {
			r.session.service.log.Error("a question cannot be withdrawn", "interaction", id, "error", err)
		}
	}
}

// snapshot is the request's data as of now.
func (r *request) snapshot() requestData {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data
}

// stop cancels the request and waits until nothing of it can be written any more.
func (r *request) stop(ctx context.Context) error {
	r.mu.Lock()
	r.cancelled = true
	r.mu.Unlock()
	r.cancel(errCancelled)
	r.applying.Lock() // an apply that has begun ends first, in all or in nothing
	r.applying.Unlock()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// budgetExceeded is the error by which the model engine says that it stopped at a
// limit. It is no failure: the request can be started again.
const budgetExceeded = "budget_exceeded"
