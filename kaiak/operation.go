package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// An Operation is one row of the operation table, from which the wire's
// methods, the capability list, the JSON schemas and docs/protocol.md are
// derived.
type Operation struct {
	ID      string       // "session.create"
	Method  string       // "kaiak/session/create"
	Aliases []string     // further methods with the same handler
	Summary string       // one sentence
	Params  reflect.Type // a struct with the contract's member names; nil where Supported is false
	Result  reflect.Type
	Since   string // "004" for the frozen contract, "1" for what is added in protocol version 1
	Errors  []Code // what it answers beside the codes that every operation may answer

	Supported bool
	Reason    string // why not, where Supported is false

	Lacks map[string]string // parts of a supported operation that are not there, each with the reason
}

// operation is a row with its handler.
type operation struct {
	Operation
	call func(ctx context.Context, c *Client, params json.RawMessage) (any, error)
}

// on makes the row of a supported operation. Its params are decoded and checked
// by their type before h sees them.
func on[P, R any](id, since, summary string, h func(context.Context, *Client, P) (R, error), errs ...Code) operation {
	return operation{
		Operation: Operation{ID: id, Method: methodOf(id), Summary: summary, Since: since, Supported: true, Errors: errs,
			Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R]()},
		call: func(ctx context.Context, c *Client, raw json.RawMessage) (any, error) {
			p, err := decodeParams[P](raw)
			if err != nil {
				return nil, err
			}
			return h(ctx, c, p)
		},
	}
}

// alias makes a row for a name of a later wire, which is a thin projection of
// operations that are there.
func alias[P, R any](method, summary string, h func(context.Context, *Client, P) (R, error)) operation {
	o := on(strings.ReplaceAll(strings.TrimPrefix(method, "kaiak/"), "/", "."), "alias", summary, h)
	o.Method = method
	return o
}

// off makes the row of an operation that the naming scheme has and this version
// does not.
func off(reason string, ids ...string) []operation {
	var rows []operation
	for _, id := range ids {
		rows = append(rows, operation{
			Operation: Operation{ID: id, Method: methodOf(id), Since: "1", Reason: reason},
			call: func(context.Context, *Client, json.RawMessage) (any, error) {
				return nil, notSupported(methodOf(id), id, reason)
			},
		})
	}
	return rows
}

// lacking says that a part of the operation is not there, and why. The features
// list it as "<id>.<part>".
func (o operation) lacking(part, reason string) operation {
	lacks := maps.Clone(o.Lacks)
	if lacks == nil {
		lacks = map[string]string{}
	}
	lacks[part] = reason
	o.Lacks = lacks
	return o
}

// notSupported is what an operation, or a part of one, answers that is not there.
func notSupported(what, id, reason string) *Error {
	e := Errorf(RequestFailed, "%s is not supported: %s", what, reason).With("operation", id)
	e.Kind = "NOT_SUPPORTED"
	return e
}

// methodOf projects an operation's id onto the wire.
func methodOf(id string) string { return "kaiak/" + strings.ReplaceAll(id, ".", "/") }

// A table is the operations with an index by method.
type table struct {
	rows     []operation
	byMethod map[string]*operation
}

func newTable(groups ...[]operation) *table {
	t := &table{rows: slices.Concat(groups...), byMethod: map[string]*operation{}}
	for i := range t.rows {
		for _, method := range append([]string{t.rows[i].Method}, t.rows[i].Aliases...) {
			if t.byMethod[method] != nil {
				panic("two operations have the method " + method)
			}
			t.byMethod[method] = &t.rows[i]
		}
	}
	return t
}

// Operations returns the operation table in the order of the documentation.
func (s *Service) Operations() []Operation { return Operations() }

// Operations returns the operation table in the order of the documentation.
func Operations() []Operation {
	list := make([]Operation, len(operations.rows))
	for i, row := range operations.rows {
		list[i] = row.Operation
	}
	return list
}

// ProtocolVersion is the version of what is added to the frozen contract.
const ProtocolVersion = 1

// Capabilities returns capabilities.experimental.kaiak: protocol_version,
// methods, notifications, limits and features.
func (s *Service) Capabilities() map[string]any { return Capabilities() }

// A Feature says whether an operation, or a part of one, can be used, and why not.
type Feature struct {
	Supported bool   `json:"supported"`
	Reason    string `json:"reason,omitempty"`
}

// Capabilities is derived from the tables of operations, notifications and limits.
func Capabilities() map[string]any {
	methods, notifications := []string{}, []string{}
	limits, features := map[string]int{}, map[string]Feature{}
	for _, o := range operations.rows {
		if o.Supported {
			methods = append(methods, o.Method)
			methods = append(methods, o.Aliases...)
		}
		features[o.ID] = Feature{o.Supported, o.Reason}
		for part, reason := range o.Lacks {
			features[o.ID+"."+part] = Feature{Reason: reason}
		}
	}
	for _, n := range Notifications {
		notifications = append(notifications, n.Method)
	}
	for _, l := range Limits {
		limits[l.Name] = l.Value
	}
	return map[string]any{"protocol_version": ProtocolVersion, "methods": methods, "notifications": notifications, "limits": limits, "features": features}
}

// Call runs one operation by the name of its method ("kaiak/session/create" or
// an alias). The result marshals to the contract's JSON. Every error is an
// [*Error]. Calls may run concurrently; ctx cancels this one.
func (c *Client) Call(ctx context.Context, method string, params json.RawMessage) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.service.log.Error("an operation failed unexpectedly", "method", method, "panic", r, "stack", stack())
			result, err = nil, Errorf(InternalError, "%s failed unexpectedly; the server goes on, its log has the details", method)
		}
	}()
	o := c.service.table.byMethod[method]
	if o == nil {
		return nil, unknownMethod(method)
	}
	if n := requestSize(ctx, params); n > LimitRequestBytes.Value {
		return nil, LimitRequestBytes.exceeded("the request has %d bytes, at most %d are allowed: split it", n, LimitRequestBytes.Value)
	}
	result, err = o.call(ctx, c, params)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return result, nil
}

func unknownMethod(method string) *Error {
	e := Errorf(MethodNotFound, "there is no method %q", method)
	if rest, ok := strings.CutPrefix(method, "kaiak/v"); ok {
		version, _, _ := strings.Cut(rest, "/")
		if version != "" && strings.Trim(version, "0123456789") == "" {
			return Errorf(MethodNotFound, "this server does not speak version %s of the contract", version).With("supported_versions", []int{ProtocolVersion})
		}
	}
	return e
}

// wireError makes every error an [*Error].
func wireError(ctx context.Context, err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return &Error{Code: RequestCancelled, Message: "the request was cancelled", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: ToolTimeout, Message: err.Error(), Err: err, Retryable: true}
	}
	return &Error{Code: RequestFailed, Message: err.Error(), Err: err}
}
