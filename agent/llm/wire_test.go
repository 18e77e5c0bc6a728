package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/kaiak/kaiak/internal/modelserver"
)

func TestCompletingWires(t *testing.T) {
	for _, tt := range completing {
		t.Run(fmt.Sprintf("%02d %s", tt.n, tt.name), func(t *testing.T) {
			r := newRig(t, []step{{Reply: tt.reply}})
			got, err := r.ask()
			tt.want.check(t, got, err)
		})
	}
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
	heard := make(chan struct{})
	go func() {
		<-heard // the last progress there is: its timer runs from here
		sets := r.clock.Sets() - 1
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
	_, err := r.client.Chat(context.Background(), Request{Messages: []Message{User("u")}}, func(Delta) { close(heard) })
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

func Test18TotalTimeoutEndsAStreamThatStillWrites(t *testing.T) {
	r := newRig(t, []step{stream(say("a"), frame{Wait: "one"}, say("b"), frame{Wait: "two"})}, func(p *Profile, _ *Options) {
		p.Timeouts = Timeouts{Idle: 10 * time.Minute, Progress: 10 * time.Minute, Total: 12 * time.Minute}
	})
	go func() {
		<-r.server.Reached("one")
		r.clock.Await(func(d []time.Duration, _ int) bool { return len(d) == 3 }) // total, idle, progress
		r.clock.Advance(7 * time.Minute)
		r.server.Release("one")
		<-r.server.Reached("two")
		// What came since has set the other two anew.
		r.clock.Await(func(d []time.Duration, _ int) bool {
			return len(d) == 3 && d[0] == 5*time.Minute && d[1] == 10*time.Minute
		})
		r.clock.Advance(5 * time.Minute)
	}()
	_, err := r.ask()
	if e := fails(t, err, KindTotal, "12m0s"); e.Attempts != 1 {
		t.Errorf("attempts = %d", e.Attempts)
	}
}
