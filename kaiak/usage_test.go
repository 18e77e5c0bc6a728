package kaiak

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/kaiak/kaiak/agent"
)

// checkSnapshot holds a result of session.context to the contract's invariants,
// as a client sees it.
func checkSnapshot(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, name := range []string{"context_size", "system_tokens", "tool_tokens", "history_tokens", "memory_tokens", "total_tokens", "remaining_tokens",
		"history_messages", "memory_messages", "total_messages", "history_budget"} {
		var value int
		if err := json.Unmarshal(all[name], &value); err != nil {
			t.Errorf("%s is %s: %v", name, all[name], err)
		}
		n[name] = value
	}
	var messages []struct {
		Role, Source string
		Tokens       *int
	}
	if err := json.Unmarshal(all["messages"], &messages); err != nil {
		t.Fatalf("messages are %s: %v", all["messages"], err)
	}
	sum, sources := 0, map[string]int{}
	for _, m := range messages {
		if m.Tokens == nil || m.Role == "" {
			t.Fatalf("messages are %s", all["messages"])
		}
		sum += *m.Tokens
		sources[m.Source]++
	}
	if want := n["system_tokens"] + n["tool_tokens"] + n["history_tokens"] + n["memory_tokens"]; n["total_tokens"] != want {
		t.Errorf("total_tokens is %d, its parts are %d", n["total_tokens"], want)
	}
	if want := n["context_size"] - n["total_tokens"]; n["remaining_tokens"] != want {
		t.Errorf("remaining_tokens is %d, not %d", n["remaining_tokens"], want)
	}
	if want := n["system_tokens"] + n["history_tokens"] + n["memory_tokens"]; sum != want {
		t.Errorf("the messages have %d tokens, not %d", sum, want)
	}
	if want := 1 + n["history_messages"] + n["memory_messages"]; n["total_messages"] != want || len(messages) != want {
		t.Errorf("total_messages is %d, %d are listed, want %d", n["total_messages"], len(messages), want)
	}
	if sources["system"] != 1 || sources["history"] != n["history_messages"] || sources["memory"] != n["memory_messages"] {
		t.Errorf("messages by source: %v", sources)
	}
}

func TestSessionContextAddsUp(t *testing.T) {
	engine := &scriptedEngine{}
	e := newEnv(t, map[string]string{"a.go": before}, withEngine(engine))
	session := e.session()
	raw := must[json.RawMessage](t, e.client, "kaiak/session/context", m{"session_id": session})
	checkSnapshot(t, raw)
	var got SessionContextResult
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.TotalTokens != 0 || got.ContextSize != 0 || got.Estimated || got.Turns != 0 || got.LastTurn != nil {
		t.Errorf("before the first turn: %s", raw)
	}

	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var run []agent.MessageStats
		for range rng.IntN(6) {
			run = append(run, agent.MessageStats{Role: []string{"user", "assistant", "tool"}[rng.IntN(3)], Tokens: rng.IntN(5000)})
		}
		snapshot := agent.NewContextSnapshot(rng.IntN(100_000), rng.IntN(3000), rng.IntN(3000), run)
		engine.context = &snapshot
		req := e.generate(session, []m{lonely("3")}, m{"engines": []string{"model"}, "approval": "defer"})
		e.front.system(t, "request_completed", req.RequestID)
		raw := must[json.RawMessage](t, e.client, "kaiak/session/context", m{"session_id": session, "request_id": req.RequestID})
		checkSnapshot(t, raw)
		var got SessionContextResult
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if got.TotalTokens != snapshot.TotalTokens || got.ContextSize != snapshot.ContextSize || !got.Estimated || got.Turns != 1 || got.LastTurn.Input != 10 {
			t.Errorf("after a turn with %+v: %s", snapshot, raw)
		}
	}
}
