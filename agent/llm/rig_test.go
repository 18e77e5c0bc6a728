package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/kaiak/kaiak/internal/modelserver"
	"github.com/kaiak/kaiak/internal/testclock"
)

type (
	reply = modelserver.Reply
	frame = modelserver.Frame
	step  = modelserver.Step
)

// manual adapts the test clock; the timers of both packages have the same methods.
type manual struct{ *testclock.Clock }

func (m manual) AfterFunc(d time.Duration, f func()) Timer { return m.Clock.AfterFunc(d, f) }

// rig is a client, a scripted server and a clock that stands still.
type rig struct {
	t      *testing.T
	server *modelserver.Server
	client *Client
	clock  *testclock.Clock
	deltas []Delta
}

const testKey = "sk-test-4711-do-not-leak"

func newRig(t *testing.T, steps []step, adjust ...func(*Profile, *Options)) *rig {
	t.Helper()
	r := &rig{t: t, clock: testclock.New()}
	r.server = modelserver.New(t, modelserver.Script{Steps: steps})
	p := Profile{Name: "test", BaseURL: r.server.URL, Model: "m", Key: testKey, Proxy: "none"}
	o := Options{Clock: manual{r.clock}, Jitter: func() float64 { return 0 }}
	for _, f := range adjust {
		f(&p, &o)
	}
	var err error
	if r.client, err = New(p, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.client.Close)
	return r
}

func tool(name string) openai.Tool {
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}}
}

// ask sends a request with two tools.
func (r *rig) ask() (*Response, error) {
	return r.send(Request{Messages: []Message{System("s"), User("u")}, Tools: []openai.Tool{tool("edit"), tool("read_file")}})
}

func (r *rig) send(req Request) (*Response, error) {
	return r.client.Chat(context.Background(), req, func(d Delta) { r.deltas = append(r.deltas, d) })
}

// once makes steps that reply with the given frames, one after the other.
func once(frames ...frame) []step { return []step{{Reply: reply{Frames: frames}}} }

func js(format string, args ...any) frame {
	return frame{Raw: "data: " + fmt.Sprintf(format, args...) + "\n\n"}
}

func delta1(body string) frame { return js(`{"id":"c","choices":[{"index":0,"delta":%s}]}`, body) }
func say(text string) frame    { return delta1(`{"content":` + strconv.Quote(text) + `}`) }
func finish(reason string) frame {
	return js(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

// call is a tool call fragment: members is what goes beside "function".
func call(members, function string) frame {
	if members != "" {
		members += ","
	}
	return delta1(`{"tool_calls":[{` + members + `"function":{` + function + `}}]}`)
}

var done = frame{Done: true}

// completes is the expectation of a turn that completes.
type completes struct {
	text, reasoning string
	calls           string // name(args) of each, joined by " "; an invalid one has a ! before it
	ids             string
	warn            Warning
	attempts        int
	usage           *Usage
}

func (want completes) check(t *testing.T, got *Response, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("error: %v", err)
	}
	var calls, ids []string
	for _, c := range got.Calls {
		bad := ""
		if c.Invalid != "" {
			bad = "!"
		}
		calls, ids = append(calls, bad+c.Name+"("+string(c.Arguments)+")"), append(ids, c.ID)
	}
	if got.Text != want.text || got.Reasoning != want.reasoning || strings.Join(calls, " ") != want.calls {
		t.Errorf("got text %q, reasoning %q, calls %v\nwant text %q, reasoning %q, calls %s", got.Text, got.Reasoning, calls, want.text, want.reasoning, want.calls)
	}
	if want.ids != "" && strings.Join(ids, " ") != want.ids {
		t.Errorf("call ids are %v, want %s", ids, want.ids)
	}
	if want.warn != "" && !slices.Contains(got.Warnings, want.warn) {
		t.Errorf("warnings are %v, want %s", got.Warnings, want.warn)
	}
	if got.Attempts != max(want.attempts, 1) {
		t.Errorf("attempts = %d, want %d", got.Attempts, max(want.attempts, 1))
	}
	if want.usage != nil && got.Usage != *want.usage {
		t.Errorf("usage = %+v, want %+v", got.Usage, *want.usage)
	}
}

// fails checks that err is of a kind and says what it should.
func fails(t *testing.T, err error, kind Kind, says string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want %s", err, kind)
	}
	if e.Kind != kind || !strings.Contains(e.Error(), says) {
		t.Errorf("error is %s: %v\nwant %s saying %q", e.Kind, e, kind, says)
	}
	return e
}

const hello = "hello"

// okStream is the plainest stream.
var okStream = []frame{say("hel"), say("lo"), finish("stop"), done}

// twoLines is text with everything that splitting could break.
const tricky = "Grüße 🦀 \\ \" \n\t \u2028 done"

func status(code int, body string, headers ...string) step {
	h := map[string]string{"Content-Type": "application/json"}
	for i := 0; i+1 < len(headers); i += 2 {
		h[headers[i]] = headers[i+1]
	}
	return step{Reply: reply{Status: code, Headers: h, Frames: []frame{{Raw: body}}}}
}

func stream(frames ...frame) step { return step{Reply: reply{Frames: frames}} }

// runClock lets the waits between attempts pass: whenever a timer of at most a
// minute runs that is no timeout, the clock moves.
func (r *rig) runClock() (stop func()) {
	ended := make(chan struct{})
	over := false
	go func() {
		defer close(ended)
		for {
			var wait time.Duration
			quit := false
			r.clock.Await(func(delays []time.Duration, _ int) bool {
				quit = over
				if len(delays) > 0 && delays[0] < time.Minute {
					wait = delays[0]
				}
				return quit || wait > 0
			})
			if quit {
				return
			}
			r.clock.Advance(wait)
		}
	}()
	return func() {
		r.clock.Await(func([]time.Duration, int) bool { over = true; return true })
		r.clock.AfterFunc(time.Hour, func() {}).Stop() // wakes the goroutine
		<-ended
	}
}
