package kaiak

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// ApplyResult is what an approval came to.
type ApplyResult struct {
	ProposalID string        `json:"proposal_id"`
	SetID      string        `json:"set_id"`
	Status     string        `json:"status"` // applied or applied_unsaved
	Files      []AppliedFile `json:"files"`
	Verdicts   []IncidentRow `json:"verdicts"`

	RestProposalID string `json:"rest_proposal_id,omitempty"` // of the hunks that were not accepted, where they are kept
	RestProblem    string `json:"rest_problem,omitempty"`     // why they could not be kept
}

// AppliedFile is one file that was changed.
type AppliedFile struct {
	FilePath string               `json:"file_path"`
	URI      string               `json:"uri"`
	Kind     workspace.ChangeKind `json:"change_type"`
	SHA256   string               `json:"sha256"` // of the text as it is now; "" for a deleted file
	Open     bool                 `json:"open"`   // changed in the editor, which has yet to save it
}

// apply carries out an approval: exactly the bytes it names, all files or none,
// once. Of several approvals of one proposal that come at once, one is carried
// out. by says who approved, for the audit log.
func (s *Service) apply(ctx context.Context, id string, sel selection, by string) (ApplyResult, error) {
	p, err := s.proposal(ctx, id)
	if err != nil {
		return ApplyResult{}, err
	}
	ses, err := s.session(ctx, p.sessionID, true)
	if err != nil {
		return ApplyResult{}, err
	}
	sp := ses.space
	ses.mu.Lock()
	running := ses.requests[p.requestID]
	ses.mu.Unlock()
	if running != nil {
		running.applying.RLock()
		defer running.applying.RUnlock()
		running.mu.Lock()
		cancelled := running.cancelled
		running.mu.Unlock()
		if cancelled {
			return ApplyResult{}, requestCancelled(id)
		}
	}
	if running == nil && sel.answers {
		// The request may have been cancelled between the answer and now.
		rec, err := s.store.Get(ctx, store.Requests, p.requestID)
		if err != nil {
			return ApplyResult{}, err
		}
		if rec.State == RequestCancel {
			return ApplyResult{}, requestCancelled(id)
		}
	}
	if p.state != ProposalPending {
		return ApplyResult{}, p.notPending()
	}
	set, hunks, err := s.accept(ctx, sp, p, sel)
	if err != nil {
		return ApplyResult{}, err
	}
	if err := s.checkFresh(ctx, ses, p); err != nil {
		return ApplyResult{}, err
	}
	now := s.now()
	p.data.Applied, p.data.Accepted, p.data.Edited = &set, hunks, len(sel.edited) > 0
	me := s.presence.id
	p.data.DecidedBy, p.data.DecidedAt, p.data.Owner = by, &now, &me
	// Quick is enough: the journal's first commit, which is on the disk before
	// any file changes, takes this one with it.
	err = ses.commit(store.Quick, func(tx *store.Tx) error {
		won, err := tx.Move(store.Proposals, id, []string{ProposalPending}, ProposalApplying, now, mustJSON(p.data))
		if err == nil && !won {
			return errNotPending
		}
		if err == nil {
			_, err = tx.Audit(now, "approval", mustJSON(auditOf(p, by)))
		}
		return err
	})
	if errors.Is(err, errNotPending) {
		if again, e := s.proposal(ctx, id); e == nil {
			p = again
		}
		return ApplyResult{}, p.notPending()
	}
	if err != nil {
		return ApplyResult{}, err
	}
	done, err := sp.applySet(ctx, set)
	if err != nil {
		return ApplyResult{}, s.applyFailed(ses, p, err)
	}
	return s.applied(context.WithoutCancel(ctx), ses, p, done)
}

func requestCancelled(proposalID string) *Error {
	return Errorf(RequestCancelled, "the request was cancelled; proposal %q stays pending", proposalID).With("proposal_id", proposalID)
}

// checkFresh makes a proposal stale when a file it changes is not what it was
// made for.
func (s *Service) checkFresh(ctx context.Context, ses *session, p *proposal) error {
	for _, c := range p.data.Candidate.Changes {
		now := ""
		file, err := ses.space.ws.Read(c.Path)
		if err == nil {
			now = file.SHA256
		}
		if now == c.BaseSHA256 {
			continue
		}
		if p.data.DependsOn != "" {
			if q, err := s.proposal(ctx, p.data.DependsOn); err == nil && q.state == ProposalPending {
				return Errorf(ContentModified, "proposal %q continues proposal %q: apply that one first; nothing was changed", p.id, q.id).
					With("proposal_id", p.id).With("depends_on", q.id)
			}
		}
		reason := c.Path + " has changed since"
		if err != nil {
			reason = err.Error()
		}
		return s.makeStale(ses, p, []string{ProposalPending}, reason)
	}
	return nil
}

// makeStale records that a proposal cannot be applied any more, and returns the
// error that says so.
func (s *Service) makeStale(ses *session, p *proposal, from []string, reason string) error {
	p.data.Reason = reason
	err := ses.commit(store.Durable, func(tx *store.Tx) error {
		won, err := tx.Move(store.Proposals, p.id, from, ProposalStale, s.now(), mustJSON(p.data))
		if err == nil && !won {
			return errNotPending
		}
		return err
	}, outgoing{method: StreamSystem, requestID: p.requestID, proposalID: p.id, content: SystemContent{
		Event: "proposal_stale", RequestID: p.requestID, ProposalID: p.id, Status: ProposalStale, Reason: reason}})
	if err != nil && !errors.Is(err, errNotPending) {
		return err
	}
	ses.space.proposalsChanged(p.data.Candidate.Changes)
	return p.stale(reason)
}

// applyFailed puts a proposal back to where it was before an apply that changed
// nothing, and returns the error for the client.
func (s *Service) applyFailed(ses *session, p *proposal, cause error) error {
	var conflict *workspace.ConflictError
	if errors.As(cause, &conflict) {
		return s.makeStale(ses, p, []string{ProposalApplying}, cause.Error())
	}
	p.undecided()
	e := wireApplyError(cause).With("proposal_id", p.id)
	err := ses.commit(store.Durable, func(tx *store.Tx) error {
		if _, err := tx.Move(store.Proposals, p.id, []string{ProposalApplying}, ProposalPending, s.now(), mustJSON(p.data)); err != nil {
			return err
		}
		_, err := tx.Audit(s.now(), "apply_failed", mustJSON(map[string]any{"proposal_id": p.id, "reason": cause.Error()}))
		return err
	}, outgoing{method: StreamError, requestID: p.requestID, proposalID: p.id, content: ErrorContent{
		ErrorCode: first(e.Kind, e.Code.Kind), Message: "A proposal could not be applied; nothing was changed.", Details: cause.Error(), Recoverable: true}})
	if err != nil {
		return err
	}
	return e
}

// undecided takes back a decision that had no effect.
func (p *proposal) undecided() {
	p.data.Applied, p.data.Accepted, p.data.DecidedAt, p.data.DecidedBy, p.data.Owner = nil, nil, nil, "", nil
}

// applied records an apply that succeeded: state, audit, outcome, verdicts, and
// what it means for other proposals of the same files.
func (s *Service) applied(ctx context.Context, ses *session, p *proposal, done workspace.Result) (ApplyResult, error) {
	sp := ses.space
	p.state = ProposalApplied
	if done.State == workspace.AppliedUnsaved {
		p.state = ProposalAppliedUnsaved
	}
	outcomes, err := s.verify(ctx, sp, p)
	if err != nil {
		// The change is there; only the second look failed.
		s.log.Error("an applied proposal cannot be verified", "proposal", p.id, "error", err)
	}
	p.data.Outcomes, p.data.Owner = outcomes, nil
	result := ApplyResult{ProposalID: p.id, SetID: p.data.SetID, Status: p.state, Files: []AppliedFile{}, Verdicts: s.verdictRows(ctx, p)}
	for _, f := range done.Files {
		result.Files = append(result.Files, AppliedFile{f.Path, sp.ws.URI(f.Path), f.Kind, f.SHA256, f.Open})
	}
	c := p.data.Candidate
	now := s.now()
	hints, err := s.hintsOf(ctx, sp, p, now)
	if err != nil {
		s.log.Error("no hint is kept of an applied proposal", "proposal", p.id, "error", err)
	}
	// Quick is enough: the journal knows that the set is applied, and recovery
	// takes the proposal's state from there.
	err = ses.insist(store.Quick, func(tx *store.Tx) error {
		if _, err := tx.Move(store.Proposals, p.id, []string{ProposalApplying}, p.state, now, mustJSON(p.data)); err != nil {
			return err
		}
		if err := countOutcome(tx, c, !p.data.Edited && len(p.data.Accepted) == len(c.Hunks)); err != nil {
			return err
		}
		if err := addHints(tx, sp.ws.RealDir(), hints); err != nil {
			return err
		}
		_, err := tx.Audit(now, "apply", mustJSON(map[string]any{"proposal_id": p.id, "set_id": p.data.SetID, "status": p.state, "files": result.Files}))
		return err
	}, outgoing{method: StreamSystem, requestID: p.requestID, proposalID: p.id, content: SystemContent{
		Event: "proposal_applied", RequestID: p.requestID, ProposalID: p.id, Status: p.state, Results: result.Verdicts}})
	if err != nil {
		return ApplyResult{}, Errorf(RequestFailed, "proposal %q is applied, but that cannot be recorded: %w; the server settles it when it starts again", p.id, err).With("proposal_id", p.id)
	}
	s.overtake(ctx, ses, p)
	sp.filesChanged(p.data.Applied.Changes)
	return result, nil
}

// overtake makes those pending proposals stale that were made for the text
// which is now gone, and withdraws the questions about them.
func (s *Service) overtake(ctx context.Context, ses *session, p *proposal) {
	for _, ch := range p.data.Applied.Changes {
		others, err := ses.space.pendingFor(ctx, ch.Path)
		if err != nil {
			s.log.Error("pending proposals cannot be read", "error", err)
			return
		}
		for _, q := range others {
			i := slices.IndexFunc(q.data.Candidate.Changes, func(c workspace.Change) bool { return c.Path == ch.Path })
			if i < 0 || q.id == p.id || q.data.Candidate.Changes[i].BaseSHA256 == ch.ProposedSHA256 {
				continue
			}
			if err := s.overtaken(ctx, q, ch.Path+" was changed by proposal "+p.id); err != nil {
				s.log.Error("a proposal cannot be marked stale", "proposal", q.id, "error", err)
			}
		}
	}
}

func (s *Service) overtaken(ctx context.Context, q *proposal, reason string) error {
	owner, err := s.session(ctx, q.sessionID, true)
	if err != nil {
		return err
	}
	if err := ignoreCode(s.makeStale(owner, q, []string{ProposalPending}, reason), ContentModified); err != nil {
		return err
	}
	return s.closeInteractionOf(ctx, q.id)
}

// verify looks again at the incidents of a proposal that was applied.
func (s *Service) verify(ctx context.Context, sp *space, p *proposal) ([]agent.Outcome, error) {
	fixer, err := sp.fixer(ctx, nil)
	if err != nil {
		return nil, err
	}
	list, err := s.incidentsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	var changes []agent.Applied
	for _, c := range p.data.Applied.Changes {
		a := agent.Applied{Path: c.Path, Kind: c.Kind, Edits: c.Edits}
		if c.Kind != workspace.CreateFile {
			if a.Base, err = s.store.Blob(ctx, c.BaseSHA256); err != nil {
				return nil, err
			}
		}
		for _, h := range p.data.Accepted {
			if h.Path == c.Path {
				a.Hunks = append(a.Hunks, h)
			}
		}
		changes = append(changes, a)
	}
	if p.data.Candidate.Engine == agent.Model && len(p.data.Accepted) == 0 {
		for i := range changes {
			changes[i].Hunks = []rules.Hunk{{Path: changes[i].Path, Edits: changes[i].Edits, IncidentIDs: p.data.Candidate.IncidentIDs}}
		}
	}
	return fixer.Verify(ctx, sp.ws, list, changes)
}

// incidentsOf returns the incidents that a proposal claims to fix, in the order
// of its request.
func (s *Service) incidentsOf(ctx context.Context, p *proposal) ([]incidents.Incident, error) {
	all, err := s.requestIncidents(ctx, p.requestID)
	if err != nil {
		return nil, err
	}
	var at []int
	for _, id := range p.data.Candidate.IncidentIDs {
		if i, ok := all.index[id]; ok {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	var list []incidents.Incident
	for _, i := range at {
		list = append(list, all.list[i])
	}
	return list, nil
}

// incidentSet is the incidents of one request, which never change.
type incidentSet struct {
	list  []incidents.Incident
	index map[string]int // by id
}

// cachedRequests is of how many requests the incidents are kept in memory: a
// thousand approvals of one request must not read it a thousand times.
const cachedRequests = 16

func (s *Service) requestIncidents(ctx context.Context, requestID string) (*incidentSet, error) {
	s.mu.Lock()
	set := s.incidents[requestID]
	s.mu.Unlock()
	if set != nil {
		return set, nil
	}
	_, data, err := s.requestRecord(ctx, requestID)
	if err != nil {
		return nil, err
	}
	set = &incidentSet{data.Incidents, map[string]int{}}
	for i, in := range data.Incidents {
		set.index[in.ID] = i
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.incidents) >= cachedRequests {
		clear(s.incidents)
	}
	s.incidents[requestID] = set
	return set, nil
}

func (s *Service) verdictRows(ctx context.Context, p *proposal) []IncidentRow {
	list, err := s.incidentsOf(ctx, p)
	if err != nil {
		s.log.Error("the incidents of a proposal cannot be read", "proposal", p.id, "error", err)
	}
	rows := []IncidentRow{}
	for _, in := range list {
		row := IncidentRow{IncidentID: in.ID, RuleID: in.RuleID, FilePath: in.FilePath, LineNumber: in.LineNumber, ProposalID: p.id, Engine: p.data.Candidate.Engine}
		row.State, row.Reason = p.incidentState(in.ID)
		rows = append(rows, row)
	}
	return rows
}

// reject records that the user does not want a proposal.
func (s *Service) reject(ctx context.Context, id, reason, by string) error {
	p, err := s.proposal(ctx, id)
	if err != nil {
		return err
	}
	ses, err := s.session(ctx, p.sessionID, true)
	if err != nil {
		return err
	}
	now := s.now()
	p.data.Reason, p.data.DecidedBy, p.data.DecidedAt = reason, by, &now
	err = ses.commit(store.Durable, func(tx *store.Tx) error {
		won, err := tx.Move(store.Proposals, id, []string{ProposalPending, ProposalStale}, ProposalRejected, now, mustJSON(p.data))
		if err == nil && !won {
			return errNotPending
		}
		if err == nil {
			err = countOutcome(tx, p.data.Candidate, false)
		}
		if err == nil {
			_, err = tx.Audit(now, "rejection", mustJSON(auditOf(p, by)))
		}
		return err
	}, outgoing{method: StreamSystem, requestID: p.requestID, proposalID: id, content: SystemContent{
		Event: "proposal_rejected", RequestID: p.requestID, ProposalID: id, Status: ProposalRejected, Reason: reason}})
	if errors.Is(err, errNotPending) {
		return p.notPending()
	}
	if err == nil {
		ses.space.proposalsChanged(p.data.Candidate.Changes)
	}
	return err
}

// auditOf is what the audit log keeps of a decision about a proposal.
func auditOf(p *proposal, by string) map[string]any {
	type file struct {
		Path     string `json:"path"`
		Base     string `json:"base_sha256"`
		Proposed string `json:"proposed_sha256"`
	}
	changes := p.data.Candidate.Changes
	if p.data.Applied != nil {
		changes = p.data.Applied.Changes
	}
	files := []file{}
	for _, c := range changes {
		files = append(files, file{c.Path, c.BaseSHA256, c.ProposedSHA256})
	}
	c := p.data.Candidate
	return map[string]any{"proposal_id": p.id, "session_id": p.sessionID, "request_id": p.requestID, "by": by, "files": files,
		"engine": c.Engine, "rule_ids": c.RuleIDs, "evidence": c.Evidence, "confidence": c.Confidence, "edited": p.data.Edited, "reason": p.data.Reason}
}

// countOutcome counts a decision in every bucket that confidence is learned from.
func countOutcome(tx *store.Tx, c agent.Candidate, kept bool) error {
	names := append(slices.Clone(c.RuleIDs), categoryBucket(c.Category), "")
	for _, name := range names {
		if err := tx.CountOutcome(string(c.Engine), name, c.Evidence.Tier, kept); err != nil {
			return err
		}
	}
	return nil
}

// categoryBucket is the name under which the outcomes of a category are counted;
// no rule id has a colon in front.
func categoryBucket(c agent.Category) string { return ":" + string(c) }

// pastOutcomes is what the store counted, as the agent asks for it.
type pastOutcomes map[[3]string][2]int

func (s *Service) outcomes(ctx context.Context) (agent.Outcomes, error) {
	all, err := s.store.Outcomes(ctx, "")
	if err != nil {
		return nil, err
	}
	past := pastOutcomes{}
	for _, o := range all {
		past[[3]string{o.Engine, o.Rule, o.Tier}] = [2]int{o.N, o.K}
	}
	return past, nil
}

func (p pastOutcomes) Outcomes(b agent.Bucket) (n, k int) {
	name := b.RuleID
	if name == "" && b.Category != "" {
		name = categoryBucket(b.Category)
	}
	c := p[[3]string{string(b.Engine), name, b.Tier}]
	return c[0], c[1]
}

// wireApplyError gives a failure to write its number.
func wireApplyError(err error) *Error {
	var busy *workspace.BusyError
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &busy):
		e := Errorf(SessionNotReady, "another process is changing this workspace: %w", err).With("owner", fmt.Sprint(busy.Owner))
		e.Kind, e.Retryable = "WORKSPACE_BUSY", true
		return e
	case errors.Is(err, context.Canceled):
		return Errorf(RequestCancelled, "cancelled; nothing was changed")
	}
	var buffer *workspace.BufferError
	if errors.As(err, &buffer) && buffer.Timeout {
		e := Errorf(ToolTimeout, "nothing was changed: %w", err).With("path", buffer.Path)
		e.Retryable = true
		return e
	}
	e = Errorf(FileModificationFailed, "nothing was changed: %w", err)
	var p *workspace.PathError
	if errors.As(err, &p) {
		e = e.With("path", p.Path)
	}
	return e
}
