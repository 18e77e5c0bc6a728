package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	openai "github.com/sashabaranov/go-openai"
)

// A Message is go-openai's message with what its type cannot carry: members
// that a server wants to see again exactly as it sent them (Gemini's
// extra_content, OpenRouter's reasoning_details, DeepSeek's reasoning_content).
type Message struct {
	openai.ChatCompletionMessage

	reasoningField string                       // "": reasoning is not echoed
	extra          map[string]json.RawMessage   // of the message
	callExtra      []map[string]json.RawMessage // of each tool call
}

// System, User and Tool make the messages that a caller writes.
func System(text string) Message { return plain(openai.ChatMessageRoleSystem, text) }

// User makes a user message.
func User(text string) Message { return plain(openai.ChatMessageRoleUser, text) }

// Tool makes the answer to a call. There must be exactly one per call id.
func Tool(callID, text string) Message {
	m := plain(openai.ChatMessageRoleTool, text)
	m.ToolCallID = callID
	return m
}

func plain(role, text string) Message {
	return Message{ChatCompletionMessage: openai.ChatCompletionMessage{Role: role, Content: text}}
}

// noOutput stands for an empty text where servers refuse one.
const noOutput = "(no output)"

// write appends the message as JSON. reasoning says what to do with the
// reasoning of an assistant's turn.
func (m Message) write(w *objectWriter, reasoning reasoningEcho) {
	w.open()
	w.str("role", m.Role)
	switch {
	case m.Content == "" && len(m.ToolCalls) > 0:
		w.raw("content", []byte("null"))
	case m.Content == "":
		w.str("content", noOutput)
	default:
		w.str("content", m.Content)
	}
	if m.ToolCallID != "" {
		w.str("tool_call_id", m.ToolCallID)
	}
	if m.Role == openai.ChatMessageRoleAssistant {
		switch {
		case reasoning == echoNever:
		case m.reasoningField != "":
			w.str(m.reasoningField, m.ReasoningContent)
		case reasoning == echoAlways:
			w.str("reasoning_content", m.ReasoningContent)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.extra)) {
		w.raw(name, m.extra[name])
	}
	if len(m.ToolCalls) > 0 {
		w.key("tool_calls")
		w.b.WriteByte('[')
		for i, c := range m.ToolCalls {
			if i > 0 {
				w.b.WriteByte(',')
			}
			call := &objectWriter{b: w.b}
			call.open()
			call.str("id", c.ID)
			call.str("type", string(openai.ToolTypeFunction))
			call.key("function")
			f := &objectWriter{b: w.b}
			f.open()
			f.str("name", c.Function.Name)
			args := c.Function.Arguments
			if args == "" {
				args = "{}"
			}
			f.str("arguments", args)
			f.close()
			if i < len(m.callExtra) {
				for _, name := range slices.Sorted(maps.Keys(m.callExtra[i])) {
					call.raw(name, m.callExtra[i][name])
				}
			}
			call.close()
		}
		w.b.WriteByte(']')
	}
	w.close()
}

// An objectWriter writes one JSON object member by member, so that their order
// is ours and raw values keep their bytes: prompt caches and servers that sign
// what they send both compare bytes.
type objectWriter struct {
	b    *bytes.Buffer
	some bool
}

func (w *objectWriter) open()  { w.b.WriteByte('{') }
func (w *objectWriter) close() { w.b.WriteByte('}') }

func (w *objectWriter) key(name string) {
	if w.some {
		w.b.WriteByte(',')
	}
	w.some = true
	w.b.Write(quote(name))
	w.b.WriteByte(':')
}

func (w *objectWriter) str(name, value string) { w.key(name); w.b.Write(quote(value)) }

func (w *objectWriter) raw(name string, value []byte) { w.key(name); w.b.Write(value) }

// quote returns s as a JSON string without escaping <, > and &.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
