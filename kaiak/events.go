package kaiak

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"github.com/kaiak/kaiak/store"
)

// outgoing is an event before it has its number.
type outgoing struct {
	method        string
	requestID     string
	interactionID string
	proposalID    string
	content       any // the content struct of method
}

// commit writes a change of state together with the events that tell of it:
// both are there after a crash, or neither. The events are then sent to every
// client of the session, in the order of their sequence. change may be nil.
//
// Whatever ctx: a write that has begun is finished, so that cancelling a
// request cannot lose what it has already done.
func (s *session) commit(d store.Durability, change func(*store.Tx) error, events ...outgoing) error {
	s.out.Lock()
	defer s.out.Unlock()
	now := s.service.now()
	var rows []*store.Event
	for _, o := range events {
		for _, content := range fit(o) {
			row := &store.Event{RequestID: o.requestID, Method: o.method, At: now}
			row.Encode = func(sequence int64) ([]byte, error) {
				return json.Marshal(Event{
					SessionID: s.id, RequestID: o.requestID, MessageID: messageID(sequence), Timestamp: now,
					InteractionID: o.interactionID, ProposalID: o.proposalID, Content: content, Sequence: sequence,
				})
			}
			rows = append(rows, row)
		}
	}
	err := s.service.store.Update(context.WithoutCancel(s.service.ctx), d, func(tx *store.Tx) error {
		if change != nil {
			if err := change(tx); err != nil {
				return err
			}
		}
		return tx.Append(s.id, rows...)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	clients := make([]*Client, 0, len(s.clients))
	for c := range s.clients {
		clients = append(clients, c)
	}
	for _, r := range rows {
		s.last = r.Sequence
		s.updated = now
		if r.Method == StreamError {
			s.errors++
		}
	}
	s.mu.Unlock()
	for _, r := range rows {
		for _, c := range clients {
			c.front.Notify(r.Method, json.RawMessage(r.Data))
		}
	}
	return nil
}

// insist is commit for what has happened already and only has to be recorded:
// what keeps it from the disk may pass, so it is tried for a moment.
func (s *session) insist(d store.Durability, change func(*store.Tx) error, events ...outgoing) error {
	for wait := 20 * time.Millisecond; ; wait *= 4 {
		err := s.commit(d, change, events...)
		if err == nil || wait > time.Second {
			return err
		}
		select {
		case <-time.After(wait):
		case <-s.service.ctx.Done():
			return err
		}
	}
}

// messageID names an event within its session.
func messageID(sequence int64) string { return fmt.Sprintf("msg-%d", sequence) }

// emit is commit of events alone. A failure to store them is logged: there is
// nobody to tell.
func (s *session) emit(events ...outgoing) {
	if err := s.commit(store.Quick, nil, events...); err != nil {
		s.service.log.Error("events are lost", "session", s.id, "error", err)
	}
}

// maxContent is what a content may have so that the whole params stay within
// the limit of a stream message.
var maxContent = LimitStreamBytes.Value - 1024

// fit returns the contents to send for one event: one, or several where a text
// is too long for one message.
func fit(o outgoing) []json.RawMessage {
	raw := mustJSON(o.content)
	if len(raw) <= maxContent {
		return []json.RawMessage{raw}
	}
	switch c := o.content.(type) {
	case AIResponseContent:
		var out []json.RawMessage
		parts := split(c.Text, maxContent-1024)
		for i, text := range parts {
			part := c
			part.Text, part.Partial = text, c.Partial || i < len(parts)-1
			out = append(out, mustJSON(part))
		}
		return out
	case ThinkingContent:
		var out []json.RawMessage
		for _, text := range split(c.Text, maxContent-1024) {
			out = append(out, mustJSON(ThinkingContent{text}))
		}
		return out
	case FileModificationContent:
		return []json.RawMessage{mustJSON(shorten(c))}
	case SystemContent:
		c.Results, c.Data = nil, nil // request/status has them
		return []json.RawMessage{mustJSON(c)}
	case ToolCallContent:
		c.Parameters = mustJSON(map[string]any{"truncated": true})
		if c.Result != nil {
			r := *c.Result
			r.Data = split(r.Data, maxContent-4096)[0]
			c.Result = &r
		}
		return []json.RawMessage{mustJSON(c)}
	case ErrorContent:
		c.Details = split(c.Details, maxContent/2)[0]
		c.Message = split(c.Message, maxContent/4)[0]
		return []json.RawMessage{mustJSON(c)}
	case InteractionContent:
		c.Prompt = split(c.Prompt, maxContent/2)[0]
		return []json.RawMessage{mustJSON(c)}
	}
	return []json.RawMessage{raw}
}

// shorten leaves out of a file modification what makes it too long: both texts
// first, then the diff, then edits and hunks. proposal/get has everything.
func shorten(c FileModificationContent) FileModificationContent {
	c.Truncated = true
	c.OriginalContent, c.ProposedContent = nil, nil
	if len(mustJSON(c)) > maxContent {
		c.Diff = ""
	}
	if len(mustJSON(c)) > maxContent {
		c.Edits, c.Hunks = []TextEdit{}, []Hunk{}
	}
	if len(mustJSON(c)) > maxContent {
		c.IncidentIDs = []string{}
	}
	return c
}

// split cuts text into parts whose JSON has at most limit bytes each, never
// within a character.
func split(text string, limit int) []string {
	var parts []string
	start, size := 0, 2
	for i, r := range text {
		n := jsonSize(r)
		if size+n > limit && i > start {
			parts = append(parts, text[start:i])
			start, size = i, 2
		}
		size += n
	}
	return append(parts, text[start:])
}

// jsonSize is how many bytes a rune takes at most in encoding/json's output.
func jsonSize(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
		return 6
	}
	return utf8.RuneLen(r)
}

// mustJSON marshals a value of our own types, which always can be.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("%T cannot be written as JSON: %v", v, err))
	}
	return raw
}

func stack() string { return string(debug.Stack()) }
