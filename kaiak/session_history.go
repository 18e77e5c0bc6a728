package kaiak

import (
	"context"
	"encoding/json"

	"github.com/kaiak/kaiak/store"
)

// SessionForkParams are the params of session.fork.
type SessionForkParams struct {
	SessionID     string `json:"session_id"`
	AfterSequence int64  `json:"after_sequence,omitempty" jsonschema:"description=The last event of the history to copy; 0: all of it"`
	SessionName   string `json:"session_name,omitempty"`
}

func sessionFork(ctx context.Context, c *Client, p SessionForkParams) (SessionCreateResult, error) {
	s, err := c.service.session(ctx, p.SessionID, true)
	if err != nil {
		return SessionCreateResult{}, err
	}
	events, err := c.service.store.Events(ctx, s.id, 0, "", 0)
	if err != nil {
		return SessionCreateResult{}, err
	}
	s.mu.Lock()
	data := s.data
	s.mu.Unlock()
	sp, err := c.service.openSpace(ctx, data.Workspace, c)
	if err != nil {
		return SessionCreateResult{}, err
	}
	now := c.service.now()
	data.Name, data.LastResult, data.TerminatedAt, data.ForkedAt = first(p.SessionName, data.Name), "", nil, p.AfterSequence
	fork := &session{service: c.service, id: newID(""), space: sp, created: now, updated: now, parent: s.id, data: data,
		clients: map[*Client]struct{}{}, requests: map[string]*request{}, byClientID: map[string]string{}}
	var rows []*store.Event
	for _, e := range events {
		if p.AfterSequence > 0 && e.Sequence > p.AfterSequence {
			break
		}
		var ev Event
		if err := json.Unmarshal(e.Data, &ev); err != nil {
			c.service.releaseSpace(sp)
			return SessionCreateResult{}, Errorf(InternalError, "event %d of session %q cannot be read: %w", e.Sequence, s.id, err)
		}
		ev.SessionID = fork.id
		rows = append(rows, &store.Event{RequestID: e.RequestID, Method: e.Method, At: e.At, Encode: func(sequence int64) ([]byte, error) {
			ev.Sequence = sequence
			return json.Marshal(ev)
		}})
	}
	err = c.service.store.Update(ctx, store.Durable, func(tx *store.Tx) error {
		if err := tx.Put(store.Sessions, fork.record()); err != nil {
			return err
		}
		return tx.Append(fork.id, rows...)
	})
	if err != nil {
		c.service.releaseSpace(sp)
		return SessionCreateResult{}, Errorf(SessionCreationFailed, "the session cannot be stored: %w", err)
	}
	fork.last = int64(len(rows))
	c.service.mu.Lock()
	c.service.sessions[fork.id] = fork
	c.service.mu.Unlock()
	fork.attach(c)
	return SessionCreateResult{fork.id, "created", now}, nil
}

// SessionEventsParams are the params of session.events.
type SessionEventsParams struct {
	SessionID     string `json:"session_id"`
	AfterSequence int64  `json:"after_sequence,omitempty"`
	RequestID     string `json:"request_id,omitempty"`
	Limit         int    `json:"limit,omitempty"`
}

// StoredEvent is one notification as it was sent.
type StoredEvent struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// SessionEventsResult is the result of session.events.
type SessionEventsResult struct {
	Events       []StoredEvent `json:"events"`
	LastSequence int64         `json:"last_sequence"` // of the session
	More         bool          `json:"more"`          // ask again after the last one here
}

func sessionEvents(ctx context.Context, c *Client, p SessionEventsParams) (SessionEventsResult, error) {
	limit, err := page(p.Limit, 500)
	if err != nil {
		return SessionEventsResult{}, err
	}
	if _, err := c.service.session(ctx, p.SessionID, true); err != nil {
		return SessionEventsResult{}, err
	}
	events, err := c.service.store.Events(ctx, p.SessionID, p.AfterSequence, p.RequestID, limit+1)
	if err != nil {
		return SessionEventsResult{}, err
	}
	result := SessionEventsResult{Events: []StoredEvent{}, More: len(events) > limit}
	for _, e := range events[:min(len(events), limit)] {
		result.Events = append(result.Events, StoredEvent{e.Method, e.Data})
	}
	result.LastSequence, err = c.service.store.LastSequence(ctx, p.SessionID)
	return result, err
}

// SessionMessagesResult is the result of session.message.list.
type SessionMessagesResult struct {
	Messages []StoredEvent `json:"messages"`
	More     bool          `json:"more"`
}

func sessionMessages(ctx context.Context, c *Client, p SessionEventsParams) (SessionMessagesResult, error) {
	all, err := sessionEvents(ctx, c, p)
	if err != nil {
		return SessionMessagesResult{}, err
	}
	result := SessionMessagesResult{Messages: []StoredEvent{}, More: all.More}
	for _, e := range all.Events {
		if e.Method != StreamProgress {
			result.Messages = append(result.Messages, e)
		}
	}
	return result, nil
}
