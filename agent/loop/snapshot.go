package loop

import (
	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
)

// snapshot counts what the model's context holds after a turn: what was sent
// and the reply. The endpoint tells sums only, so the parts are counted here.
// Where it does not say how large its window is, the size is what the engine
// allows itself.
func (c *conversation) snapshot(sent llm.Request, reply llm.Message) *agent.ContextSnapshot {
	size := c.engine.opts.Model.ContextWindow()
	if size == 0 {
		size = c.engine.opts.Limits.Prompt*3/2 + c.engine.opts.Limits.Output
	}
	empty := llm.EstimateRequest(llm.Request{})
	tools := 0
	if len(sent.Tools) > 0 {
		tools = llm.EstimateRequest(llm.Request{Tools: sent.Tools}) - empty
	}
	system := 0
	var run []agent.MessageStats
	for _, m := range append(sent.Messages[:len(sent.Messages):len(sent.Messages)], reply) {
		n := llm.EstimateRequest(llm.Request{Messages: []llm.Message{m}}) - empty
		if m.Role == "system" {
			system += n
			continue
		}
		run = append(run, agent.MessageStats{Role: m.Role, Tokens: n})
	}
	s := agent.NewContextSnapshot(size, system, tools, run)
	return &s
}
