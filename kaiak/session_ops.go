package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/kaiak/kaiak/store"
)

func sessionCreate(ctx context.Context, c *Client, p SessionCreateParams) (SessionCreateResult, error) {
	s, err := c.createSession(ctx, p)
	if err != nil {
		return SessionCreateResult{}, err
	}
	return SessionCreateResult{SessionID: s.id, Status: "created", CreatedAt: s.created}, nil
}

func sessionTerminate(ctx context.Context, c *Client, p SessionParams) (SessionTerminateResult, error) {
	s, err := c.service.session(ctx, p.SessionID, false)
	if err != nil {
		return SessionTerminateResult{}, err
	}
	for _, r := range s.active() {
		if err := r.stop(ctx); err != nil {
			return SessionTerminateResult{}, err
		}
	}
	now := c.service.now()
	s.mu.Lock()
	if s.terminated {
		s.mu.Unlock()
		return SessionTerminateResult{}, Errorf(SessionTerminated, "session %q was terminated already", s.id).With("session_id", s.id)
	}
	s.terminated = true
	s.mu.Unlock()
	if err := s.save(func(d *sessionData) { d.TerminatedAt = &now },
		outgoing{method: StreamSystem, content: SystemContent{Event: "session_terminated", Status: "terminated"}}); err != nil {
		return SessionTerminateResult{}, err
	}
	s.mu.Lock()
	count := s.last
	s.mu.Unlock()
	return SessionTerminateResult{SessionID: s.id, Status: "terminated", MessageCount: int(count), TerminatedAt: now}, nil
}

func sessionStatus(ctx context.Context, c *Client, p SessionParams) (SessionStatusResult, error) {
	s, err := c.service.session(ctx, p.SessionID, true)
	if err != nil {
		return SessionStatusResult{}, err
	}
	if err := s.allowStatus(); err != nil {
		return SessionStatusResult{}, err
	}
	return s.view(ctx)
}

// view is the session as session.status shows it.
func (s *session) view(ctx context.Context) (SessionStatusResult, error) {
	proposals, interactions, err := s.counts(ctx)
	if err != nil {
		return SessionStatusResult{}, err
	}
	last, err := s.service.store.LastSequence(ctx, s.id) // another process may have added to it
	if err != nil {
		return SessionStatusResult{}, err
	}
	status := s.status()
	active := []string{}
	for _, r := range s.active() {
		active = append(active, r.id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := SessionStatusResult{
		SessionID: s.id, Status: status, MessageCount: int(last), ErrorCount: s.errors, CreatedAt: s.created, UpdatedAt: s.updated,
		SessionName: s.data.Name, WorkspacePath: s.data.Workspace, ActiveRequestIDs: active,
		PendingProposals: proposals, PendingInteractions: interactions, LastSequence: last,
	}
	if len(active) > 0 {
		v.ActiveRequestID = active[0]
	}
	return v, nil
}

// SessionListParams are the params of session.list.
type SessionListParams struct {
	WorkspacePath string `json:"workspace_path,omitempty"`
	Archived      bool   `json:"archived,omitempty" jsonschema:"description=Archived ones too"`
	Status        string `json:"status,omitempty" jsonschema:"enum=open,enum=terminated"`
	Cursor        string `json:"cursor,omitempty"`
	Limit         int    `json:"limit,omitempty"`
}

// SessionSummary is one session in a list.
type SessionSummary struct {
	SessionID     string    `json:"session_id"`
	SessionName   string    `json:"session_name"`
	Title         string    `json:"title,omitempty"`
	Archived      bool      `json:"archived"`
	WorkspacePath string    `json:"workspace_path"`
	Status        string    `json:"status"`
	ParentID      string    `json:"parent_id,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// SessionListResult is the result of session.list.
type SessionListResult struct {
	Sessions []SessionSummary `json:"sessions"`
	Cursor   string           `json:"cursor,omitempty"` // of the next page
}

// page checks the paging members of a list.
func page(limit int, byDefault int) (int, error) {
	switch {
	case limit < 0:
		return 0, Errorf(InvalidParams, "params.limit must be 1 or more, not %d", limit).With("member", "params.limit")
	case limit > LimitPageSize.Value:
		return 0, LimitPageSize.exceeded("params.limit must be at most %d, not %d", LimitPageSize.Value, limit).With("member", "params.limit")
	case limit == 0:
		return byDefault, nil
	}
	return limit, nil
}

// listError tells a wrong cursor from a broken state.
func listError(err error) error {
	if errors.Is(err, store.ErrCursor) {
		return Errorf(InvalidParams, "params.cursor: %w", err).With("member", "params.cursor")
	}
	return err
}

func sessionList(ctx context.Context, c *Client, p SessionListParams) (SessionListResult, error) {
	limit, err := page(p.Limit, 50)
	if err != nil {
		return SessionListResult{}, err
	}
	f := store.Filter{Newest: true, After: p.Cursor, Limit: limit}
	if p.WorkspacePath != "" {
		if f.Scope, err = realDirectory(p.WorkspacePath); err != nil {
			return SessionListResult{}, err
		}
	}
	if p.Status != "" {
		f.States = []string{p.Status}
	}
	recs, next, err := c.service.store.List(ctx, store.Sessions, f)
	if err != nil {
		return SessionListResult{}, listError(err)
	}
	result := SessionListResult{Sessions: []SessionSummary{}, Cursor: next}
	for _, rec := range recs {
		var d sessionData
		if err := json.Unmarshal(rec.Data, &d); err != nil {
			return result, Errorf(InternalError, "session %q in the state cannot be read: %w", rec.ID, err)
		}
		if d.Archived && !p.Archived {
			continue
		}
		result.Sessions = append(result.Sessions, SessionSummary{rec.ID, d.Name, d.Title, d.Archived, d.Workspace, rec.State, rec.ParentID, rec.Created, rec.Updated})
	}
	return result, nil
}

// SessionResumeResult is the result of session.resume.
type SessionResumeResult struct {
	SessionStatusResult
	ResumedRequestIDs []string `json:"resumed_request_ids"`
}

func sessionResume(ctx context.Context, c *Client, p SessionParams) (SessionResumeResult, error) {
	s, err := c.service.session(ctx, p.SessionID, true)
	if err != nil {
		return SessionResumeResult{}, err
	}
	s.attach(c)
	s.mu.Lock()
	was := s.terminated
	s.terminated = false
	s.mu.Unlock()
	if was {
		if err := s.save(func(d *sessionData) { d.TerminatedAt = nil },
			outgoing{method: StreamSystem, content: SystemContent{Event: "session_resumed", Status: "ready"}}); err != nil {
			return SessionResumeResult{}, err
		}
	}
	resumed, err := s.resumeRequests(ctx, c)
	if err != nil {
		return SessionResumeResult{}, err
	}
	view, err := s.view(ctx)
	return SessionResumeResult{view, resumed}, err
}

// SessionUpdateParams are the params of session.update; absent members stay.
type SessionUpdateParams struct {
	SessionID   string  `json:"session_id"`
	SessionName *string `json:"session_name,omitempty"`
	Title       *string `json:"title,omitempty"`
	Archived    *bool   `json:"archived,omitempty"`
}

func sessionUpdate(ctx context.Context, c *Client, p SessionUpdateParams) (SessionStatusResult, error) {
	s, err := c.service.session(ctx, p.SessionID, true)
	if err != nil {
		return SessionStatusResult{}, err
	}
	err = s.save(func(d *sessionData) {
		if p.SessionName != nil {
			d.Name = *p.SessionName
		}
		if p.Title != nil {
			d.Title = *p.Title
		}
		if p.Archived != nil {
			d.Archived = *p.Archived
		}
	})
	if err != nil {
		return SessionStatusResult{}, err
	}
	return s.view(ctx)
}

// SessionDeleteParams are the params of session.delete.
type SessionDeleteParams struct {
	SessionID string `json:"session_id"`
	Force     bool   `json:"force,omitempty" jsonschema:"description=Also while requests run in it: they are cancelled first"`
}

// SessionDeleteResult is the result of session.delete.
type SessionDeleteResult struct {
	SessionID string    `json:"session_id"`
	Status    string    `json:"status"`
	DeletedAt time.Time `json:"deleted_at"`
}

func sessionDelete(ctx context.Context, c *Client, p SessionDeleteParams) (SessionDeleteResult, error) {
	s, err := c.service.session(ctx, p.SessionID, true)
	var e *Error
	if errors.As(err, &e) && e.Code == WorkspaceAccessDenied {
		// Its workspace is gone, which must not keep its records for ever.
		now := c.service.now()
		return SessionDeleteResult{p.SessionID, "deleted", now}, c.service.deleteRecords(ctx, p.SessionID, c.info.Name, now)
	}
	if err != nil {
		return SessionDeleteResult{}, err
	}
	active := s.active()
	if len(active) > 0 && !p.Force {
		return SessionDeleteResult{}, Errorf(SessionInUse, "session %q works on %s; cancel them, or delete it with force", s.id, countOf(len(active), "request")).With("session_id", s.id)
	}
	for _, r := range active {
		if err := r.stop(ctx); err != nil {
			return SessionDeleteResult{}, err
		}
	}
	now := c.service.now()
	s.out.Lock() // nothing is appended to it any more
	defer s.out.Unlock()
	if err := c.service.deleteRecords(ctx, s.id, c.info.Name, now); err != nil {
		return SessionDeleteResult{}, err
	}
	c.service.unload(s)
	return SessionDeleteResult{s.id, "deleted", now}, nil
}

// deleteRecords removes everything that the store has of a session.
func (s *Service) deleteRecords(ctx context.Context, id, by string, now time.Time) error {
	props, err := s.proposals(ctx, store.Filter{SessionID: id})
	if err != nil {
		return err
	}
	return s.store.Update(ctx, store.Durable, func(tx *store.Tx) error {
		for _, q := range props {
			if err := tx.ReleaseBlobs(q.id); err != nil {
				return err
			}
		}
		if _, err := tx.Audit(now, "session_deleted", mustJSON(map[string]any{"session_id": id, "by": by})); err != nil {
			return err
		}
		return tx.DeleteSession(id)
	})
}

// unload forgets a session that is deleted.
func (s *Service) unload(ses *session) {
	s.mu.Lock()
	delete(s.sessions, ses.id)
	s.mu.Unlock()
	ses.mu.Lock()
	ses.terminated = true
	clients := ses.clients
	ses.clients = map[*Client]struct{}{}
	ses.mu.Unlock()
	for c := range clients {
		c.mu.Lock()
		delete(c.sessions, ses.id)
		c.mu.Unlock()
	}
	s.releaseSpace(ses.space)
}

// SessionWaitParams are the params of session.wait.
type SessionWaitParams struct {
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id,omitempty" jsonschema:"description=Wait for this request only"`
}

func sessionWait(ctx context.Context, c *Client, p SessionWaitParams) (SessionStatusResult, error) {
	s, err := c.service.session(ctx, p.SessionID, true)
	if err != nil {
		return SessionStatusResult{}, err
	}
	if p.RequestID != "" {
		if _, _, err := c.service.requestRecord(ctx, p.RequestID); err != nil {
			return SessionStatusResult{}, err
		}
	}
	for {
		ended := s.ended()
		active := s.active()
		if p.RequestID != "" {
			active = slices.DeleteFunc(active, func(r *request) bool { return r.id != p.RequestID })
		}
		if len(active) == 0 {
			return s.view(ctx)
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return SessionStatusResult{}, ctx.Err()
		}
	}
}

// SessionTodoResult is the result of session.todo.
type SessionTodoResult struct {
	Incidents []IncidentRow  `json:"incidents"`
	Counts    map[string]int `json:"counts"` // by state
}

func sessionTodo(ctx context.Context, c *Client, p SessionParams) (SessionTodoResult, error) {
	if _, err := c.service.session(ctx, p.SessionID, true); err != nil {
		return SessionTodoResult{}, err
	}
	rows, err := c.service.sessionRows(ctx, p.SessionID)
	result := SessionTodoResult{Incidents: orEmpty(rows), Counts: map[string]int{}}
	for _, row := range rows {
		result.Counts[row.State]++
	}
	return result, err
}

// sessionRows returns one row per incident of a session: the newest request
// that had it decides.
func (s *Service) sessionRows(ctx context.Context, sessionID string) ([]IncidentRow, error) {
	recs, _, err := s.store.List(ctx, store.Requests, store.Filter{SessionID: sessionID})
	if err != nil {
		return nil, err
	}
	var rows []IncidentRow
	index := map[string]int{}
	for _, rec := range recs {
		_, d, err := readRequest(rec)
		if err != nil {
			return nil, err
		}
		more, err := s.rowsOf(ctx, rec.ID, d)
		if err != nil {
			return nil, err
		}
		for _, row := range more {
			if i, ok := index[row.IncidentID]; ok {
				rows[i] = row
				continue
			}
			index[row.IncidentID] = len(rows)
			rows = append(rows, row)
		}
	}
	return rows, nil
}
