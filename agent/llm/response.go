package llm

import (
	"encoding/json"

	openai "github.com/sashabaranov/go-openai"
)

// A Response is one complete turn of the model.
type Response struct {
	Text      string // without reasoning and without calls
	Reasoning string
	Calls     []Call
	Finish    string // as the endpoint said it, "" when it did not
	Usage     Usage
	Cost      *float64 // US dollars, nil when the price is not known
	Model     string   // as the endpoint named it, else as it was asked for
	Warnings  []Warning
	Attempts  int // how often the request was sent

	// Message is the turn as it is to be sent back with the next request.
	Message Message
}

// A Call is one tool call. Invalid, when not "", says why it must not be
// executed; the model is told so in the call's tool message.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage // one JSON object
	Invalid   string

	extra map[string]json.RawMessage
}

// A Warning is something odd about a turn that is nevertheless complete.
type Warning string

// The warnings.
const (
	WarnNoFinish         Warning = "no_finish_reason"      // the stream ended without saying why
	WarnSilentTruncation Warning = "context_cut_silently"  // the endpoint read much less than was sent
	WarnNoCalls          Warning = "tool_calls_without"    // finish_reason says calls, there are none
	WarnTextCalls        Warning = "tool_calls_in_text"    // calls were read from the text
	WarnShrunk           Warning = "context_shrunk_to_fit" // the request was made smaller to fit
)

// A Delta is one piece of a turn while it streams.
type Delta struct {
	Kind DeltaKind
	Text string // of DeltaText and DeltaReasoning; the reason of DeltaRestart
}

// DeltaKind says what a [Delta] adds.
type DeltaKind int

// The kinds of delta.
const (
	DeltaText DeltaKind = iota
	DeltaReasoning
	DeltaCall    // arguments of a tool call are arriving
	DeltaRestart // the request is sent again: forget what came so far
)

// message makes the assistant message that echoes the turn.
func (a *accumulator) message(text, reasoning string, calls []Call) Message {
	m := plain(openai.ChatMessageRoleAssistant, text)
	m.ReasoningContent = reasoning
	m.reasoningField = a.reasoningField
	m.extra = a.extra
	for _, c := range calls {
		m.ToolCalls = append(m.ToolCalls, openai.ToolCall{
			ID: c.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: echoName(c.Name), Arguments: string(c.Arguments)},
		})
		m.callExtra = append(m.callExtra, c.extra)
	}
	return m
}

// echoName keeps the history valid when a call named no tool.
func echoName(name string) string {
	if name == "" {
		return "unknown"
	}
	return name
}
