package modelserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
)

// A Script is what a [Server] does.
type Script struct {
	// SessionHeader names the request header by which parallel sessions are told
	// apart; the steps of one session are served in order, independently of the
	// others. "" means one session.
	SessionHeader string `json:"session_header,omitempty"`

	// Unordered serves the first step that is left and whose Expect matches,
	// instead of insisting on the order: for clients that work in parallel.
	Unordered bool `json:"unordered,omitempty"`

	Steps []Step `json:"steps"`
}

// A Step is one exchange.
type Step struct {
	Name    string `json:"name,omitempty"`    // for messages
	Session string `json:"session,omitempty"` // value of Script.SessionHeader
	Times   int    `json:"times,omitempty"`   // 0: once; -1: any number of times, also none
	Expect  Expect `json:"expect"`
	Reply   Reply  `json:"reply"`

	// Respond, when set, makes the reply from the request. Only for Go callers.
	Respond func(Received) Reply `json:"-"`
}

// An Expect is what a request must look like. The zero Expect accepts all.
type Expect struct {
	Method  string            `json:"method,omitempty"`
	Path    string            `json:"path,omitempty"`    // e.g. "/v1/chat/completions"
	Headers map[string]string `json:"headers,omitempty"` // "" means that the header must be absent

	// Body maps a path into the JSON body ("messages.0.role", "messages.-1.content")
	// to the value that must be there, or to one of {"$absent": true},
	// {"$contains": "text"}, {"$len": n}.
	Body map[string]any `json:"body,omitempty"`

	BodySHA256 string `json:"body_sha256,omitempty"` // hex, of the exact bytes

	// Capture maps a name to a regular expression with one group. It is searched
	// in the text of all messages, joined by newlines; what the group matched
	// replaces ${name} in the reply. No match fails the step.
	Capture map[string]string `json:"capture,omitempty"`
}

// A Reply is one response. Either Frames say it byte by byte, or Text and
// ToolCalls say it in the usual dialect.
type Reply struct {
	Status  int               `json:"status,omitempty"`  // 0: 200
	Headers map[string]string `json:"headers,omitempty"` // Content-Type defaults to text/event-stream
	Frames  []Frame           `json:"frames,omitempty"`

	// Split says how the bytes of each frame reach the socket: "" in one write,
	// "bytes" one by one, "at:N" in two at byte N, "random:SEED" in pieces.
	Split string `json:"split,omitempty"`
	Gzip  bool   `json:"gzip,omitempty"`

	Text      string     `json:"text,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Usage     *Usage     `json:"usage,omitempty"` // for Text and ToolCalls; nil: none is sent
}

// A ToolCall is one call of a shorthand reply.
type ToolCall struct {
	ID        string `json:"id,omitempty"` // "": call_1, call_2, …
	Name      string `json:"name"`
	Arguments any    `json:"arguments"` // an object, or a string that is sent as it is
}

// Usage is the token count of a shorthand reply.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// A Frame is one thing the server does while it replies. Exactly one member is set,
// besides Repeat.
type Frame struct {
	Raw    string `json:"raw,omitempty"`    // these bytes
	JSON   any    `json:"json,omitempty"`   // data: {…} and a blank line
	Done   bool   `json:"done,omitempty"`   // data: [DONE] and a blank line
	Repeat int    `json:"repeat,omitempty"` // write Raw or JSON so many times
	Wait   string `json:"wait,omitempty"`   // stall until Release(name) or until the client hangs up
	Cut    bool   `json:"cut,omitempty"`    // hang up without ending the body
	Reset  bool   `json:"reset,omitempty"`  // reset the TCP connection
}

// ParseScript reads a script from YAML or JSON. An unknown member is an error.
func ParseScript(text []byte) (Script, error) {
	var s Script
	js, err := yaml.YAMLToJSON(text)
	if err != nil {
		return s, fmt.Errorf("script: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(js))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("script: %w", err)
	}
	return s, nil
}

// ReadScript reads a script from a file.
func ReadScript(path string) (Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Script{}, err
	}
	s, err := ParseScript(text)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Chunk returns the chat.completion.chunk with one choice of the given delta;
// finish "" means that the choice is not finished.
func Chunk(delta any, finish string) map[string]any {
	var reason any
	if finish != "" {
		reason = finish
	}
	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
	}
}

// expand returns the frames of a reply, those of the shorthand made from it.
func (r Reply) expand() []Frame {
	if r.Text == "" && len(r.ToolCalls) == 0 {
		return r.Frames
	}
	frames := []Frame{{JSON: Chunk(map[string]any{"role": "assistant", "content": ""}, "")}}
	finish := "stop"
	if r.Text != "" {
		frames = append(frames, Frame{JSON: Chunk(map[string]any{"content": r.Text}, "")})
	}
	for i, call := range r.ToolCalls {
		finish = "tool_calls"
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", i+1)
		}
		args, ok := call.Arguments.(string)
		if !ok {
			js, err := json.Marshal(call.Arguments)
			if err != nil {
				panic(fmt.Sprintf("modelserver: arguments of %s: %v", call.Name, err)) // a Go caller's script
			}
			args = string(js)
		}
		frames = append(frames, Frame{JSON: Chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": id, "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": args},
		}}}, "")})
	}
	frames = append(frames, Frame{JSON: Chunk(map[string]any{}, finish)})
	if r.Usage != nil {
		frames = append(frames, Frame{JSON: map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": []any{}, "usage": r.Usage}})
	}
	return append(frames, Frame{Done: true})
}
