package kaiak

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkRecipes is what 1,000 recipe incidents in 500 files cost the
// service: proposals made, approved one by one, applied and verified.
func BenchmarkRecipes(b *testing.B) {
	files := map[string]string{}
	var list []m
	for i := range 500 {
		name := fmt.Sprintf("p%02d/f%03d.go", i%20, i)
		files[name] = before
		list = append(list, incident(name+"1", name, 4), incident(name+"2", name, 5))
	}
	for b.Loop() {
		b.StopTimer()
		e := newEnv(b, files)
		b.StartTimer()
		session := e.session()
		req := e.generate(session, list, m{"approval": "defer"})
		e.front.system(b, "request_completed", req.RequestID)
		list := must[ProposalListResult](b, e.client, "kaiak/proposal/list", m{"request_id": req.RequestID, "limit": 1000}).Proposals
		if len(list) != 500 {
			b.Fatalf("%d proposals", len(list))
		}
		for _, p := range list {
			must[ApplyResult](b, e.client, "kaiak/proposal/apply", m{"proposal_id": p.ProposalID})
		}
		b.StopTimer()
		e.service.Close()
		b.StartTimer()
	}
}

// BenchmarkCancel is how long the answer to a cancel takes while a question
// waits; the longest of the run is reported beside the mean.
func BenchmarkCancel(b *testing.B) {
	e := newEnv(b, map[string]string{"a.go": before})
	session := e.session()
	var longest time.Duration
	for b.Loop() {
		b.StopTimer()
		req := e.generate(session, []m{incident("1", "a.go", 4)}, nil)
		e.front.await(b, "question", func(s sent) bool { return s.Method == StreamUserInteraction && s.RequestID == req.RequestID })
		b.StartTimer()
		start := time.Now()
		must[FixCancelResult](b, e.client, "kaiak/fix/cancel", m{"request_id": req.RequestID})
		longest = max(longest, time.Since(start))
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest")
}
