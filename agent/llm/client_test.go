package llm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kaiak/kaiak/internal/modelserver"
)

func TestProfileFromEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name, url, key, want, err string
	}{
		{"nothing", "", "", "", "no model endpoint is configured"},
		{"key only", "", "k", DefaultBaseURL, ""},
		{"local without key", "http://localhost:11434/v1", "", "http://localhost:11434/v1", ""},
		{"loopback address", "http://[::1]:8080/v1/", "", "http://[::1]:8080/v1", ""},
		{"whole path", "https://h/v1/chat/completions", "k", "https://h/v1", ""},
		{"Azure keeps its query", "https://x.openai.azure.com/openai/deployments/d?api-version=1", "k", "https://x.openai.azure.com/openai/deployments/d?api-version=1", ""},
		{"plain http to elsewhere", "http://models.example/v1", "k", "", "use https"},
		{"looks like loopback", "http://localhost.example/v1", "k", "", "use https"},
		{"password in the URL", "https://u:p@h/v1", "k", "", "carries a password"},
		{"other scheme", "ftp://h/v1", "k", "", "use https"},
		{"no URL", "api.openai.com", "k", "", "not an absolute URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := FromEnv(func(name string) string { return map[string]string{EnvBaseURL: tt.url, EnvKey: tt.key}[name] })
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if u, err := p.endpoint(); err != nil || u.String() != tt.want {
				t.Errorf("endpoint = %v, %v; want %s", u, err, tt.want)
			}
		})
	}
}

func TestKeyFileMustBePrivate(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := KeyFromFile(write("good", "sk-1\n", 0o600))
	if err != nil || key.Reveal() != "sk-1" {
		t.Errorf("key = %q, %v", key.Reveal(), err)
	}
	for name, path := range map[string]string{
		"two lines": write("two", "a\nb\n", 0o600),
		"empty":     write("empty", "\n", 0o600),
		"missing":   filepath.Join(dir, "missing"),
	} {
		if _, err := KeyFromFile(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if runtime.GOOS != "windows" {
		if _, err := KeyFromFile(write("open", "sk-1", 0o644)); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a file that others can read: %v", err)
		}
	}
}

func TestProfilesByName(t *testing.T) {
	ps := Profiles{{Name: "local"}, {Name: "cloud"}}
	if p, err := ps.Get(""); err != nil || p.Name != "local" {
		t.Errorf("Get() = %v, %v", p.Name, err)
	}
	if p, err := ps.Get("cloud"); err != nil || p.Name != "cloud" {
		t.Errorf("Get(cloud) = %v, %v", p.Name, err)
	}
	if _, err := ps.Get("x"); err == nil || !strings.Contains(err.Error(), "local, cloud") {
		t.Errorf("Get(x) = %v", err)
	}
	if _, err := (Profiles)(nil).Get(""); !errors.Is(err, ErrNoEndpoint) {
		t.Errorf("no profiles: %v", err)
	}
}

func TestLimiterAdapts(t *testing.T) {
	l := NewLimiter(8)
	l.Overloaded()
	l.Overloaded()
	if l.Allowed() != 2 {
		t.Fatalf("after two refusals %d are allowed, want 2", l.Allowed())
	}
	for range successesPerStep {
		l.Succeeded()
	}
	if l.Allowed() != 3 {
		t.Errorf("after %d successes %d are allowed, want 3", successesPerStep, l.Allowed())
	}
	for range successesPerStep * 100 {
		l.Succeeded()
	}
	if l.Allowed() != 8 {
		t.Errorf("in the end %d are allowed, want 8", l.Allowed())
	}
	for range 10 {
		l.Overloaded()
	}
	if l.Allowed() != 1 {
		t.Errorf("at worst %d are allowed, want 1", l.Allowed())
	}
}

func TestLimiterIsFairAndNeverExceeded(t *testing.T) {
	l := NewLimiter(1)
	release, err := l.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 10 {
		ctx, cancel := context.WithCancel(context.Background())
		if i == 4 {
			defer cancel()
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer cancel()
			release, err := l.Acquire(ctx)
			if err != nil {
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			release()
		}()
		for queued := 0; queued <= i; { // the queue grows one by one
			l.mu.Lock()
			queued = l.queue.Len()
			l.mu.Unlock()
			runtime.Gosched()
		}
	}
	release()
	wg.Wait()
	for i, n := range order {
		if i != n {
			t.Fatalf("order = %v", order)
		}
	}
	if l.held != 0 || l.queue.Len() != 0 {
		t.Errorf("%d held, %d queued after all have left", l.held, l.queue.Len())
	}
}

func TestRateLimitHalvesTheEndpoint(t *testing.T) {
	r := newRig(t, []step{status(429, `{}`), stream(okStream...)}, func(p *Profile, _ *Options) { p.Concurrency = 4 })
	stop := r.runClock()
	_, err := r.ask()
	stop()
	if err != nil || r.client.Limiter().Allowed() != 2 {
		t.Errorf("allowed = %d, error %v", r.client.Limiter().Allowed(), err)
	}
}

func TestIdenticalRequestsAreOne(t *testing.T) {
	r := newRig(t, []step{stream(say("hel"), frame{Wait: "half"}, say("lo"), finish("stop"), done)}, func(p *Profile, _ *Options) { p.Concurrency = 4 })
	req := Request{Messages: []Message{User("u")}}
	type result struct {
		text string
		resp *Response
		err  error
	}
	results := make(chan result, 3)
	run := func(ctx context.Context) {
		var text strings.Builder
		resp, err := r.client.Chat(ctx, req, func(d Delta) { text.WriteString(d.Text) })
		results <- result{text.String(), resp, err}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go run(ctx)
	<-r.server.Reached("half")
	go run(context.Background())
	go run(context.Background())
	for joined := 0; joined < 3; runtime.Gosched() {
		r.client.flights.mu.Lock()
		for _, fl := range r.client.flights.running {
			joined = fl.refs
		}
		r.client.flights.mu.Unlock()
	}
	cancel() // the first one leaves; the others still get theirs
	if first := <-results; first.err == nil {
		t.Error("the cancelled one got a response")
	}
	r.server.Release("half")
	for range 2 {
		if got := <-results; got.err != nil || got.text != hello || got.resp.Text != hello {
			t.Errorf("got %q, %+v, %v", got.text, got.resp, got.err)
		}
	}
}

func TestPrices(t *testing.T) {
	u := Usage{Input: 1e6, CacheRead: 2e6, Output: 1e6, Reasoning: 1e6}
	for model, want := range map[string]float64{
		"gpt-4o": 2.5 + 2.5 + 20, "openai/gpt-4o-2024-08-06": 25, "gpt-4o-mini": .15 + .15 + 1.2,
		"gpt-4o-audio-preview": -1, "llama3": -1, "": -1,
	} {
		got := Prices.Cost(model, u)
		if want < 0 {
			if got != nil {
				t.Errorf("%s costs %v, want unknown", model, *got)
			}
		} else if got == nil || *got < want-1e-9 || *got > want+1e-9 {
			t.Errorf("%s costs %v, want %v", model, got, want)
		}
	}
}

func TestResolveModel(t *testing.T) {
	models := func(body string) step {
		s := status(200, body)
		s.Expect = modelserver.Expect{Method: "GET", Path: "/v1/models"}
		return s
	}
	unset := func(p *Profile, _ *Options) { p.Model = "" }
	r := newRig(t, []step{
		models(`{"data":[{"id":"only","meta":{"n_ctx":4096}}]}`),
		{Expect: modelserver.Expect{Body: map[string]any{"model": "only"}}, Reply: reply{Frames: okStream}},
	}, unset)
	if _, err := r.ask(); err != nil {
		t.Fatal(err)
	}
	if r.client.ContextWindow() != 4096 {
		t.Errorf("context window = %d", r.client.ContextWindow())
	}
	r = newRig(t, []step{models(`{"data":[{"id":"b"},{"id":"a"}]}`)}, unset)
	_, err := r.ask()
	fails(t, err, KindMisconfigured, "lists 2 (a, b): set OPENAI_MODEL")
	r = newRig(t, []step{models(`{"error":{"message":"no"}}`)}, unset)
	if _, err = r.ask(); err == nil || !strings.Contains(err.Error(), "OPENAI_MODEL") {
		t.Errorf("error = %v", err)
	}
}

func TestProbe(t *testing.T) {
	list := status(200, `{"data":[{"id":"m","max_model_len":8192}]}`)
	for _, tt := range []struct {
		name  string
		steps []step
		want  []string // check and "+" or "-", in order
		tools bool
	}{
		{"all well", []step{status(200, `{"data":[{"id":"m","context_length":131072}]}`), stream(call(`"index":0,"id":"a"`, `"name":"ping","arguments":"{\"text\":\"pong\"}"`), finish("tool_calls"), done)}, []string{"endpoint+", "model+", "tools+", "context+"}, true},
		{"no tool call, small context", []step{list, stream(say("pong"), finish("stop"), done)}, []string{"endpoint+", "model+", "tools-", "context-"}, false},
		{"tools refused", []step{list, status(400, `{"error":{"message":"m does not support tools"}}`)}, []string{"endpoint+", "tools-"}, false},
		{"wrong key", []step{status(401, `{}`), status(401, `{}`)}, []string{"endpoint-"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.steps)
			rep := r.client.Probe(context.Background())
			var got []string
			for _, f := range rep.Findings {
				got = append(got, f.Check+map[bool]string{true: "+", false: "-"}[f.OK])
				if f.Detail == "" {
					t.Errorf("finding %s says nothing", f.Check)
				}
			}
			if strings.Join(got, " ") != strings.Join(tt.want, " ") || rep.ToolCalls != tt.tools {
				t.Errorf("findings %v, tools %v; want %v, %v", rep.Findings, rep.ToolCalls, tt.want, tt.tools)
			}
		})
	}
}

func TestKindsAreComplete(t *testing.T) {
	for _, k := range Kinds {
		if k.Advice == "" {
			t.Errorf("%s gives no advice", k.Kind)
		}
		if e := (&Error{Kind: k.Kind, Host: "h"}).Error(); !strings.Contains(e, "model endpoint h") || !strings.Contains(e, k.Advice) {
			t.Errorf("%s reads %q", k.Kind, e)
		}
	}
	for _, table := range []map[string]Kind{codeKinds} {
		for word, kind := range table {
			if kind.info().Advice == "" {
				t.Errorf("%s leads to the unlisted kind %s", word, kind)
			}
		}
	}
}

func BenchmarkStreamedToken(b *testing.B) {
	r := &rig{}
	s, err := modelserver.Start(modelserver.Script{Steps: []step{{Times: -1, Reply: reply{Frames: []frame{{Raw: say("token ").Raw, Repeat: 1000}, finish("stop"), done}}}}}, "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if r.client, err = New(Profile{BaseURL: s.URL, Model: "m", Timeouts: Timeouts{Total: time.Hour}}, Options{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.client.Chat(context.Background(), Request{Messages: []Message{User("u")}}, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/token")
}
