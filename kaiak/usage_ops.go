package kaiak

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/kaiak/kaiak/agent"
)

// SessionContextParams are the params of session.context.
type SessionContextParams struct {
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id,omitempty" jsonschema:"description=Only the turns of this request"`
}

// SessionContextResult is the result of session.context. The snapshot is of the
// last turn; without one it is all zeros beside the system message that every
// context begins with.
type SessionContextResult struct {
	agent.ContextSnapshot
	Estimated bool         `json:"estimated" jsonschema:"description=The snapshot's tokens were counted here\\, because endpoints tell sums only"`
	SessionID string       `json:"session_id"`
	Turns     int          `json:"turns"`
	Models    []string     `json:"models"`
	Usage     UsageTotals  `json:"usage"`
	LastTurn  *agent.Usage `json:"last_turn,omitempty"` // its input_tokens are what the model had before it
}

// UsageTotals are the sums over turns.
type UsageTotals struct {
	Input     int      `json:"input_tokens"`
	Output    int      `json:"output_tokens"`
	CacheRead int      `json:"cache_read_tokens"`
	Reasoning int      `json:"reasoning_tokens"`
	Estimated bool     `json:"estimated"` // some of it was counted here, because the endpoint did not say
	CostUSD   *float64 `json:"cost_usd"`  // null where the price of any turn is not known
}

func (t *UsageTotals) add(u agent.Usage) {
	t.Input += u.Input
	t.Output += u.Output
	t.CacheRead += u.CacheRead
	t.Reasoning += u.Reasoning
	t.Estimated = t.Estimated || u.Estimated
}

// usagePage is how many events are read at a time: a session may have many.
const usagePage = 1000

// sessionContext adds up what the session's stream says about its turns, and
// gives the snapshot of the last.
func sessionContext(ctx context.Context, c *Client, p SessionContextParams) (SessionContextResult, error) {
	if _, err := c.service.session(ctx, p.SessionID, true); err != nil {
		return SessionContextResult{}, err
	}
	result := SessionContextResult{ContextSnapshot: agent.NewContextSnapshot(0, 0, 0, nil), SessionID: p.SessionID, Models: []string{}}
	cost, known := 0.0, true
	for after := int64(0); ; {
		events, err := c.service.store.Events(ctx, p.SessionID, after, p.RequestID, usagePage)
		if err != nil {
			return SessionContextResult{}, err
		}
		for _, e := range events {
			after = e.Sequence
			u, ok := usageOf(e.Method, e.Data)
			if !ok {
				continue
			}
			if u.Context != nil {
				result.ContextSnapshot, result.Estimated = *u.Context, true
			}
			result.Turns++
			result.Usage.add(u)
			result.LastTurn = &u
			if !slices.Contains(result.Models, u.Model) {
				result.Models = append(result.Models, u.Model)
			}
			if u.CostUSD == nil {
				known = false
			} else {
				cost += *u.CostUSD
			}
		}
		if len(events) < usagePage {
			break
		}
	}
	if known {
		result.Usage.CostUSD = &cost
	}
	return result, nil
}

// usageOf reads the usage that an event tells of, if it does.
func usageOf(method string, data []byte) (agent.Usage, bool) {
	if method != StreamSystem {
		return agent.Usage{}, false
	}
	var e struct {
		Content struct {
			Event string `json:"event"`
			Data  struct {
				Usage   *agent.Usage           `json:"usage"`
				Context *agent.ContextSnapshot `json:"context"`
			} `json:"data"`
		} `json:"content"`
	}
	if json.Unmarshal(data, &e) != nil || e.Content.Event != "context_snapshot" || e.Content.Data.Usage == nil {
		return agent.Usage{}, false
	}
	u := *e.Content.Data.Usage
	u.Context = e.Content.Data.Context
	return u, true
}
