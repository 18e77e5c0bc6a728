package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// The states of a proposal. Only an explicit decision, a change of its files or
// a newer proposal takes one out of pending; time does not.
const (
	ProposalPending        = "pending"
	ProposalApplying       = "applying" // an approval is being carried out
	ProposalApplied        = "applied"
	ProposalAppliedUnsaved = "applied_unsaved" // in buffers that are not saved yet
	ProposalRejected       = "rejected"
	ProposalStale          = "stale"      // its files are no longer what it was made for
	ProposalSuperseded     = "superseded" // a refined proposal took its place
	ProposalReverted       = "reverted"
)

// proposalData is what the store keeps of a proposal beside its columns. The
// texts it was made for are blobs, found by their hash.
type proposalData struct {
	SetID        string          `json:"set_id"`
	Candidate    agent.Candidate `json:"candidate"`
	DependsOn    string          `json:"depends_on,omitempty"`
	Supersedes   string          `json:"supersedes,omitempty"`
	SupersededBy string          `json:"superseded_by,omitempty"`
	RestOf       string          `json:"rest_of,omitempty"` // the proposal of which this is what was not accepted

	Owner     *processID      `json:"owner,omitempty"`    // while it is applying: who does it
	LastSet   string          `json:"last_set,omitempty"` // the set that reverted it, or that applied it again
	Applied   *workspace.Set  `json:"applied,omitempty"`  // what was really applied: the accepted hunks, the edited text
	Accepted  []rules.Hunk    `json:"accepted,omitempty"`
	Edited    bool            `json:"edited,omitempty"` // the user changed the text before accepting
	Outcomes  []agent.Outcome `json:"outcomes,omitempty"`
	Reason    string          `json:"reason,omitempty"` // of a rejection, of being stale
	DecidedBy string          `json:"decided_by,omitempty"`
	DecidedAt *time.Time      `json:"decided_at,omitempty"`
}

// A proposal is one as the store has it.
type proposal struct {
	id, sessionID, requestID string
	state                    string
	created, updated         time.Time
	data                     proposalData
}

func (p *proposal) record(scope string) store.Record {
	return store.Record{ID: p.id, SessionID: p.sessionID, RequestID: p.requestID, ParentID: p.data.Supersedes, Scope: scope,
		State: p.state, Created: p.created, Updated: p.updated, Data: mustJSON(p.data)}
}

func readProposal(rec store.Record) (*proposal, error) {
	p := &proposal{id: rec.ID, sessionID: rec.SessionID, requestID: rec.RequestID, state: rec.State, created: rec.Created, updated: rec.Updated}
	if err := json.Unmarshal(rec.Data, &p.data); err != nil {
		return nil, Errorf(InternalError, "proposal %q in the state cannot be read: %w", rec.ID, err)
	}
	return p, nil
}

// proposals reads the proposals that a filter selects, oldest first.
func (s *Service) proposals(ctx context.Context, f store.Filter) ([]*proposal, error) {
	recs, _, err := s.store.List(ctx, store.Proposals, f)
	if err != nil {
		return nil, err
	}
	list := make([]*proposal, 0, len(recs))
	for _, rec := range recs {
		p, err := readProposal(rec)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (s *Service) proposal(ctx context.Context, id string) (*proposal, error) {
	rec, err := s.store.Get(ctx, store.Proposals, id)
	if errors.Is(err, store.ErrNotFound) {
		e := Errorf(RequestFailed, "there is no proposal %q; kaiak/proposal/list names those that there are", id).With("proposal_id", id)
		e.Kind = "PROPOSAL_NOT_FOUND"
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return readProposal(rec)
}

// notPending is the error for a decision about a proposal that has been made.
func (p *proposal) notPending() *Error {
	if p.state == ProposalStale {
		return p.stale(p.data.Reason)
	}
	e := Errorf(RequestFailed, "proposal %q is %s already; nothing was changed", p.id, p.state).With("proposal_id", p.id).With("state", p.state)
	e.Kind = "PROPOSAL_NOT_PENDING"
	return e
}

func (p *proposal) stale(reason string) *Error {
	return Errorf(ContentModified, "proposal %q was made for a text that is no longer there: %s; nothing was changed, generate the fix again", p.id, reason).With("proposal_id", p.id)
}

// incidentState says what became of one of the proposal's incidents.
func (p *proposal) incidentState(id string) (state, reason string) {
	switch p.state {
	case ProposalPending, ProposalApplying:
		return "proposed", ""
	case ProposalRejected:
		return string(agent.Skipped), first(p.data.Reason, "the proposal was rejected")
	case ProposalStale:
		return string(agent.Unfixed), first(p.data.Reason, "the file changed before the proposal was applied")
	case ProposalSuperseded:
		if p.data.DecidedBy != "" { // some of its hunks were rejected; a proposal of the others speaks for them
			return string(agent.Skipped), first(p.data.Reason, "its part of the proposal was rejected")
		}
		return "pending", "a newer proposal takes its place"
	case ProposalReverted:
		return string(agent.Unfixed), "its change was reverted"
	}
	for _, o := range p.data.Outcomes {
		if o.IncidentID == id {
			return string(o.Verdict), o.Reason
		}
	}
	return string(agent.Partial), "its change was applied and has not been re-checked"
}

// propose stores a candidate as a proposal, announces it, and asks about it
// where the request wants that.
func (r *request) propose(c agent.Candidate) error {
	s := r.session
	data := r.snapshot()
	now := s.service.now()
	p := &proposal{id: newID("prop-"), sessionID: s.id, requestID: r.id, state: ProposalPending, created: now, updated: now,
		data: proposalData{SetID: newID("set-"), Candidate: c, Supersedes: data.Supersedes}}
	bases, err := r.bases(p)
	if err != nil {
		return err
	}
	decision := s.space.decide(s, c.Changes)
	var events []outgoing
	for i, change := range c.Changes {
		events = append(events, outgoing{method: StreamFileModification, requestID: r.id, proposalID: p.id,
			content: s.space.modification(p, i, bases[change.Path])})
	}
	var ask *interaction
	switch {
	case decision.action == PermissionDeny:
		p.state, p.data.Reason = ProposalRejected, decision.reason
		events = append(events, outgoing{method: StreamSystem, requestID: r.id, proposalID: p.id, content: SystemContent{
			Event: "proposal_rejected", RequestID: r.id, ProposalID: p.id, Reason: decision.reason}})
	case decision.action == PermissionAllow && data.Approval == approvalAsk:
	case data.Approval == approvalAsk:
		ask = r.approvalOf(p)
		events = append(events, ask.event())
	}
	err = s.commit(store.Quick, func(tx *store.Tx) error {
		for _, change := range c.Changes {
			if change.Kind == workspace.CreateFile {
				continue
			}
			if _, err := tx.PutBlob(p.id, bases[change.Path]); err != nil {
				return err
			}
		}
		if ask != nil {
			if err := tx.Put(store.Interactions, ask.record(s)); err != nil {
				return err
			}
		}
		if id := data.Supersedes; id != "" {
			if _, err := tx.Move(store.Proposals, id, []string{ProposalPending, ProposalStale}, ProposalSuperseded, now, nil); err != nil {
				return err
			}
		}
		return tx.Put(store.Proposals, p.record(s.space.ws.RealDir()))
	}, events...)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.proposals++
	r.mu.Unlock()
	s.space.addPending(p)
	s.space.proposalsChanged(c.Changes)
	if data.Supersedes != "" {
		if err := s.service.closeInteractionOf(r.ctx, data.Supersedes); err != nil {
			return err
		}
	}
	if ask != nil {
		r.open(ask)
	}
	if decision.action == PermissionAllow && data.Approval == approvalAsk {
		_, err := s.service.apply(r.ctx, p.id, selection{}, "permission rule: "+decision.reason)
		if err != nil {
			s.emit(outgoing{method: StreamError, requestID: r.id, content: ErrorContent{ErrorCode: "APPLY_FAILED", Message: "A proposal that a permission rule allows could not be applied.",
				Details: err.Error(), Recoverable: true}})
		}
	}
	return nil
}

// bases returns the texts that the proposal's edits are against, by path, and
// sets what the proposal depends on: a model works on the text that the
// recipes' proposal, which may not be applied yet, will leave.
func (r *request) bases(p *proposal) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, change := range p.data.Candidate.Changes {
		if change.Kind == workspace.CreateFile {
			continue
		}
		file, err := r.session.space.ws.Read(change.Path)
		if err == nil && file.SHA256 == change.BaseSHA256 {
			out[change.Path] = file.Text
			continue
		}
		earlier, err2 := r.session.service.proposals(r.ctx, store.Filter{RequestID: r.id})
		if err2 != nil {
			return nil, err2
		}
		for _, q := range earlier {
			for i, c := range q.data.Candidate.Changes {
				if c.Path == change.Path && c.ProposedSHA256 == change.BaseSHA256 {
					base, err := r.session.service.store.Blob(r.ctx, c.BaseSHA256)
					if err != nil {
						return nil, err
					}
					if out[change.Path], err = q.proposed(i, base); err != nil {
						return nil, err
					}
					p.data.DependsOn = q.id
				}
			}
		}
		if out[change.Path] == nil {
			// The user typed on while the fix was made.
			return nil, fmt.Errorf("%s changed while its fix was being made; generate it again", change.Path)
		}
	}
	return out, nil
}

// addPending notes a proposal that was made.
func (sp *space) addPending(p *proposal) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.pending == nil {
		return // it will be read with the others
	}
	for _, c := range p.data.Candidate.Changes {
		if sp.pending[c.Path] == nil {
			sp.pending[c.Path] = map[string]bool{}
		}
		sp.pending[c.Path][p.id] = true
	}
}

// pendingFor returns the pending proposals that change a file, oldest first.
// Those of other processes are missing until this one starts anew; applying
// compares hashes, so that this can show too little but never apply too much.
func (sp *space) pendingFor(ctx context.Context, path string) ([]*proposal, error) {
	s := sp.service
	if err := sp.loadPending(ctx); err != nil {
		return nil, err
	}
	sp.mu.Lock()
	ids := sortedKeys(sp.pending[path])
	sp.mu.Unlock()
	var list []*proposal
	for _, id := range ids {
		rec, err := s.store.Get(ctx, store.Proposals, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err != nil || rec.State != ProposalPending {
			sp.mu.Lock()
			delete(sp.pending[path], id)
			sp.mu.Unlock()
			continue
		}
		p, err := readProposal(rec)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *proposal) int { return a.created.Compare(b.created) })
	return list, nil
}

// loadPending reads the pending proposals once. What is proposed meanwhile is
// noted too.
func (sp *space) loadPending(ctx context.Context) error {
	sp.loadingPending.Lock()
	defer sp.loadingPending.Unlock()
	sp.mu.Lock()
	loaded := sp.pending != nil
	if !loaded {
		sp.pending = map[string]map[string]bool{}
	}
	sp.mu.Unlock()
	if loaded {
		return nil
	}
	all, err := sp.service.proposals(ctx, store.Filter{Scope: sp.ws.RealDir(), States: []string{ProposalPending}})
	if err != nil {
		sp.mu.Lock()
		sp.pending = nil
		sp.mu.Unlock()
		return err
	}
	for _, p := range all {
		sp.addPending(p)
	}
	return nil
}

// proposed is the text that a change proposes.
func (p *proposal) proposed(i int, base []byte) ([]byte, error) {
	c := p.data.Candidate.Changes[i]
	switch c.Kind {
	case workspace.CreateFile:
		return c.Text, nil
	case workspace.DeleteFile:
		return nil, nil
	}
	return workspace.ApplyEdits(base, c.Edits)
}

// modification is the message that shows one file of a proposal.
func (sp *space) modification(p *proposal, i int, base []byte) FileModificationContent {
	c := p.data.Candidate
	change := c.Changes[i]
	text, err := p.proposed(i, base)
	if err != nil {
		text = base // a candidate that passed the gate applies
	}
	original, proposed := string(base), string(text)
	before, after := base, text
	switch change.Kind {
	case workspace.CreateFile:
		before = nil
	case workspace.DeleteFile:
		after = nil
	}
	m := FileModificationContent{
		FilePath: change.Path, ChangeType: change.Kind, Description: c.Description, OriginalContent: &original, ProposedContent: &proposed, Confidence: c.Confidence,
		URI: sp.ws.URI(change.Path), SetID: p.data.SetID, SetSize: len(c.Changes), BaseSHA256: change.BaseSHA256, ProposedSHA256: change.ProposedSHA256,
		Edits: wireEdits(base, change.Edits), Diff: workspace.Diff(change.Path, before, after), Hunks: []Hunk{}, Evidence: c.Evidence, Source: c.Engine,
		RuleIDs: orEmpty(c.RuleIDs), IncidentIDs: orEmpty(c.IncidentIDs), DependsOn: p.data.DependsOn,
	}
	for n, h := range c.Hunks {
		if h.Path == change.Path {
			m.Hunks = append(m.Hunks, Hunk{n, h.Path, wireEdits(base, h.Edits), orEmpty(h.IncidentIDs), h.RuleID})
		}
	}
	return m
}

// wireEdits converts byte edits of a text to the wire's.
func wireEdits(base []byte, edits []workspace.Edit) []TextEdit {
	m := workspace.NewMapper(base, workspace.UTF16)
	out := make([]TextEdit, 0, len(edits))
	for _, e := range edits {
		out = append(out, TextEdit{Range: wireRange(m, e.Start, e.End), NewText: e.New})
	}
	return out
}

// orEmpty makes JSON say [] rather than null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
