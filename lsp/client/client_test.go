package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// The test binary serves its stdin and stdout when this is set.
const serveEnv = "CLIENT_TEST_SERVE"

func TestMain(m *testing.M) {
	switch os.Getenv(serveEnv) {
	case "":
		os.Exit(m.Run())
	case "garbage":
		fmt.Print("this is no frame\r\n\r\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "deaf": // never answers, never ends by itself
		_, _ = io.Copy(io.Discard, os.Stdin)
		select {}
	}
	s := newServer(struct {
		io.Reader
		io.WriteCloser
	}{os.Stdin, os.Stdout})
	<-s.conn.Done()
	if !s.exited {
		os.Exit(1)
	}
	os.Exit(0)
}

// A server is the other end of the wire, as small as can be.
type server struct {
	conn      jsonrpc2.Conn
	exited    bool // read after Done
	seen      chan string
	cancelled chan struct{}
}

func newServer(stream io.ReadWriteCloser) *server {
	s := &server{conn: jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(stream)), seen: make(chan string, 100), cancelled: make(chan struct{})}
	s.conn.Go(context.Background(), s.handle)
	return s
}

func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	method, params := strings.Clone(req.Method()), slices.Clone(req.Params())
	s.seen <- method
	switch method {
	case "initialize":
		return map[string]any{"capabilities": map[string]any{"given": json.RawMessage(params)}}, nil
	case "shutdown", "initialized":
		return nil, nil
	case "exit":
		s.exited = true
		go s.conn.Close()
		return nil, nil
	case "refuse":
		return nil, &jsonrpc2.Error{Code: -32005, Message: "not yet", Data: jsonrpc2.RawMessage(`{"kind":"SESSION_NOT_READY","retryable":true}`)}
	case "stream":
		for i := range 1000 {
			if err := s.conn.Notify(ctx, "tick", map[string]int{"n": i}); err != nil {
				return nil, err
			}
		}
		return map[string]bool{"ok": true}, nil
	case "hang":
		jsonrpc2.Async(ctx)
		<-s.cancelled
		return nil, errors.New("cancelled")
	case "$/cancelRequest":
		close(s.cancelled)
		return nil, nil
	case "ask":
		var p struct {
			Method string `json:"method"`
			Params any    `json:"params"`
		}
		_ = json.Unmarshal(params, &p)
		jsonrpc2.Async(ctx)
		var raw json.RawMessage
		if _, err := s.conn.Call(ctx, p.Method, p.Params, &raw); err != nil {
			return nil, err
		}
		return map[string]any{"answer": string(raw)}, nil
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "no %s", method)
}

func connect(t *testing.T, opts Options) (*Client, *server) {
	t.Helper()
	near, far := net.Pipe()
	s := newServer(far)
	c, err := New(t.Context(), near, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.conn.Close() })
	return c, s
}

func TestHandshake(t *testing.T) {
	c, s := connect(t, Options{Name: "me", Version: "2", Root: "/a b/ws", Capabilities: map[string]any{"x": 1}, Initialization: map[string]any{"rules": []string{}}})
	var got struct {
		Capabilities struct {
			Given struct {
				ProcessID        int               `json:"processId"`
				ClientInfo       map[string]string `json:"clientInfo"`
				RootURI          string            `json:"rootUri"`
				WorkspaceFolders []struct{ URI, Name string }
				Init             json.RawMessage `json:"initializationOptions"`
			}
		}
	}
	if err := json.Unmarshal(c.Server, &got); err != nil {
		t.Fatal(err)
	}
	g := got.Capabilities.Given
	if g.ProcessID != os.Getpid() || g.ClientInfo["name"] != "me" || g.RootURI != "file:///a%20b/ws" || len(g.WorkspaceFolders) != 1 || g.WorkspaceFolders[0].Name != "ws" || string(g.Init) != `{"rules":[]}` {
		t.Errorf("initialize had %s", c.Server)
	}
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error("Shutdown:", err)
	}
	close(s.seen)
	var seen []string
	for m := range s.seen {
		seen = append(seen, m)
	}
	if want := []string{"initialize", "initialized", "shutdown", "exit"}; !slices.Equal(seen, want) {
		t.Errorf("the server saw %v, want %v", seen, want)
	}
	if err := c.Call(t.Context(), "refuse", nil, nil); !errors.Is(err, ErrGone) {
		t.Errorf("a call after the end: %v, want ErrGone", err)
	}
}

func TestErrorsKeepTheirCodeAndData(t *testing.T) {
	c, _ := connect(t, Options{})
	_, err := Call[struct{}](t.Context(), c, "refuse", nil)
	var e *Error
	if !errors.As(err, &e) || e.Code != -32005 || e.Kind != "SESSION_NOT_READY" || !e.Retryable || e.Method != "refuse" || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("error %#v", err)
	}
}

// The handler may make calls, and hears everything in order all the same.
func TestNotificationsComeInOrder(t *testing.T) {
	var heard []int
	var c *Client
	ready, done := make(chan struct{}), make(chan struct{})
	c, _ = connect(t, Options{OnNotification: func(n Notification) {
		<-ready
		var p struct {
			N int `json:"n"`
		}
		if err := json.Unmarshal(n.Params, &p); err != nil || n.Method != "tick" {
			t.Errorf("notification %s %s: %v", n.Method, n.Params, err)
		}
		if p.N == 500 {
			var e *Error
			if err := c.Call(t.Context(), "refuse", nil, nil); !errors.As(err, &e) {
				t.Errorf("a call from the handler: %v", err)
			}
		}
		if heard = append(heard, p.N); p.N == 999 {
			close(done)
		}
	}})
	close(ready)
	if got, err := Call[map[string]bool](t.Context(), c, "stream", nil); err != nil || !got["ok"] {
		t.Fatal(got, err)
	}
	<-done
	if !slices.IsSorted(heard) || len(heard) != 1000 {
		t.Errorf("heard %d notifications, in order: %v", len(heard), slices.IsSorted(heard))
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	c, s := connect(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- c.Call(ctx, "hang", nil, nil) }()
	for m := range s.seen {
		if m == "hang" {
			break
		}
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call: %v", err)
	}
	<-s.cancelled
}

func TestRequestsOfTheServer(t *testing.T) {
	c, _ := connect(t, Options{OnRequest: func(_ context.Context, method string, params json.RawMessage) (any, bool, error) {
		switch method {
		case "workspace/applyEdit":
			return map[string]any{"applied": true, "got": params}, true, nil
		case "broken":
			return nil, false, errors.New("cannot")
		}
		return nil, false, nil
	}})
	for method, want := range map[string]string{
		"workspace/applyEdit":          `{"applied":true,"got":{"items":[1,2]}}`,
		"workspace/configuration":      `[null,null]`,
		"client/registerCapability":    `null`,
		"window/showMessageRequest":    `null`,
		"workspace/diagnostic/refresh": `null`,
	} {
		got, err := Call[struct{ Answer string }](t.Context(), c, "ask", map[string]any{"method": method, "params": map[string]any{"items": []int{1, 2}}})
		if err != nil || got.Answer != want {
			t.Errorf("%s is answered %s, %v; want %s", method, got.Answer, err, want)
		}
	}
	for _, method := range []string{"unknown", "broken"} {
		var e *Error
		if err := c.Call(t.Context(), "ask", map[string]string{"method": method}, nil); !errors.As(err, &e) {
			t.Errorf("%s is answered without an error: %v", method, err)
		}
	}
}

func command(t *testing.T, mode string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serveEnv+"="+mode, "GORACE=atexit_sleep_ms=0") // without the race detector's pause at the end
	return cmd
}

func TestChildIsEndedAsTheProtocolAsks(t *testing.T) {
	c, err := Start(t.Context(), command(t, "serve"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Call[map[string]bool](t.Context(), c, "stream", nil); err != nil {
		t.Error(err)
	}
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error("Shutdown:", err)
	}
	if state := c.child.command.ProcessState; state == nil || !state.Success() {
		t.Errorf("the child ended with %v", state)
	}
}

func TestChildThatDoesNotObey(t *testing.T) {
	if _, err := Start(t.Context(), command(t, "garbage"), Options{}); err == nil || !strings.Contains(err.Error(), "did not initialize") {
		t.Errorf("a server that writes garbage: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	given := errors.New("given up")
	cancel(given)
	if _, err := Start(ctx, command(t, "deaf"), Options{}); err == nil {
		t.Error("a server that does not answer: no error")
	}
	if _, err := Start(t.Context(), exec.Command(filepath.Join(t.TempDir(), "missing")), Options{}); err == nil {
		t.Error("a server that is not there: no error")
	}
}

func TestDial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if _, err := Dial(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no socket: %v; want an error that names it", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			newServer(conn)
		}
	}()
	c, err := Dial(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheWireIsFramed(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	go func() { _, _ = New(t.Context(), near, Options{}) }()
	line, err := bufio.NewReader(far).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "Content-Length: ") {
		t.Errorf("the first line is %q, %v", line, err)
	}
}
