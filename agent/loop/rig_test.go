package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/internal/modelserver"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

type (
	step  = modelserver.Step
	reply = modelserver.Reply
	call  = modelserver.ToolCall
)

// project is what most tests work on: a rule that finds but does not fix, and a
// file with two incidents of it.
const project = `
-- .kaiak-test/rules.yml --
id: old-api
language: go
severity: warning
message: oldAPI is gone, use newAPI
metadata: {category: mechanical}
rule: {pattern: oldAPI($$$A)}
-- go.mod --
module m

go 1.22
-- a.go --
package m

// f calls it.
func f() int {
	x := oldAPI(1)
	return x
}

func g() int {
	return oldAPI(2)
}

func newAPI(n int) int { return n }
`

// A rig is a workspace, a scripted endpoint and an agent that uses it.
type rig struct {
	t        testing.TB
	ws       *workspace.Workspace
	dir      string
	set      *rules.Set
	server   *modelserver.Server
	engine   *Engine
	found    []incidents.Incident
	listener *listener
}

func newRig(t testing.TB, files string, steps []step, adjust ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	var ruleFile string
	for _, f := range txtar.Parse([]byte(files)).Files {
		path := filepath.Join(r.dir, filepath.FromSlash(f.Name))
		if f.Name == ".kaiak-test/rules.yml" {
			path = filepath.Join(t.TempDir(), "rules.yml")
			ruleFile = path
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.server = modelserver.New(t, modelserver.Script{Steps: steps, Unordered: true})
	in := newRigIn(t, r.dir, ruleFile, r.server.URL, adjust...)
	in.t, in.dir, in.server = r.t, r.dir, r.server
	return in
}

// newRigIn makes a rig of a folder that is there.
func newRigIn(t testing.TB, dir, ruleFile, url string, adjust ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, listener: &listener{}}
	var err error
	if r.ws, err = workspace.Open(r.dir, workspace.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.ws.Close() })
	set, problems, err := rules.Load(context.Background(), []string{ruleFile}, rules.LoadOptions{Dir: r.dir, Workspace: r.ws})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	r.set = set
	err = r.ws.Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error {
		f, err := r.ws.ReadText(e.Path)
		if err != nil {
			return nil
		}
		matches, err := set.Check(context.Background(), f, nil)
		for _, m := range matches {
			r.found = append(r.found, m.Incident)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{}
	client, err := llm.New(llm.Profile{BaseURL: url, Model: "scripted", Proxy: "none", Concurrency: 8}, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	opts.Model = client
	for _, f := range adjust {
		f(&opts)
	}
	r.engine = New(opts)
	return r
}

// fix runs the agent with the model for all incidents that the rules found.
func (r *rig) fix() {
	r.t.Helper()
	if err := r.run(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) run(ctx context.Context) error {
	fixer := agent.New(agent.Options{Rules: r.set, Model: r.engine})
	return fixer.Fix(ctx, agent.Task{Workspace: r.ws, Incidents: r.found, Engines: []agent.EngineName{agent.Recipe, agent.Model}, Stream: r.listener}, r.listener)
}

// result returns the text of a file once all candidates for it are applied.
func (r *rig) result(path string) string {
	r.t.Helper()
	f, err := r.ws.Read(path)
	if err != nil {
		r.t.Fatal(err)
	}
	text := f.Text
	for _, c := range r.listener.candidates {
		for _, ch := range c.Changes {
			if ch.Path != path {
				continue
			}
			if ch.BaseSHA256 != workspace.SHA256(text) {
				r.t.Fatalf("the candidate is not based on the text before it")
			}
			if text, err = workspace.ApplyEdits(text, ch.Edits); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return string(text)
}

// leftover returns the one reason that all leftovers give.
func (r *rig) leftover() agent.Leftover {
	r.t.Helper()
	if len(r.listener.leftovers) != len(r.found) || len(r.listener.candidates) > 0 {
		r.t.Fatalf("%d leftovers and %d candidates for %d incidents", len(r.listener.leftovers), len(r.listener.candidates), len(r.found))
	}
	return r.listener.leftovers[0]
}

// listener records what the agent and the model tell.
type listener struct {
	mu         sync.Mutex
	candidates []agent.Candidate
	leftovers  []agent.Leftover
	events     []string
	usage      []agent.Usage
	answers    []string // to questions, in order
	asked      []agent.Question
	records    []agent.ModelRecord
}

func (l *listener) Audit(r agent.ModelRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
}

func (l *listener) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, fmt.Sprintf(format, args...))
}

func (l *listener) Progress(int, string, string) {}
func (l *listener) Candidate(c agent.Candidate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.candidates = append(l.candidates, c)
}
func (l *listener) Leftover(x agent.Leftover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leftovers = append(l.leftovers, x)
}
func (l *listener) Response(text string, partial bool) { l.add("response %q %t", text, partial) }
func (l *listener) Thinking(text string)               { l.add("thinking %q", text) }
func (l *listener) ToolCall(id, tool, operation string, _ json.RawMessage, r *agent.ToolResult) {
	l.add("tool %s %s", tool, operation)
}
func (l *listener) Usage(u agent.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usage = append(l.usage, u)
}
func (l *listener) Error(code, message, _ string, recoverable bool) {
	l.add("error %s %t", code, recoverable)
}
func (l *listener) Ask(_ context.Context, q agent.Question) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, q)
	if len(l.answers) == 0 {
		return "", false
	}
	a := l.answers[0]
	l.answers = l.answers[1:]
	return a, true
}

// says makes a reply of the model from the request: it quotes the hash that the
// prompt shows.
func says(f func(sha string) reply) func(modelserver.Received) reply {
	return func(r modelserver.Received) reply { return f(shaOf(r)) }
}

func shaOf(r modelserver.Received) string {
	_, rest, _ := strings.Cut(r.Text(), "base_sha256 ")
	return rest[:min(64, len(rest))]
}

// edits makes a propose_edits call.
func edits(path, sha string, pairs ...string) call {
	var list []any
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, map[string]any{"old_text": pairs[i], "new_text": pairs[i+1]})
	}
	return call{Name: "propose_edits", Arguments: map[string]any{"summary": "Use newAPI", "files": []any{map[string]any{"path": path, "base_sha256": sha, "edits": list}}}}
}

// proposes is a step in which the model proposes edits of a.go.
func proposes(pairs ...string) step {
	return step{Respond: says(func(sha string) reply {
		return reply{ToolCalls: []call{edits("a.go", sha, pairs...)}, Usage: &modelserver.Usage{PromptTokens: 5000, CompletionTokens: 100, TotalTokens: 5100}}
	})}
}

var good = []string{"x := oldAPI(1)", "x := newAPI(1)", "return oldAPI(2)", "return newAPI(2)"}

func has(events []string, want string) bool {
	return slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, want) })
}
