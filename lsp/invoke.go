package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/creachadair/jrpc2"

	"github.com/kaiak/kaiak/kaiak"
)

// assigner gives jrpc2 one handler for every method.
type assigner struct{ *conn }

func (a assigner) Assign(_ context.Context, _ string) jrpc2.Handler { return a.invoke }

// invoke carries out one message and turns what comes of it into what the wire
// says about it.
func (c *conn) invoke(_ context.Context, req *jrpc2.Request) (result any, err error) {
	in := &inbound{method: req.Method(), call: !req.IsNotification()}
	if err := req.UnmarshalParams(&in.params); err != nil { // of a RawMessage: a copy
		return nil, wireError(kaiak.Errorf(kaiak.InvalidParams, "%s: %w", in.method, err))
	}
	ctx := c.ctx
	if !in.call {
		defer func() { <-c.notes }()
	} else {
		key := idKey(json.RawMessage(req.ID()))
		c.mu.Lock()
		p := c.inflight[key]
		c.mu.Unlock()
		if p == nil { // of a batch with one id twice, jrpc2 has refused both
			return nil, wireError(kaiak.Errorf(kaiak.InvalidRequest, "the id %s is in use", req.ID()))
		}
		defer p.cancel(nil)
		ctx, in.size = p.ctx, p.size
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
			return nil, cancelled(ctx)
		}
		if ctx.Err() != nil {
			return nil, cancelled(ctx)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a handler", "method", in.method, "panic", p, "stack", string(debug.Stack()))
			result = nil
			err = wireError(kaiak.Errorf(kaiak.InternalError, "%s failed unexpectedly; the server goes on, its log has the details", in.method))
		}
	}()
	value, err := c.handle(ctx, in)
	if !in.call {
		if err != nil {
			c.log.Warn("a notification was not carried out", "method", in.method, "error", err)
		}
		return nil, nil
	}
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) || errors.Is(err, errCancelledByClient) {
			return nil, cancelled(ctx)
		}
		return nil, wireError(err)
	}
	raw, err := encode(value)
	if err != nil {
		return nil, wireError(fmt.Errorf("%s: the result cannot be encoded: %w", in.method, err))
	}
	return raw, nil
}

// cancelled is the answer to a request whose context ended.
func cancelled(ctx context.Context) *jrpc2.Error {
	if errors.Is(context.Cause(ctx), errCancelledByClient) {
		return wireError(kaiak.Errorf(kaiak.RequestCancelled, "the request was cancelled"))
	}
	return wireError(kaiak.Errorf(kaiak.RequestCancelled, "the server is ending"))
}

// wireError turns any error into the one that the client gets: a [*kaiak.Error]
// with its number, kind and data, everything else as an internal error.
func wireError(err error) *jrpc2.Error {
	var e *kaiak.Error
	if !errors.As(err, &e) {
		e = &kaiak.Error{Code: kaiak.InternalError, Message: err.Error(), Err: err}
		switch {
		case errors.Is(err, context.Canceled):
			e.Code = kaiak.RequestCancelled
		case errors.Is(err, context.DeadlineExceeded):
			e.Code = kaiak.RequestFailed
		}
	}
	data, fail := json.Marshal(e.WireData())
	if fail != nil {
		data, _ = json.Marshal(map[string]any{"kind": e.Code.Kind, "retryable": e.Retryable})
	}
	text := e.Message
	if text == "" {
		text = e.Code.Title
	}
	return &jrpc2.Error{Code: jrpc2.Code(e.Code.Number), Message: text, Data: data}
}
