package kaiak

import (
	"context"
	"encoding/json"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// Incidents are the incidents of one document at one version.
type Incidents struct {
	Version  int32  // of the document; 0 when it is not open
	ResultID string // equal IDs mean equal lists, for pull diagnostics
	List     []incidents.Incident
}

// An Action is something that can be done about incidents, as a code action
// shows it. Its effect is got by [Client.Resolve] (Command == "") or by
// [Client.Command] with Data as the only argument.
type Action struct {
	Title       string
	Kind        string // "quickfix.kaiak", "refactor.rewrite.kaiak", "source.fixAll.kaiak"
	IncidentIDs []string
	Preferred   bool
	Disabled    string // why it cannot be done now; "" when it can
	Command     string // "" for an action that carries its edit once resolved
	Data        ActionData
}

// ActionData is what an [Action] needs to be carried out later. It goes to the
// client and comes back unchanged.
type ActionData struct {
	Action      string   `json:"action"` // "fix", "fix_rule_file", "fix_rule_workspace", "fix_all", "model", "apply", "reject", …
	URI         string   `json:"uri,omitempty"`
	Version     int32    `json:"version,omitempty"` // of the document for which the action was offered
	IncidentIDs []string `json:"incident_ids,omitempty"`
	RuleID      string   `json:"rule_id,omitempty"`
	ProposalID  string   `json:"proposal_id,omitempty"`
	Alternate   int      `json:"alternate,omitempty"` // which of a rule's alternative fixes
}

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

// Incidents returns the incidents of an open document: what the rules find in
// its present version and what others reported about it. It waits for the
// parse of that version; ctx ends the wait.
func (c *Client) Incidents(ctx context.Context, uri string) (Incidents, error) {
	return Incidents{}, nil
}

// Actions returns what can be done about the given incidents (another
// server's, converted by incidents.FromLSP) and about those that touch span.
func (c *Client) Actions(ctx context.Context, uri string, span incidents.Span, given []incidents.Incident) ([]Action, error) {
	return nil, nil
}

// Resolve computes the edit of an action that carries its edit.
func (c *Client) Resolve(ctx context.Context, data ActionData) (Resolved, error) {
	return Resolved{}, nil
}

// Command runs one of [Client.Commands], or any kaiak/* method by its name.
func (c *Client) Command(ctx context.Context, name string, args []json.RawMessage) (any, error) {
	return nil, Errorf(MethodNotFound, "there is no command %q", name)
}

// Commands lists the commands to advertise to workspace/executeCommand.
func (c *Client) Commands() []string { return nil }
