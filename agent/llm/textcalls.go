package llm

import (
	"encoding/json"
	"regexp"
	"strings"
)

// textCall finds calls that a server without a tool-call parser leaves in the
// text: <tool_call>{…}</tool_call>, a ```json TOOL_CALL or ```tool_call fence,
// or [TOOL_CALLS][…].
var textCall = regexp.MustCompile("(?s)<tool_call>\\s*(\\{.*?\\})\\s*(?:</tool_call>|$)|" +
	"```(?:json[ \\t]+TOOL_CALL|tool_call|TOOL_CALL)[ \\t]*\\n(.*?)\\n?```|" +
	"\\[TOOL_CALLS\\]\\s*(\\[.*\\])")

// textCalls takes the calls out of text and returns them with what is left.
func textCalls(text string) (calls []callDelta, rest string) {
	var b strings.Builder
	at := 0
	for _, m := range textCall.FindAllStringSubmatchIndex(text, -1) {
		var body string
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] >= 0 {
				body = text[m[g]:m[g+1]]
			}
		}
		found := parseTextCalls(body)
		if len(found) == 0 {
			continue
		}
		b.WriteString(text[at:m[0]])
		at = m[1]
		for _, c := range found {
			c.Index, c.HasIndex = len(calls), true
			calls = append(calls, c)
		}
	}
	b.WriteString(text[at:])
	return calls, strings.TrimSpace(b.String())
}

func parseTextCalls(body string) []callDelta {
	list := []json.RawMessage{json.RawMessage(body)}
	if startsWith(list[0], '[') {
		list = asList(list[0])
	}
	var out []callDelta
	for _, raw := range list {
		o, ok := asObject(raw)
		if !ok {
			return nil
		}
		if _, ok := o["arguments"]; !ok {
			o["arguments"] = o["parameters"]
		}
		c := decodeCall(o)
		if c.Name == "" {
			return nil
		}
		c.Extra = nil
		out = append(out, c)
	}
	return out
}
