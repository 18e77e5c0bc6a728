package kaiak

import (
	"context"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// ProposalView is a proposal as proposal.list shows it; proposal.get adds Files.
type ProposalView struct {
	ProposalID  string                    `json:"proposal_id"`
	SetID       string                    `json:"set_id"`
	SessionID   string                    `json:"session_id"`
	RequestID   string                    `json:"request_id"`
	Status      string                    `json:"status"`
	Current     bool                      `json:"current"` // every file still is what the proposal was made for
	Description string                    `json:"description"`
	Source      agent.EngineName          `json:"source"`
	RuleIDs     []string                  `json:"rule_ids"`
	IncidentIDs []string                  `json:"incident_ids"`
	Confidence  float64                   `json:"confidence"`
	Evidence    agent.Evidence            `json:"evidence"`
	FilePaths   []string                  `json:"file_paths"`
	DependsOn   string                    `json:"depends_on,omitempty"`
	Supersedes  string                    `json:"supersedes,omitempty"`
	Asks        string                    `json:"asks,omitempty"` // why a person has to decide, whatever policy the client has
	RestOf      string                    `json:"rest_of,omitempty"`
	Reason      string                    `json:"reason,omitempty"`
	DecidedBy   string                    `json:"decided_by,omitempty"`
	CreatedAt   time.Time                 `json:"created_at"`
	UpdatedAt   time.Time                 `json:"updated_at"`
	Verdicts    []agent.Outcome           `json:"verdicts"`
	Files       []FileModificationContent `json:"files,omitempty"`
}

// proposalView is a proposal as it is shown. sp is nil where the workspace is
// gone; nothing of it is current then.
func (s *Service) proposalView(sp *space, p *proposal) ProposalView {
	c := p.data.Candidate
	v := ProposalView{ProposalID: p.id, SetID: p.data.SetID, SessionID: p.sessionID, RequestID: p.requestID, Status: p.state, Description: c.Description, Source: c.Engine,
		RuleIDs: orEmpty(c.RuleIDs), IncidentIDs: orEmpty(c.IncidentIDs), Confidence: c.Confidence, Evidence: c.Evidence, FilePaths: []string{},
		DependsOn: p.data.DependsOn, Supersedes: p.data.Supersedes, RestOf: p.data.RestOf, Reason: p.data.Reason, DecidedBy: p.data.DecidedBy,
		CreatedAt: p.created, UpdatedAt: p.updated, Verdicts: orEmpty(p.data.Outcomes), Current: p.state == ProposalPending && sp != nil}
	for _, ch := range c.Changes {
		v.FilePaths = append(v.FilePaths, ch.Path)
		if !v.Current {
			continue
		}
		file, err := sp.ws.Read(ch.Path)
		v.Current = err == nil && file.SHA256 == ch.BaseSHA256 || err != nil && ch.Kind == workspace.CreateFile
	}
	return v
}

// ProposalListParams are the params of proposal.list.
type ProposalListParams struct {
	SessionID string `json:"session_id,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Status    string `json:"status,omitempty"`
	FilePath  string `json:"file_path,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}

// ProposalListResult is the result of proposal.list.
type ProposalListResult struct {
	Proposals []ProposalView `json:"proposals"`
	Cursor    string         `json:"cursor,omitempty"`
}

func proposalList(ctx context.Context, c *Client, p ProposalListParams) (ProposalListResult, error) {
	limit, err := page(p.Limit, 100)
	if err != nil {
		return ProposalListResult{}, err
	}
	f := store.Filter{SessionID: p.SessionID, RequestID: p.RequestID, After: p.Cursor, Limit: limit}
	if p.Status != "" {
		f.States = []string{p.Status}
	}
	recs, next, err := c.service.store.List(ctx, store.Proposals, f)
	if err != nil {
		return ProposalListResult{}, listError(err)
	}
	result := ProposalListResult{Proposals: []ProposalView{}, Cursor: next}
	for _, rec := range recs {
		q, err := readProposal(rec)
		if err != nil {
			return result, err
		}
		var sp *space // stays nil where the workspace is gone
		if ses, err := c.service.session(ctx, q.sessionID, true); err == nil {
			sp = ses.space
		} else if err := ignoreCode(err, WorkspaceAccessDenied); err != nil {
			return result, err
		}
		v := c.service.proposalView(sp, q)
		if sp != nil {
			v.Asks = sp.asks(ctx, q.data.Candidate)
		}
		if p.FilePath == "" || sp != nil && touchesPath(sp, v.FilePaths, p.FilePath) {
			result.Proposals = append(result.Proposals, v)
		}
	}
	return result, nil
}

func touchesPath(sp *space, paths []string, name string) bool {
	rel, err := sp.ws.Rel(name)
	if err != nil {
		return false
	}
	for _, p := range paths {
		if p == rel {
			return true
		}
	}
	return false
}

// ProposalParams name a proposal.
type ProposalParams struct {
	ProposalID string `json:"proposal_id"`
}

func proposalGet(ctx context.Context, c *Client, p ProposalParams) (ProposalView, error) {
	q, err := c.service.proposal(ctx, p.ProposalID)
	if err != nil {
		return ProposalView{}, err
	}
	ses, err := c.service.session(ctx, q.sessionID, true)
	if err != nil {
		return ProposalView{}, err
	}
	v := c.service.proposalView(ses.space, q)
	v.Asks = ses.space.asks(ctx, q.data.Candidate)
	for i, ch := range q.data.Candidate.Changes {
		var base []byte
		if ch.Kind != workspace.CreateFile {
			if base, err = c.service.store.Blob(ctx, ch.BaseSHA256); err != nil {
				return v, err
			}
		}
		v.Files = append(v.Files, ses.space.modification(q, i, base))
	}
	return v, nil
}

// ProposalApplyParams are the params of proposal.apply.
type ProposalApplyParams struct {
	ProposalID     string      `json:"proposal_id"`
	BaseSHA256     string      `json:"base_sha256,omitempty" jsonschema:"description=Of a proposal with one file: the text the user saw"`
	ProposedSHA256 string      `json:"proposed_sha256,omitempty"`
	Files          []FileBytes `json:"files,omitempty" jsonschema:"description=The same for several files\\, or the text as the user changed it"`
	Hunks          *[]int      `json:"hunks,omitempty" jsonschema:"description=Indexes of the hunks to accept; absent: all"`
	Rest           string      `json:"rest,omitempty" jsonschema:"description=What becomes of the other hunks: drop (default)\\, or keep as a pending proposal of their own"`
}

func proposalApply(ctx context.Context, c *Client, p ProposalApplyParams) (ApplyResult, error) {
	if p.Rest != "" && p.Rest != restDrop && p.Rest != restKeep {
		return ApplyResult{}, Errorf(InvalidParams, "params.rest must be drop or keep, not %q", p.Rest).With("member", "params.rest")
	}
	var hunks []int
	if p.Hunks != nil {
		hunks = *p.Hunks
	}
	sel, err := newSelection(hunks, p.Hunks != nil, p.Files, p.BaseSHA256, p.ProposedSHA256)
	if err != nil {
		return ApplyResult{}, Errorf(InvalidParams, "params.%v", err)
	}
	result, err := c.service.apply(ctx, p.ProposalID, sel, c.info.Name)
	if err != nil {
		return result, err
	}
	done := context.WithoutCancel(ctx) // what is applied is not unmade by a cancel
	if p.Rest == restKeep && p.Hunks != nil {
		if result.RestProposalID, err = c.service.keepRest(done, p.ProposalID, hunks); err != nil {
			// The hunks that were asked for are applied; only the rest is lost.
			c.service.log.Warn("the rest of a proposal cannot be kept", "proposal", p.ProposalID, "error", err)
			result.RestProblem = err.Error()
		}
	}
	return result, c.service.closeInteractionOf(done, p.ProposalID)
}

// ProposalRejectParams are the params of proposal.reject.
type ProposalRejectParams struct {
	ProposalID string `json:"proposal_id"`
	Reason     string `json:"reason,omitempty"`
	Hunks      *[]int `json:"hunks,omitempty" jsonschema:"description=Indexes of the hunks to reject; the others take the proposal's place. Absent: all"`
}

// ProposalStatusResult says what a proposal has become.
type ProposalStatusResult struct {
	ProposalID     string `json:"proposal_id"`
	Status         string `json:"status"`
	RestProposalID string `json:"rest_proposal_id,omitempty"` // of the hunks that were not rejected
}

func proposalReject(ctx context.Context, c *Client, p ProposalRejectParams) (ProposalStatusResult, error) {
	result := ProposalStatusResult{ProposalID: p.ProposalID, Status: ProposalRejected}
	var err error
	if p.Hunks != nil {
		result.RestProposalID, err = c.service.rejectHunks(ctx, p.ProposalID, *p.Hunks, p.Reason, c.info.Name)
		if result.RestProposalID != "" {
			result.Status = ProposalSuperseded
		}
	} else {
		err = c.service.reject(ctx, p.ProposalID, p.Reason, c.info.Name)
	}
	if err != nil {
		return ProposalStatusResult{}, err
	}
	return result, c.service.closeInteractionOf(context.WithoutCancel(ctx), p.ProposalID)
}

func proposalRevert(ctx context.Context, c *Client, p ProposalParams) (ProposalStatusResult, error) {
	return c.service.revert(ctx, p.ProposalID, c.info.Name)
}

// ProposalRefineParams are the params of proposal.refine.
type ProposalRefineParams struct {
	ProposalID string   `json:"proposal_id"`
	Comment    string   `json:"comment,omitempty" jsonschema:"description=What should be different; for the model"`
	Alternate  int      `json:"alternate,omitempty" jsonschema:"description=Which of the rule's alternative fixes"`
	Engines    []string `json:"engines,omitempty"`
}

func proposalRefine(ctx context.Context, c *Client, p ProposalRefineParams) (FixGenerateResult, error) {
	q, err := c.service.proposal(ctx, p.ProposalID)
	if err != nil {
		return FixGenerateResult{}, err
	}
	if q.state != ProposalPending && q.state != ProposalStale {
		return FixGenerateResult{}, q.notPending()
	}
	if p.Comment == "" && p.Alternate <= 0 {
		return FixGenerateResult{}, Errorf(InvalidParams, "give params.comment, or params.alternate from 1 on").With("member", "params.comment")
	}
	if err := checkEngines("params.engines", p.Engines); err != nil {
		return FixGenerateResult{}, err
	}
	s, err := c.service.session(ctx, q.sessionID, false)
	if err != nil {
		return FixGenerateResult{}, err
	}
	list, err := c.service.incidentsOf(ctx, q)
	if err != nil {
		return FixGenerateResult{}, err
	}
	_, was, err := c.service.requestRecord(ctx, q.requestID)
	if err != nil {
		return FixGenerateResult{}, err
	}
	engines := p.Engines
	switch {
	case len(engines) > 0:
	case p.Comment != "":
		engines = []string{string(agent.Model)} // a recipe cannot read
	default:
		engines = was.Engines
	}
	s.attach(c)
	r, err := s.startRequest(ctx, c, requestData{Incidents: list, Context: was.Context, Engines: engines, Approval: was.Approval,
		Alternate: p.Alternate, Comment: p.Comment, Supersedes: q.id})
	if err != nil {
		return FixGenerateResult{}, err
	}
	return FixGenerateResult{r.id, s.id, RequestProcessing, len(list), r.created}, nil
}

// FixVerifyResult is the result of fix.verify.
type FixVerifyResult struct {
	ProposalID string          `json:"proposal_id"`
	Verdicts   []agent.Outcome `json:"verdicts"`
}

func fixVerify(ctx context.Context, c *Client, p ProposalParams) (FixVerifyResult, error) {
	q, err := c.service.proposal(ctx, p.ProposalID)
	if err != nil {
		return FixVerifyResult{}, err
	}
	if q.state != ProposalApplied && q.state != ProposalAppliedUnsaved {
		e := Errorf(RequestFailed, "proposal %q is %s; only an applied one can be verified", q.id, q.state).With("proposal_id", q.id)
		e.Kind = "PROPOSAL_NOT_APPLIED"
		return FixVerifyResult{}, e
	}
	ses, err := c.service.session(ctx, q.sessionID, true)
	if err != nil {
		return FixVerifyResult{}, err
	}
	out, err := c.service.verify(ctx, ses.space, q)
	return FixVerifyResult{q.id, orEmpty(out)}, err
}
