package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An accumulator puts the deltas of one reply together. It resolves what servers
// contradict each other in: calls that all have index 0, no index, an index that
// starts at 1, a new id per fragment, a name per fragment, arguments as an
// object or as a string in a string.
type accumulator struct {
	known map[string]bool // names of the tools that were offered

	text, reasoning, refusal strings.Builder
	reasoningField           string
	extra                    map[string]json.RawMessage
	slots                    []*slot
	byIndex                  map[int]*slot
	current                  *slot
	size                     int
}

// A slot is one call in the making.
type slot struct {
	id, name string
	args     []byte
	object   bool // args is complete: it came as an object
	extra    map[string]json.RawMessage
}

func newAccumulator(known []string) *accumulator {
	a := &accumulator{known: map[string]bool{}, byIndex: map[int]*slot{}}
	for _, name := range known {
		a.known[name] = true
	}
	return a
}

// add takes in one delta. It fails when the reply has become too large.
func (a *accumulator) add(d delta) error {
	a.size += len(d.Content) + len(d.Reasoning) + len(d.Refusal)
	a.text.WriteString(d.Content)
	a.reasoning.WriteString(d.Reasoning)
	a.refusal.WriteString(d.Refusal)
	if d.ReasoningField != "" {
		a.reasoningField = d.ReasoningField
	}
	a.extra = mergeExtra(a.extra, d.Extra)
	for _, c := range d.Calls {
		a.size += len(c.Args) + len(c.Name)
		a.addCall(c)
	}
	if a.size > maxReply {
		return errTooLarge
	}
	return nil
}

// mergeExtra keeps the last value of each member; lists (reasoning_details) are
// joined, because they come in pieces.
func mergeExtra(into, from map[string]json.RawMessage) map[string]json.RawMessage {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if into == nil {
			into = map[string]json.RawMessage{}
		}
		old, had := into[name]
		switch {
		case isNull(from[name]) && had:
		case had && startsWith(old, '[') && startsWith(from[name], '['):
			all := append(asList(old), asList(from[name])...)
			into[name] = append([]byte("["), append(bytes.Join(rawBytes(all), []byte(",")), ']')...)
		default:
			into[name] = from[name]
		}
	}
	return into
}

func rawBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

func (a *accumulator) addCall(c callDelta) {
	s := a.find(c)
	if s == nil || a.startsNew(s, c) {
		s = &slot{}
		a.slots = append(a.slots, s)
		if c.HasIndex {
			a.byIndex[c.Index] = s
		}
	}
	a.current = s
	if s.id == "" {
		s.id = c.ID
	}
	a.addName(s, c.Name)
	if c.Object {
		s.args, s.object = append(s.args[:0], c.Args...), true
	} else if !s.object {
		s.args = append(s.args, c.Args...)
	}
	s.extra = mergeExtra(s.extra, c.Extra)
}

// find returns the slot that c belongs to unless startsNew says otherwise.
func (a *accumulator) find(c callDelta) *slot {
	if c.HasIndex {
		return a.byIndex[c.Index]
	}
	if c.ID != "" {
		for _, s := range a.slots {
			if s.id == c.ID {
				return s
			}
		}
	}
	if a.current == nil {
		return nil
	}
	if c.Name == "" || unfinished(a.current, c) {
		return a.current
	}
	return nil
}

// startsNew reports whether c begins another call in the place of s.
func (a *accumulator) startsNew(s *slot, c callDelta) bool {
	if c.Name == "" || unfinished(s, c) {
		return false // a continuation, whatever its id says
	}
	if c.ID != "" {
		return s.id != "" && c.ID != s.id
	}
	// The index is used again and there are no ids: complete arguments mean that
	// the call before is complete, unless this fragment has nothing of its own.
	return s.name != "" && s.complete() && (c.Args != "" || c.Name != s.name)
}

// unfinished reports whether s is a call of c's name whose arguments are still
// missing or cut: then c brings more of them. Otherwise a server that repeats
// the name and changes the id would make a call of every fragment that happens
// to be valid JSON.
func unfinished(s *slot, c callDelta) bool { return s.name == c.Name && !s.complete() }

func (s *slot) complete() bool { return json.Valid(s.args) }

// addName takes a name that comes once, with every fragment, or in pieces.
func (a *accumulator) addName(s *slot, name string) {
	switch {
	case name == "" || name == s.name:
	case s.name == "":
		s.name = name
	default:
		for known := range a.known {
			if strings.HasPrefix(known, s.name+name) {
				s.name += name
				return
			}
		}
	}
}

// calls returns the calls that were made, in order. reject, when not "", is why
// none of them may be executed.
func (a *accumulator) calls(reject string) []Call {
	var out []Call
	ids := map[string]bool{}
	for _, s := range a.slots {
		ids[s.id] = true
	}
	used := map[string]bool{}
	for _, s := range a.slots {
		if s.name == "" && len(bytes.TrimSpace(s.args)) == 0 {
			continue
		}
		c := Call{ID: s.id, Name: s.name, extra: s.extra}
		for n := len(out) + 1; c.ID == "" || used[c.ID]; n++ {
			if id := fmt.Sprintf("call_%d", n); !ids[id] && !used[id] {
				c.ID = id
			}
		}
		used[c.ID] = true
		c.Arguments, c.Invalid = arguments(s.args)
		switch {
		case reject != "":
			c.Invalid = reject
		case s.name == "":
			c.Invalid = "the call names no tool"
		case len(a.known) > 0 && !a.known[s.name]:
			c.Invalid = fmt.Sprintf("there is no tool %q; the tools are: %s", s.name, strings.Join(slices.Sorted(maps.Keys(a.known)), ", "))
		}
		out = append(out, c)
	}
	return out
}

// arguments returns a call's arguments as one JSON object, or why they are none.
func arguments(raw []byte) (args json.RawMessage, invalid string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), ""
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal(raw, &inner) == nil { // encoded twice
		raw = []byte(strings.TrimSpace(inner))
		if len(raw) == 0 {
			return json.RawMessage("{}"), ""
		}
	}
	if raw[0] == '{' && json.Valid(raw) {
		return slices.Clone(raw), ""
	}
	if dec := json.NewDecoder(bytes.NewReader(raw)); raw[0] == '{' && dec.Decode(new(json.RawMessage)) == nil {
		return json.RawMessage("{}"), "the arguments are several JSON values glued together; send one object per call"
	}
	return json.RawMessage("{}"), "the arguments are not a JSON object; send the call again with valid JSON"
}
