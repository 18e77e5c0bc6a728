package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// A scriptedEngine stands for the model: it streams, uses a tool, asks, and
// replaces lonely() in the text it is given by what it was told.
type scriptedEngine struct {
	settings ModelSettings
	ask      bool
	block    chan struct{} // not nil: it works until it is cancelled
	working  chan struct{}
	context  *agent.ContextSnapshot // of its turn
}

func (s *scriptedEngine) Fix(ctx context.Context, job agent.ModelJob) ([]agent.Candidate, []agent.Leftover, error) {
	if s.block != nil {
		close(s.working)
		<-ctx.Done()
		return nil, nil, ctx.Err()
	}
	job.Stream.Thinking("Let me see.")
	job.Stream.Response("I found ", true)
	job.Stream.Response("it.", false)
	job.Stream.ToolCall("call-1", "read_file", "start", json.RawMessage(`{"path":"a.go"}`), nil)
	whole := strings.Repeat("a long line of output\n", 1000)
	job.Stream.ToolCall("call-1", "read_file", "complete", json.RawMessage(`{"path":"a.go"}`), &agent.ToolResult{Success: true, Data: whole[:100], ArtifactID: "1", Full: whole})
	job.Stream.Usage(agent.Usage{Model: "m", Input: 10, Output: 5, Context: s.context})
	with := first(job.Comment, "crowd()")
	if s.ask {
		answer, ok := job.Stream.Ask(ctx, agent.Question{Kind: "choice", Prompt: "Which?", Choices: []string{"one()", "two()"}})
		if !ok {
			return nil, nil, errors.New("no answer")
		}
		with = answer
	}
	at := strings.Index(string(job.File.Text), "lonely()")
	edit := workspace.Edit{Start: at, End: at + len("lonely()"), New: with}
	var ids []string
	for _, in := range job.Incidents {
		ids = append(ids, in.ID)
	}
	c, flaws, err := job.Inspect(ctx, agent.Draft{Engine: agent.Model, Incidents: job.Incidents, Description: "Replace lonely()", Category: agent.Local,
		Files: []agent.DraftFile{{Kind: workspace.EditFile, Path: job.File.Path, Base: job.File, Edits: []workspace.Edit{edit}}},
		Hunks: []rules.Hunk{{Path: job.File.Path, Edits: []workspace.Edit{edit}, IncidentIDs: ids}}})
	if err != nil || len(flaws) > 0 {
		return nil, nil, errors.Join(err, errors.New("flawed"))
	}
	return []agent.Candidate{c}, nil, nil
}

func withEngine(s *scriptedEngine) func(*Options) {
	return func(o *Options) {
		o.Model = func(_ context.Context, settings ModelSettings) (agent.ModelEngine, error) {
			s.settings = settings
			return s, nil
		}
	}
}

func lonely(id string) m {
	return m{"id": id, "rule_id": "find-only", "file_path": "a.go", "line_number": 6}
}

// A model works on what the recipes leave; its proposal is applied after theirs.
func TestRecipeThenModel(t *testing.T) {
	engine := &scriptedEngine{}
	e := newEnv(t, map[string]string{"a.go": before}, withEngine(engine))
	session := must[SessionCreateResult](t, e.client, "kaiak/session/create", m{"workspace_path": e.dir, "configuration": m{"provider": "openai", "model": "gpt-4", "max_turns": 7}}).SessionID
	req := e.generate(session, []m{incident("1", "a.go", 4), lonely("3")}, m{"engines": []string{"recipe", "model"}, "approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	if engine.settings.Model != "gpt-4" || engine.settings.Provider != "openai" || engine.settings.MaxTurns != 7 || engine.settings.Trusted {
		t.Errorf("settings %+v", engine.settings)
	}
	props := e.proposals(req.RequestID)
	if len(props) != 2 || props[0].Source != agent.Recipe || props[1].Source != agent.Model || props[1].DependsOn != props[0].ProposalID {
		t.Fatalf("proposals %+v", props)
	}
	_, err := call[ApplyResult](e.client, "kaiak/proposal/apply", m{"proposal_id": props[1].ProposalID})
	if got := wantError(t, err, ContentModified, ""); got.Data["depends_on"] != props[0].ProposalID {
		t.Errorf("%v: %v", got, got.Data)
	}
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": props[0].ProposalID})
	result := must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": props[1].ProposalID})
	if want := strings.Replace(strings.Replace(before, "oldCall(1)", "newCall(1)", 1), "lonely()", "crowd()", 1); e.read("a.go") != want {
		t.Errorf("the file is\n%s", e.read("a.go"))
	}
	if result.Verdicts[0].State != "fixed" {
		t.Errorf("verdicts %+v", result.Verdicts)
	}
	for _, method := range []string{StreamThinking, StreamAIResponse, StreamToolCall} {
		e.front.await(t, method, func(s sent) bool { return s.Method == method })
	}
	tool := e.front.await(t, "result of a tool", func(s sent) bool {
		return s.Method == StreamToolCall && strings.Contains(string(s.Content), "artifact_id")
	})
	var c ToolCallContent
	tool.content(t, &c)
	out := must[ToolOutputGetResult](t, e.client, "kaiak/tool/output/get", m{"artifact_id": c.Result.ArtifactID, "offset": 999})
	if out.Lines != 1001 || out.Text != "a long line of output\na long line of output\n" {
		t.Errorf("output %+v", out)
	}
	e.checkStream(session)
	used := must[SessionContextResult](t, e.client, "kaiak/session/context", m{"session_id": session})
	if used.Turns != 1 || used.Usage.Input != 10 || used.Usage.Output != 5 || used.Usage.CostUSD != nil || len(used.Models) != 1 {
		t.Errorf("usage %+v", used)
	}
	// Back and forth again.
	must[SessionRevertResult](t, e.client, "kaiak/session/revert", m{"session_id": session})
	if e.read("a.go") != before {
		t.Errorf("reverted to\n%s", e.read("a.go"))
	}
	must[SessionRevertResult](t, e.client, "kaiak/session/unrevert", m{"session_id": session})
	if !strings.Contains(e.read("a.go"), "crowd()") || !strings.Contains(e.read("a.go"), "newCall(1)") {
		t.Errorf("applied again it is\n%s", e.read("a.go"))
	}
	must[SessionRevertResult](t, e.client, "kaiak/session/revert", m{"session_id": session})
	if e.read("a.go") != before {
		t.Errorf("reverted again to\n%s", e.read("a.go"))
	}
	e.checkStream(session)
}

func TestModelAsksItsUser(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before}, withEngine(&scriptedEngine{ask: true}))
	session := e.session()
	req := e.generate(session, []m{lonely("3")}, m{"engines": []string{"model"}, "approval": "defer"})
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	if c := ask.content0(t); c.InteractionType != "choice" || len(c.Choices) != 2 {
		t.Errorf("question %+v", c)
	}
	_, err := call[any](e.client, "kaiak/interaction/respond", m{"interaction_id": ask.InteractionID, "response_type": "choice", "response_data": m{"choice": "three()"}})
	wantError(t, err, ResponseInvalid, "")
	must[any](t, e.client, "kaiak/interaction/respond", m{"interaction_id": ask.InteractionID, "response_type": "choice", "response_data": m{"choice": "two()"}})
	e.front.system(t, "request_completed", req.RequestID)
	view := must[ProposalView](t, e.client, "kaiak/proposal/get", m{"proposal_id": got0(e, req)})
	if !strings.Contains(*view.Files[0].ProposedContent, "two()") {
		t.Errorf("the answer was not heard: %s", *view.Files[0].ProposedContent)
	}
	e.checkStream(session)
}

func TestRefineAndPrompt(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before}, withEngine(&scriptedEngine{}))
	session := e.session()
	req := e.generate(session, []m{lonely("3")}, m{"engines": []string{"model"}})
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	old := got0(e, req)
	_, err := call[any](e.client, "kaiak/proposal/refine", m{"proposal_id": old})
	wantError(t, err, InvalidParams, "")
	refined := must[FixGenerateResult](t, e.client, "kaiak/proposal/refine", m{"proposal_id": old, "comment": "party()"})
	second := e.front.await(t, "new question", func(s sent) bool { return s.Method == StreamUserInteraction && s.RequestID == refined.RequestID })
	e.front.system(t, "request_completed", req.RequestID)
	_, err = call[any](e.client, "kaiak/interaction/respond", m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	wantError(t, err, InteractionResponded, "")
	if p := e.proposals(req.RequestID)[0]; p.Status != ProposalSuperseded {
		t.Errorf("the old proposal is %+v", p)
	}
	if p := e.proposals(refined.RequestID)[0]; p.Supersedes != old {
		t.Errorf("the new proposal is %+v", p)
	}
	must[any](t, e.client, "kaiak/interaction/respond", m{"interaction_id": second.InteractionID, "response_type": "approval", "response_data": m{"approved": false}})
	e.front.system(t, "request_completed", refined.RequestID)

	_, err = call[any](e.client, "kaiak/request/prompt", m{"session_id": session, "input": "x", "behavior": "steer"})
	if got := wantError(t, err, RequestFailed, "NOT_SUPPORTED"); got.Data["member"] != "params.behavior" {
		t.Errorf("%v: %v", got, got.Data)
	}
	prompted := must[FixGenerateResult](t, e.client, "kaiak/request/prompt", m{"session_id": session, "input": "meeting()", "behavior": "follow_up"})
	third := e.front.await(t, "third question", func(s sent) bool { return s.Method == StreamUserInteraction && s.RequestID == prompted.RequestID })
	must[any](t, e.client, "kaiak/interaction/respond", m{"interaction_id": third.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	if !strings.Contains(e.read("a.go"), "meeting()") {
		t.Errorf("the file is\n%s", e.read("a.go"))
	}
	e.front.system(t, "request_completed", prompted.RequestID)
	_, err = call[any](e.client, "kaiak/request/prompt", m{"session_id": session, "input": "again"})
	wantError(t, err, InvalidParams, "")
	e.checkStream(session)
}

func TestCancelStopsTheModel(t *testing.T) {
	engine := &scriptedEngine{block: make(chan struct{}), working: make(chan struct{})}
	e := newEnv(t, map[string]string{"a.go": before}, withEngine(engine))
	session := e.session()
	req := e.generate(session, []m{lonely("3")}, m{"engines": []string{"model"}})
	<-engine.working
	must[FixCancelResult](t, e.client, "kaiak/fix/cancel", m{"request_id": req.RequestID})
	if end := e.front.system(t, "request_completed", req.RequestID).system(); end.Status != "cancelled" {
		t.Errorf("end %+v", end)
	}
	e.checkStream(session)
}

// judge reports whether anybody asked it.
type judge struct{ asked atomic.Int32 }

func (j *judge) Diagnose(context.Context, *workspace.Workspace, []workspace.Change) (before, after []incidents.Incident, err error) {
	j.asked.Add(1)
	return nil, nil, nil
}

// A tool that judges fixes runs what the workspace configures for it, so it is
// asked only where the user trusts the workspace.
func TestDiagnosticsNeedTrust(t *testing.T) {
	j := &judge{}
	e := newEnv(t, map[string]string{"a.go": before}, func(o *Options) { o.Diagnostics = j })
	session := e.session()
	fix := func() {
		t.Helper()
		req := e.generate(session, []m{incident("1", "a.go", 4)}, m{"approval": "defer"})
		e.front.system(t, "request_completed", req.RequestID)
	}
	if fix(); j.asked.Load() != 0 {
		t.Error("a tool was run in a workspace that nobody trusts")
	}
	must[any](t, e.client, "kaiak/config/update", m{"session_id": session, "configuration": m{"trusted": true}})
	if fix(); j.asked.Load() == 0 {
		t.Error("the tool was not asked in a trusted workspace")
	}
}
