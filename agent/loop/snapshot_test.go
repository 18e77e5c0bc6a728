package loop

import (
	"testing"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
)

// window is a model whose context window is known.
type window struct {
	Model
	size int
}

func (w window) ContextWindow() int { return w.size }

func TestEveryTurnTellsItsContext(t *testing.T) {
	const size = 32_000
	look := step{Reply: reply{Text: "I look at it.", ToolCalls: []call{{Name: "symbol", Arguments: map[string]any{"name": "newAPI"}}}}}
	for _, tt := range []struct {
		name   string
		adjust func(*Options)
		size   int
	}{
		{"known window", func(o *Options) { o.Model = window{o.Model, size} }, size},
		{"unknown window", func(*Options) {}, Limits{}.withDefaults().Prompt*3/2 + Limits{}.withDefaults().Output},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, project, []step{look, proposes(good...)}, tt.adjust)
			r.fix()
			if len(r.listener.usage) != 2 {
				t.Fatalf("%d turns", len(r.listener.usage))
			}
			first, second := r.listener.usage[0].Context, r.listener.usage[1].Context
			if first == nil || second == nil {
				t.Fatal("a turn without its context")
			}
			// The prompt and a reply; then also the tool's answer and another reply.
			if roles := rolesOf(*first); roles != "system user assistant " {
				t.Errorf("first turn: %s", roles)
			}
			if roles := rolesOf(*second); roles != "system user assistant tool assistant " {
				t.Errorf("second turn: %s", roles)
			}
			for i, m := range first.Messages {
				if second.Messages[i] != m || m.Tokens <= 0 {
					t.Errorf("message %d is %+v, then %+v", i, m, second.Messages[i])
				}
			}
			if first.ToolTokens <= 0 || first.ToolTokens != second.ToolTokens {
				t.Errorf("the tools take %d tokens, then %d", first.ToolTokens, second.ToolTokens)
			}
			if second.ContextSize != tt.size || second.RemainingTokens != tt.size-second.TotalTokens || second.TotalTokens <= first.TotalTokens {
				t.Errorf("%+v after %+v", second, first)
			}
			// It agrees with what the client itself estimates for the request and the reply.
			u := r.listener.usage[0]
			reply := first.Messages[2].Tokens
			if want := first.TotalTokens - reply + llm.EstimateRequest(llm.Request{}); u.Estimated && u.Input != want {
				t.Errorf("the endpoint's estimate is %d, the snapshot's %d", u.Input, want)
			}
		})
	}
}

func rolesOf(s agent.ContextSnapshot) string {
	out := ""
	for _, m := range s.Messages {
		out += m.Role + " "
	}
	return out
}
