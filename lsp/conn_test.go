package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kaiak/kaiak/kaiak"
)

// TestFraming sends what no client should and expects the right answer and a
// server that goes on.
func TestFraming(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":7,"method":"no/such/method"}`
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	tests := []struct {
		name string
		sent string
		code int    // of the answer; 0: none but the next request's
		id   string // of the answer
	}{
		{"length 2^63-1", "Content-Length: 9223372036854775807\r\n\r\n", -32700, "null"},
		{"length beyond 64 bits", "Content-Length: 99999999999999999999\r\n\r\n", -32700, "null"},
		{"negative length", "Content-Length: -1\r\n\r\n", -32700, "null"},
		{"signed length", "Content-Length: +10\r\n\r\n0123456789", -32700, "null"},
		{"hexadecimal length", "Content-Length: 0x10\r\n\r\n", -32700, "null"},
		{"length abc", "Content-Length: abc\r\n\r\n{}", -32700, "null"},
		{"empty length", "Content-Length:\r\n\r\n{}", -32700, "null"},
		{"two lengths that differ", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", -32700, "null"},
		{"the same length twice", "Content-Length: 50\r\nContent-Length: 50\r\n\r\n" + request, -32601, "7"},
		{"LF only", "Content-Length: 50\n\n" + request, -32601, "7"},
		{"lower-case header", "content-length:50\r\n\r\n" + request, -32601, "7"},
		{"other headers", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nX-Else: 1\r\nContent-Length: 50\r\n\r\n" + request, -32601, "7"},
		{"charset utf8", "Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 50\r\n\r\n" + request, -32601, "7"},
		{"another charset", "Content-Type: text/plain; charset=utf-16\r\n\r\n", -32700, "null"},
		{"blank lines first", "\r\n\r\nContent-Length: 50\r\n\r\n" + request, -32601, "7"},
		{"no header", "hello there\r\n\r\n", -32700, "null"},
		{"header of 1 MiB", "X-Long: " + strings.Repeat("a", 1<<20) + "\r\n", -32700, "null"},
		{"header of 1 MiB without an end", strings.Repeat("a", 1<<20), -32700, "null"},
		{"empty body", frame(""), -32700, "null"},
		{"blank body", frame("  \n"), -32700, "null"},
		{"not JSON", frame("{nonsense"), -32700, "null"},
		{"JSON and more", frame("{} {}"), -32700, "null"},
		{"not UTF-8", frame("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}"), -32700, "null"},
		{"a number", frame("42"), -32600, "null"},
		{"null", frame("null"), -32600, "null"},
		{"empty object", frame("{}"), -32600, "null"},
		{"no version", frame(`{"id":7,"method":"x"}`), -32600, "7"},
		{"version 1.0", frame(`{"jsonrpc":"1.0","id":7,"method":"x"}`), -32600, "7"},
		{"method is a number", frame(`{"jsonrpc":"2.0","id":7,"method":1}`), -32600, "7"},
		{"method is empty", frame(`{"jsonrpc":"2.0","id":7,"method":""}`), -32600, "7"},
		{"method of 1 MiB", frame(`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("m", 1<<20) + `"}`), -32600, "7"},
		{"params is a number", frame(`{"jsonrpc":"2.0","id":7,"method":"x","params":5}`), -32600, "7"},
		{"params is null", frame(`{"jsonrpc":"2.0","id":7,"method":"x","params":null}`), -32601, "7"},
		{"method and result", frame(`{"jsonrpc":"2.0","id":7,"method":"x","result":5}`), -32600, "7"},
		{"id twice", frame(`{"jsonrpc":"2.0","id":7,"id":7,"method":"x"}`), -32600, "7"},
		{"unknown members", frame(`{"jsonrpc":"2.0","id":7,"method":"x","trace":{"a":[1]}}`), -32601, "7"},
		{"id string", frame(`{"jsonrpc":"2.0","id":"a-7","method":"x"}`), -32601, `"a-7"`},
		{"id 2^53+1", frame(`{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}`), -32601, "9007199254740993"},
		{"id negative", frame(`{"jsonrpc":"2.0","id":-1,"method":"x"}`), -32601, "-1"},
		{"id float", frame(`{"jsonrpc":"2.0","id":1.5,"method":"x"}`), -32601, "1.5"},
		{"id null", frame(`{"jsonrpc":"2.0","id":null,"method":"x"}`), -32600, "null"},
		{"id true", frame(`{"jsonrpc":"2.0","id":true,"method":"x"}`), -32600, "null"},
		{"id array", frame(`{"jsonrpc":"2.0","id":[1],"method":"x"}`), -32600, "null"},
		{"id object", frame(`{"jsonrpc":"2.0","id":{"a":1},"method":"x"}`), -32600, "null"},
		{"id of 1 MiB", frame(`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 1<<20) + `","method":"x"}`), -32600, "null"},
		{"depth 600", frame(`{"jsonrpc":"2.0","params":` + deep(600) + `,"id":7,"method":"x"}`), -32600, "7"},
		{"depth 100,000", frame(`{"jsonrpc":"2.0","params":` + deep(100_000) + `,"id":7,"method":"x"}`), -32600, "7"},
		{"depth 100,000, unclosed", frame(strings.Repeat(`{"a":`, 100_000)), -32600, "null"},
		{"empty batch", frame(`[]`), -32600, "null"},
		{"batch of numbers", frame(`[1]`), -32600, "null"},
		{"a reply that nobody waits for", frame(`{"jsonrpc":"2.0","id":99,"result":{}}`), 0, ""},
		{"an error that nobody waits for", frame(`{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"m"}}`), 0, ""},
		{"unknown notification", frame(`{"jsonrpc":"2.0","method":"no/such/thing"}`), 0, ""},
		{"unknown $ notification", frame(`{"jsonrpc":"2.0","method":"$/whatever","params":{}}`), 0, ""},
		{"cancel of nothing", frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}`), 0, ""},
		{"cancel without an id", frame(`{"jsonrpc":"2.0","method":"$/cancelRequest"}`), 0, ""},
		{"notification of which the params do not fit", frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":5}}`), 0, ""},
		{"request of which the params do not fit", frame(`{"jsonrpc":"2.0","id":7,"method":"textDocument/codeAction","params":{"textDocument":5}}`), -32602, "7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, newTestEngine())
			p.initialize()
			p.raw(tt.sent)
			if tt.code != 0 {
				a := p.recv()
				if a.code() != tt.code || string(a.ID) != tt.id {
					t.Fatalf("got %s, want code %d and id %s", a.body, tt.code, tt.id)
				}
				if kind, _ := a.Error.Data["kind"].(string); kind == "" || a.Error.Message == "" {
					t.Errorf("the error says neither kind nor message: %s", a.body)
				}
			}
			p.alive()
		})
	}
}

// TestBatch checks that a batch is answered as one, whatever is in it.
func TestBatch(t *testing.T) {
	p := dial(t, newTestEngine())
	p.initialize()
	p.raw(frame(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","id":"two","method":"c"}]`))
	var answers []struct {
		ID    json.RawMessage
		Error struct{ Code int }
	}
	a := p.recv()
	if err := json.Unmarshal([]byte(a.body), &answers); err != nil || len(answers) != 2 {
		t.Fatalf("got %s (%v), want the answers to two requests", a.body, err)
	}
	for i, id := range []string{"1", `"two"`} {
		if string(answers[i].ID) != id || answers[i].Error.Code != -32601 {
			t.Errorf("answer %d is %s", i, a.body)
		}
	}
	p.alive()
}

// TestLargeMessages checks that the limit of requests is kaiak/*'s own, that
// what is over it is answered with its id, and that memory does not grow with
// what is refused.
func TestLargeMessages(t *testing.T) {
	e := newTestEngine()
	e.on("kaiak/echo", func(_ context.Context, _ kaiak.Front, params json.RawMessage) (any, error) {
		return len(params), nil
	})
	p := dial(t, e)
	p.initialize()

	padded := func(size int64, head, tail string) string {
		return head + strings.Repeat("x", int(size)-len(head)-len(tail)) + tail
	}
	const head, tail = `{"jsonrpc":"2.0","id":3,"method":"kaiak/echo","params":{"a":"`, `"}}`
	p.raw(frame(padded(maxRequest, head, tail)))
	if a := p.reply("3"); a.Error != nil {
		t.Errorf("a request of exactly the limit got %d", a.code())
	}
	p.raw(frame(padded(maxRequest+1, head, tail)))
	if a := p.reply("3"); a.code() != -32600 {
		t.Errorf("a request one byte over the limit got %d", a.code())
	}
	// The id comes last: it is still echoed.
	p.raw(frame(padded(maxRequest+1, `{"jsonrpc":"2.0","method":"kaiak/echo","params":{"a":"`, `"},"id":"late"}`)))
	if a := p.reply(`"late"`); a.code() != -32600 {
		t.Errorf("a request with a late id got %d", a.code())
	}
	// Members in another order, so that the method is known only at the end.
	p.raw(frame(padded(maxRequest+1, `{"params":{"a":"`, `"},"jsonrpc":"2.0","method":"kaiak/echo","id":4}`)))
	if a := p.reply("4"); a.code() != -32600 {
		t.Errorf("a request with a late method got %d", a.code())
	}

	open := padded(maxRequest+1<<20,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///big.txt","languageId":"x","version":1,"text":"`, `"}}}`)
	p.raw(frame(open))
	p.alive()
	if doc := e.client().document("file:///big.txt"); doc == nil || len(doc.Text) < int(maxRequest) {
		t.Error("a large document was not opened")
	}
}

// TestLargeFrameIsDrained sends a frame that is far too large and checks that it
// is read to its end in constant memory and that the next request is answered.
// It is a gigabyte with KAIAK_RELIABILITY=full.
func TestLargeFrameIsDrained(t *testing.T) {
	size := 64 << 20
	if os.Getenv("KAIAK_RELIABILITY") == "full" {
		size = 1 << 30
	}
	p := dial(t, newTestEngine())
	p.initialize()
	runtime.GC()
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)
	const head = `{"jsonrpc":"2.0","id":5,"method":"kaiak/echo","params":{"a":"`
	p.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, head))
	part := strings.Repeat("x", 1<<20)
	for left := size - len(head); left > 0; left -= len(part) {
		p.raw(part[:min(left, len(part))])
		if left < size/2 && during.HeapAlloc == 0 {
			runtime.ReadMemStats(&during)
		}
	}
	if a := p.recv(); a.code() != -32600 || string(a.ID) != "5" {
		t.Errorf("got %s", a.body)
	}
	grown := int64(during.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("of %d bytes the heap grew by %d", size, grown)
	if grown > 16<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	p.alive()
}

// TestLifecycle checks the gate: what is allowed when, and how the connection ends.
func TestLifecycle(t *testing.T) {
	p := dial(t, newTestEngine())
	a := p.call("1", "kaiak/session/create", "{}")
	if a.code() != -32002 || a.Error.Data["kind"] != "SERVER_NOT_INITIALIZED" {
		t.Errorf("before initialize: %s", a.body)
	}
	if a := p.call("2", "no/such/method", "{}"); a.code() != -32002 {
		t.Errorf("before initialize: %s", a.body)
	}
	p.notify("textDocument/didOpen", "{}") // dropped
	if a := p.call("3", "initialize", `{"capabilities":5}`); a.code() != -32602 {
		t.Errorf("initialize with bad params: %s", a.body)
	}
	p.initialize()
	if a := p.call("4", "initialize", `{"processId":null,"rootUri":null,"capabilities":{}}`); a.code() != -32600 {
		t.Errorf("a second initialize: %s", a.body)
	}
	if a := p.call("5", "textDocument/didOpen", `{}`); a.code() != -32600 {
		t.Errorf("a notification with an id: %s", a.body)
	}
	if a := p.call("6", "shutdown", "null"); a.Error != nil || string(a.Result) != "null" {
		t.Errorf("shutdown: %s", a.body)
	}
	if a := p.call("7", "kaiak/session/create", "{}"); a.code() != -32600 {
		t.Errorf("after shutdown: %s", a.body)
	}
	p.notify("exit", "null")
	if err := p.wait(); err != nil {
		t.Errorf("exit after shutdown: %v", err)
	}
}

// wait reads to the end of the stream and returns how serving ended.
func (p *peer) wait() error {
	p.t.Helper()
	for {
		if _, err := p.read(); err != nil {
			break
		}
	}
	select {
	case err := <-p.done:
		p.done <- err // for the cleanup
		return err
	case <-time.After(patience):
		p.t.Fatal("the server did not end")
		return nil
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name  string
		leave func(p *peer)
		want  error
	}{
		{"exit without shutdown", func(p *peer) { p.notify("exit", "null") }, ErrNoShutdown},
		{"shutdown, exit", func(p *peer) { p.call("1", "shutdown", "null"); p.notify("exit", "null") }, nil},
		{"end of the stream", func(p *peer) { _ = p.conn.Close() }, ErrNoShutdown},
		{"shutdown, end of the stream", func(p *peer) { p.call("1", "shutdown", "null"); _ = p.conn.Close() }, nil},
		{"end inside a frame", func(p *peer) { p.raw("Content-Length: 100\r\n\r\n{"); _ = p.conn.Close() }, ErrNoShutdown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newTestEngine()
			p := dial(t, e)
			p.initialize()
			begun := time.Now()
			tt.leave(p)
			if err := p.wait(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("it took %v to end", took)
			}
			if c := e.client(); !c.closed {
				t.Error("the service was not told")
			}
		})
	}
}

// TestEOFEndsWhatRuns checks that the end of the stream cancels a request that
// is being worked on.
func TestEOFEndsWhatRuns(t *testing.T) {
	e := newTestEngine()
	begun, ended := make(chan struct{}), make(chan struct{})
	e.on("kaiak/slow", func(ctx context.Context, _ kaiak.Front, _ json.RawMessage) (any, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})
	p := dial(t, e)
	p.initialize()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"kaiak/slow"}`)
	<-begun
	_ = p.conn.Close()
	<-ended
	if err := p.wait(); !errors.Is(err, ErrNoShutdown) {
		t.Error(err)
	}
}

// TestConcurrency checks that slow requests hold up nothing: not each other, not
// notifications, not cancelling, up to far more of them than run at a time.
func TestConcurrency(t *testing.T) {
	e := newTestEngine()
	var mu sync.Mutex
	running := 0
	full := make(chan struct{})
	e.on("kaiak/slow", func(ctx context.Context, _ kaiak.Front, _ json.RawMessage) (any, error) {
		mu.Lock()
		if running++; running == maxConcurrent {
			close(full)
		}
		mu.Unlock()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p := dial(t, e)
	p.initialize()
	const requests = maxConcurrent + 20 // the last 20 wait for a place
	for i := range requests {
		p.send(`{"jsonrpc":"2.0","id":%d,"method":"kaiak/slow"}`, i)
	}
	<-full
	p.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///a","languageId":"x","version":1,"text":"hello"}}`)
	c := e.client()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.until(ctx, func() bool { return c.docs["file:///a"] != nil }); err != nil {
		t.Fatal("slow requests hold up text synchronisation")
	}
	// One that runs and one that waits.
	for _, id := range []string{"3", fmt.Sprint(requests - 1)} {
		begun := time.Now()
		p.notify("$/cancelRequest", `{"id":`+id+`}`)
		a := p.reply(id)
		if a.code() != -32800 || a.Error.Data["kind"] != "REQUEST_CANCELLED" {
			t.Errorf("cancelled: %s", a.body)
		}
		t.Logf("cancelled in %v", time.Since(begun))
	}
	for i := range requests {
		if i != 3 && i != requests-1 {
			p.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, i))
			if a := p.reply(fmt.Sprint(i)); a.code() != -32800 {
				t.Fatalf("got %s", a.body)
			}
		}
	}
	p.alive()
}

// TestOrder sends changes and requests as fast as the wire takes them: every
// request sees the changes before it, and the text is right in the end.
func TestOrder(t *testing.T) {
	e := newTestEngine()
	e.on("kaiak/version", func(_ context.Context, _ kaiak.Front, _ json.RawMessage) (any, error) {
		return e.client().document("file:///a").Version, nil
	})
	p := dial(t, e)
	p.initialize()
	p.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///a","languageId":"x","version":1,"text":""}}`)
	const changes = 300
	go func() { // ends when all is written
		for i := range changes {
			change := frame(fmt.Sprintf(
				`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a","version":%d},`+
					`"contentChanges":[{"range":{"start":{"line":0,"character":%d},"end":{"line":0,"character":%d}},"text":"%d"}]}}`, i+2, i, i, i%10))
			request := frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"kaiak/version"}`, i+2))
			if _, err := io.WriteString(p.conn, change+request); err != nil {
				return // the reader sees it too
			}
		}
	}()
	for answered := 0; answered < changes; {
		a := p.recv()
		if a.Method != "" {
			continue // diagnostics
		}
		answered++
		var id, seen int
		if json.Unmarshal(a.ID, &id) != nil || json.Unmarshal(a.Result, &seen) != nil || seen < id {
			t.Fatalf("a request behind version %s saw %s", a.ID, a.Result)
		}
	}
	var want strings.Builder
	for i := range changes {
		fmt.Fprint(&want, i%10)
	}
	if got := string(e.client().document("file:///a").Text); got != want.String() {
		t.Errorf("the text is %s", got)
	}
}

// TestSupersededWorkIsCancelled checks that the search in an old version ends
// when a new one comes, without waiting for it.
func TestSupersededWorkIsCancelled(t *testing.T) {
	e := &patientEngine{testEngine: newTestEngine(), begun: make(chan struct{}), ended: make(chan struct{})}
	p := dial(t, e)
	p.initialize()
	p.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///a","languageId":"x","version":1,"text":"old"}}`)
	<-e.begun
	p.notify("textDocument/didChange", `{"textDocument":{"uri":"file:///a","version":2},"contentChanges":[{"text":"old old"}]}`)
	<-e.ended
	for {
		a := p.recv()
		if a.Method == "textDocument/publishDiagnostics" {
			if strings.Count(a.body, `"message"`) != 2 {
				t.Errorf("published %s", a.body)
			}
			return
		}
	}
}

// A patientEngine never finds anything in version 1 of a document.
type patientEngine struct {
	*testEngine
	begun, ended chan struct{}
}

func (e *patientEngine) Connect(front kaiak.Front, info kaiak.ClientInfo) client {
	return &patientClient{e.testEngine.Connect(front, info), e}
}

type patientClient struct {
	client
	engine *patientEngine
}

func (c *patientClient) Incidents(ctx context.Context, uri string) (kaiak.Incidents, error) {
	if c.engine.client().document(uri).Version > 1 {
		return c.client.Incidents(ctx, uri)
	}
	close(c.engine.begun)
	<-ctx.Done()
	close(c.engine.ended)
	return kaiak.Incidents{}, ctx.Err()
}

// TestCancelRightBehind checks that a cancel that is sent together with its
// request is never lost.
func TestCancelRightBehind(t *testing.T) {
	e := newTestEngine()
	e.on("kaiak/slow", func(ctx context.Context, _ kaiak.Front, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p := dial(t, e)
	p.initialize()
	for i := range 200 {
		p.raw(frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"kaiak/slow"}`, i)) +
			frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"r%d"}}`, i)))
		if a := p.recv(); a.code() != -32800 {
			t.Fatalf("got %s", a.body)
		}
	}
}

// TestDuplicateID checks that the id of an unanswered request cannot be used
// again, and that it can be once it is answered.
func TestDuplicateID(t *testing.T) {
	e := newTestEngine()
	release := make(chan struct{})
	e.on("kaiak/slow", func(context.Context, kaiak.Front, json.RawMessage) (any, error) { <-release; return "done", nil })
	p := dial(t, e)
	p.initialize()
	p.send(`{"jsonrpc":"2.0","id":"a","method":"kaiak/slow"}`)
	p.send(`{"jsonrpc":"2.0","id":"\u0061","method":"kaiak/slow"}`)
	if a := p.recv(); a.code() != -32600 {
		t.Errorf("got %s", a.body)
	}
	close(release)
	if a := p.reply(`"a"`); string(a.Result) != `"done"` {
		t.Errorf("got %s", a.body)
	}
	if a := p.call(`"a"`, "kaiak/slow", "{}"); a.Error != nil {
		t.Errorf("got %s", a.body)
	}
}

// TestCancelledByTheLibrary checks that what jrpc2 says about a request that it
// never started, because the connection was ending, becomes what we say.
func TestCancelledByTheLibrary(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	s := newServer(t.Context(), newTestEngine(), stdStream(theirs, theirs), Options{})
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a","error":{"code":-32097,"message":"context canceled"}}`:          `{"jsonrpc":"2.0","id":"a","error":{"code":-32800,`,
		`{"jsonrpc":"2.0","id":1,"result":{"jsonrpc":"2.0","id":1,"error":{"code":-32097,"a":1}}}`: `{"jsonrpc":"2.0","id":1,"result":`,
	} {
		if err := (*wire)(s.conn).Send([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		waiting := s.conn.out.queue
		if got := string(waiting[len(waiting)-1].body); !strings.HasPrefix(got, want) {
			t.Errorf("%s became %s", sent, got)
		}
	}
}

// TestReusedID uses one id as fast as it can, without waiting for answers: each
// use is carried out or refused in our words, and every one is answered.
func TestReusedID(t *testing.T) {
	e := newTestEngine()
	e.on("kaiak/quick", func(context.Context, kaiak.Front, json.RawMessage) (any, error) { return "done", nil })
	p := dial(t, e)
	p.initialize()
	const uses = 2000
	one := frame(`{"jsonrpc":"2.0","id":1,"method":"kaiak/quick"}`)
	go func() { // ends when all is written
		for range uses {
			if _, err := io.WriteString(p.conn, one); err != nil {
				return // the reader sees it too
			}
		}
	}()
	for range uses {
		if a := p.recv(); string(a.Result) != `"done"` && (a.code() != -32600 || a.Error.Data["kind"] != "INVALID_REQUEST") {
			t.Fatalf("got %s", a.body)
		}
	}
}

// TestErrors checks what errors of the service become.
func TestErrors(t *testing.T) {
	e := newTestEngine()
	fail := func(err error) func(context.Context, kaiak.Front, json.RawMessage) (any, error) {
		return func(context.Context, kaiak.Front, json.RawMessage) (any, error) { return nil, err }
	}
	e.on("kaiak/busy", fail((&kaiak.Error{Code: kaiak.SessionNotReady, Kind: "WORKSPACE_BUSY", Message: "busy", Retryable: true}).With("owner", "ci")))
	e.on("kaiak/wrapped", fail(fmt.Errorf("while trying: %w", kaiak.Errorf(kaiak.SessionNotFound, "there is no session %q", "x"))))
	e.on("kaiak/plain", fail(io.ErrUnexpectedEOF))
	e.on("kaiak/panic", func(context.Context, kaiak.Front, json.RawMessage) (any, error) { panic("boom") })
	e.on("kaiak/unencodable", func(context.Context, kaiak.Front, json.RawMessage) (any, error) { return func() {}, nil })
	p := dial(t, e)
	p.initialize()
	tests := []struct {
		method string
		code   int
		kind   string
	}{
		{"kaiak/busy", -32005, "WORKSPACE_BUSY"},
		{"kaiak/wrapped", -32003, "SESSION_NOT_FOUND"},
		{"kaiak/plain", -32603, "INTERNAL_ERROR"},
		{"kaiak/panic", -32603, "INTERNAL_ERROR"},
		{"kaiak/unencodable", -32603, "INTERNAL_ERROR"},
		{"kaiak/absent", -32601, "METHOD_NOT_FOUND"},
	}
	for _, tt := range tests {
		a := p.call("1", tt.method, "{}")
		if a.code() != tt.code || a.Error.Data["kind"] != tt.kind {
			t.Errorf("%s: got %s", tt.method, a.body)
		}
		if strings.Contains(a.body, "boom") || strings.Contains(a.body, "goroutine") {
			t.Errorf("%s: the panic's details reached the client: %s", tt.method, a.body)
		}
		if tt.method == "kaiak/busy" && (a.Error.Data["owner"] != "ci" || a.Error.Data["retryable"] != true) {
			t.Errorf("data is lost: %s", a.body)
		}
	}
	p.alive()
}

// TestNothingBeforeInitializeAnswer checks that what the service says while it
// is being connected comes after the answer to initialize.
func TestNothingBeforeInitializeAnswer(t *testing.T) {
	p := dial(t, eagerEngine{newTestEngine()})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{"experimental":{"kaiak":true}}}}`)
	if a := p.recv(); string(a.ID) != "1" || a.Error != nil {
		t.Fatalf("the first message is %s", a.body)
	}
	if a := p.recv(); a.Method != "kaiak/stream/system" {
		t.Fatalf("the second message is %s", a.body)
	}
}

// An eagerEngine speaks as soon as it is connected.
type eagerEngine struct{ *testEngine }

func (e eagerEngine) Connect(front kaiak.Front, info kaiak.ClientInfo) client {
	front.Notify("kaiak/stream/system", map[string]any{"content": map[string]any{"event": "ready"}})
	return e.testEngine.Connect(front, info)
}
