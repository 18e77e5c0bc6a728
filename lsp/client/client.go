package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// Options say what the client tells the server about itself, and who hears the
// server. The zero value is a client that offers nothing and hears nothing.
type Options struct {
	Name    string // of the client, for clientInfo; "" is "kaiak-client"
	Version string

	Root           string // absolute path of the one workspace folder; "" for none
	Capabilities   any    // the client's capabilities; nil is {}
	Initialization any    // initializationOptions; nil for none

	// OnNotification hears every notification, one at a time, in the order in
	// which they came, on a goroutine of its own: it may make calls. The
	// notification is its own to keep.
	OnNotification func(Notification)

	// OnRequest answers the server's requests (workspace/applyEdit, …). It runs
	// on a goroutine per request. nil, and ok == false, leave the request to
	// the client, which answers what a client that offers nothing must answer.
	OnRequest func(ctx context.Context, method string, params json.RawMessage) (result any, ok bool, err error)
}

// A Notification is a message of the server that wants no answer.
type Notification struct {
	Method string
	Params json.RawMessage
}

// A Client is one connection to a server. Its methods are safe for concurrent use.
type Client struct {
	conn     jsonrpc2.Conn
	opts     Options
	queue    *queue
	heard    chan struct{} // closed when the last notification was handled
	child    *child        // nil: not ours
	shutdown sync.Once
	ended    error // of shutdown

	// Server is the result of initialize, as the server gave it.
	Server json.RawMessage
}

// New performs the handshake on a connection to a server and returns the
// client. It takes the connection over, also when it fails. ctx is the
// handshake's.
func New(ctx context.Context, stream io.ReadWriteCloser, opts Options) (*Client, error) {
	return newClient(ctx, stream, opts, nil)
}

// Dial connects to the unix socket at path.
func Dial(ctx context.Context, path string, opts Options) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("no server answers on %s: %w", path, err)
	}
	return New(ctx, conn, opts)
}

func newClient(ctx context.Context, stream io.ReadWriteCloser, opts Options, ch *child) (*Client, error) {
	c := &Client{opts: opts, queue: newQueue(), heard: make(chan struct{}), child: ch}
	c.conn = jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(stream))
	// The connection outlives the handshake's context; Close ends it.
	c.conn.Go(context.WithoutCancel(ctx), c.handle)
	go func() {
		defer close(c.heard)
		for n := range c.queue.all {
			if opts.OnNotification != nil {
				opts.OnNotification(n)
			}
		}
	}()
	go func() {
		<-c.conn.Done()
		c.queue.close()
		if ch != nil { // a child whose output broke off in the middle of a frame
			_, _ = io.Copy(io.Discard, stream)
		}
	}()
	if err := c.handshake(ctx); err != nil {
		_ = c.Close() // the handshake's error says more
		return nil, fmt.Errorf("the server did not initialize: %w", err)
	}
	return c, nil
}

func (c *Client) handshake(ctx context.Context) error {
	type folder struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	params := struct {
		ProcessID             int               `json:"processId"`
		ClientInfo            map[string]string `json:"clientInfo"`
		RootURI               *string           `json:"rootUri"`
		Capabilities          any               `json:"capabilities"`
		InitializationOptions any               `json:"initializationOptions,omitempty"`
		WorkspaceFolders      []folder          `json:"workspaceFolders"`
	}{
		ProcessID:             os.Getpid(),
		ClientInfo:            map[string]string{"name": "kaiak-client"},
		Capabilities:          c.opts.Capabilities,
		InitializationOptions: c.opts.Initialization,
	}
	if c.opts.Name != "" {
		params.ClientInfo["name"] = c.opts.Name
	}
	if c.opts.Version != "" {
		params.ClientInfo["version"] = c.opts.Version
	}
	if params.Capabilities == nil {
		params.Capabilities = struct{}{}
	}
	if c.opts.Root != "" {
		uri := FileURI(c.opts.Root)
		params.RootURI = &uri
		params.WorkspaceFolders = []folder{{uri, filepath.Base(c.opts.Root)}}
	}
	if err := c.Call(ctx, "initialize", params, &c.Server); err != nil {
		return err
	}
	return c.Notify(ctx, "initialized", struct{}{})
}

// FileURI returns the file URI of an absolute path of this system.
func FileURI(path string) string {
	p := filepath.ToSlash(path)
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// Call sends a request and decodes its result into result, which may be nil.
// When ctx ends first, the server is asked to cancel and ctx's error is
// returned. The server's own refusal is an [*Error].
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	sent, err := encode(method, params)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	id, err := c.conn.Call(ctx, method, sent, &raw)
	if err != nil {
		if number, ok := id.Number(); ok && ctx.Err() != nil {
			// The connection may be gone as well; there is nobody else to tell.
			_ = c.Notify(context.WithoutCancel(ctx), "$/cancelRequest", map[string]int64{"id": number})
			return context.Cause(ctx)
		}
		return c.wireError(method, err)
	}
	if result == nil || len(raw) == 0 {
		return nil
	}
	if into, ok := result.(*json.RawMessage); ok {
		*into = raw
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("the server's result of %s cannot be read: %w", method, err)
	}
	return nil
}

// Call is [Client.Call] with a result of type R.
func Call[R any](ctx context.Context, c *Client, method string, params any) (R, error) {
	var result R
	err := c.Call(ctx, method, params, &result)
	return result, err
}

// Notify sends a notification.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	sent, err := encode(method, params)
	if err != nil {
		return err
	}
	return c.wireError(method, c.conn.Notify(ctx, method, sent))
}

// encode writes params by encoding/json: the connection's own codec is another
// version of it, with other rules for empty values.
func encode(method string, params any) (any, error) {
	if params == nil {
		return nil, nil
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("the params of %s cannot be written: %w", method, err)
	}
	return json.RawMessage(raw), nil
}

// handle runs on the connection's read loop.
func (c *Client) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	// Both are borrowed from the frame, the string too.
	method, params := strings.Clone(req.Method()), append(json.RawMessage(nil), req.Params()...)
	if !req.IsCall() {
		c.queue.put(Notification{method, params})
		return nil, nil
	}
	if c.opts.OnRequest != nil {
		jsonrpc2.Async(ctx) // its handler may wait for anything
		result, ok, err := c.opts.OnRequest(ctx, method, params)
		if err != nil {
			return nil, err
		}
		if ok {
			return encode(method, result)
		}
	}
	return c.answer(method, params)
}

// answer is what a client says that has nothing to say.
func (c *Client) answer(method string, params json.RawMessage) (any, error) {
	switch method {
	case "workspace/configuration":
		var p struct {
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%v", err)
		}
		return make([]any, len(p.Items)), nil // a null each: nothing is set
	case "workspace/workspaceFolders", "window/showMessageRequest",
		"client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create",
		"workspace/diagnostic/refresh", "workspace/codeLens/refresh":
		return nil, nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "this client has no documents open"}, nil
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "this client does not know %s", method)
}

// Shutdown ends the session as the protocol asks: shutdown, exit, and, for a
// server that [Start] started, its end. When ctx ends first the connection is
// closed and the child is killed. Notifications that came before are still
// handled. Calling it again returns the same.
func (c *Client) Shutdown(ctx context.Context) error {
	c.shutdown.Do(func() {
		err := c.Call(ctx, "shutdown", nil, nil)
		if err == nil {
			err = c.Notify(ctx, "exit", nil)
		}
		if err == nil {
			select { // the server closes its end
			case <-c.conn.Done():
			case <-ctx.Done():
			}
		}
		c.ended = errors.Join(err, c.end(ctx))
	})
	return c.ended
}

// Close ends the connection without a word, and kills the child.
func (c *Client) Close() error {
	c.shutdown.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		c.ended = c.end(ctx)
	})
	return c.ended
}

// end closes the connection, hears the last notifications and waits for the
// child until ctx ends.
func (c *Client) end(ctx context.Context) error {
	var err error
	if c.child != nil {
		err = c.child.wait(ctx)
	}
	if cerr := c.conn.Close(); err == nil && c.child == nil {
		err = cerr
	}
	<-c.heard
	return err
}

// Done is closed when the connection has ended, whoever ended it.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }
