package client

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
)

// An Error is the server's refusal of a request.
type Error struct {
	Method    string // that was called
	Code      int
	Kind      string // data.kind: tells codes apart that LSP uses for something else
	Message   string
	Retryable bool // data.retryable
	Data      json.RawMessage
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%d)", e.Method, e.Message, e.Code) }

// ErrGone is what calls return when the connection has ended.
var ErrGone = errors.New("the server is gone")

// wireError turns an error of the connection into one of this package.
func (c *Client) wireError(method string, err error) error {
	if err == nil {
		return nil
	}
	var wire *jsonrpc2.Error
	if errors.As(err, &wire) {
		e := &Error{Method: method, Code: int(wire.Code), Message: wire.Message, Data: json.RawMessage(wire.Data)}
		var data struct {
			Kind      string `json:"kind"`
			Retryable bool   `json:"retryable"`
		}
		if json.Unmarshal(e.Data, &data) == nil {
			e.Kind, e.Retryable = data.Kind, data.Retryable
		}
		return e
	}
	return fmt.Errorf("%s: %w: %w", method, ErrGone, err)
}
