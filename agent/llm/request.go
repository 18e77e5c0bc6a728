package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// A Request is one turn.
type Request struct {
	Messages []Message
	Tools    []openai.Tool
	// ToolChoice is "auto", "none", "required" or "" for the endpoint's default.
	ToolChoice string
	MaxOutput  int     // tokens; 0: the profile's
	Temp       float64 // 0 is sent as 0
	Seed       *int

	// Shrink, when set, is called once when the request does not fit the context
	// window; it returns messages that fit, or false.
	Shrink func(contextWindow int) ([]Message, bool)
}

// toolNames returns the names of the tools offered.
func (r Request) toolNames() []string {
	var names []string
	for _, t := range r.Tools {
		if t.Function != nil {
			names = append(names, t.Function.Name)
		}
	}
	return names
}

type reasoningEcho int

const (
	echoReceived reasoningEcho = iota // as the server sent it
	echoAlways                        // also when it sent none (it asked for it)
	echoNever                         // it refuses to see it again
)

// A rejection is a request parameter that some endpoints refuse. Rejectable is
// the one table of them.
type rejection struct {
	param string
	words []string // also found by these in the message
}

var rejectable = []rejection{
	{"stream_options", []string{"stream_options", "include_usage"}},
	{"temperature", []string{"temperature"}},
	{"seed", []string{"'seed'", "`seed`", "\"seed\"", "seed"}},
	{"parallel_tool_calls", []string{"parallel_tool_calls"}},
	{"max_completion_tokens", []string{"max_completion_tokens"}},
	{"max_tokens", []string{"max_tokens"}},
	{"tool_choice", []string{"tool_choice"}},
	{"reasoning_content", []string{"reasoning_content"}},
}

// memory is what an endpoint has taught about its parameters.
type memory struct {
	mu        sync.Mutex // guards what follows
	rejected  map[string]bool
	reasoning reasoningEcho
	context   int // tokens, 0 unknown
}

// learn draws the consequence of an error and reports whether the request is
// worth sending again. body is the request that failed.
func (m *memory) learn(e *Error, body []byte) bool {
	if e.Status != 400 && e.Status != 422 {
		return false
	}
	msg := strings.ToLower(e.Message)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range rejectable {
		named := e.Param == r.param || slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(msg, w) })
		if !named {
			continue
		}
		if r.param == "reasoning_content" {
			next := echoAlways
			if bytes.Contains(body, []byte(`"reasoning_content":`)) {
				next = echoNever
			}
			if m.reasoning != echoReceived {
				return false // both ways were tried
			}
			m.reasoning = next
			return true
		}
		if m.rejected[r.param] || !bytes.Contains(body, []byte(`"`+r.param+`":`)) {
			continue
		}
		if m.rejected == nil {
			m.rejected = map[string]bool{}
		}
		m.rejected[r.param] = true
		return true
	}
	return false
}

func (m *memory) state() (rejected map[string]bool, reasoning reasoningEcho) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rejected = map[string]bool{}
	for k := range m.rejected {
		rejected[k] = true
	}
	return rejected, m.reasoning
}

// checkHistory makes sure that every call is answered by exactly one tool
// message, in order, right after the turn that made it: endpoints refuse
// anything else, some of them with a message nobody understands.
func checkHistory(messages []Message) error {
	var open []string
	for i, m := range messages {
		if m.Role == openai.ChatMessageRoleTool {
			if len(open) == 0 || open[0] != m.ToolCallID {
				return fmt.Errorf("message %d answers the call %q, which is not the next unanswered one", i, m.ToolCallID)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d comes before the call %q is answered", i, open[0])
		}
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the call %q is not answered", open[0])
	}
	return nil
}

// encode writes the body of a request: tools and system before what changes, so
// that the endpoint's prefix cache holds. Its bytes depend on the request, the
// model and what the endpoint rejects, and on nothing else.
func (c *Client) encode(r Request, model string) ([]byte, error) {
	if err := checkHistory(r.Messages); err != nil {
		return nil, err
	}
	rejected, reasoning := c.memory.state()
	w := &objectWriter{b: &bytes.Buffer{}}
	w.open()
	w.str("model", model)
	if len(r.Tools) > 0 {
		js, err := json.Marshal(r.Tools)
		if err != nil {
			return nil, fmt.Errorf("tool schemas: %w", err)
		}
		w.raw("tools", js)
		if r.ToolChoice != "" && !rejected["tool_choice"] {
			w.str("tool_choice", r.ToolChoice)
		}
		if !rejected["parallel_tool_calls"] {
			w.raw("parallel_tool_calls", []byte("true"))
		}
	}
	w.key("messages")
	w.b.WriteByte('[')
	for i, m := range r.Messages {
		if i > 0 {
			w.b.WriteByte(',')
		}
		m.write(&objectWriter{b: w.b}, reasoning)
	}
	w.b.WriteByte(']')
	if !rejected["temperature"] {
		// go-openai omits a zero, which Ollama takes for 1.
		w.raw("temperature", strconv.AppendFloat(nil, r.Temp, 'g', -1, 32))
	}
	if r.Seed != nil && !rejected["seed"] {
		w.raw("seed", strconv.AppendInt(nil, int64(*r.Seed), 10))
	}
	limit := []byte(strconv.Itoa(c.maxOutput(r)))
	switch { // max_tokens first: it is the one that every server knows
	case !rejected["max_tokens"]:
		w.raw("max_tokens", limit)
	case !rejected["max_completion_tokens"]:
		w.raw("max_completion_tokens", limit)
	}
	w.raw("stream", []byte("true"))
	if !rejected["stream_options"] {
		w.raw("stream_options", []byte(`{"include_usage":true}`))
	}
	w.close()
	return w.b.Bytes(), nil
}
