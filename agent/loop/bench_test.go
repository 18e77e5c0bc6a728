package loop

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/internal/modelserver"
)

// instant is a model without an endpoint: it answers at once.
type instant struct {
	reply func(llm.Request) *llm.Response
}

func (m instant) Chat(_ context.Context, r llm.Request, _ func(llm.Delta)) (*llm.Response, error) {
	return m.reply(r), nil
}
func (instant) ContextWindow() int      { return 0 }
func (instant) Cost(llm.Usage) *float64 { return nil }

// BenchmarkLastByteToProposal takes the time from the model's last byte to the
// validated candidate, for a file of 500 lines: resolving, V0 to V5, scoring.
func BenchmarkLastByteToProposal(b *testing.B) {
	r := benchRig(b, 160)
	file, err := r.ws.Read("a.go")
	if err != nil {
		b.Fatal(err)
	}
	args := mustJSON(edits("a.go", file.SHA256, good...).Arguments)
	answers := 0
	r.engine = New(Options{Model: instant{func(llm.Request) *llm.Response {
		answers++
		b.StartTimer() // the last byte is here
		return &llm.Response{Calls: []llm.Call{{ID: "c", Name: "propose_edits", Arguments: args}}}
	}}, Ledger: NewLedger(0, 0)})
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		r.listener.candidates = nil
		r.fixWith(b)
		if len(r.listener.candidates) != 1 {
			b.Fatalf("leftovers %+v", r.listener.leftovers)
		}
	}
}

// BenchmarkTurn is a whole turn over a socket, with a scripted endpoint that
// answers at once: context, request, stream, proposal.
func BenchmarkTurn(b *testing.B) {
	r := benchRig(b, 160)
	server, err := modelserver.Start(modelserver.Script{Steps: []step{{Times: -1, Respond: proposes(good...).Respond}}}, "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	client, err := llm.New(llm.Profile{BaseURL: server.URL, Model: "m", Proxy: "none"}, llm.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	r.engine = New(Options{Model: client, Ledger: NewLedger(0, 0)})
	b.ReportAllocs()
	for b.Loop() {
		r.fixWith(b)
	}
}

// BenchmarkTenStreams holds ten streams of 10,000 tokens and reports the memory
// they take.
func BenchmarkTenStreams(b *testing.B) {
	frame := modelserver.Frame{JSON: modelserver.Chunk(map[string]any{"content": "token "}, ""), Repeat: 10_000}
	for range b.N {
		b.StopTimer()
		var steps []step
		for range 10 {
			steps = append(steps, step{Reply: reply{Frames: []modelserver.Frame{frame, {Wait: "all"}, {JSON: modelserver.Chunk(map[string]any{}, "stop")}, {Done: true}}}})
		}
		server, err := modelserver.Start(modelserver.Script{Steps: steps, Unordered: true}, "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		client, err := llm.New(llm.Profile{BaseURL: server.URL, Model: "m", Proxy: "none", Concurrency: 10}, llm.Options{})
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b.StartTimer()
		got, ended := make(chan int, 1<<20), make(chan error, 10)
		for i := range 10 {
			go func() {
				_, err := client.Chat(context.Background(), llm.Request{Messages: []llm.Message{llm.User(fmt.Sprint(i))}}, func(d llm.Delta) { got <- len(d.Text) })
				ended <- err
			}()
		}
		for range 100_000 { // every token of all ten is here, and none has ended
			<-got
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/10/(1<<20), "MB/stream")
		server.Release("all")
		for range 10 {
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		}
		client.Close()
		server.Close()
	}
}

// benchRig is a rig whose file has the two incidents and n more functions.
func benchRig(b *testing.B, n int) *rig {
	b.Helper()
	var files strings.Builder
	files.WriteString(project)
	for i := range n {
		fmt.Fprintf(&files, "\nfunc u%d() int {\n\treturn %d\n}\n", i, i)
	}
	return newRig(b, files.String(), nil)
}

func (r *rig) fixWith(b *testing.B) {
	b.Helper()
	fixer := agent.New(agent.Options{Rules: r.set, Model: r.engine})
	if err := fixer.Fix(context.Background(), agent.Task{Workspace: r.ws, Incidents: r.found, Engines: []agent.EngineName{agent.Model}, Stream: silent{}}, r.listener); err != nil {
		b.Fatal(err)
	}
}
