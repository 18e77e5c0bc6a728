package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// recover takes up what a process that died left: its requests are interrupted
// until somebody resumes them, and its questions go on waiting.
func (s *Service) recover(ctx context.Context) error {
	recs, _, err := s.store.List(ctx, store.Requests, store.Filter{States: []string{RequestProcessing}})
	if err != nil {
		return err
	}
	for _, rec := range recs {
		var d requestData
		if err := json.Unmarshal(rec.Data, &d); err != nil || s.presence.alive(d.Owner) {
			continue // it is not ours to judge
		}
		if _, err := s.store.Move(ctx, store.Requests, rec.ID, []string{RequestProcessing}, RequestInterrupted, s.now(), nil); err != nil {
			return err
		}
	}
	waiting, _, err := s.store.List(ctx, store.Interactions, store.Filter{States: []string{interactionPending}})
	if err != nil {
		return err
	}
	for _, rec := range waiting {
		i, err := readInteraction(rec)
		if err != nil {
			s.log.Error("a question in the state cannot be read", "error", err)
			continue
		}
		s.expireAt(i)
	}
	return nil
}

// recover settles what was being applied in this workspace when a process died:
// the journal says whether the set is on disk, and the proposal follows it.
func (sp *space) recover(ctx context.Context) error {
	s := sp.service
	applying, err := s.proposals(ctx, store.Filter{Scope: sp.ws.RealDir(), States: []string{ProposalApplying}})
	if err != nil {
		return err
	}
	found, err := sp.ws.Recover(ctx, sp.applyOptions())
	if err != nil {
		var busy *workspace.BusyError
		if !errors.As(err, &busy) {
			return wireApplyError(err)
		}
		return nil // another process is writing, and settles it
	}
	sp.mu.Lock()
	sp.awaited = found.Documents
	sp.mu.Unlock()
	for _, c := range found.Conflicts {
		s.log.Warn("a file was changed while a fix of it was half done; it is left as it is", "path", c.Path)
	}
	for _, p := range applying {
		if p.data.Owner != nil && s.presence.alive(*p.data.Owner) {
			continue // it is at it
		}
		p.data.Owner = nil
		state, there, err := sp.ws.SetState(ctx, p.data.SetID)
		if err != nil {
			return err
		}
		to := ProposalPending
		switch {
		case there && state == workspace.AppliedUnsaved:
			to = ProposalAppliedUnsaved
		case there:
			to = ProposalApplied
		default:
			p.undecided()
		}
		p.state = to
		if there {
			if p.data.Outcomes, err = s.verify(ctx, sp, p); err != nil {
				s.log.Error("a recovered proposal cannot be verified", "proposal", p.id, "error", err)
			}
		}
		now := s.now()
		event := &store.Event{RequestID: p.requestID, Method: StreamSystem, At: now}
		event.Encode = func(sequence int64) ([]byte, error) {
			return json.Marshal(Event{SessionID: p.sessionID, RequestID: p.requestID, MessageID: messageID(sequence), Timestamp: now, ProposalID: p.id, Sequence: sequence,
				Content: mustJSON(SystemContent{Event: "proposal_recovered", RequestID: p.requestID, ProposalID: p.id, Status: to})})
		}
		err = s.store.Update(ctx, store.Durable, func(tx *store.Tx) error {
			won, err := tx.Move(store.Proposals, p.id, []string{ProposalApplying}, to, now, mustJSON(p.data))
			if err != nil || !won {
				return err
			}
			if there {
				if err := countOutcome(tx, p.data.Candidate, !p.data.Edited && len(p.data.Accepted) == len(p.data.Candidate.Hunks)); err != nil {
					return err
				}
			}
			if _, err := tx.Audit(now, "recovered", mustJSON(map[string]any{"proposal_id": p.id, "set_id": p.data.SetID, "status": to})); err != nil {
				return err
			}
			return tx.Append(p.sessionID, event)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// opened settles what waits for a document that an editor has opened: the edits
// of a process that died may still be in it, unsaved.
func (sp *space) opened(rel string) {
	sp.mu.Lock()
	awaited := slices.Contains(sp.awaited, rel)
	sp.mu.Unlock()
	if !awaited {
		return
	}
	// The editor is asked, so this is not for the goroutine that hears it.
	sp.service.run(func() {
		if err := sp.recover(sp.service.ctx); err != nil {
			sp.service.log.Error("what a dead process left in a document cannot be taken back", "path", rel, "error", err)
		}
	})
}

// elsewhere reports whether another service that runs has a request. Of those
// that are this one's, the sessions know.
func (s *Service) elsewhere(owner processID) bool {
	return owner != s.presence.id && s.presence.alive(owner)
}

// errEnded says that a request has ended in the moment in which it was to be resumed.
var errEnded = errors.New("the request has ended")

// resumeRequests takes up the session's requests that no process works on, and
// returns their ids.
func (s *session) resumeRequests(ctx context.Context, c *Client) ([]string, error) {
	resumed := []string{}
	recs, _, err := s.service.store.List(ctx, store.Requests, store.Filter{SessionID: s.id, States: []string{RequestInterrupted, RequestProcessing}})
	if err != nil {
		return nil, err
	}
	for _, rec := range recs {
		_, d, err := readRequest(rec)
		if err != nil {
			return nil, err
		}
		if rec.State == RequestProcessing && s.service.elsewhere(d.Owner) {
			continue
		}
		r := newRequest(s, rec.ID, rec.Created, c, d)
		if r.model, err = s.modelFor(ctx, d.Engines); err != nil {
			return nil, err
		}
		open, _, err := s.service.store.List(ctx, store.Interactions, store.Filter{RequestID: rec.ID, States: []string{interactionPending}})
		if err != nil {
			return nil, err
		}
		for _, i := range open {
			r.asked[i.ID] = struct{}{}
		}
		s.mu.Lock()
		running := s.requests[r.id] != nil
		if !running {
			s.requests[r.id] = r
		}
		s.mu.Unlock()
		if running {
			continue
		}
		err = s.commit(store.Durable, func(tx *store.Tx) error {
			if now, err := tx.Get(ctx, store.Requests, r.id); err != nil || now.State != RequestInterrupted && now.State != RequestProcessing {
				return errors.Join(err, errEnded)
			}
			return tx.Put(store.Requests, r.record(RequestProcessing))
		},
			outgoing{method: StreamSystem, requestID: r.id, content: SystemContent{Event: "request_resumed", RequestID: r.id, Status: RequestProcessing}})
		if err == nil && !s.service.run(r.work) {
			err = Errorf(RequestFailed, "the server is ending")
		}
		if err != nil {
			s.mu.Lock()
			delete(s.requests, r.id)
			s.mu.Unlock()
			if errors.Is(err, errEnded) {
				continue
			}
			return nil, err
		}
		resumed = append(resumed, r.id)
	}
	return resumed, nil
}
