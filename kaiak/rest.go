package kaiak

import (
	"context"
	"errors"
	"slices"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// A decision about some hunks of a proposal leaves a rest: the other hunks. It
// becomes a proposal of its own, against the files as they are after the
// decision, which passes the same gate as any other.

// The values of proposal.apply's rest.
const (
	restDrop = "drop"
	restKeep = "keep"
)

// restOf makes the proposal of the hunks that a decision left. taken are the
// edits of the ones that were applied, by path; it is empty after a rejection.
// It is nil where nothing is left.
func (s *Service) restOf(ctx context.Context, ses *session, p *proposal, decided []int, taken map[string][]workspace.Edit) (*proposal, error) {
	c := p.data.Candidate
	var hunks []rules.Hunk
	ids := map[string]bool{}
	upkeep := false
	for i, h := range c.Hunks {
		switch {
		case len(h.IncidentIDs) == 0:
			upkeep = true
		case !slices.Contains(decided, i):
			hunks = append(hunks, h)
			for _, id := range h.IncidentIDs {
				ids[id] = true
			}
		}
	}
	if len(hunks) == 0 {
		return nil, nil
	}
	all, err := s.incidentsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(all, func(in incidents.Incident) bool { return !ids[in.ID] })
	texts, err := s.textsAfter(ctx, ses.space, c, taken)
	if err != nil {
		return nil, err
	}
	var made agent.Candidate
	if upkeep {
		// What the others need (imports) depends on which of them there are.
		for path, text := range texts {
			moved := agent.Relocate(list, text.before, text.now.Text, taken[path])
			for i := range list {
				if list[i].FilePath == path {
					list[i] = moved[i]
				}
			}
		}
		made, err = s.remake(ctx, ses.space, p, list)
	} else {
		made, err = s.inspectRest(ctx, ses.space, c, hunks, list, texts, taken)
	}
	if err != nil {
		return nil, err
	}
	now := s.now()
	return &proposal{id: newID("prop-"), sessionID: p.sessionID, requestID: p.requestID, state: ProposalPending, created: now, updated: now,
		data: proposalData{SetID: newID("set-"), Candidate: made, RestOf: p.id}}, nil
}

// A restText is one file of a proposal before and after the decision.
type restText struct {
	before []byte
	now    *workspace.File
}

func (s *Service) textsAfter(ctx context.Context, sp *space, c agent.Candidate, taken map[string][]workspace.Edit) (map[string]restText, error) {
	texts := map[string]restText{}
	for _, ch := range c.Changes {
		if ch.Kind != workspace.EditFile {
			return nil, errors.New("a proposal that creates or deletes files is decided as a whole")
		}
		before, err := s.store.Blob(ctx, ch.BaseSHA256)
		if err != nil {
			return nil, err
		}
		want, err := workspace.ApplyEdits(before, taken[ch.Path])
		if err != nil {
			return nil, err
		}
		now, err := sp.ws.Read(ch.Path)
		if err != nil {
			return nil, err
		}
		if now.SHA256 != workspace.SHA256(want) {
			return nil, errors.New(ch.Path + " has changed since")
		}
		texts[ch.Path] = restText{before, now}
	}
	return texts, nil
}

// inspectRest passes the rest's hunks, moved to where they are now, through the gate.
func (s *Service) inspectRest(ctx context.Context, sp *space, c agent.Candidate, hunks []rules.Hunk, list []incidents.Incident, texts map[string]restText, taken map[string][]workspace.Edit) (agent.Candidate, error) {
	d := agent.Draft{Engine: c.Engine, Incidents: list, Description: c.Description, Category: c.Category}
	for _, ch := range c.Changes {
		file := agent.DraftFile{Kind: workspace.EditFile, Path: ch.Path, Base: texts[ch.Path].now}
		for _, h := range hunks {
			if h.Path != ch.Path {
				continue
			}
			h.Edits = movePast(h.Edits, taken[ch.Path])
			file.Edits = append(file.Edits, h.Edits...)
			d.Hunks = append(d.Hunks, h)
			if h.RuleID != "" && !slices.Contains(d.RuleIDs, h.RuleID) {
				d.RuleIDs = append(d.RuleIDs, h.RuleID)
			}
		}
		if len(file.Edits) > 0 {
			d.Files = append(d.Files, file)
		}
	}
	fixer, err := sp.fixer(ctx, nil)
	if err != nil {
		return agent.Candidate{}, err
	}
	made, flaws, err := fixer.Inspect(ctx, sp.ws, d)
	if err == nil && len(flaws) > 0 {
		err = flaws[0]
	}
	return made, err
}

// movePast moves edits of a text behind what other edits of it, which they do
// not overlap, have done.
func movePast(edits, taken []workspace.Edit) []workspace.Edit {
	out := slices.Clone(edits)
	for i := range out {
		delta := 0
		for _, t := range taken {
			if t.End <= edits[i].Start {
				delta += len(t.New) - (t.End - t.Start)
			}
		}
		out[i].Start += delta
		out[i].End += delta
	}
	return out
}

// announceRest stores the rest of a proposal together with a change of state,
// and shows it. change may be nil.
func (s *Service) announceRest(ctx context.Context, ses *session, rest *proposal, change func(*store.Tx) error, events ...outgoing) error {
	blobs := map[string][]byte{}
	for i, ch := range rest.data.Candidate.Changes {
		file, err := ses.space.ws.Read(ch.Path)
		if err != nil {
			return err
		}
		if file.SHA256 != ch.BaseSHA256 {
			return errors.New(ch.Path + " has changed since")
		}
		blobs[ch.Path] = file.Text
		events = append(events, outgoing{method: StreamFileModification, requestID: rest.requestID, proposalID: rest.id, content: ses.space.modification(rest, i, file.Text)})
	}
	err := ses.commit(store.Durable, func(tx *store.Tx) error {
		if change != nil {
			if err := change(tx); err != nil {
				return err
			}
		}
		for _, path := range sortedKeys(blobs) {
			if _, err := tx.PutBlob(rest.id, blobs[path]); err != nil {
				return err
			}
		}
		return tx.Put(store.Proposals, rest.record(ses.space.ws.RealDir()))
	}, events...)
	if err == nil {
		ses.space.addPending(rest)
		ses.space.proposalsChanged(rest.data.Candidate.Changes)
	}
	return err
}

// keepRest makes the rest of a proposal of which some hunks were applied.
func (s *Service) keepRest(ctx context.Context, id string, decided []int) (string, error) {
	p, err := s.proposal(ctx, id)
	if err != nil {
		return "", err
	}
	ses, err := s.session(ctx, p.sessionID, true)
	if err != nil {
		return "", err
	}
	taken := map[string][]workspace.Edit{}
	for _, ch := range p.data.Applied.Changes {
		taken[ch.Path] = ch.Edits
	}
	rest, err := s.restOf(ctx, ses, p, decided, taken)
	if err != nil || rest == nil {
		return "", err
	}
	return rest.id, s.announceRest(ctx, ses, rest, nil)
}

// rejectHunks rejects some hunks of a pending proposal; the others take its
// place. Where none is left, the proposal is rejected.
func (s *Service) rejectHunks(ctx context.Context, id string, decided []int, reason, by string) (restID string, err error) {
	p, err := s.proposal(ctx, id)
	if err != nil {
		return "", err
	}
	if p.state != ProposalPending {
		return "", p.notPending()
	}
	for _, i := range decided {
		if i < 0 || i >= len(p.data.Candidate.Hunks) {
			return "", Errorf(ResponseInvalid, "proposal %q has the hunks 0 to %d, there is no %d", id, len(p.data.Candidate.Hunks)-1, i).With("proposal_id", id)
		}
	}
	ses, err := s.session(ctx, p.sessionID, true)
	if err != nil {
		return "", err
	}
	if err := s.checkFresh(ctx, ses, p); err != nil {
		return "", err
	}
	rest, err := s.restOf(ctx, ses, p, decided, nil)
	if err != nil {
		return "", Errorf(ResponseInvalid, "the other hunks of proposal %q cannot stand alone: %w; reject all of it, or none", id, err).With("proposal_id", id)
	}
	if rest == nil {
		return "", s.reject(ctx, id, reason, by)
	}
	now := s.now()
	p.data.Reason, p.data.DecidedBy, p.data.DecidedAt, p.data.SupersededBy = reason, by, &now, rest.id
	err = s.announceRest(ctx, ses, rest, func(tx *store.Tx) error {
		won, err := tx.Move(store.Proposals, id, []string{ProposalPending}, ProposalSuperseded, now, mustJSON(p.data))
		if err == nil && !won {
			return errNotPending
		}
		if err == nil {
			err = countOutcome(tx, p.data.Candidate, false)
		}
		if err == nil {
			_, err = tx.Audit(now, "rejection", mustJSON(map[string]any{"proposal_id": id, "hunks": decided, "by": by, "reason": reason, "rest_proposal_id": rest.id}))
		}
		return err
	}, outgoing{method: StreamSystem, requestID: p.requestID, proposalID: id, content: SystemContent{
		Event: "proposal_superseded", RequestID: p.requestID, ProposalID: id, Status: ProposalSuperseded, Reason: reason}})
	if errors.Is(err, errNotPending) {
		return "", p.notPending()
	}
	return rest.id, err
}
