package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/internal/modelserver"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

func TestModelFixesWhatRulesOnlyFind(t *testing.T) {
	r := newRig(t, project, []step{
		{Reply: reply{Text: "I look at it.", ToolCalls: []call{{Name: "symbol", Arguments: map[string]any{"name": "newAPI"}}}}},
		proposes(good...),
	})
	r.fix()
	if len(r.found) != 2 || len(r.listener.candidates) != 1 {
		t.Fatalf("%d incidents, candidates %+v, leftovers %+v", len(r.found), r.listener.candidates, r.listener.leftovers)
	}
	got := r.result("a.go")
	if strings.Contains(got, "oldAPI") || !strings.Contains(got, "x := newAPI(1)") {
		t.Errorf("result:\n%s", got)
	}
	c := r.listener.candidates[0]
	if c.Engine != agent.Model || len(c.IncidentIDs) != 2 || c.Description != "Use newAPI" || c.Evidence.Tier != "L1" {
		t.Errorf("candidate %+v", c)
	}
	if len(c.Hunks) != 2 || len(c.Hunks[0].IncidentIDs) != 1 || c.Hunks[0].RuleID != "old-api" {
		t.Errorf("hunks %+v, want one per declaration", c.Hunks)
	}
	for _, want := range []string{`response "I look at it." true`, `response "" false`, "tool symbol start", "tool symbol complete", "tool propose_edits start", "tool propose_edits complete"} {
		if !has(r.listener.events, want) {
			t.Errorf("no event %s in %q", want, r.listener.events)
		}
	}
	if len(r.listener.usage) != 2 || r.listener.usage[1].Input != 5000 || r.listener.usage[1].CostUSD != nil || !r.listener.usage[0].Estimated {
		t.Errorf("usage %+v", r.listener.usage)
	}
	if disk, _ := r.ws.Read("a.go"); strings.Count(string(disk.Text), "oldAPI") != 2 {
		t.Error("the file on disk was changed")
	}
	if temp, _ := r.server.Received()[0].JSON("temperature"); temp != 0.0 {
		t.Errorf("temperature = %v", temp)
	}
}

// The prompt only grows at its end, so that the endpoint's prefix cache holds.
func TestRequestsAreAppendOnly(t *testing.T) {
	r := newRig(t, project, []step{
		{Reply: reply{ToolCalls: []call{{Name: "outline", Arguments: map[string]any{"path": "a.go"}}}}},
		proposes("x := oldAPI(9)", "y", "z", "w"),
		proposes(good...),
	})
	r.fix()
	got := r.server.Received()
	for i := 1; i < len(got); i++ {
		before, after := string(got[i-1].Body), string(got[i].Body)
		cut := strings.Index(before, `],"temperature"`)
		if cut < 0 || !strings.HasPrefix(after, before[:cut]) {
			t.Errorf("request %d does not begin with request %d", i, i-1)
		}
	}
}

func TestRepairs(t *testing.T) {
	half := []string{"x := oldAPI(1)", "x := newAPI(1)"}
	for _, tt := range []struct {
		name  string
		steps []step
		tells string // what the model is told in its last request
	}{
		{"bad arguments", []step{{Reply: reply{ToolCalls: []call{{Name: "propose_edits", Arguments: `{"files":`}}}}, proposes(good...)}, "not a JSON object"},
		{"no proposal", []step{{Reply: reply{Text: "Just replace it."}}, proposes(good...)}, "no proposal in your answer"},
		{"unknown tool", []step{{Reply: reply{ToolCalls: []call{{Name: "bash", Arguments: "{}"}}}}, proposes(good...)}, "no tool"},
		{"not found", []step{proposes("x := oldApi(1)", "x"), proposes(good...)}, "NOT been made"},
		{"another file", []step{{Respond: says(func(sha string) reply { return reply{ToolCalls: []call{edits("go.mod", sha, "module m", "module n")}} })}, proposes(good...)}, "may not change"},
		{"stale", []step{{Reply: reply{ToolCalls: []call{edits("a.go", "0123456789", good...)}}}, proposes(good...)}, "stale_base"},
		{"syntax error", []step{proposes("x := oldAPI(1)", "x := newAPI(1", "return oldAPI(2)", "return newAPI(2)"), proposes(good...)}, "new syntax error"},
		{"rule still matches", []step{proposes(half...), proposes(good...)}, "rule old-api still matches"},
		{"suppression", []step{proposes("x := oldAPI(1)", "x := newAPI(1) //nolint", "return oldAPI(2)", "return newAPI(2)"), proposes(good...)}, "suppresses"},
		{"two problems", []step{proposes(half...), proposes("x := oldAPI(1)", "x := newAPI(1", "return oldAPI(2)", "return newAPI(2)"), proposes(good...)}, "syntax error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, project, tt.steps)
			r.fix()
			if len(r.listener.candidates) != 1 {
				t.Fatalf("leftovers %+v", r.listener.leftovers)
			}
			all := r.server.Received()
			if text := all[len(all)-1].Text(); !strings.Contains(text, tt.tells) {
				t.Errorf("the model was not told %q:\n%s", tt.tells, text)
			}
		})
	}
	t.Run("a repair lowers the confidence", func(t *testing.T) {
		one := newRig(t, project, []step{proposes(good...)})
		one.fix()
		two := newRig(t, project, []step{proposes(half...), proposes(good...)})
		two.fix()
		if p, q := one.listener.candidates[0].Confidence, two.listener.candidates[0].Confidence; q >= p {
			t.Errorf("confidence %v at once, %v after a repair", p, q)
		}
	})
}

func forever(s step) []step { s.Times = -1; return []step{s} }

// varying makes a step whose replies differ from each other.
func varying(f func(n int, sha string) reply) []step {
	n := 0
	return forever(step{Respond: func(r modelserver.Received) reply { n++; return f(n, shaOf(r)) }})
}

// Whatever a model does, it ends after a bounded number of requests.
func TestStubbornModelsAreStopped(t *testing.T) {
	read := func(n int) call {
		return call{Name: "read_file", Arguments: map[string]any{"path": "a.go", "start_line": n, "end_line": n}}
	}
	for _, tt := range []struct {
		name  string
		steps []step
		kind  rules.RefusalKind
		most  int // requests
	}{
		{"prose only", forever(step{Reply: reply{Text: "I would replace it."}}), Unusable, 3},
		{"malformed calls", forever(step{Reply: reply{ToolCalls: []call{{Name: "propose_edits", Arguments: "{"}}}}), Unusable, 3},
		{"edits that do not apply", varying(func(n int, sha string) reply {
			return reply{ToolCalls: []call{edits("a.go", sha, fmt.Sprint("nothing", n), "x")}}
		}), Unusable, 3},
		{"proposals that do not pass", varying(func(n int, sha string) reply {
			return reply{ToolCalls: []call{edits("a.go", sha, "x := oldAPI(1)", fmt.Sprintf("x := newAPI(%d)", n))}}
		}), Looping, 3},
		{"the same proposal", forever(proposes("x := oldAPI(1)", "x := newAPI(1)")), Looping, 3},
		{"the same call", forever(step{Reply: reply{ToolCalls: []call{read(1)}}}), Looping, 3},
		{"period 2", varying(func(n int, _ string) reply { return reply{ToolCalls: []call{read(1 + n%2)}} }), Looping, 6},
		{"period 3", varying(func(n int, _ string) reply { return reply{ToolCalls: []call{read(1 + n%3)}} }), Looping, 8},
		{"drifting arguments", varying(func(n int, _ string) reply {
			return reply{ToolCalls: []call{{Name: "search", Arguments: map[string]any{"query": fmt.Sprint("nothing", n)}}}}
		}), Looping, 3},
		{"ever new questions", varying(func(n int, _ string) reply { return reply{ToolCalls: []call{read(n)}} }), BudgetExceeded, 8},
		{"stale for ever", varying(func(n int, _ string) reply {
			return reply{ToolCalls: []call{edits("a.go", fmt.Sprintf("%08d", n), good...)}}
		}), BudgetExceeded, 8},
		{"it declines", []step{{Reply: reply{Text: "NO_FIX: newAPI needs a context\nthat is not here"}}}, Declined, 1},
		{"refusal", []step{{Reply: reply{Frames: []modelserver.Frame{{JSON: modelserver.Chunk(map[string]any{"refusal": "no"}, "stop")}, {Done: true}}}}}, Declined, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, project, tt.steps)
			r.fix()
			l := r.leftover()
			if l.Kind != tt.kind || l.Reason == "" {
				t.Errorf("leftover %+v, want %s", l, tt.kind)
			}
			if n := len(r.server.Received()); n > tt.most {
				t.Errorf("%d requests, want at most %d", n, tt.most)
			}
		})
	}
}

func TestLimitsAskOrStop(t *testing.T) {
	few := func(o *Options) { o.Limits.Turns = 1 }
	look := step{Reply: reply{ToolCalls: []call{{Name: "outline", Arguments: map[string]any{"path": "a.go"}}}}}

	r := newRig(t, project, []step{look}, few)
	r.fix()
	if l := r.leftover(); l.Kind != BudgetExceeded || l.Verdict != agent.Skipped || !strings.Contains(l.Reason, "again to go on") || !has(r.listener.events, "error budget_exceeded true") {
		t.Errorf("nobody answers: %+v, events %q", l, r.listener.events)
	}

	r = newRig(t, project, []step{look, proposes(good...)}, few)
	r.listener.answers = []string{"Continue"}
	r.fix()
	if len(r.listener.candidates) != 1 || len(r.listener.asked) != 1 || len(r.listener.asked[0].Choices) != 2 {
		t.Errorf("after Continue: %+v, asked %+v", r.listener.leftovers, r.listener.asked)
	}

	r = newRig(t, project, []step{look}, few)
	r.listener.answers = []string{"Stop"}
	r.fix()
	if l := r.leftover(); l.Kind != BudgetExceeded {
		t.Errorf("after Stop: %+v", l)
	}

	// A cap that the first call could exceed: nothing is sent.
	r = newRig(t, project, nil, func(o *Options) { o.Ledger = NewLedger(1000, 0) })
	r.fix()
	if l := r.leftover(); l.Kind != BudgetExceeded || !strings.Contains(l.Reason, "of 1000 tokens") {
		t.Errorf("token cap: %+v", l)
	}
}

func TestLedger(t *testing.T) {
	l := NewLedger(100, 1)
	dollars := func(c float64) *float64 { return &c }
	settle, err := l.Reserve(60, dollars(.5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(60, nil); err == nil {
		t.Error("what is under way does not count")
	}
	if _, err := l.Reserve(10, dollars(.6)); err == nil || !strings.Contains(err.Error(), "$") {
		t.Errorf("money under way does not count: %v", err)
	}
	settle(llm.Usage{Input: 20, Output: 10}, dollars(.1))
	if tokens, cost := l.Spent(); tokens != 30 || cost == nil || *cost != .1 {
		t.Errorf("spent %d, %v", tokens, cost)
	}
	settle, err = l.Reserve(70, nil)
	if err != nil {
		t.Errorf("70 of 100 after 30: %v", err)
	}
	settle(llm.Usage{Input: 1}, nil)
	if _, cost := l.Spent(); cost != nil {
		t.Errorf("cost %v although a price is unknown", *cost)
	}
}

func TestEndpointThatCannotBeUsed(t *testing.T) {
	r := newRig(t, project, []step{{Reply: reply{Status: 401, Frames: []modelserver.Frame{{Raw: `{"error":{"message":"who are you"}}`}}}}})
	r.fix()
	if l := r.leftover(); l.Verdict != agent.Failed || !strings.Contains(l.Reason, "who are you") || !strings.Contains(l.Reason, "OPENAI_API_KEY") {
		t.Errorf("leftover %+v", l)
	}
	r = newRig(t, project, nil, func(o *Options) {
		o.Consent = func() error { return errors.New("choose the model engine for this workspace first") }
	})
	r.fix() // and nothing is sent
	if l := r.leftover(); !strings.Contains(l.Reason, "choose the model engine") {
		t.Errorf("leftover %+v", l)
	}
}

func TestReplyThatIsTooLongIsAskedForInParts(t *testing.T) {
	long := step{Reply: reply{Frames: []modelserver.Frame{{JSON: modelserver.Chunk(map[string]any{"content": "x"}, "length")}, {Done: true}}}}
	r := newRig(t, project, []step{long,
		{Expect: modelserver.Expect{Body: map[string]any{"messages.1.content": map[string]any{"$contains": "1. line 5"}}}, Respond: proposes(good[:2]...).Respond},
		{Expect: modelserver.Expect{Body: map[string]any{"messages.1.content": map[string]any{"$contains": "1. line 10"}}}, Respond: proposes(good[2:]...).Respond},
	})
	r.fix()
	if len(r.listener.candidates) != 2 || strings.Contains(r.result("a.go"), "oldAPI") {
		t.Errorf("candidates %+v, leftovers %+v", r.listener.candidates, r.listener.leftovers)
	}
}

func TestManyIncidentsAreWorkedOffInBatches(t *testing.T) {
	var b strings.Builder
	b.WriteString(project[:strings.Index(project, "-- a.go --")] + "-- a.go --\npackage m\n\n")
	for i := range 5 {
		fmt.Fprintf(&b, "func f%d() int {\n\treturn oldAPI(%d)\n}\n\n", i, i)
	}
	b.WriteString("func newAPI(n int) int { return n }\n")
	var steps []step
	for i := 0; i < 5; i += 2 {
		var pairs []string
		for j := i; j < min(i+2, 5); j++ {
			pairs = append(pairs, fmt.Sprintf("oldAPI(%d)", j), fmt.Sprintf("newAPI(%d) + len(\"\\n\")", j))
		}
		steps = append(steps, proposes(pairs...))
	}
	r := newRig(t, b.String(), steps, func(o *Options) { o.Limits.Batch = 2 })
	r.fix()
	if len(r.listener.candidates) != 3 || strings.Contains(r.result("a.go"), "oldAPI") {
		t.Errorf("candidates %+v, leftovers %+v", r.listener.candidates, r.listener.leftovers)
	}
}

func TestTextEditsForModelsWithoutTools(t *testing.T) {
	r := newRig(t, project, []step{{
		Expect: modelserver.Expect{Body: map[string]any{"tools": map[string]any{"$absent": true}, "messages.0.content": map[string]any{"$contains": "<<<<<<< SEARCH"}}},
		Reply:  reply{Text: "a.go\n<<<<<<< SEARCH\n\tx := oldAPI(1)\n=======\n\tx := newAPI(1)\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\n\treturn oldAPI(2)\n=======\n\treturn newAPI(2)\n>>>>>>> REPLACE\n"},
	}}, func(o *Options) { o.TextEdits = true })
	r.fix()
	if len(r.listener.candidates) != 1 || strings.Contains(r.result("a.go"), "oldAPI") {
		t.Errorf("leftovers %+v", r.listener.leftovers)
	}
}

func TestModelThatCallsNoToolsIsAskedForText(t *testing.T) {
	r := newRig(t, project, []step{
		{Reply: reply{Status: 400, Frames: []modelserver.Frame{{Raw: `{"error":{"message":"registry.ollama.ai/library/x does not support tools"}}`}}}},
		{Expect: modelserver.Expect{Body: map[string]any{"tools": map[string]any{"$absent": true}}},
			Reply: reply{Text: "a.go\n<<<<<<< SEARCH\n\tx := oldAPI(1)\n=======\n\tx := newAPI(1)\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n\treturn oldAPI(2)\n=======\n\treturn newAPI(2)\n>>>>>>> REPLACE\n"}},
	})
	r.fix()
	if len(r.listener.candidates) != 1 {
		t.Errorf("leftovers %+v", r.listener.leftovers)
	}
}

func TestContextThatIsTooLargeIsShrunk(t *testing.T) {
	var b strings.Builder
	b.WriteString(project[:strings.Index(project, "-- a.go --")] + "-- a.go --\npackage m\n\n")
	for i := range 200 {
		fmt.Fprintf(&b, "func u%d() int { return %d } // p\n", i, i)
	}
	b.WriteString("func f() int {\n\tx := oldAPI(1)\n\treturn x\n}\n\nfunc newAPI(n int) int { return n }\n")
	tooLong := reply{Status: 400, Frames: []modelserver.Frame{{Raw: `{"error":{"message":"maximum context length is 4096 tokens","code":"context_length_exceeded"}}`}}}
	r := newRig(t, b.String(), []step{{Reply: tooLong}, proposes(good[:2]...)})
	r.fix()
	if len(r.listener.candidates) != 1 {
		t.Fatalf("leftovers %+v", r.listener.leftovers)
	}
	got := r.server.Received()
	if first, second := len(got[0].Body), len(got[1].Body); second >= first {
		t.Errorf("requests of %d and %d bytes", first, second)
	}
	if c := r.listener.candidates[0]; c.Evidence.Checks[agent.CheckContext] != agent.ContextShort || c.Confidence > .3 {
		t.Errorf("confidence %v with checks %v", c.Confidence, c.Evidence.Checks)
	}
}

func TestCancelEndsTheConversation(t *testing.T) {
	r := newRig(t, project, []step{{Reply: reply{Frames: []modelserver.Frame{{JSON: modelserver.Chunk(map[string]any{"content": "x"}, "")}, {Wait: "gate"}}}}})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-r.server.Reached("gate"); cancel() }()
	if err := r.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	select {
	case <-r.server.Gone("gate"):
	case <-time.After(time.Second): // the promise is one second
		t.Error("the request is still open a second after the cancel")
	}
	if len(r.listener.candidates)+len(r.listener.leftovers) > 0 {
		t.Error("something came after the cancel")
	}
}

func TestAskUser(t *testing.T) {
	ask := step{Reply: reply{ToolCalls: []call{{Name: "ask_user", Arguments: map[string]any{"question": "Which?", "choices": []string{"a", "b"}}}}}}
	told := step{Expect: modelserver.Expect{Body: map[string]any{"messages.-1.content": map[string]any{"$contains": "The user answered: b"}}}, Respond: proposes(good...).Respond}
	r := newRig(t, project, []step{ask, told})
	r.listener.answers = []string{"b"}
	r.fix()
	if len(r.listener.candidates) != 1 || r.listener.asked[0].Prompt != "Which?" {
		t.Errorf("leftovers %+v, asked %+v", r.listener.leftovers, r.listener.asked)
	}
}

func TestSecretsStayHere(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2c3D4", 5)
	files := strings.Replace(project, "\treturn x\n", "\t_ = \""+secret+"\"\n\treturn x\n", 1)
	r := newRig(t, files, []step{
		{Reply: reply{ToolCalls: []call{{Name: "read_file", Arguments: map[string]any{"path": "a.go"}}, {Name: "search", Arguments: map[string]any{"query": "ghp_"}}}}},
		proposes("x := oldAPI(1)\n\t_ = \"⟦REDACTED:github-token:1⟧\"", "x := newAPI(1)\n\t_ = \"⟦REDACTED:github-token:1⟧\"", "return oldAPI(2)", "return newAPI(2)"),
		proposes(good...),
	})
	r.fix()
	for i, req := range r.server.Received() {
		if strings.Contains(string(req.Body), secret) {
			t.Errorf("request %d has the secret", i)
		}
	}
	var kinds []string
	audit := ""
	for _, e := range r.listener.records {
		kinds, audit = append(kinds, e.Kind), audit+e.Text
	}
	if strings.Contains(audit, secret) || !strings.Contains(audit, "⟦REDACTED:github-token") {
		t.Error("the audit log has the secret, or nothing was hidden")
	}
	if strings.Count(audit, "The mark of this task") != 1 {
		t.Error("the audit log does not have the prompt once")
	}
	if want := "request response tool_call tool_call request response rejection tool_call request response proposal tool_call"; strings.Join(kinds, " ") != want {
		t.Errorf("the audit log has %v, want %s", kinds, want)
	}
	if got := r.result("a.go"); !strings.Contains(got, secret) || strings.Contains(got, "REDACTED") {
		t.Errorf("the secret in the file was changed:\n%s", got)
	}
	if all := r.server.Received(); !strings.Contains(all[2].Text(), "placeholder") {
		t.Error("the edit over a placeholder was not refused")
	}
}

func TestCheats(t *testing.T) {
	long := "func TestLong(t *testing.T) {\n" + strings.Repeat("\tif f() != 1 {\n\t\tt.Error(1)\n\t}\n", 10) + "}\n"
	for _, tt := range []struct {
		name, path, before, after, says string
	}{
		{"emptied catch", "A.java", "class A { void f() { try { g(); } catch (E e) { h(e); } } }", "class A { void f() { try { g(); } catch (E e) { } } }", "swallows"},
		{"catch with a comment only", "a.ts", "try { g() } catch (e) { h(e) }", "try { g() } catch (e) { /* nothing */ }", "swallows"},
		{"except pass", "a.py", "try:\n    g()\nexcept E:\n    h()\n", "try:\n    g()\nexcept E:\n    pass\n", "swallows"},
		{"ignored error", "a.go", "package a\nfunc f() { if err != nil { return } }", "package a\nfunc f() { if err != nil { } }", "swallows"},
		{"deleted test", "a_test.go", "package a\nfunc TestA(t *testing.T) { f() }\nfunc TestB(t *testing.T) { f() }\n", "package a\nfunc TestA(t *testing.T) { f() }\n", "deletes the test TestB"},
		{"fewer assertions", "a_test.go", "package a\n" + long, "package a\n" + strings.Replace(long, "t.Error(1)", "_ = 1", 1), "assertions"},
		{"skipped test", "a_test.go", "package a\nfunc TestA(t *testing.T) { f() }\n", "package a\nfunc TestA(t *testing.T) { t.Skip(); f() }\n", "switches a test off"},
		{"body deleted", "a.go", "package a\nfunc f() {\n" + strings.Repeat("\tg()\n", 40) + "}\n", "package a\nfunc f() {\n" + strings.Repeat("\tg()\n", 20) + "}\n", "deletes 20 of the 42 lines of f"},
		{"function deleted", "a.go", "package a\nfunc f() {\n" + strings.Repeat("\tg()\n", 40) + "}\nfunc g() {}\n", "package a\nfunc g() {}\n", "deletes f (42 lines)"},
		{"one line deleted", "a.go", "package a\nfunc f() {\n\tg()\n\th()\n}\n", "package a\nfunc f() {\n\tg()\n}\n", ""},
		{"function renamed", "a.go", "package a\nfunc f() {\n" + strings.Repeat("\tg()\n", 40) + "}\n", "package a\nfunc g2() {\n" + strings.Repeat("\tg()\n", 40) + "}\n", ""},
		{"an honest fix", "A.java", "class A { void f() { try { g(); } catch (E e) { h(e); } } }", "class A { void f() { try { g2(); } catch (E e) { h(e); } } }", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flaws := cheats(context.Background(), &workspace.File{Path: tt.path, Text: []byte(tt.before)}, []byte(tt.after))
			got := tell(flaws)
			if tt.says == "" && got != "" || !strings.Contains(got, tt.says) {
				t.Errorf("flaws %q, want %q", got, tt.says)
			}
		})
	}
}

func TestGeneratedFilesAreLeftAlone(t *testing.T) {
	r := newRig(t, strings.Replace(project, "-- a.go --\n", "-- a.go --\n// Code generated by x. DO NOT EDIT.\n\n", 1), nil)
	r.fix()
	if l := r.leftover(); l.Kind != rules.RefusedGenerated {
		t.Errorf("leftover %+v", l)
	}
}
