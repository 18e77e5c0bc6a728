package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait of a test. It is no sleep: a wait ends with what
// it waits for.
const patience = 20 * time.Second

// A peer is the other end of a connection, for bytes that no client library
// would send.
type peer struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	done chan error // what serve returned
}

// dial starts a server on an in-process connection.
func dial(t testing.TB, e engine) *peer {
	t.Helper()
	return dialWith(t, e, Options{Version: "1.2.3"})
}

func dialWith(t testing.TB, e engine, opts Options) *peer {
	t.Helper()
	ours, theirs := net.Pipe()
	p := &peer{t: t, conn: ours, in: bufio.NewReader(ours), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { p.done <- serve(ctx, e, stdStream(theirs, theirs), opts) }()
	t.Cleanup(func() {
		cancel()
		_ = ours.Close()
		select {
		case <-p.done:
		case <-time.After(patience):
			t.Error("the server did not end")
		}
	})
	_ = ours.SetDeadline(time.Now().Add(5 * patience))
	return p
}

// frame is body with its header.
func frame(body string) string {
	return "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// raw writes bytes as they are.
func (p *peer) raw(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, s); err != nil {
		p.t.Fatalf("writing: %v", err)
	}
}

// send writes one framed message.
func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	p.raw(frame(fmt.Sprintf(format, args...)))
}

// answer is any message of the server.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
	body string
}

// code returns the error's code, 0 for a result.
func (a *answer) code() int {
	if a.Error == nil {
		return 0
	}
	return a.Error.Code
}

// recv reads the next message.
func (p *peer) recv() *answer {
	p.t.Helper()
	a, err := p.read()
	if err != nil {
		p.t.Fatalf("reading: %v", err)
	}
	return a
}

func (p *peer) read() (*answer, error) {
	size := -1
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		value, ok := strings.CutPrefix(line, "Content-Length: ")
		if !ok {
			return nil, fmt.Errorf("not a header: %q", line)
		}
		if size, err = strconv.Atoi(value); err != nil {
			return nil, err
		}
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(p.in, body); err != nil {
		return nil, err
	}
	a := &answer{body: string(body)}
	if bytes.HasPrefix(body, []byte("[")) {
		return a, nil
	}
	if err := json.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("%w in %s", err, body)
	}
	return a, nil
}

// reply reads up to the answer with this id.
func (p *peer) reply(id string) *answer {
	p.t.Helper()
	for {
		if a := p.recv(); string(a.ID) == id && a.Method == "" {
			return a
		}
	}
}

// call sends a request and returns its answer.
func (p *peer) call(id, method, params string) *answer {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	return p.reply(id)
}

// notify sends a notification.
func (p *peer) notify(method, params string) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

// initialize makes the handshake.
func (p *peer) initialize() {
	p.t.Helper()
	if a := p.call(`"init"`, "initialize", `{"processId":null,"rootUri":null,"capabilities":{}}`); a.Error != nil {
		p.t.Fatalf("initialize: %s", a.body)
	}
	p.notify("initialized", "{}")
}

// alive checks that the next valid request is answered.
func (p *peer) alive() {
	p.t.Helper()
	if a := p.call(`"alive"`, "no/such/method", "{}"); a.code() != -32601 {
		p.t.Fatalf("the next request got %s", a.body)
	}
}
