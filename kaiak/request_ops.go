package kaiak

import (
	"context"
	"slices"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/store"
)

func fixGenerate(ctx context.Context, c *Client, p FixGenerateParams) (FixGenerateResult, error) {
	s, err := c.service.session(ctx, p.SessionID, false)
	if err != nil {
		return FixGenerateResult{}, err
	}
	if err := checkEngines("params.engines", p.Engines); err != nil {
		return FixGenerateResult{}, err
	}
	if p.Approval != "" && p.Approval != approvalAsk && p.Approval != approvalDefer {
		return FixGenerateResult{}, Errorf(InvalidParams, `params.approval must be "ask" or "defer", not %q`, p.Approval).With("member", "params.approval")
	}
	if p.Alternate < 0 {
		return FixGenerateResult{}, Errorf(InvalidParams, "params.alternate must be 0 or more, not %d", p.Alternate).With("member", "params.alternate")
	}
	list, err := s.space.incidentsFrom(p.Incidents)
	if err != nil {
		return FixGenerateResult{}, err
	}
	if err := s.space.checkSizes(list); err != nil {
		return FixGenerateResult{}, err
	}
	s.mu.Lock()
	own := s.data.Configuration
	_, mine := s.clients[c]
	s.mu.Unlock()
	if !mine {
		s.attach(c) // who asks hears the answer
	}
	conf := s.space.config()
	engines := p.Engines
	if len(engines) == 0 {
		engines = own.Engines
	}
	if len(engines) == 0 {
		engines = conf.engines()
	}
	r, err := s.startRequest(ctx, c, requestData{Incidents: list, Context: p.MigrationContext, Engines: engines,
		Approval: first(p.Approval, own.Approval, conf.Approval), Alternate: p.Alternate, ClientRequestID: p.ClientRequestID})
	if err != nil {
		return FixGenerateResult{}, err
	}
	return FixGenerateResult{RequestID: r.id, SessionID: s.id, Status: RequestProcessing, IncidentCount: len(list), CreatedAt: r.created}, nil
}

func fixCancel(ctx context.Context, c *Client, p RequestParams) (FixCancelResult, error) {
	rec, data, err := c.service.requestRecord(ctx, p.RequestID)
	if err != nil {
		return FixCancelResult{}, err
	}
	completed := func(state string) error {
		return Errorf(RequestCompleted, "request %q is %s already", p.RequestID, state).With("request_id", p.RequestID).With("state", state)
	}
	if rec.State != RequestProcessing && rec.State != RequestInterrupted {
		return FixCancelResult{}, completed(rec.State)
	}
	s, err := c.service.session(ctx, rec.SessionID, true)
	if err != nil {
		return FixCancelResult{}, err
	}
	s.mu.Lock()
	r := s.requests[p.RequestID]
	s.mu.Unlock()
	if r == nil {
		return c.service.cancelAbsent(ctx, s, rec, data)
	}
	if err := r.stop(ctx); err != nil {
		return FixCancelResult{}, err
	}
	// It may have ended by itself in the same moment.
	rec, data, err = c.service.requestRecord(context.WithoutCancel(ctx), p.RequestID)
	if err != nil {
		return FixCancelResult{}, err
	}
	if rec.State != RequestCancel {
		return FixCancelResult{}, completed(rec.State)
	}
	return FixCancelResult{p.RequestID, RequestCancel, endOf(data, rec)}, nil
}

func endOf(data requestData, rec store.Record) time.Time {
	if data.EndedAt != nil {
		return *data.EndedAt
	}
	return rec.Updated
}

// cancelAbsent ends a request that no worker of this process has: one that an
// earlier process left interrupted.
func (s *Service) cancelAbsent(ctx context.Context, ses *session, rec store.Record, data requestData) (FixCancelResult, error) {
	if rec.State == RequestProcessing && s.elsewhere(data.Owner) {
		e := Errorf(SessionNotReady, "request %q runs in another process (%s); cancel it there", rec.ID, data.Owner).With("request_id", rec.ID)
		e.Retryable = true
		return FixCancelResult{}, e
	}
	now := s.now()
	data.EndedAt = &now
	rows, err := s.rowsOf(ctx, rec.ID, data)
	if err != nil {
		return FixCancelResult{}, err
	}
	sum := summarize(rows, data.Interactions, now.Sub(rec.Created))
	sum.ProposalsGenerated = proposalCount(rows)
	data.Summary = &sum
	err = ses.commit(store.Durable, func(tx *store.Tx) error {
		won, err := tx.Move(store.Requests, rec.ID, []string{RequestProcessing, RequestInterrupted}, RequestCancel, now, mustJSON(data))
		if err == nil && !won {
			return Errorf(RequestCompleted, "request %q has just ended", rec.ID).With("request_id", rec.ID)
		}
		return err
	}, outgoing{method: StreamSystem, requestID: rec.ID, content: SystemContent{
		Event: "request_completed", RequestID: rec.ID, Status: "cancelled", Summary: &sum, Results: rows}})
	if err != nil {
		return FixCancelResult{}, err
	}
	open, _, err := s.store.List(ctx, store.Interactions, store.Filter{RequestID: rec.ID, States: []string{interactionPending}})
	if err != nil {
		return FixCancelResult{}, err
	}
	for _, i := range open {
		if err := s.closeInteraction(ctx, i.ID, interactionCancelled); err != nil {
			return FixCancelResult{}, err
		}
	}
	return FixCancelResult{rec.ID, RequestCancel, now}, nil
}

// RequestView is a request as request.status and request.list show it.
type RequestView struct {
	RequestID     string         `json:"request_id"`
	SessionID     string         `json:"session_id"`
	Status        string         `json:"status"` // processing, waiting_for_user, interrupted, completed, failed, cancelled
	IncidentCount int            `json:"incident_count"`
	Engines       []string       `json:"engines"`
	Approval      string         `json:"approval"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	EndedAt       *time.Time     `json:"ended_at,omitempty"`
	Summary       *Summary       `json:"summary,omitempty"`
	Error         string         `json:"error,omitempty"`
	Incidents     []IncidentRow  `json:"incidents,omitempty"` // request.status only
	Context       map[string]any `json:"migration_context,omitempty"`
}

func (s *Service) requestView(rec store.Record, d requestData) RequestView {
	v := RequestView{RequestID: rec.ID, SessionID: rec.SessionID, Status: rec.State, IncidentCount: len(d.Incidents), Engines: orEmpty(d.Engines), Approval: d.Approval,
		CreatedAt: rec.Created, UpdatedAt: rec.Updated, EndedAt: d.EndedAt, Summary: d.Summary, Error: d.Error, Context: d.Context}
	s.mu.Lock()
	ses := s.sessions[rec.SessionID]
	s.mu.Unlock()
	var r *request
	if ses != nil {
		ses.mu.Lock()
		r = ses.requests[rec.ID]
		ses.mu.Unlock()
	}
	switch {
	case r != nil && r.waiting():
		v.Status = "waiting_for_user"
	case r == nil && rec.State == RequestProcessing && !s.elsewhere(d.Owner):
		v.Status = RequestInterrupted
		// Unless it has just ended: its record is older than that look.
		if now, d, err := s.requestRecord(s.ctx, rec.ID); err == nil && now.State != RequestProcessing {
			v.Status, v.UpdatedAt, v.EndedAt, v.Summary, v.Error = now.State, now.Updated, d.EndedAt, d.Summary, d.Error
		}
	}
	return v
}

func requestStatus(ctx context.Context, c *Client, p RequestParams) (RequestView, error) {
	rec, data, err := c.service.requestRecord(ctx, p.RequestID)
	if err != nil {
		return RequestView{}, err
	}
	v := c.service.requestView(rec, data)
	v.Incidents, err = c.service.rowsOf(ctx, rec.ID, data)
	return v, err
}

// RequestListParams are the params of request.list.
type RequestListParams struct {
	SessionID string `json:"session_id,omitempty"`
	Status    string `json:"status,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}

// RequestListResult is the result of request.list.
type RequestListResult struct {
	Requests []RequestView `json:"requests"`
	Cursor   string        `json:"cursor,omitempty"`
}

func requestList(ctx context.Context, c *Client, p RequestListParams) (RequestListResult, error) {
	limit, err := page(p.Limit, 50)
	if err != nil {
		return RequestListResult{}, err
	}
	f := store.Filter{SessionID: p.SessionID, Newest: true, After: p.Cursor, Limit: limit}
	if p.Status != "" {
		f.States = []string{p.Status}
		if p.Status == "waiting_for_user" {
			f.States = []string{RequestProcessing}
		}
	}
	recs, next, err := c.service.store.List(ctx, store.Requests, f)
	if err != nil {
		return RequestListResult{}, listError(err)
	}
	result := RequestListResult{Requests: []RequestView{}, Cursor: next}
	for _, rec := range recs {
		_, d, err := readRequest(rec)
		if err != nil {
			return result, err
		}
		result.Requests = append(result.Requests, c.service.requestView(rec, d))
	}
	if p.Status != "" {
		result.Requests = slices.DeleteFunc(result.Requests, func(v RequestView) bool { return v.Status != p.Status })
	}
	return result, nil
}

// RequestPromptParams are the params of request.prompt.
type RequestPromptParams struct {
	SessionID string   `json:"session_id"`
	RequestID string   `json:"request_id,omitempty" jsonschema:"description=Of which request the open incidents are meant; absent: of the whole session"`
	Input     string   `json:"input" jsonschema:"description=What the model should do about them"`
	Behavior  string   `json:"behavior,omitempty" jsonschema:"enum=new,enum=follow_up,enum=steer"`
	Engines   []string `json:"engines,omitempty"`
}

// steerReason is why request.prompt has no behavior steer.
const steerReason = "a model that is at work takes no message between its turns; cancel the request and prompt anew, or let a follow_up wait for its end"

// requestPrompt starts a request for the incidents that are still open, with
// what the user says about them. follow_up waits until the session has nothing
// else to do; a model that runs cannot be steered, and that is said rather than
// approximated.
func requestPrompt(ctx context.Context, c *Client, p RequestPromptParams) (FixGenerateResult, error) {
	s, err := c.service.session(ctx, p.SessionID, false)
	if err != nil {
		return FixGenerateResult{}, err
	}
	switch p.Behavior {
	case "", "new":
	case "follow_up":
		if _, err := sessionWait(ctx, c, SessionWaitParams{SessionID: s.id, RequestID: p.RequestID}); err != nil {
			return FixGenerateResult{}, err
		}
	case "steer":
		return FixGenerateResult{}, notSupported("params.behavior steer", "request.prompt", steerReason).With("member", "params.behavior")
	default:
		return FixGenerateResult{}, Errorf(InvalidParams, "params.behavior must be new, follow_up or steer, not %q", p.Behavior).With("member", "params.behavior")
	}
	if p.Input == "" {
		return FixGenerateResult{}, Errorf(InvalidParams, "params.input is empty").With("member", "params.input")
	}
	if err := checkEngines("params.engines", p.Engines); err != nil {
		return FixGenerateResult{}, err
	}
	list, err := c.service.openIncidents(ctx, s.id, p.RequestID)
	if err != nil {
		return FixGenerateResult{}, err
	}
	if len(list) == 0 {
		return FixGenerateResult{}, Errorf(InvalidParams, "session %q has no open incident to work on; send them by kaiak/fix/generate", s.id).With("member", "params.session_id")
	}
	engines := p.Engines
	if len(engines) == 0 {
		engines = []string{string(agent.Model)} // a recipe cannot read
	}
	s.attach(c)
	r, err := s.startRequest(ctx, c, requestData{Incidents: list, Engines: engines, Approval: s.space.config().Approval, Comment: p.Input})
	if err != nil {
		return FixGenerateResult{}, err
	}
	return FixGenerateResult{r.id, s.id, RequestProcessing, len(list), r.created}, nil
}

// openIncidents returns the incidents of a session, or of one of its requests,
// that are neither fixed nor proposed a fix for; at most as many as one request
// may have.
func (s *Service) openIncidents(ctx context.Context, sessionID, requestID string) ([]incidents.Incident, error) {
	recs, _, err := s.store.List(ctx, store.Requests, store.Filter{SessionID: sessionID, RequestID: requestID})
	if err != nil {
		return nil, err
	}
	if requestID != "" && len(recs) == 0 {
		return nil, requestNotFound(requestID)
	}
	rows, err := s.sessionRows(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for _, row := range rows {
		switch row.State {
		case "proposed", string(agent.Fixed):
		default:
			open[row.IncidentID] = true
		}
	}
	var list []incidents.Incident
	for _, rec := range recs {
		_, d, err := readRequest(rec)
		if err != nil {
			return nil, err
		}
		for _, in := range d.Incidents {
			if open[in.ID] && len(list) < LimitIncidents.Value {
				list = append(list, in)
				open[in.ID] = false
			}
		}
	}
	return list, nil
}

func interactionRespond(ctx context.Context, c *Client, p InteractionRespondParams) (InteractionRespondResult, error) {
	return c.service.respond(ctx, p, c.info.Name)
}

// InteractionListParams are the params of interaction.list.
type InteractionListParams struct {
	SessionID string `json:"session_id,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	All       bool   `json:"all,omitempty" jsonschema:"description=Also those that were answered\\, expired or withdrawn"`
}

// InteractionView is one question.
type InteractionView struct {
	InteractionID string `json:"interaction_id"`
	SessionID     string `json:"session_id"`
	RequestID     string `json:"request_id"`
	Status        string `json:"status"` // pending, responded, expired, cancelled
	InteractionContent
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// InteractionListResult is the result of interaction.list.
type InteractionListResult struct {
	Interactions []InteractionView `json:"interactions"`
}

func interactionList(ctx context.Context, c *Client, p InteractionListParams) (InteractionListResult, error) {
	f := store.Filter{SessionID: p.SessionID, RequestID: p.RequestID, States: []string{interactionPending}}
	if p.All {
		f.States = nil
	}
	recs, _, err := c.service.store.List(ctx, store.Interactions, f)
	if err != nil {
		return InteractionListResult{}, err
	}
	result := InteractionListResult{Interactions: []InteractionView{}}
	for _, rec := range recs {
		i, err := readInteraction(rec)
		if err != nil {
			return result, err
		}
		d := i.data
		result.Interactions = append(result.Interactions, InteractionView{i.id, i.sessionID, i.requestID, i.state,
			InteractionContent{d.Type, d.Prompt, d.ProposalID, d.Timeout, d.Choices, d.SetID}, i.created, d.Expires})
	}
	return result, nil
}
