package kaiak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// Incidents are the incidents of one document at one version.
type Incidents struct {
	Version  int32  // of the document; 0 when it is not open
	ResultID string // equal IDs mean equal lists, for pull diagnostics
	List     []incidents.Incident
}

// The kinds of code action.
const (
	KindQuickFix = "quickfix.kaiak"
	KindRewrite  = "refactor.rewrite.kaiak"
	KindFixAll   = "source.fixAll.kaiak"
)

// An Action is something that can be done about incidents, as a code action
// shows it. Its effect is got by [Client.Resolve] (Command == "") or by
// [Client.Command] with Data as the only argument.
type Action struct {
	Title       string
	Kind        string // KindQuickFix, KindRewrite, KindFixAll
	IncidentIDs []string
	Preferred   bool
	Disabled    string // why it cannot be done now; "" when it can
	Command     string // "" for an action that carries its edit once resolved
	Data        ActionData
}

// ActionData is what an [Action] needs to be carried out later. It goes to the
// client and comes back unchanged.
type ActionData struct {
	Action      string   `json:"action"` // one of the Action… constants
	URI         string   `json:"uri,omitempty"`
	Version     int32    `json:"version,omitempty"` // of the document for which the action was offered
	IncidentIDs []string `json:"incident_ids,omitempty"`
	RuleID      string   `json:"rule_id,omitempty"`
	ProposalID  string   `json:"proposal_id,omitempty"`
	Comment     string   `json:"comment,omitempty"`   // of a refinement
	Alternate   int      `json:"alternate,omitempty"` // which of a rule's alternative fixes
}

// What an action does.
const (
	ActionFix         = "fix"                // the incidents' recipes
	ActionFixRule     = "fix_rule_file"      // every incident of a rule in the document
	ActionFixRuleAll  = "fix_rule_workspace" // every incident of a rule in the workspace
	ActionFixDocument = "fix_all"            // everything in the document that has a recipe
	ActionModel       = "model"              // ask the model
	ActionApply       = "apply"              // a pending proposal
	ActionReject      = "reject"
	ActionRevert      = "revert"
	ActionRefine      = "refine"
)

// Resolved is the edit of one [Action]: byte edits of the one document that
// the action was for, at Version. The service recognises the edit when the
// document comes back with it and records the proposal as applied.
type Resolved struct {
	URI        string
	Version    int32
	Edits      []workspace.Edit
	ProposalID string
	Disabled   string // why there is no edit any more, e.g. the text changed
}

// Actions returns what can be done about the given incidents (another
// server's, converted by incidents.FromDiagnostics) and about those that touch
// span.
func (c *Client) Actions(ctx context.Context, uri string, span incidents.Span, given []incidents.Incident) ([]Action, error) {
	d, err := c.document(uri)
	if err != nil {
		return nil, err
	}
	if d.space == nil {
		return nil, nil
	}
	found, err := c.Incidents(ctx, uri)
	if err != nil {
		return nil, err
	}
	set, err := d.space.rules(ctx)
	if err != nil {
		return nil, err
	}
	d.remember(given)
	var here []incidents.Incident
	for _, in := range found.List {
		if in.Span.Start <= span.End && span.Start <= in.Span.End {
			here = append(here, in)
		}
	}
	for _, in := range given {
		if !slices.ContainsFunc(here, func(h incidents.Incident) bool { return h.ID == in.ID }) {
			here = append(here, in)
		}
	}
	var actions []Action
	rulesDone := map[string]bool{}
	for _, in := range here {
		actions = append(actions, d.fixes(set, found, in)...)
		if model := d.modelAction(found, in); model != nil {
			actions = append(actions, *model)
		}
		if !rulesDone[in.RuleID] {
			rulesDone[in.RuleID] = true
			actions = append(actions, d.ruleActions(set, found, in.RuleID)...)
		}
	}
	if all := fixable(set, found.List, ""); len(all) > 0 {
		actions = append(actions, Action{Title: "Fix all " + countOf(len(all), "incident") + " that a rule can fix", Kind: KindFixAll, IncidentIDs: all,
			Data: ActionData{Action: ActionFixDocument, URI: uri, Version: found.Version}})
	}
	pending, err := d.proposalActions(ctx, found.Version)
	return append(actions, pending...), err
}

// remember keeps what another server reported, so that an action can name it by
// its id alone.
func (d *document) remember(given []incidents.Incident) {
	if len(given) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.given == nil || len(d.given)+len(given) > LimitIncidents.Value {
		d.given = map[string]incidents.Incident{}
	}
	for _, in := range given {
		in.FilePath = d.rel
		d.given[in.ID] = in
	}
}

// fixes returns the quick fixes of one incident: one per alternative.
func (d *document) fixes(set *rules.Set, found Incidents, in incidents.Incident) []Action {
	titles, several := alternatives(set, in)
	var actions []Action
	for i, title := range titles {
		a := Action{Title: title, Kind: KindQuickFix, IncidentIDs: []string{in.ID}, Preferred: i == 0,
			Data: ActionData{Action: ActionFix, URI: d.uri, Version: found.Version, IncidentIDs: []string{in.ID}, RuleID: in.RuleID, Alternate: i}}
		if several {
			a.Command = CommandFix
		}
		actions = append(actions, a)
	}
	return actions
}

// alternatives names the ways to fix an incident without a model; several says
// that they change other files too.
func alternatives(set *rules.Set, in incidents.Incident) (titles []string, several bool) {
	for _, r := range set.ForIncident(in) {
		if !r.Fixable() {
			continue
		}
		for i := range max(1, len(r.FixTitles)) {
			title := ""
			if i < len(r.FixTitles) {
				title = r.FixTitles[i]
			}
			titles = append(titles, first(title, "Fix: "+headline(in)))
		}
		return titles, false
	}
	for _, f := range in.Fixes {
		titles = append(titles, first(f.Title, "Fix: "+headline(in)))
		for _, e := range f.Edits {
			several = several || e.FilePath != "" && e.FilePath != in.FilePath
		}
	}
	return titles, several
}

// headline is the first line of an incident's message, not too long for a menu.
func headline(in incidents.Incident) string {
	text, _, _ := strings.Cut(cmp.Or(in.Message, in.Description, in.RuleID), "\n")
	if r := []rune(text); len(r) > 80 {
		text = string(r[:79]) + "…"
	}
	return text
}

// fixable returns the ids of the incidents that a rule can fix, of one rule or of all.
func fixable(set *rules.Set, list []incidents.Incident, ruleID string) []string {
	var ids []string
	for _, in := range list {
		if ruleID != "" && in.RuleID != ruleID {
			continue
		}
		if slices.ContainsFunc(set.ForIncident(in), (*rules.Rule).Fixable) {
			ids = append(ids, in.ID)
		}
	}
	return ids
}

// ruleActions returns "fix all of this rule", in the document and in the workspace.
func (d *document) ruleActions(set *rules.Set, found Incidents, ruleID string) []Action {
	ids := fixable(set, found.List, ruleID)
	if len(ids) == 0 {
		return nil
	}
	data := ActionData{URI: d.uri, Version: found.Version, RuleID: ruleID}
	var actions []Action
	if len(ids) > 1 {
		file := data
		file.Action, file.IncidentIDs = ActionFixRule, ids
		actions = append(actions, Action{Title: fmt.Sprintf("Fix all %s of %s in this file", countOf(len(ids), "incident"), ruleID), Kind: KindRewrite, IncidentIDs: ids, Data: file})
	}
	data.Action = ActionFixRuleAll
	return append(actions, Action{Title: "Fix all of " + ruleID + " in the workspace", Kind: KindRewrite, IncidentIDs: ids, Command: CommandFixRule, Data: data})
}

// modelAction offers the model for an incident, where the user has chosen it.
func (d *document) modelAction(found Incidents, in incidents.Incident) *Action {
	if d.client.service.opts.Model == nil || !slices.Contains(d.space.config().engines(), string(agent.Model)) {
		return nil
	}
	return &Action{Title: "Fix with the model: " + headline(in), Kind: KindQuickFix, IncidentIDs: []string{in.ID}, Command: CommandModel,
		Data: ActionData{Action: ActionModel, URI: d.uri, Version: found.Version, IncidentIDs: []string{in.ID}, RuleID: in.RuleID}}
}

// proposalActions returns what can be decided about the pending proposals of
// the document.
func (d *document) proposalActions(ctx context.Context, version int32) ([]Action, error) {
	list, err := d.space.pendingFor(ctx, d.rel)
	if err != nil {
		return nil, err
	}
	var actions []Action
	for _, p := range list {
		disabled := ""
		if v := d.client.service.proposalView(d.space, p); !v.Current {
			disabled = "stale: the file has changed since"
		}
		data := ActionData{URI: d.uri, Version: version, ProposalID: p.id}
		apply, reject := data, data
		apply.Action, reject.Action = ActionApply, ActionReject
		actions = append(actions,
			Action{Title: "Apply the proposal: " + p.data.Candidate.Description, Kind: KindQuickFix, IncidentIDs: p.data.Candidate.IncidentIDs, Disabled: disabled, Command: CommandApply, Data: apply},
			Action{Title: "Reject the proposal: " + p.data.Candidate.Description, Kind: KindQuickFix, IncidentIDs: p.data.Candidate.IncidentIDs, Command: CommandReject, Data: reject})
	}
	return actions, nil
}

// A carried edit is one that a quick fix gave to the editor. It is recognised
// when the document comes back with its result.
type carried struct {
	proposalID string
	base       *workspace.File
	candidate  agent.Candidate
	incidents  []incidents.Incident
}

// maxCarried is how many edits of one document are remembered: an editor
// resolves many actions for one that is chosen.
const maxCarried = 64

// Resolve computes the edit of an action that carries its edit.
func (c *Client) Resolve(ctx context.Context, data ActionData) (Resolved, error) {
	d, err := c.document(data.URI)
	if err != nil {
		return Resolved{}, err
	}
	if d.space == nil {
		return Resolved{URI: data.URI, Disabled: "the document is outside of every workspace folder"}, nil
	}
	found, err := c.Incidents(ctx, data.URI)
	if err != nil {
		return Resolved{}, err
	}
	set, err := d.space.rules(ctx)
	if err != nil {
		return Resolved{}, err
	}
	no := func(reason string) (Resolved, error) {
		return Resolved{URI: data.URI, Version: found.Version, Disabled: reason}, nil
	}
	list := d.chosen(set, found, data)
	if len(list) == 0 {
		return no("stale: the text has changed, and the incident is not there any more")
	}
	file, ok := c.Document(data.URI)
	if !ok || file.Version != found.Version {
		return no("stale: the text has changed meanwhile")
	}
	fixer, err := d.space.fixer(ctx, nil)
	if err != nil {
		return Resolved{}, err
	}
	var got collector
	if err := fixer.Fix(ctx, agent.Task{Workspace: d.space.ws, Incidents: list, Alternate: data.Alternate}, &got); err != nil {
		return Resolved{}, err
	}
	i := slices.IndexFunc(got.candidates, func(k agent.Candidate) bool {
		return len(k.Changes) == 1 && k.Changes[0].Path == d.rel && k.Changes[0].BaseSHA256 == file.SHA256
	})
	switch {
	case i < 0 && len(got.candidates) > 0:
		return no("the fix changes several files; use the command for it")
	case i < 0 && len(got.leftovers) > 0:
		return no(got.leftovers[0].Reason)
	case i < 0:
		return no("no rule has a fix for it")
	}
	k := &carried{proposalID: newID("prop-"), base: file, candidate: got.candidates[i], incidents: list}
	d.mu.Lock()
	d.carried = append(d.carried, k)
	if len(d.carried) > maxCarried {
		d.carried = slices.Delete(d.carried, 0, len(d.carried)-maxCarried)
	}
	d.mu.Unlock()
	return Resolved{URI: data.URI, Version: file.Version, Edits: k.candidate.Changes[0].Edits, ProposalID: k.proposalID}, nil
}

// chosen returns the incidents that an action is about, as they are now.
func (d *document) chosen(set *rules.Set, found Incidents, data ActionData) []incidents.Incident {
	want := data.IncidentIDs
	switch data.Action {
	case ActionFixRule:
		want = fixable(set, found.List, data.RuleID)
	case ActionFixDocument:
		want = fixable(set, found.List, "")
	}
	var list []incidents.Incident
	for _, in := range found.List {
		if slices.Contains(want, in.ID) {
			list = append(list, in)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range want {
		if in, ok := d.given[id]; ok && !slices.ContainsFunc(list, func(h incidents.Incident) bool { return h.ID == id }) {
			list = append(list, in)
		}
	}
	return list
}

// recognise returns the carried edit whose result the document now is. mu is held.
func (d *document) recognise(now *workspace.File) *carried {
	for i, k := range d.carried {
		if k.candidate.Changes[0].ProposedSHA256 == now.SHA256 {
			d.carried = slices.Delete(d.carried, i, i+1)
			return k
		}
	}
	return nil
}

// adopt records a quick fix that the editor has carried out: choosing it was
// the approval. The work is done aside, so that the wire does not wait.
func (c *Client) adopt(d *document, k *carried) {
	c.service.run(func() {
		if err := c.recordAdopted(c.service.ctx, d, k); err != nil && c.service.ctx.Err() == nil {
			c.service.log.Error("an applied quick fix cannot be recorded, so it cannot be undone by proposal", "proposal", k.proposalID, "error", err)
		}
	})
}

func (c *Client) recordAdopted(ctx context.Context, d *document, k *carried) error {
	s, err := c.editorSession(ctx, d.space)
	if err != nil {
		return err
	}
	now := c.service.now()
	r := newRequest(s, newID("req-"), now, c, requestData{Incidents: k.incidents, Engines: []string{string(agent.Recipe)}, Approval: approvalAsk, Generated: true, EndedAt: &now})
	defer r.cancel(errClosing)
	p := &proposal{id: k.proposalID, sessionID: s.id, requestID: r.id, state: ProposalApplying, created: now, updated: now,
		data: proposalData{SetID: newID("set-"), Candidate: k.candidate, Accepted: k.candidate.Hunks, DecidedBy: c.info.Name, DecidedAt: &now}}
	p.data.Applied = &workspace.Set{ID: p.data.SetID, Changes: k.candidate.Changes}
	err = s.commit(store.Durable, func(tx *store.Tx) error {
		if _, err := tx.PutBlob(p.id, k.base.Text); err != nil {
			return err
		}
		if err := tx.Put(store.Requests, r.record(RequestDone)); err != nil {
			return err
		}
		if err := tx.Put(store.Proposals, p.record(d.space.ws.RealDir())); err != nil {
			return err
		}
		_, err := tx.Audit(now, "approval", mustJSON(auditOf(p, c.info.Name)))
		return err
	}, outgoing{method: StreamSystem, requestID: r.id, content: SystemContent{Event: "request_started", RequestID: r.id, Status: RequestProcessing}},
		outgoing{method: StreamFileModification, requestID: r.id, proposalID: p.id, content: d.space.modification(p, 0, k.base.Text)})
	if err != nil {
		return err
	}
	done, err := d.space.ws.Adopt(ctx, *p.data.Applied, k.base.Text)
	if err == nil {
		_, err = c.service.applied(ctx, s, p, done)
	} else {
		err = errors.Join(err, c.service.applyFailed(s, p, err))
	}
	rows, rowsErr := c.service.rowsOf(ctx, r.id, r.snapshot())
	sum := summarize(rows, 0, c.service.now().Sub(now))
	sum.ProposalsGenerated = 1
	s.emit(outgoing{method: StreamSystem, requestID: r.id, content: SystemContent{Event: "request_completed", RequestID: r.id, Status: "success", Summary: &sum, Results: rows}})
	return errors.Join(err, rowsErr)
}

// editorSession is the session for what the editor does without naming one: one
// per client and workspace.
func (c *Client) editorSession(ctx context.Context, sp *space) (*session, error) {
	c.opening.Lock()
	defer c.opening.Unlock()
	c.mu.Lock()
	s := c.own[sp]
	c.mu.Unlock()
	if s != nil {
		s.mu.Lock()
		ended := s.terminated
		s.mu.Unlock()
		if !ended {
			return s, nil
		}
	}
	s, err := c.createSession(ctx, SessionCreateParams{WorkspacePath: sp.ws.Dir(), SessionName: c.info.Name})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.own[sp] = s
	c.mu.Unlock()
	return s, nil
}

// saved moves the proposals whose buffers have all been saved on to applied.
func (s *Service) saved(ctx context.Context, sp *space) error {
	waiting, err := s.proposals(ctx, store.Filter{Scope: sp.ws.RealDir(), States: []string{ProposalAppliedUnsaved}})
	if err != nil {
		return err
	}
	for _, p := range waiting {
		state, there, err := sp.ws.SetState(ctx, p.data.SetID)
		if err != nil {
			return err
		}
		if !there || state != workspace.Applied {
			continue
		}
		ses, err := s.session(ctx, p.sessionID, true)
		if err != nil {
			return err
		}
		err = ses.commit(store.Durable, func(tx *store.Tx) error {
			_, err := tx.Move(store.Proposals, p.id, []string{ProposalAppliedUnsaved}, ProposalApplied, s.now(), nil)
			return err
		}, outgoing{method: StreamSystem, requestID: p.requestID, proposalID: p.id, content: SystemContent{
			Event: "proposal_applied", RequestID: p.requestID, ProposalID: p.id, Status: ProposalApplied}})
		if err != nil {
			return err
		}
	}
	return nil
}
