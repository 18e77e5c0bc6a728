package loop

import (
	"context"
	"encoding/json"

	"github.com/kaiak/kaiak/agent"
)

// silent is a listener for callers that have none: it hears nothing, and there
// is nobody to ask.
type silent struct{}

func (silent) Response(string, bool)                                               {}
func (silent) Thinking(string)                                                     {}
func (silent) ToolCall(string, string, string, json.RawMessage, *agent.ToolResult) {}
func (silent) Usage(agent.Usage)                                                   {}
func (silent) Error(string, string, string, bool)                                  {}
func (silent) Ask(context.Context, agent.Question) (answer string, answered bool)  { return "", false }
