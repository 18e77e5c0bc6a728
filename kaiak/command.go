package kaiak

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/store"
)

// The commands of the editor front. Each takes one [ActionData].
const (
	CommandFix     = "kaiak.fix"     // fix the incidents, in as many files as it takes
	CommandFixRule = "kaiak.fixRule" // fix every incident of a rule in the workspace
	CommandModel   = "kaiak.fixWithModel"
	CommandApply   = "kaiak.apply"
	CommandReject  = "kaiak.reject"
	CommandRevert  = "kaiak.revert"
	CommandRefine  = "kaiak.refine"
)

// commands is the table of them.
var commands = map[string]func(c *Client, ctx context.Context, data ActionData) (any, error){
	CommandFix:     (*Client).commandFix,
	CommandFixRule: (*Client).commandFixRule,
	CommandModel: func(c *Client, ctx context.Context, data ActionData) (any, error) {
		return c.fixIncidents(ctx, data, []string{string(agent.Model)}, approvalAsk)
	},
	CommandApply: func(c *Client, ctx context.Context, data ActionData) (any, error) {
		return proposalApply(ctx, c, ProposalApplyParams{ProposalID: data.ProposalID})
	},
	CommandReject: func(c *Client, ctx context.Context, data ActionData) (any, error) {
		return proposalReject(ctx, c, ProposalRejectParams{ProposalID: data.ProposalID})
	},
	CommandRevert: func(c *Client, ctx context.Context, data ActionData) (any, error) {
		return proposalRevert(ctx, c, ProposalParams{data.ProposalID})
	},
	CommandRefine: func(c *Client, ctx context.Context, data ActionData) (any, error) {
		return proposalRefine(ctx, c, ProposalRefineParams{ProposalID: data.ProposalID, Comment: data.Comment, Alternate: data.Alternate})
	},
}

// Command runs one of [Client.Commands], or any kaiak/* method by its name.
func (c *Client) Command(ctx context.Context, name string, args []json.RawMessage) (any, error) {
	var arg json.RawMessage
	if len(args) > 0 {
		arg = args[0]
	}
	if c.service.table.byMethod[name] != nil {
		return c.Call(ctx, name, arg)
	}
	run := commands[name]
	if run == nil {
		return nil, Errorf(MethodNotFound, "there is no command %q", name)
	}
	data, err := decodeParams[ActionData](arg)
	if err != nil {
		return nil, err
	}
	result, err := run(c, ctx, data)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return result, nil
}

// Commands lists the commands to advertise to workspace/executeCommand.
func (c *Client) Commands() []string {
	list := sortedKeys(commands)
	for _, row := range c.service.table.rows {
		if row.Supported {
			list = append(list, row.Method)
		}
	}
	return list
}

// commandFix fixes incidents whose fix changes several files. Choosing it was
// the approval, as it is with a quick fix that carries its edit.
func (c *Client) commandFix(ctx context.Context, data ActionData) (any, error) {
	r, err := c.startFix(ctx, data, []string{string(agent.Recipe)}, approvalDefer)
	if err != nil {
		return nil, err
	}
	if err := c.finishFix(ctx, r, false); err != nil {
		return nil, err
	}
	return requestStatus(ctx, c, RequestParams{r.id})
}

// fixIncidents starts a request for an action's incidents and answers at once.
func (c *Client) fixIncidents(ctx context.Context, data ActionData, engines []string, approval string) (any, error) {
	r, err := c.startFix(ctx, data, engines, approval)
	if err != nil {
		return nil, err
	}
	return FixGenerateResult{r.id, r.session.id, RequestProcessing, len(r.data.Incidents), r.created}, nil
}

func (c *Client) startFix(ctx context.Context, data ActionData, engines []string, approval string) (*request, error) {
	d, err := c.document(data.URI)
	if err != nil {
		return nil, err
	}
	if d.space == nil {
		return nil, Errorf(InvalidParams, "the document %s is outside of every workspace folder", data.URI).With("uri", data.URI)
	}
	found, err := c.Incidents(ctx, data.URI)
	if err != nil {
		return nil, err
	}
	set, err := d.space.rules(ctx)
	if err != nil {
		return nil, err
	}
	list := d.chosen(set, found, data)
	if len(list) == 0 {
		return nil, Errorf(ContentModified, "the text has changed, and the incident is not there any more").With("uri", data.URI)
	}
	s, err := c.editorSession(ctx, d.space)
	if err != nil {
		return nil, err
	}
	return s.startRequest(ctx, c, requestData{Incidents: list, Engines: engines, Approval: approval, Alternate: data.Alternate})
}

// commandFixRule looks for a rule's incidents in the whole workspace and makes
// proposals for them. A client that knows kaiak/* reviews them; any other is
// asked once for all.
func (c *Client) commandFixRule(ctx context.Context, data ActionData) (any, error) {
	sp, _ := c.folderOf(data.URI)
	if sp == nil {
		folders := c.folderSpaces()
		if len(folders) != 1 {
			return nil, Errorf(InvalidParams, "arguments[0].uri does not name a file of a workspace folder").With("member", "uri")
		}
		sp = folders[0]
	}
	if data.RuleID == "" {
		return nil, Errorf(InvalidParams, "arguments[0].rule_id is missing").With("member", "rule_id")
	}
	set, err := sp.rules(ctx)
	if err != nil {
		return nil, err
	}
	var list []incidents.Incident
	err = sp.scan(ctx, set, nil, func(f rules.FileResult) {
		for _, in := range sp.index.Replace(f.Path, ownSource, sp.adjust(f.Matches)) {
			if in.RuleID == data.RuleID {
				list = append(list, in)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	reported, err := sp.index.Query(incidents.Filter{RuleIDs: []string{data.RuleID}}, "", 0)
	if err != nil {
		return nil, err
	}
	for _, in := range reported.Incidents {
		if in.Source != ownSource {
			list = append(list, in)
		}
	}
	s, err := c.editorSession(ctx, sp)
	if err != nil {
		return nil, err
	}
	var started []FixGenerateResult
	for part := range slices.Chunk(list, LimitIncidents.Value) {
		r, err := s.startRequest(ctx, c, requestData{Incidents: part, Engines: []string{string(agent.Recipe)}, Approval: approvalDefer})
		if err != nil {
			return nil, err
		}
		started = append(started, FixGenerateResult{r.id, s.id, RequestProcessing, len(part), r.created})
		if !c.info.Interactive {
			if err := c.finishFix(ctx, r, true); err != nil {
				return nil, err
			}
		}
	}
	return map[string]any{"requests": orEmpty(started), "incident_count": len(list)}, nil
}

// finishFix waits for a request and applies its proposals, after one question
// where ask says so.
func (c *Client) finishFix(ctx context.Context, r *request, ask bool) error {
	select {
	case <-r.done:
	case <-ctx.Done():
		r.cancel(errCancelled)
		<-r.done
		return ctx.Err()
	}
	list, err := c.service.proposals(ctx, store.Filter{RequestID: r.id, States: []string{ProposalPending}})
	if err != nil || len(list) == 0 {
		return err
	}
	if ask {
		c.asking.Lock()
		action, ok := c.front.Ask(ctx, "Apply "+countOf(len(list), "change")+" that the rules propose?", []string{"Apply all", "Leave them pending"})
		c.asking.Unlock()
		if !ok || action != "Apply all" {
			return nil
		}
	}
	var failed []string
	for _, p := range list {
		if _, err := c.service.apply(ctx, p.id, selection{}, c.info.Name); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = append(failed, err.Error())
		}
	}
	if len(failed) > 0 {
		return Errorf(RequestFailed, "%d of %d changes were not applied: %s", len(failed), len(list), strings.Join(failed, "; "))
	}
	return nil
}
