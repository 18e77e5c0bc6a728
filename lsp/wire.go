package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/creachadair/jrpc2"

	"github.com/kaiak/kaiak/kaiak"
)

// wire is the conn as jrpc2's channel. Only messages that can be dispatched
// pass Recv; it answers the others itself, keeps replies to our own requests
// for those who wait for them, and carries out $/cancelRequest.
type wire conn

// Recv returns the next message to dispatch.
func (w *wire) Recv() ([]byte, error) {
	c := (*conn)(w)
	for {
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			if next.note {
				select {
				case c.notes <- struct{}{}:
				case <-c.ctx.Done():
					return nil, io.EOF
				}
			}
			return next.body, nil
		}
		select {
		case <-c.ctx.Done():
			return nil, io.EOF
		case frame, ok := <-c.frames:
			if !ok {
				c.end(io.EOF)
				return nil, io.EOF
			}
			if frame.bad == nil {
				frame.bad = checkBody(frame.body)
			}
			if frame.bad != nil {
				c.refuse(frame.bad)
			} else {
				c.admit(frame.body)
			}
		}
	}
}

// Send queues what jrpc2 answers, and opens the connection to our own messages
// once the initialize answer is on its way.
func (w *wire) Send(body []byte) error {
	c := (*conn)(w)
	c.mu.Lock()
	defer c.mu.Unlock()
	body = bytes.Clone(body)
	for _, id := range answeredIDs(body) {
		c.answeredLocked(idKey(id))
		// A request that the end of the connection met before its handler.
		if bytes.HasPrefix(body, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,`, id, jrpc2.Cancelled)) {
			body = errorMessage(id, cancelled(c.ctx))
		}
	}
	c.sendLocked("", body)
	answers := func(prefix []byte) bool { return bytes.HasPrefix(body, prefix) }
	if !c.isOpen && slices.ContainsFunc(c.opening, answers) {
		c.isOpen = true
		for _, f := range c.held {
			c.sendLocked(f.key, f.body)
		}
		c.held = nil
		close(c.opened)
	}
	return nil // a broken stream is the reader's to notice
}

// answeredIDs returns the ids that a message of jrpc2 answers. An id is free
// again when its answer is sent, not when its handler has returned: in between
// jrpc2 would refuse it in words of its own.
func answeredIDs(body []byte) []json.RawMessage {
	type answer struct {
		ID json.RawMessage `json:"id"`
	}
	if rest, ok := bytes.CutPrefix(body, []byte(`{"jsonrpc":"2.0","id":`)); ok {
		var one answer // the id alone is read: the result may be large
		if json.NewDecoder(bytes.NewReader(rest)).Decode(&one.ID) == nil {
			return []json.RawMessage{one.ID}
		}
		return nil
	}
	var batch []answer
	if json.Unmarshal(body, &batch) != nil {
		return nil
	}
	ids := make([]json.RawMessage, len(batch))
	for i := range batch {
		ids[i] = batch[i].ID
	}
	return ids
}

// Close is called by jrpc2 when it stops; [conn.serve] closes the stream.
func (w *wire) Close() error { return nil }

// admit queues what is to be dispatched of one frame.
func (c *conn) admit(body []byte) {
	env := parseEnvelope(body)
	if env.batch {
		c.admitBatch(body)
		return
	}
	if dispatch, bad := c.admitOne(env, body, len(body)); bad != nil {
		c.refuse(bad)
	} else if dispatch {
		c.queue = append(c.queue, delivery{known(env, body), !env.request()})
	}
}

// admitBatch queues the messages of a batch. LSP has no batches, but JSON-RPC
// has. Its notifications go first, one by one, because jrpc2 would run those of
// a batch at once; its requests stay together and are answered together.
func (c *conn) admitBatch(body []byte) {
	var parts []json.RawMessage
	if err := json.Unmarshal(body, &parts); err != nil || len(parts) == 0 || len(parts) > maxBatch {
		c.refuse(&fault{code: kaiak.InvalidRequest, id: json.RawMessage(nullID),
			reason: fmt.Sprintf("a batch has 1 to %d messages", maxBatch)})
		return
	}
	var calls [][]byte
	for _, part := range parts {
		env := parseEnvelope(part)
		if env.name() == "initialize" {
			c.refuse(&fault{code: kaiak.InvalidRequest, id: env.echo(), reason: "initialize comes alone, not in a batch"})
			continue
		}
		dispatch, bad := c.admitOne(env, part, 0)
		switch {
		case bad != nil:
			c.refuse(bad)
		case dispatch && env.request():
			calls = append(calls, known(env, part))
		case dispatch:
			c.queue = append(c.queue, delivery{known(env, part), true})
		}
	}
	if len(calls) > 0 {
		joined := append([]byte{'['}, bytes.Join(calls, []byte{','})...)
		c.queue = append(c.queue, delivery{append(joined, ']'), false})
	}
}

// admitOne takes up one message. dispatch is whether jrpc2 is to have it.
func (c *conn) admitOne(env *envelope, body []byte, size int) (dispatch bool, bad *fault) {
	if bad := env.check(); bad != nil {
		return false, bad
	}
	if env.reply() {
		c.resolve(env, body)
		return false, nil
	}
	name := env.name()
	if name == "$/cancelRequest" {
		c.cancelRequest(body)
		return false, nil
	}
	if !env.request() {
		return true, nil
	}
	id := env.echo()
	c.mu.Lock()
	defer c.mu.Unlock()
	key := idKey(id)
	switch {
	case c.inflight[key] != nil:
		return false, &fault{code: kaiak.InvalidRequest, id: id, reason: fmt.Sprintf("the id %s belongs to a request that is not answered yet", id)}
	case len(c.inflight) >= maxPending:
		return false, &fault{code: kaiak.ResourceExhausted, id: id, reason: fmt.Sprintf("%d requests are waiting; wait for some of them", maxPending)}
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.inflight[key] = &pending{ctx: ctx, cancel: cancel, size: size}
	if name == "initialize" && !c.isOpen {
		c.opening = append(c.opening, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":`, id))
	}
	return true, nil
}

// known returns the message with the members that JSON-RPC defines: others are
// none of our business, and jrpc2 would refuse them.
func known(env *envelope, body []byte) []byte {
	if !env.unknown {
		return body
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return body
	}
	for name := range all {
		switch name {
		case "jsonrpc", "id", "method", "params":
		default:
			delete(all, name)
		}
	}
	clean, err := json.Marshal(all)
	if err != nil {
		return body
	}
	return clean
}

// resolve hands a reply to whoever waits for it. A reply that nobody waits for
// (any more) is dropped.
func (c *conn) resolve(env *envelope, body []byte) {
	var msg struct {
		Result json.RawMessage `json:"result"`
		Error  *clientError    `json:"error"`
	}
	r := reply{}
	if err := json.Unmarshal(body, &msg); err != nil {
		r.err = fmt.Errorf("the client's reply cannot be read: %w", err)
	} else if msg.Error != nil {
		r.err = msg.Error
	}
	r.result = msg.Result
	if r.result == nil {
		r.result = json.RawMessage(nullID)
	}
	c.mu.Lock()
	waiting := c.replies[string(env.echo())]
	delete(c.replies, string(env.echo()))
	c.mu.Unlock()
	if waiting == nil {
		c.log.Debug("a reply that nobody waits for", "id", string(env.echo()))
		return
	}
	waiting <- r // has room for the one reply
}

// A clientError is an error with which the client answered our request.
type clientError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *clientError) Error() string {
	return fmt.Sprintf("the client answered %d: %s", e.Code, e.Message)
}

// cancelRequest ends the context of the request that a $/cancelRequest names.
func (c *conn) cancelRequest(body []byte) {
	var msg struct {
		Params struct {
			ID json.RawMessage `json:"id"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &msg); err != nil || msg.Params.ID == nil {
		c.log.Debug("a $/cancelRequest names no request")
		return
	}
	c.mu.Lock()
	p := c.inflight[idKey(msg.Params.ID)]
	c.mu.Unlock()
	if p != nil {
		p.cancel(errCancelledByClient)
	}
}

// refuse answers what cannot be dispatched.
func (c *conn) refuse(f *fault) {
	if f.silent {
		c.log.Warn("a message was dropped", "reason", f.reason)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendLocked("", errorMessage(f.id, wireError(f.wire())))
}

// errorMessage is the answer to a request that failed.
func errorMessage(id json.RawMessage, e *jrpc2.Error) []byte {
	text, err := json.Marshal(e)
	if err != nil { // its data is JSON already, and nothing else in it can fail
		text = fmt.Appendf(nil, `{"code":%d,"message":"internal error"}`, jrpc2.InternalError)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, text)
}
