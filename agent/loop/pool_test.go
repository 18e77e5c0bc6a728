package loop

import (
	"context"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/internal/modelserver"
)

func TestPoolSharesEndpoints(t *testing.T) {
	server := modelserver.New(t, modelserver.Script{Steps: []step{{
		Expect: modelserver.Expect{Path: "/v1/models"},
		Reply:  reply{Headers: map[string]string{"Content-Type": "application/json"}, Frames: []modelserver.Frame{{Raw: `{"data":[{"id":"only","max_model_len":9000}]}`}}},
	}}})
	pool := NewPool(PoolOptions{Profiles: llm.Profiles{{Name: "a", BaseURL: server.URL, Key: "key-of-the-profile"}, {Name: "b", BaseURL: server.URL, Model: "m"}}, Environ: []string{"MY_TOKEN=from-environ"}})
	defer pool.Close()
	ctx := context.Background()
	for range 3 { // the list is read once
		if _, err := pool.Engine(ctx, "", "", Options{}); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := pool.Client("a", "")
	if again, _ := pool.Client("", ""); again != a || a.ContextWindow() != 9000 {
		t.Error("the endpoint is not shared")
	}
	b, _ := pool.Client("b", "")
	if other, _ := pool.Client("b", "n"); other == b {
		t.Error("two models share a client")
	}
	if got := pool.Secrets().Text("key-of-the-profile from-environ"); strings.Contains(got, "profile") || strings.Contains(got, "environ") {
		t.Errorf("the pool's keys are not hidden: %s", got)
	}
	if _, err := pool.Engine(ctx, "c", "", Options{}); err == nil || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("error = %v", err)
	}
	if _, err := NewPool(PoolOptions{}).Engine(ctx, "", "", Options{}); err == nil || !strings.Contains(err.Error(), "OPENAI_BASE_URL") {
		t.Errorf("error = %v", err)
	}
}

func TestEstimateSendsNothing(t *testing.T) {
	r := newRig(t, manyFiles(3), nil, func(o *Options) { // no step: any request fails the test
		c, err := llm.New(llm.Profile{BaseURL: "http://127.0.0.1:1/v1", Model: "gpt-4o"}, llm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Model = c
	})
	est, err := r.engine.Estimate(context.Background(), r.ws, r.found, nil)
	if err != nil {
		t.Fatal(err)
	}
	if est.Files != 3 || est.Incidents != 3 || est.Requests != 6 || est.Input < 3000 || est.Output < 300 || est.CostUSD == nil || *est.CostUSD <= 0 || *est.CostUSD > 1 {
		t.Errorf("estimate %+v", est)
	}
	unknown := newRig(t, manyFiles(1), nil)
	if est, _ := unknown.engine.Estimate(context.Background(), unknown.ws, unknown.found, nil); est.CostUSD != nil {
		t.Errorf("an unknown price costs %v", *est.CostUSD)
	}
}
