package llm

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kaiak/kaiak/internal/testclock"
)

// The tables of the numbered wire shapes. Those that need more than a reply and
// an expectation are tests of their own, with their number in the name.

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
