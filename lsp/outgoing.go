package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"
)

// notify queues a notification. One with a key replaces the unsent one that
// has the same key. It never blocks. Before the initialize answer is sent,
// notifications wait: LSP allows no others there.
func (c *conn) notify(key, method string, params any) {
	body, err := message(method, nil, params)
	if err != nil {
		c.log.Error("a notification cannot be encoded", "method", method, "error", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isOpen {
		c.held = append(c.held, heldFrame{key, body})
		return
	}
	c.sendLocked(key, body)
}

// sendLocked queues a frame; mu must be held so that held frames keep their place.
func (c *conn) sendLocked(key string, body []byte) {
	if err := c.out.send(key, body); errors.Is(err, errStalled) {
		c.end(err)
	}
}

// request sends a request to the client and waits for its answer. When ctx ends
// first, the client is told by $/cancelRequest.
func (c *conn) request(ctx context.Context, method string, params, result any) error {
	select {
	case <-c.opened:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ctx.Done():
		return errClosed
	}
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.lastID++
	id := json.RawMessage(strconv.FormatInt(c.lastID, 10))
	c.replies[string(id)] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.replies, string(id))
		c.mu.Unlock()
	}()
	body, err := message(method, id, params)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.sendLocked("", body)
	c.mu.Unlock()
	select {
	case r := <-answer:
		if r.err != nil {
			return fmt.Errorf("%s: %w", method, r.err)
		}
		if result == nil {
			return nil
		}
		return protocol.Unmarshal(r.result, result)
	case <-ctx.Done():
		c.notify("", "$/cancelRequest", map[string]json.RawMessage{"id": id})
		return context.Cause(ctx)
	case <-c.ctx.Done():
		return errClosed
	}
}

// message encodes a request, or a notification when id is nil.
func message(method string, id json.RawMessage, params any) ([]byte, error) {
	raw, err := encode(params)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(method)
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, len(raw)+len(name)+64)
	body = append(body, `{"jsonrpc":"2.0"`...)
	if id != nil {
		body = append(append(body, `,"id":`...), id...)
	}
	body = append(append(body, `,"method":`...), name...)
	if params != nil {
		body = append(append(body, `,"params":`...), raw...)
	}
	return append(body, '}'), nil
}

// encode returns v as JSON: go.lsp.dev's types by their own encoder, which
// knows the unions, everything else by encoding/json.
func encode(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return json.RawMessage(nullID), nil
	case json.RawMessage:
		return v, nil
	}
	if isProtocol(v) {
		return protocol.Marshal(v)
	}
	return json.Marshal(v)
}

// isProtocol reports whether v is made of go.lsp.dev's types: one of them, a
// pointer to one or a slice of them. Only its own encoder knows its unions.
func isProtocol(v any) bool {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath(), "go.lsp.dev/protocol")
}
