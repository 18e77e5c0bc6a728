package kaiak

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// deadProcess names a service that was killed: its file is there, and nobody
// holds the lock.
func deadProcess(t *testing.T, stateDir string) processID {
	t.Helper()
	dead := processID{PID: 1, Host: "here", Lock: newID("") + ".lock"}
	if err := os.WriteFile(filepath.Join(stateDir, "running", dead.Lock), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dead
}

// rewind puts a record back to a state, as a process that died there left it.
func rewind(t *testing.T, dir string, kind store.Kind, id, state string, change func(data []byte) []byte) {
	t.Helper()
	st, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rec, err := st.Get(context.Background(), kind, id)
	if err != nil {
		t.Fatal(err)
	}
	rec.State = state
	if change != nil {
		rec.Data = change(rec.Data)
	}
	if err := st.Put(context.Background(), kind, rec); err != nil {
		t.Fatal(err)
	}
}

// A process died while it applied: the journal says whether the change is
// there, and the proposal follows it.
func TestDeathWhileApplying(t *testing.T) {
	for _, there := range []bool{true, false} {
		e := newEnv(t, map[string]string{"a.go": before})
		session := e.session()
		req := e.generate(session, []m{incident("1", "a.go", 4), incident("2", "a.go", 5)}, m{"approval": "defer"})
		e.front.system(t, "request_completed", req.RequestID)
		id := got0(e, req)
		if there {
			must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": id})
		}
		if err := e.service.Close(); err != nil {
			t.Fatal(err)
		}
		rewind(t, e.state, store.Proposals, id, ProposalApplying, func(data []byte) []byte {
			p, err := readProposal(store.Record{ID: id, Data: data})
			if err != nil {
				t.Fatal(err)
			}
			p.data.Outcomes = nil
			p.data.Applied = &workspace.Set{ID: p.data.SetID, Changes: p.data.Candidate.Changes}
			dead := deadProcess(t, e.state)
			p.data.Owner = &dead
			return mustJSON(p.data)
		})
		e.start()
		must[any](t, e.client, "kaiak/session/resume", m{"session_id": session})
		got := e.proposals(req.RequestID)[0]
		switch {
		case there && (got.Status != ProposalApplied || len(got.Verdicts) != 2 || got.Verdicts[0].Verdict != "fixed"):
			t.Errorf("the change is there, and the proposal is %+v", got)
		case !there && got.Status != ProposalPending:
			t.Errorf("the change is not there, and the proposal is %+v", got)
		}
		if !there {
			must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": id})
		}
		if e.read("a.go") != after {
			t.Errorf("the file is\n%s", e.read("a.go"))
		}
		e.checkStream(session)
	}
}

// A process died while it made proposals: what it had made is kept, the rest is
// made, nothing twice.
func TestDeathWhileGenerating(t *testing.T) {
	files := map[string]string{}
	var list []m
	for _, name := range []string{"a.go", "b.go", "c.go", "d.go"} {
		files[name] = before
		list = append(list, incident(name, name, 4))
	}
	e := newEnv(t, files)
	session := e.session()
	req := e.generate(session, list, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	props := e.proposals(req.RequestID)
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": props[0].ProposalID})
	if err := e.service.Close(); err != nil {
		t.Fatal(err)
	}
	dead := deadProcess(t, e.state)
	rewind(t, e.state, store.Requests, req.RequestID, RequestProcessing, func(data []byte) []byte {
		return []byte(strings.Replace(string(mustJSON(deadRequest(t, data, dead))), `"generated":true`, `"generated":false`, 1))
	})
	// The last two proposals had not been made yet.
	st, err := store.Open(e.state)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range props[2:] {
		if _, err := st.Delete(context.Background(), store.Proposals, p.ProposalID); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	e.start()
	if got := must[RequestView](t, e.client, "kaiak/request/status", m{"request_id": req.RequestID}); got.Status != RequestInterrupted {
		t.Errorf("after the death the request is %s", got.Status)
	}
	resumed := must[SessionResumeResult](t, e.client, "kaiak/session/resume", m{"session_id": session})
	if len(resumed.ResumedRequestIDs) != 1 {
		t.Fatalf("resumed %+v", resumed)
	}
	e.front.system(t, "request_completed", req.RequestID)
	got := e.proposals(req.RequestID)
	if len(got) != 4 || got[0].Status != ProposalApplied || got[1].ProposalID != props[1].ProposalID {
		t.Fatalf("proposals %+v", got)
	}
	for _, p := range got[1:] {
		must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": p.ProposalID})
	}
	for name := range files {
		if n := strings.Count(e.read(name), "newCall"); n != 1 {
			t.Errorf("%s was changed %d times", name, n)
		}
	}
}

func deadRequest(t *testing.T, data []byte, owner processID) requestData {
	t.Helper()
	_, d, err := readRequest(store.Record{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	d.Owner, d.EndedAt, d.Summary = owner, nil, nil
	return d
}

// A second process sees what the first has made, and each change is applied by
// one of them only.
func TestTwoProcessesOnOneState(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	second, err := New(context.Background(), e.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_, client := connect(second, ClientInfo{Name: "second", Interactive: true})
	events := must[SessionEventsResult](t, client, "kaiak/session/events", m{"session_id": session})
	if mine := e.front.all(); len(events.Events) != len(mine) || string(events.Events[0].Params) != string(mine[0].Raw) {
		t.Errorf("the other process replays %d events of %d", len(events.Events), len(mine))
	}
	won := 0
	for _, c := range []*Client{e.client, client} {
		if _, err := call[ApplyResult](c, "kaiak/proposal/apply", m{"proposal_id": got0(e, req)}); err == nil {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d processes applied the change", won)
	}
	status := must[SessionStatusResult](t, e.client, "kaiak/session/status", m{"session_id": session})
	if int64(status.MessageCount) != status.LastSequence || status.LastSequence <= int64(len(events.Events)) {
		t.Errorf("status %+v", status)
	}
	e.checkStream(session)
}

func TestForkAndDelete(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	fork := must[SessionCreateResult](t, e.client, "kaiak/session/fork", m{"session_id": session, "after_sequence": 2, "session_name": "fork"})
	events := must[SessionEventsResult](t, e.client, "kaiak/session/events", m{"session_id": fork.SessionID})
	if len(events.Events) != 2 || events.LastSequence != 2 {
		t.Errorf("the fork has %+v", events)
	}
	more := e.generate(fork.SessionID, []m{incident("2", "a.go", 5)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", more.RequestID)
	list := must[SessionListResult](t, e.client, "kaiak/session/list", m{"workspace_path": e.dir, "limit": 1})
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != fork.SessionID || list.Sessions[0].ParentID != session || list.Cursor == "" {
		t.Errorf("list %+v", list)
	}
	list = must[SessionListResult](t, e.client, "kaiak/session/list", m{"cursor": list.Cursor})
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != session {
		t.Errorf("second page %+v", list)
	}
	_, err := call[any](e.client, "kaiak/session/list", m{"cursor": "what"})
	wantError(t, err, InvalidParams, "")
	must[any](t, e.client, "kaiak/session/update", m{"session_id": session, "session_name": "renamed", "archived": true})
	list = must[SessionListResult](t, e.client, "kaiak/session/list", m{})
	if len(list.Sessions) != 1 {
		t.Errorf("an archived session is listed: %+v", list)
	}
	must[any](t, e.client, "kaiak/session/delete", m{"session_id": session})
	_, err = call[any](e.client, "kaiak/session/status", m{"session_id": session})
	wantError(t, err, SessionNotFound, "")
	result := must[DeleteSessionResult](t, e.client, "kaiak/delete_session", m{"session_id": fork.SessionID, "cleanup_options": m{"force": true}})
	if result.Status != "deleted" || !result.CleanupResults.SessionRemoved {
		t.Errorf("delete %+v", result)
	}
}

func TestAliases(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	gen := must[GenerateFixResult](t, e.client, "kaiak/generate_fix", m{"incidents": []m{{"id": "1", "uri": "file://" + e.dir + "/a.go", "message": "m", "description": "d", "rule_id": "old-call", "range": m{"start": m{"line": 3, "character": 1}, "end": m{"line": 3, "character": 11}}}},
		"agent_config": m{"workspace": m{"working_dir": e.dir}}})
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	_, err := call[any](e.client, "kaiak/client/user_message", m{"session_id": gen.SessionID, "kind": "tool_confirmation", "timestamp": "2026-01-01T00:00:00Z", "payload": m{"request_id": ask.InteractionID, "action": "perhaps"}})
	wantError(t, err, InvalidParams, "")
	reply := must[UserMessageResult](t, e.client, "kaiak/client/user_message", m{"session_id": gen.SessionID, "message_type": "tool_confirmation", "timestamp": "2026-01-01T00:00:00Z", "payload": m{"request_id": ask.InteractionID, "action": "allow_once"}})
	if !reply.Success {
		t.Errorf("reply %+v", reply)
	}
	e.front.system(t, "request_completed", gen.RequestID)
	if got := strings.Count(e.read("a.go"), "newCall"); got != 1 {
		t.Errorf("%d changes", got)
	}
	two := must[GenerateFixResult](t, e.client, "kaiak/generate_fix", m{"session_id": gen.SessionID, "incidents": []m{incident("2", "a.go", 5)}, "agent_config": m{"workspace": e.dir}})
	must[UserMessageResult](t, e.client, "kaiak/client/user_message", m{"session_id": gen.SessionID, "kind": "control_signal", "payload": m{"signal": "cancel"}})
	if end := e.front.system(t, "request_completed", two.RequestID).system(); end.Status != "cancelled" {
		t.Errorf("end %+v", end)
	}
}

// A workspace that is gone takes nothing else with it: its proposals are
// listed, and its session can be deleted.
func TestWorkspaceThatIsGone(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	if err := os.RemoveAll(e.dir); err != nil {
		t.Fatal(err)
	}
	e.restart()
	if got := e.proposals(req.RequestID); len(got) != 1 || got[0].Current {
		t.Errorf("proposals %+v", got)
	}
	_, err := call[any](e.client, "kaiak/session/status", m{"session_id": session})
	wantError(t, err, WorkspaceAccessDenied, "")
	must[SessionDeleteResult](t, e.client, "kaiak/session/delete", m{"session_id": session})
	_, err = call[any](e.client, "kaiak/session/status", m{"session_id": session})
	wantError(t, err, SessionNotFound, "")
}
