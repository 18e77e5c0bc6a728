package llm

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A chunk is one JSON value of the stream, or a whole completion, read as
// leniently as it can be without guessing.
type chunk struct {
	ID, Model, Fingerprint string
	Choices                []choice
	Usage                  *wireUsage
	Err                    *wireError
}

type choice struct {
	Finish string
	Delta  delta
}

// A delta is what a choice adds; message, in a completion that is not streamed,
// reads the same.
type delta struct {
	Content   string
	Reasoning string
	// ReasoningField is the name under which Reasoning came ("" for none), for
	// servers that want it echoed. It is set also when the text is empty.
	ReasoningField string
	Refusal        string
	Calls          []callDelta
	Extra          map[string]json.RawMessage // members nobody here knows; echoed as they are
}

type callDelta struct {
	Index    int
	HasIndex bool
	ID, Name string
	Args     string
	Object   bool // Args is a whole object, not a fragment
	Extra    map[string]json.RawMessage
}

// wireUsage is usage as servers send it.
type wireUsage struct {
	Prompt, Completion, Total int
	Cached, Reasoning         int
	CacheWrite                int
}

// wireError is an error object in any of its shapes.
type wireError struct {
	Message, Code, Type, Param string
	PromptTokens, ContextSize  int
}

type object = map[string]json.RawMessage

// asObject decodes an object; ok is false for anything else.
func asObject(raw json.RawMessage) (object, bool) {
	var o object
	if !startsWith(raw, '{') || json.Unmarshal(raw, &o) != nil {
		return nil, false
	}
	return o, true
}

func asList(raw json.RawMessage) []json.RawMessage {
	var l []json.RawMessage
	if !startsWith(raw, '[') || json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}

func startsWith(raw json.RawMessage, c byte) bool {
	t := bytes.TrimLeft(raw, " \t\r\n")
	return len(t) > 0 && t[0] == c
}

func isNull(raw json.RawMessage) bool {
	t := bytes.TrimSpace(raw)
	return len(t) == 0 || string(t) == "null"
}

// asString returns a string's value, a number's or boolean's literal, "" for
// null and for anything else.
func asString(raw json.RawMessage) string {
	if isNull(raw) || startsWith(raw, '{') || startsWith(raw, '[') {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// asInt returns an integer that is written as a number or as a string.
func asInt(raw json.RawMessage) (int, bool) {
	var f json.Number
	s := asString(raw)
	if s == "" || json.Unmarshal([]byte(s), &f) != nil {
		return 0, false
	}
	n, err := f.Int64()
	if err != nil {
		x, err := f.Float64()
		if err != nil || x != x || x > 1<<53 || x < -1<<53 {
			return 0, false
		}
		n = int64(x)
	}
	return int(n), true
}

// text returns content that is a string, null, or a list of parts; thinking is
// the text of parts that say they are thinking.
func text(raw json.RawMessage) (content, thinking string) {
	if !startsWith(raw, '[') {
		return asString(raw), ""
	}
	var c, t strings.Builder
	for _, part := range asList(raw) {
		o, ok := asObject(part)
		if !ok {
			c.WriteString(asString(part))
			continue
		}
		switch asString(o["type"]) {
		case "thinking", "reasoning":
			for _, field := range []string{"thinking", "text"} {
				inner, _ := text(o[field])
				t.WriteString(inner)
			}
		default:
			c.WriteString(asString(o["text"]))
		}
	}
	return c.String(), t.String()
}

// decodeChunk reads one JSON value of the stream. ok is false when it is not an
// object.
func decodeChunk(raw []byte) (chunk, bool) {
	o, ok := asObject(raw)
	if !ok {
		return chunk{}, false
	}
	c := chunk{ID: asString(o["id"]), Model: asString(o["model"]), Fingerprint: asString(o["system_fingerprint"])}
	c.Err = decodeError(o)
	c.Usage = decodeUsage(o["usage"])
	if groq, ok := asObject(o["x_groq"]); ok && c.Usage == nil {
		c.Usage = decodeUsage(groq["usage"])
	}
	for _, raw := range asList(o["choices"]) {
		ch, ok := asObject(raw)
		if !ok {
			continue
		}
		if i, ok := asInt(ch["index"]); ok && i != 0 {
			continue
		}
		body := ch["delta"]
		if isNull(body) {
			body = ch["message"]
		}
		out := choice{Finish: asString(ch["finish_reason"])}
		if d, ok := asObject(body); ok {
			out.Delta = decodeDelta(d)
		} else if t := asString(ch["text"]); t != "" {
			out.Delta.Content = t
		}
		c.Choices = append(c.Choices, out)
	}
	return c, true
}

// reasoningFields are the names under which servers send reasoning, in the
// order in which they are tried.
var reasoningFields = []string{"reasoning_content", "reasoning"}

func decodeDelta(d object) delta {
	var out delta
	var thinking string
	out.Content, thinking = text(d["content"])
	for _, name := range reasoningFields {
		raw, present := d[name]
		if !present {
			continue
		}
		s, _ := text(raw)
		if out.ReasoningField == "" || s != "" && out.Reasoning == "" {
			out.ReasoningField, out.Reasoning = name, s
		}
		if isNull(raw) && out.Reasoning == "" {
			out.ReasoningField = ""
		}
	}
	out.Reasoning += thinking
	out.Refusal = asString(d["refusal"])
	for _, raw := range asList(d["tool_calls"]) {
		if o, ok := asObject(raw); ok {
			out.Calls = append(out.Calls, decodeCall(o))
		}
	}
	if startsWith(d["function_call"], '{') { // the dialect before tool calls
		out.Calls = append(out.Calls, decodeCall(object{"index": []byte("0"), "function": d["function_call"]}))
	}
	for name, raw := range d {
		switch name {
		case "role", "content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning", "name":
		default:
			if out.Extra == nil {
				out.Extra = map[string]json.RawMessage{}
			}
			out.Extra[name] = raw
		}
	}
	return out
}

func decodeCall(o object) callDelta {
	c := callDelta{ID: asString(o["id"])}
	c.Index, c.HasIndex = asInt(o["index"])
	f, ok := asObject(o["function"])
	if !ok {
		f = o // name and arguments directly in the call
	}
	c.Name = asString(f["name"])
	args := f["arguments"]
	if startsWith(args, '{') {
		var b bytes.Buffer
		if json.Compact(&b, args) == nil {
			c.Args, c.Object = b.String(), true
		}
	} else {
		c.Args = asString(args)
	}
	for name, raw := range o {
		switch name {
		case "id", "index", "function", "type", "name", "arguments":
		default:
			if c.Extra == nil {
				c.Extra = map[string]json.RawMessage{}
			}
			c.Extra[name] = raw
		}
	}
	return c
}

func decodeUsage(raw json.RawMessage) *wireUsage {
	o, ok := asObject(raw)
	if !ok {
		return nil
	}
	get := func(o object, name string) int {
		n, _ := asInt(o[name])
		return max(n, 0)
	}
	u := &wireUsage{Prompt: get(o, "prompt_tokens"), Completion: get(o, "completion_tokens"), Total: get(o, "total_tokens")}
	if d, ok := asObject(o["prompt_tokens_details"]); ok {
		u.Cached = get(d, "cached_tokens")
		u.CacheWrite = get(d, "cache_write_tokens")
	} else {
		u.Cached = get(o, "prompt_cache_hit_tokens") // DeepSeek
	}
	if d, ok := asObject(o["completion_tokens_details"]); ok {
		u.Reasoning = get(d, "reasoning_tokens")
	}
	if u.Prompt == 0 && u.Completion == 0 && u.Total == 0 {
		return nil
	}
	return u
}

// decodeError finds an error in an object: {"error": {…}}, {"error": "…"},
// {"object": "error", "message": …}, {"detail": …}. nil means that there is none.
func decodeError(o object) *wireError {
	raw, present := o["error"]
	switch {
	case present && isNull(raw):
	case present && startsWith(raw, '{'):
		inner, ok := asObject(raw)
		if !ok {
			return nil
		}
		return errorFrom(inner)
	case present:
		if s := asString(raw); s != "" && s != "false" {
			e := errorFrom(o)
			if s != "true" {
				e.Message = s
			}
			return e
		}
	case asString(o["object"]) == "error", asString(o["type"]) == "error":
		return errorFrom(o)
	}
	if _, ok := o["choices"]; ok {
		return nil
	}
	if detail, ok := o["detail"]; ok && !isNull(detail) { // FastAPI
		e := &wireError{Message: asString(detail)}
		if e.Message == "" {
			e.Message = string(detail)
		}
		return e
	}
	return nil
}

func errorFrom(o object) *wireError {
	e := &wireError{Code: asString(o["code"]), Type: asString(o["type"]), Param: asString(o["param"])}
	e.Message = asString(o["message"])
	if list := asList(o["message"]); e.Message == "" && len(list) > 0 {
		var parts []string
		for _, raw := range list {
			if s := asString(raw); s != "" {
				parts = append(parts, s)
			} else {
				parts = append(parts, string(raw))
			}
		}
		e.Message = strings.Join(parts, "; ")
	}
	e.PromptTokens, _ = asInt(o["n_prompt_tokens"])
	e.ContextSize, _ = asInt(o["n_ctx"])
	return e
}

// splitValues cuts data into its JSON values: servers that forget the blank line
// between events make several of them one.
func splitValues(data []byte) (values [][]byte, done, ok bool) {
	for {
		data = bytes.TrimSpace(data)
		if len(data) == 0 {
			return values, false, true
		}
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			return values, true, true
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return values, false, false
		}
		values = append(values, raw)
		data = data[dec.InputOffset():]
	}
}
