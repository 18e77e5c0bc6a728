package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
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

// completing are the numbered cases that complete in one exchange.
var completing = []struct {
	n     int
	name  string
	reply reply
	want  completes
}{
	{1, "normal text", reply{Frames: okStream}, completes{text: hello}},
	{2, "CRLF", reply{Frames: []frame{{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n"}}, Split: "bytes"}, completes{text: hello}},
	{2, "CR alone", reply{Frames: []frame{{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\r\rdata: [DONE]\r\r"}}}, completes{text: hello}},
	{3, "no space after the colon", reply{Frames: []frame{{Raw: "data:{\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata:[DONE]\n\n"}}}, completes{text: hello}},
	{4, "byte order mark", reply{Frames: append([]frame{{Raw: "\ufeff"}}, okStream...)}, completes{text: hello}},
	{4, "byte order mark, byte by byte", reply{Frames: append([]frame{{Raw: "\ufeff"}}, okStream...), Split: "bytes"}, completes{text: hello}},
	{5, "comments everywhere", reply{Frames: []frame{{Raw: ": PROCESSING\n\n", Repeat: 400}, say("hel"), {Raw: ": keep-alive\n", Repeat: 400}, say("lo"), finish("stop"), {Raw: ":\n\n"}, done, {Raw: ": bye\n\n"}}}, completes{text: hello}},
	{6, "event, id and retry fields", reply{Frames: []frame{{Raw: "retry: 3000\n\nevent: message\nid: 1\ndata: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n"}, done}}, completes{text: hello}},
	{7, "data of several lines", reply{Frames: []frame{{Raw: "data: {\"choices\":\ndata: [{\"delta\":\ndata: {\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n"}, done}}, completes{text: hello}},
	{7, "events without blank lines", reply{Frames: []frame{{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\ndata: [DONE]\n"}}}, completes{text: hello}},
	{8, "empty data", reply{Frames: append([]frame{{Raw: "data:\n\ndata: \n\n"}}, okStream...)}, completes{text: hello}},
	{9, "last line without newline", reply{Frames: []frame{say("hel"), {Raw: `data: {"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}`}}}, completes{text: hello}},
	{11, "line of 1 MiB", reply{Frames: []frame{{Raw: `data: {"choices":[{"delta":{"content":"`}, {Raw: "xxxxxxxxxxxxxxxx", Repeat: 1 << 16}, {Raw: "\"},\"finish_reason\":\"stop\"}]}\n\n"}, done}}, completes{text: strings.Repeat("x", 1<<20)}},
	{12, "gzip", reply{Frames: okStream, Gzip: true}, completes{text: hello}},

	{14, "finish, no DONE", reply{Frames: []frame{say(hello), finish("stop")}}, completes{text: hello}},
	{15, "DONE, no finish", reply{Frames: []frame{say(hello), done}}, completes{text: hello, warn: WarnNoFinish}},
	{16, "data after DONE", reply{Frames: append(slices.Clone(okStream), say("ghost"))}, completes{text: hello}},
	{21, "finish_reason twice", reply{Frames: []frame{say(hello), finish("stop"), js(`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`), done}}, completes{text: hello, usage: &Usage{Input: 3, Output: 2}}},
	{22, "finish with the content", reply{Frames: []frame{js(`{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`), done}}, completes{text: hello}},
	{23, "odd reasons", reply{Frames: []frame{js(`{"choices":[{"delta":{"content":"hel"},"finish_reason":""}]}`), js(`{"choices":[{"delta":{"content":"lo"},"finish_reason":"null"}]}`), finish("eos")}}, completes{text: hello}},
	{23, "function_call (legacy)", reply{Frames: []frame{delta1(`{"function_call":{"name":"edit","arguments":"{\"a\""}}`), delta1(`{"function_call":{"arguments":":1}"}}`), finish("function_call"), done}}, completes{calls: `edit({"a":1})`, ids: "call_1"}},

	{25, "length within arguments, called tool_calls", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\":"`), finish("tool_calls"), done}}, completes{calls: `!edit({})`}},
	{25, "length within arguments", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\":1}"`), finish("length"), done}}, completes{calls: `!edit({"a":1})`}},
	{26, "tool_calls without calls", reply{Frames: []frame{say(hello), finish("tool_calls"), done}}, completes{text: hello, warn: WarnNoCalls}},
	{27, "calls with finish stop", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{}"`), finish("stop"), done}}, completes{calls: `edit({})`}},

	{30, "standard fragments", reply{Frames: []frame{call(`"index":0,"id":"a","type":"function"`, `"name":"edit","arguments":""`), call(`"index":0`, `"arguments":"{\"a\""`), call(`"index":0`, `"arguments":":1}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1})`, ids: "a"}},
	{31, "whole call at once", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\":1}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1})`, ids: "a"}},
	{32, "two calls interleaved", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\""`), call(`"index":1,"id":"b"`, `"name":"read_file","arguments":"{\"b\""`), call(`"index":0`, `"arguments":":1}"`), call(`"index":1`, `"arguments":":2}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1}) read_file({"b":2})`, ids: "a b"}},
	{33, "all index 0, own ids", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\":1}"`), call(`"index":0,"id":"b"`, `"name":"edit","arguments":"{\"b\":2}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1}) edit({"b":2})`, ids: "a b"}},
	{34, "no index", reply{Frames: []frame{call(`"id":"a"`, `"name":"edit","arguments":"{\"a\":"`), call(``, `"arguments":"1}"`), call(`"id":"b"`, `"name":"read_file","arguments":"{}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1}) read_file({})`, ids: "a b"}},
	{34, "index null and \"0\"", reply{Frames: []frame{call(`"index":"0","id":"a"`, `"name":"edit","arguments":"{\"a\":"`), call(`"index":0`, `"arguments":"1}"`), call(`"index":null,"id":"b"`, `"name":"edit","arguments":"{}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1}) edit({})`, ids: "a b"}},
	{35, "index starts at 1", reply{Frames: []frame{call(`"index":1,"id":"a"`, `"name":"edit","arguments":"{\"a\":"`), call(`"index":1`, `"arguments":"1}"`), call(`"index":7,"id":"b"`, `"name":"edit","arguments":"{}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1}) edit({})`, ids: "a b"}},
	{36, "id empty or missing", reply{Frames: []frame{call(`"index":0,"id":""`, `"name":"edit","arguments":"{}"`), call(`"index":1`, `"name":"read_file","arguments":"{}"`), finish("tool_calls"), done}}, completes{calls: `edit({}) read_file({})`, ids: "call_1 call_2"}},
	{37, "new id with every fragment", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\""`), call(`"index":0,"id":"b"`, `"name":null,"arguments":":1"`), call(`"index":0,"id":"c"`, `"arguments":"}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1})`, ids: "a"}},
	{38, "name with every fragment", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\""`), call(`"index":0,"id":"a"`, `"name":"edit","arguments":":1}"`), call(`"index":0,"id":"a"`, `"name":"edit","arguments":""`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1})`, ids: "a"}},
	{38, "name in pieces", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"read"`), call(`"index":0`, `"name":"_file","arguments":"{}"`), finish("tool_calls"), done}}, completes{calls: `read_file({})`, ids: "a"}},
	{39, "arguments empty or absent", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":""`), call(`"index":1,"id":"b"`, `"name":"read_file"`), finish("tool_calls"), done}}, completes{calls: `edit({}) read_file({})`}},
	{40, "arguments as an object", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":{"a": [1, 2]}`), finish("tool_calls"), done}}, completes{calls: `edit({"a":[1,2]})`}},
	{41, "arguments encoded twice", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"\"{\\\"a\\\":1}\""`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1})`}},
	{42, "two objects glued", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\":1}{\"a\":2}"`), finish("tool_calls"), done}}, completes{calls: `!edit({})`}},
	{43, "tool_calls empty or null in every delta", reply{Frames: []frame{delta1(`{"content":"hel","tool_calls":[]}`), delta1(`{"content":"lo","tool_calls":null}`), finish("stop"), done}}, completes{text: hello}},
	{44, "unknown tool", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"shell","arguments":"{}"`), finish("tool_calls"), done}}, completes{calls: `!shell({})`}},
	{45, "arguments are no object", reply{Frames: []frame{call(`"index":0,"id":"a"`, `"name":"edit","arguments":"[1]"`), finish("tool_calls"), done}}, completes{calls: `!edit({})`}},
	{47, "arguments repeated as text", reply{Frames: []frame{say(`{"a": 1}`), call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\":1}"`), finish("tool_calls"), done}}, completes{calls: `edit({"a":1})`}},

	{49, "reasoning_content", reply{Frames: []frame{delta1(`{"reasoning_content":"hm ","content":null}`), delta1(`{"reasoning_content":"so"}`), say(hello), finish("stop"), done}}, completes{text: hello, reasoning: "hm so"}},
	{50, "reasoning", reply{Frames: []frame{delta1(`{"reasoning":"hm ","reasoning_details":[{"text":"hm "}]}`), delta1(`{"reasoning":"so"}`), say(hello), finish("stop"), done}}, completes{text: hello, reasoning: "hm so"}},
	{51, "think tags, cut anywhere", reply{Frames: []frame{say("\n<th"), say("ink>h"), say("m</thi"), say("nk>\n\nhel"), say("lo"), finish("stop"), done}}, completes{text: hello, reasoning: "hm"}},
	{51, "think tag never closed", reply{Frames: []frame{say("<think>hm, <i"), say("f> a"), finish("stop"), done}}, completes{reasoning: "hm, <if> a"}},
	{51, "think tag never opened", reply{Frames: []frame{say("hm</think>\nhello"), finish("stop"), done}}, completes{text: hello, reasoning: "hm"}},
	{51, "think tags within the answer", reply{Frames: []frame{say("use <think>x</think> so"), finish("stop"), done}}, completes{text: "use <think>x</think> so"}},

	{53, "content null and in parts", reply{Frames: []frame{delta1(`{"role":"assistant","content":null}`), delta1(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hel"},"lo"]}`), finish("stop"), done}}, completes{text: hello, reasoning: "hm"}},
	{54, "choices null or empty", reply{Frames: append([]frame{js(`{"id":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}`), js(`{"choices":null}`)}, okStream...)}, completes{text: hello}},
	{55, "placeholder chunk", reply{Frames: append([]frame{js(`{"id":"","model":"","created":0,"object":"","choices":[{"index":0,"delta":{"role":"assistant"}}]}`)}, okStream...)}, completes{text: hello}},
	{56, "id changes", reply{Frames: []frame{js(`{"id":"x","choices":[{"delta":{"content":"hel"}}]}`), js(`{"id":"y","choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}`), done}}, completes{text: hello}},
	{57, "odd scalars", reply{Frames: []frame{js(`{"id":5,"created":1.5e9,"choices":[{"index":"0","delta":{"content":"hel"}}]}`), js(`{"id":null,"created":"now","choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}`), done}}, completes{text: hello}},
	{58, "unknown members", reply{Frames: []frame{js(`{"obfuscation":"abc","timings":{"x":1},"choices":[{"delta":{"content":"hello","content_filter_results":{}},"logprobs":null,"native_finish_reason":"STOP","finish_reason":"stop"}]}`), done}}, completes{text: hello}},
	{58, "a second choice is ignored", reply{Frames: []frame{js(`{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}`), done}}, completes{text: hello}},

	{59, "usage in a last chunk", reply{Frames: []frame{say(hello), finish("stop"), js(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}}`), done}}, completes{text: hello, usage: &Usage{Input: 6, CacheRead: 4, Output: 2, Reasoning: 5}}},
	{60, "usage with the finish", reply{Frames: []frame{say(hello), js(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`), done}}, completes{text: hello, usage: &Usage{Input: 3, Output: 2}}},
	{61, "usage twice", reply{Frames: []frame{say(hello), js(`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":2}}}`), js(`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`), done}}, completes{text: hello, usage: &Usage{Input: 3, Output: 2}}},
	{62, "usage with every chunk", reply{Frames: []frame{js(`{"choices":[{"delta":{"content":"hel"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`), js(`{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`), done}}, completes{text: hello, usage: &Usage{Input: 3, Output: 2}}},
	{62, "usage that makes no sense is never negative", reply{Frames: []frame{say(hello), js(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":-2,"prompt_tokens_details":{"cached_tokens":9},"completion_tokens_details":{"reasoning_tokens":4}}}`), done}}, completes{text: hello, usage: &Usage{CacheRead: 3, Reasoning: 4}}},

	{70, "error null is no error", reply{Frames: []frame{js(`{"error":null,"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`), done}}, completes{text: hello}},
	{72, "a whole completion instead of a stream", reply{Headers: map[string]string{"Content-Type": "application/json"}, Frames: []frame{{Raw: `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hello","tool_calls":[{"id":"a","type":"function","function":{"name":"edit","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`}}}, completes{text: hello, calls: "edit({})", usage: &Usage{Input: 3, Output: 2}}},
}

func TestCompletingWires(t *testing.T) {
	for _, tt := range completing {
		t.Run(fmt.Sprintf("%02d %s", tt.n, tt.name), func(t *testing.T) {
			r := newRig(t, []step{{Reply: tt.reply}})
			got, err := r.ask()
			tt.want.check(t, got, err)
		})
	}
}

func status(code int, body string, headers ...string) step {
	h := map[string]string{"Content-Type": "application/json"}
	for i := 0; i+1 < len(headers); i += 2 {
		h[headers[i]] = headers[i+1]
	}
	return step{Reply: reply{Status: code, Headers: h, Frames: []frame{{Raw: body}}}}
}

func stream(frames ...frame) step { return step{Reply: reply{Frames: frames}} }

// failing are the numbered cases that end in an error; the steps are all the
// requests that may be sent.
var failing = []struct {
	n     int
	name  string
	steps []step
	kind  Kind
	says  string
}{
	{11, "line of 64 MiB", []step{stream(frame{Raw: "data: "}, frame{Raw: strings.Repeat("x", 1<<20), Repeat: 64})}, KindTooLarge, "longer than any reply"},
	{13, "end without finish or DONE, twice", []step{stream(say("hel")), stream(say("hel"))}, KindTruncated, "without its end mark"},
	{13, "end within a chunk, twice", []step{stream(frame{Raw: `data: {"choices":[{"del`}), stream(frame{Raw: `data: {"choices":[{"del`})}, KindTruncated, "in the middle"},
	{13, "body cut, twice", []step{stream(say("hel"), frame{Cut: true}), stream(say("hel"), frame{Cut: true})}, KindTruncated, "in the middle"},
	{24, "length in text", []step{stream(say("hel"), finish("length"), done)}, KindOutput, "output limit"},
	{28, "content_filter", []step{stream(say("hel"), finish("content_filter"), done)}, KindFilter, "content filter"},
	{29, "refusal", []step{stream(delta1(`{"refusal":"I will"}`), delta1(`{"refusal":" not"}`), finish("stop"), done)}, KindRefusal, "I will not"},
	{65, "error in the stream, twice", []step{stream(say("h"), js(`{"error":{"message":"engine died","type":"server_error"}}`)), stream(js(`{"error":{"message":"engine died"}}`))}, KindServer, "engine died"},
	{66, "error after comments", []step{stream(frame{Raw: ": PROCESSING\n\n: PROCESSING\n\n"}, js(`{"error":{"message":"no credit","code":"insufficient_quota"}}`))}, KindQuota, "no credit"},
	{66, "error after an event line", []step{stream(frame{Raw: "event: error\n"}, js(`{"message":"nope","code":401}`))}, KindAuth, "nope"},
	{66, "error field of old llama.cpp", []step{stream(frame{Raw: "error: {\"message\":\"bad grammar\",\"code\":\"401\"}\n\n"})}, KindAuth, "bad grammar"},
	{67, "error with choices and finish error", []step{
		stream(js(`{"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), done),
		stream(js(`{"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), done),
		stream(js(`{"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), done),
	}, KindOverloaded, "upstream"},
	{67, "finish error without an error", []step{stream(say("h"), finish("error"), done), stream(say("h"), finish("error"), done)}, KindServer, "gave up"},
	{68, "error as a string", []step{stream(js(`{"error":"model crashed"}`)), stream(js(`{ "error" : "model crashed"}`))}, KindServer, "model crashed"},
	{68, "error as a string, HTTP 400", []step{status(400, `{"error":"bad thing"}`)}, KindRejected, "bad thing"},
	{69, "object error", []step{stream(js(`{"object":"error","message":"old vLLM","code":401}`))}, KindAuth, "old vLLM"},
	{71, "one empty delta, then the end (Ollama), twice", []step{stream(delta1(`{"role":"assistant","content":""}`)), stream(delta1(`{"role":"assistant","content":""}`))}, KindTruncated, "end mark"},
	{72, "HTTP 200 with a JSON error", []step{status(200, `{"error":{"code":"invalid_api_key","message":"who are you"}}`)}, KindAuth, "who are you"},
	{72, "HTTP 200 with a JSON error as event stream", []step{status(200, "\n{\"error\":{\"code\":401,\"message\":\"who are you\"}}", "Content-Type", "text/event-stream")}, KindAuth, "who are you"},
	{72, "HTTP 200 with HTML, twice", []step{status(200, "<!DOCTYPE html><html><title>Sign in</title>", "Content-Type", "text/html"), status(200, "<html><title>Sign in</title>", "Content-Type", "text/html")}, KindBadResponse, `web page titled "Sign in"`},
	{73, "HTTP 200 without a delta", []step{stream(finish("stop"), done)}, KindEmpty, "empty"},
	{75, "429 insufficient_quota", []step{status(429, `{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}`)}, KindQuota, "credit"},
	{77, "401", []step{status(401, `{"error":{"message":"Incorrect API key provided: `+testKey+`"}}`)}, KindAuth, "[secret]"},
	{77, "403", []step{status(403, `{"error":{"message":"region"}}`)}, KindAuth, "region"},
	{77, "404", []step{status(404, `404 page not found`, "Content-Type", "text/plain")}, KindNotFound, "/v1"},
	{77, "422", []step{status(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`)}, KindRejected, "field required"},
	{78, "x-should-retry: false", []step{status(503, `{}`, "X-Should-Retry", "false")}, KindOverloaded, "503"},
	{79, "error without a message", []step{status(400, `{"error":{"code":null}}`)}, KindRejected, "HTTP 400"},
	{79, "message is a list, code a number", []step{status(400, `{"error":{"message":["a","b"],"code":17}}`)}, KindRejected, "a; b"},
	{79, "body is no JSON", []step{status(400, `<html><title>Bad</title>`)}, KindRejected, `web page titled "Bad"`},
	{80, "context_length_exceeded", []step{status(400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`)}, KindContext, "too long"},
}

func TestFailingWires(t *testing.T) {
	for _, tt := range failing {
		t.Run(fmt.Sprintf("%02d %s", tt.n, tt.name), func(t *testing.T) {
			r := newRig(t, tt.steps)
			stop := r.runClock()
			_, err := r.ask()
			stop()
			e := fails(t, err, tt.kind, tt.says)
			if e.Attempts != len(tt.steps) {
				t.Errorf("attempts = %d, want %d", e.Attempts, len(tt.steps))
			}
			if strings.Contains(e.Error(), testKey) {
				t.Errorf("the error shows the key: %v", e)
			}
		})
	}
}

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

// retried are the numbered cases that succeed at the second attempt.
var retried = []struct {
	n     int
	name  string
	first step
	waits time.Duration // before the second attempt
}{
	{13, "end without finish or DONE", stream(say("he")), 500 * time.Millisecond},
	{17, "connection reset in a call", stream(call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\""`), frame{Reset: true}), 500 * time.Millisecond},
	{74, "429 with Retry-After in seconds", status(429, `{"error":{"message":"slow"}}`, "Retry-After", "2"), 2 * time.Second},
	{74, "429 with Retry-After as a date", status(429, `{}`, "Retry-After", testclock.New().Now().Add(7*time.Second).Format(http.TimeFormat)), 7 * time.Second},
	{74, "429 with retry-after-ms", status(429, `{}`, "Retry-After-Ms", "1500", "Retry-After", "9"), 1500 * time.Millisecond},
	{74, "429 without Retry-After", status(429, `{}`), 500 * time.Millisecond},
	{76, "500", status(500, `{"error":{"message":"oops"}}`), 500 * time.Millisecond},
	{76, "502 with HTML", status(502, `<html><title>Bad Gateway</title>`, "Content-Type", "text/html"), 500 * time.Millisecond},
	{76, "503 Loading model", status(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`), 500 * time.Millisecond},
	{76, "408", status(408, ``), 500 * time.Millisecond},
	{76, "409", status(409, ``), 500 * time.Millisecond},
	{78, "x-should-retry: true", status(400, `{"error":{"message":"odd"}}`, "X-Should-Retry", "true"), 500 * time.Millisecond},
}

func TestRetriedWires(t *testing.T) {
	for _, tt := range retried {
		t.Run(fmt.Sprintf("%02d %s", tt.n, tt.name), func(t *testing.T) {
			r := newRig(t, []step{tt.first, stream(okStream...)})
			start := r.clock.Now()
			stop := r.runClock()
			got, err := r.ask()
			stop()
			completes{text: hello, attempts: 2}.check(t, got, err)
			if waited := r.clock.Now().Sub(start); waited != tt.waits {
				t.Errorf("waited %v, want %v", waited, tt.waits)
			}
			if !slices.ContainsFunc(r.deltas, func(d Delta) bool { return d.Kind == DeltaRestart }) {
				t.Error("nobody was told that what came so far is void")
			}
		})
	}
}

func Test10BytesSplitAtEveryPosition(t *testing.T) {
	text := say(tricky).Raw + call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{\"a\":\"`+"ü🦀"+`\"}"`).Raw + finish("tool_calls").Raw + "data: [DONE]\r\n\r\n"
	var steps []step
	for i := range len(text) + 1 {
		steps = append(steps, step{Reply: reply{Frames: []frame{{Raw: text}}, Split: fmt.Sprintf("at:%d", i)}})
	}
	steps = append(steps, step{Reply: reply{Frames: []frame{{Raw: text}}, Split: "bytes"}})
	for seed := range 20 {
		steps = append(steps, step{Reply: reply{Frames: []frame{{Raw: text}}, Split: fmt.Sprintf("random:%d", seed)}})
	}
	r := newRig(t, steps)
	for range steps {
		got, err := r.ask()
		completes{text: tricky, calls: `edit({"a":"ü🦀"})`}.check(t, got, err)
	}
}

func Test18StallLongerThanIdle(t *testing.T) {
	r := newRig(t, []step{stream(say("he"), frame{Wait: "one"}), stream(okStream...)})
	go func() {
		<-r.server.Reached("one")
		// Headers are there when the timers of idle and progress run.
		r.clock.Await(func(d []time.Duration, _ int) bool { return slices.Contains(d, time.Minute) })
		r.clock.Advance(time.Minute)
		<-r.server.Gone("one")
		r.clock.Await(func(d []time.Duration, _ int) bool { return len(d) > 0 && d[0] == 500*time.Millisecond })
		r.clock.Advance(500 * time.Millisecond)
	}()
	got, err := r.ask()
	completes{text: hello, attempts: 2}.check(t, got, err)
}

func Test18StallBeforeTheFirstByte(t *testing.T) {
	r := newRig(t, []step{{Reply: reply{Frames: []frame{{Wait: "one"}}}}, {Reply: reply{Frames: []frame{{Wait: "two"}}}}})
	go func() {
		for i, gate := range []string{"one", "two"} {
			<-r.server.Reached(gate)
			r.clock.Advance(5 * time.Minute) // the first-byte timeout of a local server
			<-r.server.Gone(gate)
			if i == 0 {
				r.clock.Await(func(d []time.Duration, _ int) bool { return len(d) > 0 && d[0] == 500*time.Millisecond })
				r.clock.Advance(500 * time.Millisecond)
			}
		}
	}()
	_, err := r.ask()
	if e := fails(t, err, KindFirstByte, "5m"); e.Attempts != 2 {
		t.Errorf("attempts = %d", e.Attempts)
	}
}

func Test19OnlyCommentsUntilProgressTimeout(t *testing.T) {
	frames := []frame{say("he")}
	for i := range 6 {
		frames = append(frames, frame{Wait: strconv.Itoa(i)}, frame{Raw: ": still here\n\n"})
	}
	frames = append(frames, frame{Wait: "forever"})
	r := newRig(t, []step{stream(frames...)})
	go func() {
		sets := 0
		for i := range 6 {
			<-r.server.Reached(strconv.Itoa(i))
			// The idle timer was set anew by what came before.
			r.clock.Await(func(d []time.Duration, n int) bool {
				return n > sets && slices.Contains(d, time.Minute)
			})
			sets = r.clock.Sets()
			r.clock.Advance(20 * time.Second) // never as long as the idle timeout
			r.server.Release(strconv.Itoa(i))
		}
	}()
	_, err := r.ask()
	if e := fails(t, err, KindProgress, "2m0s"); e.Attempts != 1 {
		t.Errorf("attempts = %d", e.Attempts)
	}
}

func Test20CancelClosesTheRequest(t *testing.T) {
	r := newRig(t, []step{stream(say("he"), frame{Wait: "forever"})})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-r.server.Reached("forever"); cancel() }()
	_, err := r.client.Chat(ctx, Request{Messages: []Message{User("u")}}, nil)
	fails(t, err, KindCancelled, "cancelled")
	select {
	case <-r.server.Gone("forever"):
	case <-time.After(time.Second): // the promise is one second
		t.Fatal("the server still has its client a second after the cancel")
	}
	r.client.Close()
	buf := make([]byte, 1<<20)
	if stacks := string(buf[:runtime.Stack(buf, true)]); strings.Contains(stacks, "llm.(*flights).do.func") || strings.Contains(stacks, "llm.(*Client).drain") {
		t.Errorf("a goroutine is left:\n%s", stacks)
	}
}

func Test20CancelWhileWaitingToRetryAndInTheQueue(t *testing.T) {
	r := newRig(t, []step{status(503, `{}`), stream(frame{Wait: "busy"}, say(hello), done)})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		r.clock.Await(func(d []time.Duration, _ int) bool { return len(d) > 0 && d[0] == 500*time.Millisecond })
		cancel()
	}()
	_, err := r.client.Chat(ctx, Request{Messages: []Message{User("u")}}, nil)
	fails(t, err, KindCancelled, "")

	first := make(chan error, 1)
	go func() {
		_, err := r.client.Chat(context.Background(), Request{Messages: []Message{User("a")}}, nil)
		first <- err
	}()
	<-r.server.Reached("busy")
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	_, err = r.client.Chat(ctx, Request{Messages: []Message{User("b")}}, nil) // the endpoint takes one at a time
	fails(t, err, KindCancelled, "")
	r.server.Release("busy")
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func Test36SynthesizedIDIsEchoedInBothMessages(t *testing.T) {
	r := newRig(t, []step{
		stream(call(`"index":0,"id":""`, `"name":"edit","arguments":"{}"`), finish("tool_calls"), done),
		{Expect: modelserver.Expect{Body: map[string]any{"messages.1.tool_calls.0.id": "call_1", "messages.2.tool_call_id": "call_1", "messages.2.content": noOutput}}, Reply: reply{Frames: okStream}},
	})
	first, err := r.send(Request{Messages: []Message{User("u")}, Tools: []openai.Tool{tool("edit")}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.send(Request{Messages: []Message{User("u"), first.Message, Tool(first.Calls[0].ID, "")}, Tools: []openai.Tool{tool("edit")}})
	completes{text: hello}.check(t, got, err)
}

func Test46CallsInText(t *testing.T) {
	for _, text := range []string{
		"I will.\n<tool_call>\n{\"name\": \"edit\", \"arguments\": {\"a\": 1}}\n</tool_call>",
		"I will.\n```json TOOL_CALL\n{\"name\": \"edit\", \"arguments\": {\"a\": 1}}\n```",
		"I will.\n[TOOL_CALLS][{\"name\": \"edit\", \"arguments\": {\"a\": 1}}]",
	} {
		r := newRig(t, []step{stream(say(text), finish("stop"), done), stream(say(text), finish("stop"), done)})
		got, err := r.ask()
		completes{text: text}.check(t, got, err) // not configured: it is text
		r.client.profile.TextToolCalls = true
		got, err = r.ask()
		completes{text: "I will.", calls: `edit({"a":1})`, ids: "call_1", warn: WarnTextCalls}.check(t, got, err)
	}
}

func Test48ExtrasComeBackByteIdentical(t *testing.T) {
	signature := `{"google": {"thought_signature":"a/b+<c>&==",  "n": 1.50}}`
	details := `[{"type":"x" ,"d":"é"}]`
	r := newRig(t, []step{
		stream(delta1(`{"reasoning_details":`+details+`,"tool_calls":[{"index":0,"id":"a","function":{"name":"edit","arguments":"{}"},"extra_content":`+signature+`}]}`), finish("tool_calls"), done),
		stream(okStream...),
	})
	first, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.send(Request{Messages: []Message{User("u"), first.Message, Tool("a", "ok")}}); err != nil {
		t.Fatal(err)
	}
	body := r.server.Received()[1].Body
	for _, want := range []string{`"extra_content":` + signature, `"reasoning_details":` + details} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("the request lacks %s:\n%s", want, body)
		}
	}
}

func Test52ReasoningIsEchoedWhereItIsDemanded(t *testing.T) {
	demand := status(400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`)
	with := modelserver.Expect{Body: map[string]any{"messages.1.reasoning_content": ""}}
	without := modelserver.Expect{Body: map[string]any{"messages.1.reasoning_content": map[string]any{"$absent": true}}}
	turn := stream(call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{}"`), finish("tool_calls"), done)
	r := newRig(t, []step{turn,
		{Expect: without, Reply: demand.Reply},
		{Expect: with, Reply: reply{Frames: okStream}},
		{Expect: with, Reply: reply{Frames: okStream}}, // it is remembered
	})
	first, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	next := Request{Messages: []Message{User("u"), first.Message, Tool("a", "ok")}}
	got, err := r.send(next)
	completes{text: hello, attempts: 2}.check(t, got, err)
	got, err = r.send(next)
	completes{text: hello}.check(t, got, err)

	// What came as reasoning_content goes back as reasoning_content, unless that is refused.
	r = newRig(t, []step{
		stream(delta1(`{"reasoning_content":"hm"}`), call(`"index":0,"id":"a"`, `"name":"edit","arguments":"{}"`), finish("tool_calls"), done),
		{Expect: modelserver.Expect{Body: map[string]any{"messages.1.reasoning_content": "hm"}}, Reply: status(400, `{"error":{"message":"reasoning_content is not allowed"}}`).Reply},
		{Expect: without, Reply: reply{Frames: okStream}},
	})
	if first, err = r.ask(); err != nil {
		t.Fatal(err)
	}
	got, err = r.send(Request{Messages: []Message{User("u"), first.Message, Tool("a", "ok")}})
	completes{text: hello, attempts: 2}.check(t, got, err)
}

func Test63UsageAbsentIsEstimated(t *testing.T) {
	r := newRig(t, once(okStream...))
	got, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	if u := got.Usage; !u.Estimated || u.Input < 10 || u.Input > 100 || u.Output != 1 {
		t.Errorf("usage = %+v", u)
	}
	if got.Cost != nil {
		t.Errorf("cost of an unlisted model = %v, want unknown", *got.Cost)
	}
}

// droppable are the parameters that case 64 and case 84 see rejected.
var droppable = []struct {
	n              int
	param, message string
	instead        string // what is sent in its place
}{
	{64, "stream_options", "Unrecognized request argument supplied: stream_options", ""},
	{84, "temperature", "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", ""},
	{84, "seed", "Extra inputs are not permitted: seed", ""},
	{84, "parallel_tool_calls", "Unknown parameter: 'parallel_tool_calls'.", ""},
	{84, "max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_completion_tokens"},
	{84, "tool_choice", "tool_choice is not supported", ""},
}

func TestRejectedParametersAreDroppedAndRemembered(t *testing.T) {
	for _, tt := range droppable {
		t.Run(fmt.Sprintf("%02d %s", tt.n, tt.param), func(t *testing.T) {
			js, _ := json.Marshal(map[string]any{"error": map[string]any{"message": tt.message, "param": tt.param}})
			without := modelserver.Expect{Body: map[string]any{tt.param: map[string]any{"$absent": true}, "messages": map[string]any{"$len": 1}}}
			if tt.instead != "" {
				without.Body[tt.instead] = 4096
			}
			refuse := status(400, string(js))
			r := newRig(t, []step{refuse, {Expect: without, Reply: reply{Frames: okStream}}, {Expect: without, Reply: reply{Frames: okStream}}})
			seed := 7
			req := Request{Messages: []Message{User("u")}, Tools: []openai.Tool{tool("edit")}, ToolChoice: "auto", Seed: &seed}
			got, err := r.send(req)
			completes{text: hello, attempts: 2}.check(t, got, err)
			if v, ok := r.server.Received()[0].JSON(tt.param); !ok {
				t.Errorf("the first request has no %s (%v)", tt.param, v)
			}
			got, err = r.send(req)
			completes{text: hello}.check(t, got, err)
		})
	}
	t.Run("84 max_completion_tokens after max_tokens", func(t *testing.T) {
		no := func(p string) step { return status(400, `{"error":{"message":"unknown parameter `+p+`"}}`) }
		r := newRig(t, []step{no("max_tokens"), no("max_completion_tokens"), {Expect: modelserver.Expect{Body: map[string]any{"max_completion_tokens": map[string]any{"$absent": true}, "max_tokens": map[string]any{"$absent": true}}}, Reply: reply{Frames: okStream}}})
		got, err := r.ask()
		completes{text: hello, attempts: 3}.check(t, got, err)
	})
}

func TestTemperatureZeroIsSent(t *testing.T) {
	r := newRig(t, []step{{Expect: modelserver.Expect{Body: map[string]any{"temperature": 0}}, Reply: reply{Frames: okStream}}})
	if _, err := r.ask(); err != nil {
		t.Error(err)
	}
}

// tooLong are the ways in which endpoints say that the context is too small.
var tooLong = []struct {
	n      int
	name   string
	status int
	body   string
	window int
}{
	{80, "OpenAI", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 8192},
	{81, "llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, 8192},
	{81, "llama.cpp, older", 500, `{"error":{"code":500,"message":"the request exceeds the available context size (8192 tokens)","type":"server_error"}}`, 8192},
	{82, "vLLM", 400, `{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens","type":"BadRequestError","code":400}`, 8192},
}

func TestContextTooSmallIsLearntAndShrunkOnce(t *testing.T) {
	for _, tt := range tooLong {
		t.Run(fmt.Sprintf("%02d %s", tt.n, tt.name), func(t *testing.T) {
			r := newRig(t, []step{
				status(tt.status, tt.body),
				{Expect: modelserver.Expect{Body: map[string]any{"messages.0.content": "short"}}, Reply: reply{Frames: okStream}},
				status(tt.status, tt.body), status(tt.status, tt.body),
			})
			var window int
			req := Request{Messages: []Message{User("long")}, Shrink: func(w int) ([]Message, bool) { window = w; return []Message{User("short")}, true }}
			got, err := r.send(req)
			completes{text: hello, attempts: 2, warn: WarnShrunk}.check(t, got, err)
			if window != tt.window || r.client.ContextWindow() != tt.window {
				t.Errorf("learnt a window of %d and %d, want %d", window, r.client.ContextWindow(), tt.window)
			}
			_, err = r.send(req) // still too long when shrunk: once is enough
			if e := fails(t, err, KindContext, "context"); e.Attempts != 2 || e.Context != tt.window {
				t.Errorf("attempts = %d, window = %d", e.Attempts, e.Context)
			}
		})
	}
}

func Test83SilentTruncationIsNoticed(t *testing.T) {
	r := newRig(t, once(say(hello), js(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":600,"completion_tokens":2}}`), done))
	got, err := r.send(Request{Messages: []Message{User(strings.Repeat("some words of source ", 500))}})
	completes{text: hello, warn: WarnSilentTruncation}.check(t, got, err)
}

func Test74RetryAfterTooLongFailsAtOnce(t *testing.T) {
	r := newRig(t, []step{status(429, `{}`, "Retry-After", "3600")})
	_, err := r.ask()
	if e := fails(t, err, KindRateLimited, "wait 1h0m0s"); e.RetryAfter != time.Hour {
		t.Errorf("RetryAfter = %v", e.RetryAfter)
	}
}

func Test85NoKeyInLogsOrErrors(t *testing.T) {
	var log bytes.Buffer
	verbose := func(p *Profile, o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	r := newRig(t, []step{status(401, `{"error":{"message":"bad key `+testKey+`"}}`)}, verbose)
	_, err := r.ask()
	p := r.client.Profile()
	shown := fmt.Sprintf("%v %+v %#v %s", err, p, p, log.String())
	if asJSON, e := json.Marshal(p); e == nil {
		shown += string(asJSON)
	}
	slog.New(slog.NewTextHandler(&log, nil)).Info("profile", "key", p.Key, "profile", p)
	if shown += log.String(); strings.Contains(shown, testKey) {
		t.Errorf("the key is shown: %s", shown)
	}
	if log.Len() == 0 {
		t.Error("nothing was logged, so that the test shows nothing")
	}
	if got := r.server.Received()[0].Header.Get("Authorization"); got != "Bearer "+testKey {
		t.Errorf("Authorization = %q", got)
	}
}

func Test86EveryCallIsAnsweredOnceInOrder(t *testing.T) {
	turn := Message{ChatCompletionMessage: openai.ChatCompletionMessage{Role: "assistant", ToolCalls: []openai.ToolCall{{ID: "a"}, {ID: "b"}}}}
	for name, messages := range map[string][]Message{
		"missing":   {turn, Tool("a", "x")},
		"order":     {turn, Tool("b", "x"), Tool("a", "x")},
		"twice":     {turn, Tool("a", "x"), Tool("b", "x"), Tool("b", "x")},
		"too late":  {turn, Tool("a", "x"), User("u"), Tool("b", "x")},
		"no caller": {User("u"), Tool("a", "x")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil) // nothing may be sent
			_, err := r.send(Request{Messages: messages})
			fails(t, err, KindMisconfigured, "call")
		})
	}
	r := newRig(t, once(okStream...))
	if _, err := r.send(Request{Messages: []Message{turn, Tool("a", "x"), Tool("b", "y"), User("u")}}); err != nil {
		t.Error(err)
	}
}

func Test87RedirectElsewhereIsRefused(t *testing.T) {
	other := modelserver.New(t, modelserver.Script{}) // must not be asked
	for _, location := range []string{other.URL, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), "//evil.example/v1"} {
		r := newRig(t, []step{{Reply: reply{Status: 307, Headers: map[string]string{"Location": location + "/chat/completions"}}}})
		_, err := r.ask()
		fails(t, err, KindRedirect, "redirects")
	}
	r := newRig(t, []step{{Reply: reply{Status: 302, Headers: map[string]string{"Location": "/v1/elsewhere"}}}})
	_, err := r.ask()
	fails(t, err, KindRedirect, "redirects") // it would become a GET
	r = newRig(t, []step{{Reply: reply{Status: 307, Headers: map[string]string{"Location": "/v2/chat/completions"}}}, {Expect: modelserver.Expect{Path: "/v2/chat/completions"}, Reply: reply{Frames: okStream}}})
	got, err := r.ask()
	completes{text: hello}.check(t, got, err)
}

// TestEveryCaseIsThere counts the numbered cases of the tables; the others have
// a test with their number in its name.
func TestEveryCaseIsThere(t *testing.T) {
	there := map[int]bool{10: true, 18: true, 19: true, 20: true, 46: true, 48: true, 52: true, 63: true, 83: true, 85: true, 86: true, 87: true}
	for _, tt := range completing {
		there[tt.n] = true
	}
	for _, tt := range failing {
		there[tt.n] = true
	}
	for _, tt := range retried {
		there[tt.n] = true
	}
	for _, tt := range droppable {
		there[tt.n] = true
	}
	for _, tt := range tooLong {
		there[tt.n] = true
	}
	for n := 1; n <= 87; n++ {
		if !there[n] {
			t.Errorf("no test has case %d", n)
		}
	}
}
