package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// The actions of a permission rule.
const (
	PermissionAllow = "allow"
	PermissionAsk   = "ask"
	PermissionDeny  = "deny"
)

// A PermissionRule says what may be done without asking. Deny is stronger than
// ask, ask than allow, whatever their order; where no rule speaks, the user is
// asked. A file that runs on somebody's machine (build and CI files) is always
// asked about, also where a rule allows it.
type PermissionRule struct {
	Action  string `json:"action" jsonschema:"enum=allow,enum=ask,enum=deny"`
	Path    string `json:"path,omitempty" jsonschema:"description=Glob of the files it is about; absent: all"`
	Reason  string `json:"reason,omitempty"`
	Session string `json:"session_id,omitempty" jsonschema:"description=Only in this session"`
}

const permissionSetting = "permission.rules"

// A decision is what the permission rules say about a proposal.
type decision struct {
	action string
	reason string
}

// decide returns what the rules say about changes: the strictest answer for any
// of their files.
func (sp *space) decide(s *session, changes []workspace.Change) decision {
	rules, err := sp.permissionRules(sp.service.ctx)
	if err != nil {
		sp.service.log.Error("the permission rules cannot be read, so the user is asked", "error", err)
		return decision{PermissionAsk, "the permission rules cannot be read"}
	}
	strictest := decision{PermissionAllow, ""}
	for _, c := range changes {
		d := decideFile(rules, s.id, c.Path)
		if class := sp.ws.Classify(c.Path); d.action == PermissionAllow && class.Class == workspace.ConfigIsCode {
			d = decision{PermissionAsk, fmt.Sprintf("%s is %s, which is always asked about", c.Path, class.Why)}
		}
		if rank(d.action) > rank(strictest.action) || strictest.reason == "" {
			strictest = d
		}
	}
	return strictest
}

// asks says why a person has to decide about a proposal, whatever policy a
// client has: it changes a file that runs on somebody's machine by something
// else than the typed steps of rules. "" leaves it to the policy.
func (sp *space) asks(ctx context.Context, c agent.Candidate) string {
	for _, ch := range c.Changes {
		class := sp.ws.Classify(ch.Path)
		if class.Class != workspace.ConfigIsCode || sp.typed(ctx, c, ch.Path) {
			continue
		}
		return fmt.Sprintf("%s is a file that somebody has to look at (%s), and its change is not one of a known kind", ch.Path, class.Why)
	}
	return ""
}

// typed reports whether rules change the file, by typed steps only.
func (sp *space) typed(ctx context.Context, c agent.Candidate, path string) bool {
	if c.Engine != agent.Recipe {
		return false
	}
	set, err := sp.rules(ctx)
	if err != nil {
		return false
	}
	steps := map[string]bool{}
	for _, r := range set.Rules() {
		steps[r.ID] = r.Typed()
	}
	for _, h := range c.Hunks {
		if h.Path == path && !steps[h.RuleID] {
			return false
		}
	}
	return true
}

func decideFile(rules []PermissionRule, sessionID, path string) decision {
	best := decision{}
	for _, r := range rules {
		if r.Session != "" && r.Session != sessionID {
			continue
		}
		if r.Path != "" {
			if ok, err := doublestar.Match(r.Path, path); err != nil || !ok {
				continue
			}
		}
		if best.action == "" || rank(r.Action) > rank(best.action) {
			best = decision{r.Action, first(r.Reason, fmt.Sprintf("%s %s", r.Action, first(r.Path, "every file")))}
		}
	}
	if best.action == "" {
		return decision{PermissionAsk, "no permission rule speaks of it"}
	}
	return best
}

func rank(action string) int {
	switch action {
	case PermissionDeny:
		return 2
	case PermissionAsk:
		return 1
	}
	return 0
}

func (sp *space) permissionRules(ctx context.Context) ([]PermissionRule, error) {
	raw, err := sp.service.store.Setting(ctx, sp.ws.RealDir(), permissionSetting)
	if errors.Is(err, store.ErrNotFound) {
		return []PermissionRule{}, nil
	}
	if err != nil {
		return nil, err
	}
	var rules []PermissionRule
	err = json.Unmarshal(raw, &rules)
	return orEmpty(rules), err
}

// PermissionRulesResult is the result of permission.rule.list and update.
type PermissionRulesResult struct {
	Rules   []PermissionRule `json:"rules"`
	Default string           `json:"default"` // where no rule speaks
}

func permissionRuleList(ctx context.Context, c *Client, p WorkspaceParams) (PermissionRulesResult, error) {
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return PermissionRulesResult{}, err
	}
	defer done()
	rules, err := sp.permissionRules(ctx)
	return PermissionRulesResult{rules, PermissionAsk}, err
}

// PermissionRuleUpdateParams are the params of permission.rule.update.
type PermissionRuleUpdateParams struct {
	SessionID     string           `json:"session_id,omitempty"`
	WorkspacePath string           `json:"workspace_path,omitempty"`
	Rules         []PermissionRule `json:"rules"`
}

func permissionRuleUpdate(ctx context.Context, c *Client, p PermissionRuleUpdateParams) (PermissionRulesResult, error) {
	for i, r := range p.Rules {
		at := fmt.Sprintf("params.rules[%d]", i)
		if r.Action != PermissionAllow && r.Action != PermissionAsk && r.Action != PermissionDeny {
			return PermissionRulesResult{}, Errorf(InvalidParams, "%s.action must be allow, ask or deny, not %q", at, r.Action).With("member", at+".action")
		}
		if !doublestar.ValidatePattern(r.Path) {
			return PermissionRulesResult{}, Errorf(InvalidParams, "%s.path %q is not a valid glob", at, r.Path).With("member", at+".path")
		}
	}
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return PermissionRulesResult{}, err
	}
	defer done()
	scope := sp.ws.RealDir()
	err = c.service.store.Update(ctx, store.Durable, func(tx *store.Tx) error {
		if err := tx.SetSetting(scope, permissionSetting, mustJSON(orEmpty(p.Rules))); err != nil {
			return err
		}
		_, err := tx.Audit(c.service.now(), "permission_rules", mustJSON(map[string]any{"workspace": scope, "by": c.info.Name, "rules": orEmpty(p.Rules)}))
		return err
	})
	return PermissionRulesResult{orEmpty(p.Rules), PermissionAsk}, err
}
