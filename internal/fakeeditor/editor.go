package fakeeditor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/internal/wirecheck"
	"github.com/kaiak/kaiak/workspace"
)

// patience bounds every wait. It is no sleep: a wait ends with what it waits for.
const patience = 30 * time.Second

// Options says how an [Editor] is opened. Start is required.
type Options struct {
	// Start starts a server for one client; see [InProcess], [Child] and [Dial].
	Start Starter

	// Profile is the editor to be; the zero Profile is [VSCode].
	Profile Profile

	// Files is a txtar archive: the workspace.
	Files string

	// Dir is a workspace that is there already; Files is written into it. "" is
	// a new directory.
	Dir string

	// InitializationOptions is JSON; "" sends none.
	InitializationOptions string

	// Experimental is JSON of capabilities.experimental; "" sends none.
	Experimental string

	// Check tells the checker of more than LSP; its Metamodel is filled in from
	// the environment.
	Check wirecheck.Options

	// Answer answers window/showMessageRequest; nil dismisses.
	Answer func(message string, actions []string) string
}

// An Editor is one editor with one workspace and one server. Its methods are
// for the test's goroutine; what the server sends is taken up meanwhile.
type Editor struct {
	Dir string // the workspace

	t       testing.TB
	opts    Options
	conn    jsonrpc2.Conn
	check   *wirecheck.Checker
	server  Server
	started json.RawMessage // the initialize result
	enc     workspace.PositionEncoding
	pulls   bool

	pullMu  sync.Mutex // guards the fields below
	leaving bool       // asks for nothing more
	pulling map[uri.URI]context.CancelFunc
	pullers sync.WaitGroup

	mu      sync.Mutex // guards state and changed
	state   State
	changed chan struct{} // closed and renewed whenever state changes

	closed bool
}

// Open writes the workspace, starts a server and makes the handshake. The
// editor is closed with the test, which fails for everything that the checker
// found.
func Open(t testing.TB, opts Options) *Editor {
	t.Helper()
	if opts.Profile.Name == "" {
		opts.Profile = VSCode
	}
	e := &Editor{t: t, opts: opts, Dir: opts.Dir, changed: make(chan struct{}), pulling: map[uri.URI]context.CancelFunc{}}
	e.state.init()
	if e.Dir == "" {
		e.Dir = t.TempDir()
	}
	e.write(opts.Files)
	if e.opts.Check.Metamodel == nil {
		mm, err := wirecheck.LoadMetamodel()
		if err != nil {
			t.Fatal(err)
		}
		e.opts.Check.Metamodel = mm
	}
	e.check = wirecheck.New(e.opts.Check)
	server, err := opts.Start(t)
	if err != nil {
		t.Fatalf("starting the server: %v", err)
	}
	e.server = server
	e.conn = jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(newTap(server.Stream, e.check)), jsonrpc2.WithCodec(codec{}))
	e.conn.Go(context.Background(), e.handle)
	t.Cleanup(e.Close)
	e.handshake()
	return e
}

// codec writes params as go.lsp.dev writes its types, and everything else as
// encoding/json does.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case json.RawMessage:
		return v, nil
	case jsonrpc2.RawMessage:
		return v, nil
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error {
	switch v := v.(type) {
	case *json.RawMessage:
		*v = append((*v)[:0], data...)
		return nil
	case *jsonrpc2.RawMessage:
		*v = append((*v)[:0], data...)
		return nil
	}
	return protocol.Unmarshal(data, v)
}

// write writes a txtar archive into the workspace.
func (e *Editor) write(archive string) {
	e.t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		e.WriteFile(f.Name, string(f.Data))
	}
}

// WriteFile writes a file of the workspace behind the server's back.
func (e *Editor) WriteFile(name, text string) {
	e.t.Helper()
	file := filepath.Join(e.Dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		e.t.Fatal(err)
	}
}

// ReadFile returns a file of the workspace as it is on disk.
func (e *Editor) ReadFile(name string) string {
	e.t.Helper()
	data, err := os.ReadFile(filepath.Join(e.Dir, filepath.FromSlash(name)))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(data)
}

// URI returns the URI of a file of the workspace.
func (e *Editor) URI(name string) uri.URI {
	return uri.File(filepath.Join(e.Dir, filepath.FromSlash(name)))
}

func (e *Editor) handshake() {
	e.t.Helper()
	caps := map[string]any{}
	if err := json.Unmarshal([]byte(e.opts.Profile.Capabilities), &caps); err != nil {
		e.t.Fatalf("the capabilities of %s: %v", e.opts.Profile.Name, err)
	}
	if e.opts.Experimental != "" {
		caps["experimental"] = json.RawMessage(e.opts.Experimental)
	}
	params := map[string]any{
		"processId":        os.Getpid(),
		"clientInfo":       map[string]any{"name": e.opts.Profile.Name},
		"rootUri":          uri.File(e.Dir),
		"workspaceFolders": []any{map[string]any{"uri": uri.File(e.Dir), "name": filepath.Base(e.Dir)}},
		"capabilities":     caps,
	}
	if e.opts.InitializationOptions != "" {
		params["initializationOptions"] = json.RawMessage(e.opts.InitializationOptions)
	}
	raw, err := json.Marshal(params)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.Call("initialize", json.RawMessage(raw), &e.started); err != nil {
		e.t.Fatalf("initialize: %v", err)
	}
	var result struct {
		Capabilities struct {
			PositionEncoding   string          `json:"positionEncoding"`
			DiagnosticProvider json.RawMessage `json:"diagnosticProvider"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(e.started, &result); err != nil {
		e.t.Fatalf("initialize: %v", err)
	}
	if e.enc, err = encoding(result.Capabilities.PositionEncoding); err != nil {
		e.t.Fatal(err)
	}
	e.pulls = e.opts.Profile.Pulls && result.Capabilities.DiagnosticProvider != nil
	e.notify("initialized", json.RawMessage("{}"))
}

// Initialized returns the result of initialize.
func (e *Editor) Initialized() json.RawMessage { return e.started }

// Call sends a request and waits for its answer. result may be nil. An error of
// the server is a [*jsonrpc2.Error].
func (e *Editor) Call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return e.CallContext(ctx, method, params, result)
}

// CallContext is Call; when ctx ends first, the request is cancelled and its
// answer awaited.
func (e *Editor) CallContext(ctx context.Context, method string, params, result any) error {
	var raw json.RawMessage
	_, err := e.conn.Call(ctx, method, params, &raw)
	if err == nil && result != nil {
		return codec{}.Unmarshal(raw, result)
	}
	return err
}

// notify sends a notification.
func (e *Editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.t.Errorf("%s: %v", method, err)
	}
}

// Notify sends any notification.
func (e *Editor) Notify(method string, params any) {
	e.t.Helper()
	e.notify(method, params)
}

// update changes the state and wakes who awaits it.
func (e *Editor) update(f func(*State)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.state)
	close(e.changed)
	e.changed = make(chan struct{})
}

// Close shuts the server down in order and fails the test for every fault on
// the wire. A second Close does nothing.
func (e *Editor) Close() {
	e.t.Helper()
	if e.closed {
		return
	}
	e.closed = true
	e.pullMu.Lock()
	e.leaving = true
	e.pullMu.Unlock()
	e.pullers.Wait() // an answer to what is asked now could come after exit
	if err := e.Call("shutdown", nil, nil); err != nil && !e.server.Gone() {
		e.t.Errorf("shutdown: %v", err)
	}
	if err := e.conn.Notify(context.Background(), "exit", nil); err != nil && !e.server.Gone() {
		e.t.Errorf("exit: %v", err)
	}
	if err := e.server.Wait(); err != nil {
		e.t.Errorf("the server ended with: %v", err)
	}
	_ = e.conn.Close() // the server has closed it
	for _, f := range e.check.Finish() {
		e.t.Errorf("on the wire: %s", f)
	}
}

// Kill ends the server as a crash would, and the editor with it.
func (e *Editor) Kill() {
	e.t.Helper()
	e.closed = true
	e.server.Kill()
	_ = e.conn.Close()
	for _, f := range e.check.Finish() {
		e.t.Errorf("on the wire: %s", f)
	}
}

// A Server is a server that was started for one editor.
type Server struct {
	Stream io.ReadWriteCloser
	Wait   func() error // waits for its end; nil for a good one
	Kill   func()       // ends it at once
	Gone   func() bool  // reports whether it has ended
}

// relative returns the name of a document in the workspace, or its URI.
func (e *Editor) relative(u uri.URI) string {
	if rest, ok := strings.CutPrefix(u.FsPath(), e.Dir+string(filepath.Separator)); ok && u.IsFile() {
		return filepath.ToSlash(rest)
	}
	return string(u)
}

func (e *Editor) fatalf(format string, args ...any) {
	e.t.Helper()
	e.t.Fatalf("%s: %s", e.opts.Profile.Name, fmt.Sprintf(format, args...))
}
