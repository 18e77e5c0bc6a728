package kaiak

import (
	"context"
	"errors"
	"slices"

	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// revert undoes what applying a proposal changed. What the user changed since
// stays, or the revert is refused.
func (s *Service) revert(ctx context.Context, id, by string) (ProposalStatusResult, error) {
	return s.turn(ctx, id, by, turning{from: []string{ProposalApplied, ProposalAppliedUnsaved}, verb: "revert", event: "proposal_reverted", kind: "PROPOSAL_NOT_APPLIED",
		to: func(workspace.Result) string { return ProposalReverted }})
}

// unrevert applies a reverted proposal again, by undoing the revert.
func (s *Service) unrevert(ctx context.Context, id, by string) (ProposalStatusResult, error) {
	return s.turn(ctx, id, by, turning{from: []string{ProposalReverted}, verb: "unrevert", event: "proposal_applied", kind: "PROPOSAL_NOT_REVERTED",
		to: func(done workspace.Result) string {
			if done.State == workspace.AppliedUnsaved {
				return ProposalAppliedUnsaved
			}
			return ProposalApplied
		}})
}

// A turning is one of the two directions of an undo.
type turning struct {
	from  []string // the states in which it can be done
	verb  string
	event string
	kind  string // of the error in any other state
	to    func(workspace.Result) string
}

func (s *Service) turn(ctx context.Context, id, by string, t turning) (ProposalStatusResult, error) {
	p, err := s.proposal(ctx, id)
	if err != nil {
		return ProposalStatusResult{}, err
	}
	if !slices.Contains(t.from, p.state) || p.data.Applied == nil {
		e := Errorf(RequestFailed, "cannot %s proposal %q: it is %s", t.verb, id, p.state).With("proposal_id", id).With("state", p.state)
		e.Kind = t.kind
		return ProposalStatusResult{}, e
	}
	ses, err := s.session(ctx, p.sessionID, true)
	if err != nil {
		return ProposalStatusResult{}, err
	}
	last, next := first(p.data.LastSet, p.data.SetID), newID("set-")
	done, err := ses.space.ws.Undo(ctx, last, next, workspace.UndoOptions{ApplyOptions: ses.space.applyOptions()})
	if err != nil {
		var conflict *workspace.ConflictError
		if errors.As(err, &conflict) {
			return ProposalStatusResult{}, Errorf(ContentModified, "cannot %s proposal %q: %w", t.verb, id, err).With("proposal_id", id)
		}
		return ProposalStatusResult{}, wireApplyError(err).With("proposal_id", id)
	}
	to := t.to(done)
	p.data.LastSet = next
	now := s.now()
	err = ses.commit(store.Durable, func(tx *store.Tx) error {
		won, err := tx.Move(store.Proposals, id, t.from, to, now, mustJSON(p.data))
		if err == nil && won && to == ProposalReverted {
			err = countOutcome(tx, p.data.Candidate, false)
			if err == nil {
				_, err = dropHints(tx, ses.space.ws.RealDir(), func(m Memory) bool { return m.ProposalID == id })
			}
		}
		if err == nil {
			_, err = tx.Audit(now, t.verb, mustJSON(auditOf(p, by)))
		}
		return err
	}, outgoing{method: StreamSystem, requestID: p.requestID, proposalID: id, content: SystemContent{
		Event: t.event, RequestID: p.requestID, ProposalID: id, Status: to}})
	if err != nil {
		return ProposalStatusResult{}, err
	}
	ses.space.filesChanged(p.data.Applied.Changes)
	return ProposalStatusResult{ProposalID: id, Status: to}, nil
}

// SessionRevertResult is the result of session.revert and session.unrevert.
type SessionRevertResult struct {
	SessionID string   `json:"session_id"`
	Proposals []string `json:"proposals"` // in the order in which they were dealt with
}

func sessionRevert(ctx context.Context, c *Client, p SessionParams) (SessionRevertResult, error) {
	return c.turnSession(ctx, p.SessionID, []string{ProposalApplied, ProposalAppliedUnsaved}, c.service.revert)
}

func sessionUnrevert(ctx context.Context, c *Client, p SessionParams) (SessionRevertResult, error) {
	return c.turnSession(ctx, p.SessionID, []string{ProposalReverted}, c.service.unrevert)
}

// turnSession reverts or unreverts the proposals of a session, the one that was
// decided last first. It ends with the first that cannot be.
func (c *Client) turnSession(ctx context.Context, id string, states []string, turn func(context.Context, string, string) (ProposalStatusResult, error)) (SessionRevertResult, error) {
	result := SessionRevertResult{SessionID: id, Proposals: []string{}}
	if _, err := c.service.session(ctx, id, true); err != nil {
		return result, err
	}
	list, err := c.service.proposals(ctx, store.Filter{SessionID: id, States: states})
	if err != nil {
		return result, err
	}
	slices.SortStableFunc(list, func(a, b *proposal) int { return b.updated.Compare(a.updated) })
	for _, q := range list {
		if _, err := turn(ctx, q.id, c.info.Name); err != nil {
			return result, err
		}
		result.Proposals = append(result.Proposals, q.id)
	}
	return result, nil
}
