package kaiak

import (
	"context"

	"github.com/kaiak/kaiak/store"
)

// MemoryListParams are the params of memory.list.
type MemoryListParams struct {
	SessionID     string `json:"session_id,omitempty"`
	WorkspacePath string `json:"workspace_path,omitempty"`
	Scope         string `json:"scope,omitempty" jsonschema:"description=rule_hint\\, the one there is"`
	RuleID        string `json:"rule_id,omitempty" jsonschema:"description=Only hints for this rule"`
}

// MemoryListResult is the result of memory.list.
type MemoryListResult struct {
	Memories []Memory `json:"memories"` // by rule, the newest of each first
	Enabled  bool     `json:"enabled"`  // the setting model.hints: whether they are kept and shown to the model
}

func checkScope(scope string) error {
	if scope != "" && scope != HintScope {
		return Errorf(InvalidParams, "params.scope must be %q, not %q", HintScope, scope).With("member", "params.scope")
	}
	return nil
}

func memoryList(ctx context.Context, c *Client, p MemoryListParams) (MemoryListResult, error) {
	if err := checkScope(p.Scope); err != nil {
		return MemoryListResult{}, err
	}
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return MemoryListResult{}, err
	}
	defer done()
	all, err := c.service.store.Settings(ctx, sp.ws.RealDir())
	if err != nil {
		return MemoryListResult{}, err
	}
	result := MemoryListResult{Memories: []Memory{}, Enabled: sp.config().Model.Hints}
	for _, rule := range hintRules(all) {
		if p.RuleID != "" && p.RuleID != rule {
			continue
		}
		list, err := readHints(all, rule)
		if err != nil {
			return MemoryListResult{}, err
		}
		result.Memories = append(result.Memories, list...)
	}
	return result, nil
}

// MemoryDeleteParams are the params of memory.delete: one memory, or all of a rule.
type MemoryDeleteParams struct {
	SessionID     string `json:"session_id,omitempty"`
	WorkspacePath string `json:"workspace_path,omitempty"`
	Scope         string `json:"scope,omitempty" jsonschema:"description=rule_hint\\, the one there is"`
	MemoryID      string `json:"memory_id,omitempty" jsonschema:"description=The one to delete"`
	RuleID        string `json:"rule_id,omitempty" jsonschema:"description=Delete every hint for this rule"`
}

// MemoryDeleteResult is the result of memory.delete.
type MemoryDeleteResult struct {
	Deleted int `json:"deleted"`
}

func memoryDelete(ctx context.Context, c *Client, p MemoryDeleteParams) (MemoryDeleteResult, error) {
	if err := checkScope(p.Scope); err != nil {
		return MemoryDeleteResult{}, err
	}
	if (p.MemoryID == "") == (p.RuleID == "") {
		return MemoryDeleteResult{}, Errorf(InvalidParams, "give either params.memory_id or params.rule_id").With("member", "params.memory_id")
	}
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return MemoryDeleteResult{}, err
	}
	defer done()
	scope, n := sp.ws.RealDir(), 0
	err = c.service.store.Update(ctx, store.Durable, func(tx *store.Tx) error {
		var err error
		n, err = dropHints(tx, scope, func(m Memory) bool { return m.ID == p.MemoryID || p.RuleID != "" && m.RuleID == p.RuleID })
		if err != nil {
			return err
		}
		if n == 0 && p.MemoryID != "" {
			return Errorf(InvalidParams, "params.memory_id: there is no memory %q in this workspace; kaiak/memory/list names those that there are", p.MemoryID).With("member", "params.memory_id")
		}
		_, err = tx.Audit(c.service.now(), "memory_delete", mustJSON(map[string]any{"workspace": scope, "by": c.info.Name, "memory_id": p.MemoryID, "rule_id": p.RuleID, "deleted": n}))
		return err
	})
	return MemoryDeleteResult{n}, err
}
