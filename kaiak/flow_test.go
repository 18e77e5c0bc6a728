package kaiak

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestFixFromIncidentToVerdict(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4), incident("2", "a.go", 5), {"id": "3", "rule_id": "find-only", "file_path": "a.go", "line_number": 6}}, nil)
	if req.Status != "processing" || req.IncidentCount != 3 {
		t.Errorf("answer %+v", req)
	}
	mod := e.front.await(t, "file modification", func(s sent) bool { return s.Method == StreamFileModification })
	var c FileModificationContent
	mod.content(t, &c)
	if *c.OriginalContent != before || *c.ProposedContent != after || c.ChangeType != "edit" || c.SetSize != 1 || len(c.Hunks) != 2 || c.Evidence.Tier != "R1" {
		t.Errorf("file modification %+v", c)
	}
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	if e.read("a.go") != before {
		t.Fatal("the file changed before the approval")
	}
	if got := must[SessionStatusResult](t, e.client, "kaiak/session/status", m{"session_id": session}); got.Status != "waiting_for_user" && got.Status != "processing" {
		t.Errorf("status %q while a question waits", got.Status)
	}
	answer := must[InteractionRespondResult](t, e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	if answer.Status != "processed" || len(answer.Verdicts) != 2 || answer.Verdicts[0].State != "fixed" || answer.Verdicts[1].State != "fixed" {
		t.Errorf("answer %+v", answer)
	}
	if got := e.read("a.go"); got != after {
		t.Errorf("the file is\n%s\nwant\n%s", got, after)
	}
	end := e.front.system(t, "request_completed", req.RequestID).system()
	if end.Status != "partial" || end.Summary.Fixed != 2 || end.Summary.Skipped != 1 || end.Summary.ProposalsGenerated != 1 || end.Summary.UserInteractions != 1 || end.Summary.ProposalsApplied != 1 {
		t.Errorf("end %+v with %+v", end, end.Summary)
	}
	status := must[RequestView](t, e.client, "kaiak/request/status", m{"request_id": req.RequestID})
	if len(status.Incidents) != 3 || status.Incidents[2].State != "skipped" || !strings.Contains(status.Incidents[2].Reason, "no fix") {
		t.Errorf("request status %+v", status)
	}
	if report := must[m](t, e.client, "kaiak/audit/verify", m{}); report["ok"] != true || report["records"].(float64) < 2 {
		t.Errorf("audit %v", report)
	}
	e.checkStream(session)

	must[ProposalStatusResult](t, e.client, "kaiak/proposal/revert", m{"proposal_id": ask.content0(t).ProposalID})
	if got := e.read("a.go"); got != before {
		t.Errorf("after the revert the file is\n%s", got)
	}
	e.checkStream(session)
}

func (s sent) content0(t *testing.T) InteractionContent {
	t.Helper()
	var c InteractionContent
	s.content(t, &c)
	return c
}

func TestApprovalIsCarriedOutOnce(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	params := m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}}
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = call[InteractionRespondResult](e.client, "kaiak/interaction/respond", params)
			} else {
				_, err = call[ApplyResult](e.client, "kaiak/proposal/apply", m{"proposal_id": ask.content0(t).ProposalID})
			}
			if err == nil {
				won.Add(1)
			} else {
				lost.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 15 {
		t.Errorf("%d approvals were carried out, %d refused", won.Load(), lost.Load())
	}
	if got := strings.Count(e.read("a.go"), "newCall"); got != 1 {
		t.Errorf("the change was applied %d times", got)
	}
	e.front.system(t, "request_completed", req.RequestID)
	e.checkStream(session)
}

func TestRejection(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	req := e.generate(e.session(), []m{incident("1", "a.go", 4)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	must[InteractionRespondResult](t, e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": false, "reason": "not now"}})
	e.front.system(t, "request_completed", req.RequestID)
	if got := e.proposals(req.RequestID); len(got) != 1 || got[0].Status != ProposalRejected || got[0].Reason != "not now" {
		t.Errorf("proposals %+v", got)
	}
	if e.read("a.go") != before {
		t.Error("a rejected change was applied")
	}
}

func TestStaleProposalChangesNothing(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	edited := before + "// mine\n"
	e.write("a.go", edited)
	_, err := call[InteractionRespondResult](e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	wantError(t, err, ContentModified, "")
	if e.read("a.go") != edited {
		t.Error("a stale proposal changed the file")
	}
	if got := e.proposals(req.RequestID); got[0].Status != ProposalStale {
		t.Errorf("proposal %+v", got[0])
	}
	e.front.system(t, "request_completed", req.RequestID)
	_, err = call[ApplyResult](e.client, "kaiak/proposal/apply", m{"proposal_id": got0(e, req)})
	wantError(t, err, ContentModified, "")
	e.checkStream(session)
}

func got0(e *env, req FixGenerateResult) string { return e.proposals(req.RequestID)[0].ProposalID }

func TestDeferredPartialAndEditedApproval(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, "b.go": before, "c.go": before})
	session := e.session()
	list := []m{}
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		list = append(list, incident(name+"1", name, 4), incident(name+"2", name, 5))
	}
	req := e.generate(session, list, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	props := e.proposals(req.RequestID)
	if len(props) != 3 {
		t.Fatalf("proposals %+v", props)
	}
	for _, p := range props {
		if p.Status != ProposalPending || !p.Current {
			t.Errorf("proposal %+v, want it pending", p)
		}
	}
	// One hunk of two.
	result := must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": props[0].ProposalID, "hunks": []int{1}})
	if got, want := e.read("a.go"), strings.Replace(before, "oldCall(2)", "newCall(2)", 1); got != want {
		t.Errorf("one hunk gives\n%s", got)
	}
	if result.Verdicts[0].State != "unfixed" || result.Verdicts[1].State != "fixed" {
		t.Errorf("verdicts %+v", result.Verdicts)
	}
	// The text as the user changed it.
	mine := strings.ReplaceAll(after, "newCall(1)", "newCall(1) // checked")
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": props[1].ProposalID, "files": []m{{"file_path": "b.go", "proposed_content": mine}}})
	if e.read("b.go") != mine {
		t.Errorf("the edited text is not what was applied:\n%s", e.read("b.go"))
	}
	// An approval that names other bytes.
	_, err := call[ApplyResult](e.client, "kaiak/proposal/apply", m{"proposal_id": props[2].ProposalID, "proposed_sha256": strings.Repeat("0", 64)})
	wantError(t, err, ContentModified, "")
	_, err = call[ApplyResult](e.client, "kaiak/proposal/apply", m{"proposal_id": props[2].ProposalID, "hunks": []int{7}})
	wantError(t, err, ResponseInvalid, "")
	if e.read("c.go") != before {
		t.Error("a refused approval changed the file")
	}
	view := must[ProposalView](t, e.client, "kaiak/proposal/get", m{"proposal_id": props[2].ProposalID})
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": props[2].ProposalID, "base_sha256": view.Files[0].BaseSHA256, "proposed_sha256": view.Files[0].ProposedSHA256})
	if e.read("c.go") != after {
		t.Error("the approval was not carried out")
	}
	diff := must[SessionDiffResult](t, e.client, "kaiak/session/diff", m{"session_id": session})
	if len(diff.Files) != 3 || strings.Count(diff.Diff, "+\tnewCall") != 5 {
		t.Errorf("diff %s", diff.Diff)
	}
	must[SessionRevertResult](t, e.client, "kaiak/session/revert", m{"session_id": session})
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		if e.read(name) != before {
			t.Errorf("%s is not as it was:\n%s", name, e.read(name))
		}
	}
	e.checkStream(session)
}

func TestSecondApprovalOfOneFileIsStale(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	one := e.generate(session, []m{incident("1", "a.go", 4)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", one.RequestID)
	two := e.generate(session, []m{incident("2", "a.go", 5)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": got0(e, one)})
	e.front.system(t, "proposal_stale", two.RequestID)
	e.front.system(t, "request_completed", two.RequestID)
	_, err := call[InteractionRespondResult](e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	wantError(t, err, InteractionResponded, "")
	if got := strings.Count(e.read("a.go"), "newCall"); got != 1 {
		t.Errorf("%d changes, want 1", got)
	}
	e.checkStream(session)
}

func TestCancel(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	answer := must[FixCancelResult](t, e.client, "kaiak/fix/cancel", m{"request_id": req.RequestID})
	if answer.Status != "cancelled" || answer.CancelledAt.IsZero() {
		t.Errorf("answer %+v", answer)
	}
	if end := e.front.system(t, "request_completed", req.RequestID).system(); end.Status != "cancelled" {
		t.Errorf("end %+v", end)
	}
	_, err := call[InteractionRespondResult](e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	wantError(t, err, InteractionResponded, "")
	_, err = call[FixCancelResult](e.client, "kaiak/fix/cancel", m{"request_id": req.RequestID})
	wantError(t, err, RequestCompleted, "")
	if e.read("a.go") != before {
		t.Error("something was written for a cancelled request")
	}
	e.checkStream(session)
}

// However a cancel and an approval meet: what is on disk when the cancel is
// answered stays, and is all or nothing.
func TestCancelRacesApproval(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	for range 20 {
		e.write("a.go", before)
		req := e.generate(session, []m{incident("1", "a.go", 4), incident("2", "a.go", 5)}, nil)
		ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction && s.RequestID == req.RequestID })
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = call[InteractionRespondResult](e.client, "kaiak/interaction/respond",
				m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}}) // either may win
		})
		_, err := call[FixCancelResult](e.client, "kaiak/fix/cancel", m{"request_id": req.RequestID})
		atReply := e.read("a.go")
		wg.Wait()
		if got := e.read("a.go"); got != atReply && err == nil {
			t.Fatal("something was written after the cancel was answered")
		} else if got != before && got != after {
			t.Fatalf("half a change:\n%s", got)
		}
		e.front.system(t, "request_completed", req.RequestID)
	}
	e.checkStream(session)
}

func TestRestartKeepsWhatIsPending(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	e.restart()
	list := must[InteractionListResult](t, e.client, "kaiak/interaction/list", m{"session_id": session})
	if len(list.Interactions) != 1 || list.Interactions[0].InteractionID != ask.InteractionID || list.Interactions[0].Status != "pending" {
		t.Fatalf("interactions %+v", list)
	}
	if got := must[RequestView](t, e.client, "kaiak/request/status", m{"request_id": req.RequestID}); got.Status != RequestInterrupted {
		t.Errorf("request %+v, want it interrupted", got)
	}
	resumed := must[SessionResumeResult](t, e.client, "kaiak/session/resume", m{"session_id": session})
	if len(resumed.ResumedRequestIDs) != 1 {
		t.Errorf("resumed %+v", resumed)
	}
	must[InteractionRespondResult](t, e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	e.front.system(t, "request_completed", req.RequestID)
	if got := strings.Count(e.read("a.go"), "newCall"); got != 1 {
		t.Errorf("%d changes", got)
	}
	if got := e.proposals(req.RequestID); len(got) != 1 || got[0].Status != ProposalApplied {
		t.Errorf("proposals %+v, want the one that was there", got)
	}
	e.checkStream(session)
}

func TestTimeoutEndsTheQuestionOnly(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := must[SessionCreateResult](t, e.client, "kaiak/session/create", m{"workspace_path": e.dir, "configuration": m{"timeout": 1}}).SessionID
	req := e.generate(session, []m{incident("1", "a.go", 4)}, nil)
	e.front.system(t, "interaction_expired", req.RequestID)
	e.front.system(t, "request_completed", req.RequestID)
	if got := e.proposals(req.RequestID); got[0].Status != ProposalPending {
		t.Fatalf("proposal %+v, want it pending", got[0])
	}
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": got0(e, req)})
	if got := strings.Count(e.read("a.go"), "newCall"); got != 1 {
		t.Errorf("%d changes", got)
	}
	e.checkStream(session)
}

func TestSameClientRequestIDIsOneRequest(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	one := e.generate(session, []m{incident("1", "a.go", 4)}, m{"approval": "defer", "client_request_id": "x"})
	two := e.generate(session, []m{incident("1", "a.go", 4)}, m{"approval": "defer", "client_request_id": "x"})
	if one.RequestID != two.RequestID {
		t.Errorf("two requests: %s and %s", one.RequestID, two.RequestID)
	}
	e.front.system(t, "request_completed", one.RequestID)
	e.restart()
	if three := e.generate(session, []m{incident("1", "a.go", 4)}, m{"client_request_id": "x"}); three.RequestID != one.RequestID {
		t.Errorf("after a restart: %s and %s", one.RequestID, three.RequestID)
	}
}

func TestClientThatCannotAnswerIsAsked(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	front, client := connect(e.service, ClientInfo{Name: "plain"})
	front.answer = "Apply"
	session := must[SessionCreateResult](t, client, "kaiak/session/create", m{"workspace_path": e.dir}).SessionID
	req := must[FixGenerateResult](t, client, "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("1", "a.go", 4)}})
	front.system(t, "request_completed", req.RequestID)
	if got := strings.Count(e.read("a.go"), "newCall"); got != 1 {
		t.Errorf("%d changes", got)
	}
	if len(front.asked) != 1 || !strings.Contains(front.asked[0], "a.go") {
		t.Errorf("asked %q", front.asked)
	}
}

func TestPermissionRules(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, "gen/b.go": before, "deny/c.go": before})
	session := e.session()
	must[PermissionRulesResult](t, e.client, "kaiak/permission/rule/update", m{"session_id": session, "rules": []m{
		{"action": "allow", "path": "**/*.go"}, {"action": "ask", "path": "gen/**"}, {"action": "deny", "path": "deny/**", "reason": "hands off"}}})
	req := e.generate(session, []m{incident("1", "a.go", 4), incident("2", "gen/b.go", 4), incident("3", "deny/c.go", 4)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	must[InteractionRespondResult](t, e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": false}})
	e.front.system(t, "request_completed", req.RequestID)
	got := map[string]string{}
	for _, p := range e.proposals(req.RequestID) {
		got[p.FilePaths[0]] = p.Status
	}
	if got["a.go"] != ProposalApplied || got["gen/b.go"] != ProposalRejected || got["deny/c.go"] != ProposalRejected {
		t.Errorf("states %v", got)
	}
	if !strings.Contains(e.read("a.go"), "newCall(1)") || e.read("deny/c.go") != before {
		t.Error("the rules were not followed")
	}
	e.checkStream(session)
}

func TestOpenDocumentIsChangedByItsEditor(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	ctx := context.Background()
	if err := e.client.SetFolders(ctx, []string{e.dir}, nil); err != nil {
		t.Fatal(err)
	}
	uri := "file://" + e.dir + "/a.go"
	unsaved := strings.Replace(before, "lonely()", "lonely() // not saved", 1)
	if err := e.client.DidOpen(uri, "go", 1, unsaved); err != nil {
		t.Fatal(err)
	}
	e.front.docs[uri] = 1
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4), incident("2", "a.go", 5)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	result := must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": got0(e, req)})
	if result.Status != ProposalAppliedUnsaved {
		t.Errorf("status %s", result.Status)
	}
	file, _ := e.client.Document(uri)
	if want := strings.ReplaceAll(unsaved, "oldCall", "newCall"); string(file.Text) != want {
		t.Errorf("the buffer is\n%s", file.Text)
	}
	if e.read("a.go") != before {
		t.Error("the disk under an open document was written")
	}
	e.write("a.go", string(file.Text))
	if err := e.client.DidSave(uri, nil); err != nil {
		t.Fatal(err)
	}
	if got := e.proposals(req.RequestID)[0].Status; got != ProposalApplied {
		t.Errorf("after saving it is %s", got)
	}
	e.checkStream(session)
}

func TestWaitAndTerminate(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4)}, nil)
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	waited := make(chan SessionStatusResult, 1)
	go func() {
		r, _ := call[SessionStatusResult](e.client, "kaiak/session/wait", m{"session_id": session, "request_id": req.RequestID})
		waited <- r
	}()
	must[InteractionRespondResult](t, e.client, "kaiak/interaction/respond",
		m{"interaction_id": ask.InteractionID, "response_type": "approval", "response_data": m{"approved": true}})
	if got := <-waited; got.Status != "completed" {
		t.Errorf("after waiting the status is %q", got.Status)
	}
	ended := must[SessionTerminateResult](t, e.client, "kaiak/session/terminate", m{"session_id": session})
	if ended.Status != "terminated" || ended.MessageCount == 0 {
		t.Errorf("terminate %+v", ended)
	}
	_, err := call[SessionTerminateResult](e.client, "kaiak/session/terminate", m{"session_id": session})
	wantError(t, err, SessionTerminated, "")
	_, err = call[FixGenerateResult](e.client, "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("1", "a.go", 4)}})
	wantError(t, err, SessionTerminated, "")
	if got := must[SessionResumeResult](t, e.client, "kaiak/session/resume", m{"session_id": session}); got.Status == "terminated" {
		t.Errorf("resumed %+v", got)
	}
	e.checkStream(session)
}

func TestExports(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	session := must[SessionCreateResult](t, e.client, "kaiak/session/create", m{"workspace_path": e.dir, "session_name": "<script>alert(1)</script> | `x`"}).SessionID
	req := e.generate(session, []m{incident("1", "a.go", 4), {"id": "2", "rule_id": "<b>|`rule", "file_path": "a.go", "line_number": 5, "message": "</pre><script>"}}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": got0(e, req)})
	export := func(format string) string {
		return must[SessionExportResult](t, e.client, "kaiak/session/export", m{"session_id": session, "format": format}).Content
	}
	if got := export("patch"); !strings.HasPrefix(got, "--- a/a.go\n+++ b/a.go\n") {
		t.Errorf("patch %q", got)
	}
	var whole exported
	if err := json.Unmarshal([]byte(export("json")), &whole); err != nil || len(whole.Proposals) != 1 || len(whole.Incidents) != 2 || len(whole.Events) == 0 {
		t.Errorf("json export: %v, %+v", err, whole)
	}
	var sarif m
	if err := json.Unmarshal([]byte(export("sarif")), &sarif); err != nil || sarif["version"] != "2.1.0" {
		t.Errorf("sarif export: %v, %v", err, sarif)
	}
	if got := export("html"); strings.Contains(got, "<script>") || !strings.Contains(got, "&lt;script&gt;") {
		t.Errorf("the html export does not escape:\n%s", got)
	}
	if got := export("markdown"); strings.Contains(got, "| <b>|`rule") || !strings.Contains(got, "```diff") {
		t.Errorf("markdown export:\n%s", got)
	}
	_, err := call[SessionExportResult](e.client, "kaiak/session/export", m{"session_id": session, "format": "pdf"})
	wantError(t, err, InvalidParams, "")
}

// Hunks are decided one by one: what is left stays pending, against the text as
// it is after each decision.
func TestHunksAreDecidedOneByOne(t *testing.T) {
	text := "package p\n\nfunc f() {\n\toldCall(1)\n\toldCall(2)\n\toldCall(3)\n}\n"
	e := newEnv(t, map[string]string{"a.go": text})
	session := e.session()
	req := e.generate(session, []m{incident("1", "a.go", 4), incident("2", "a.go", 5), incident("3", "a.go", 6)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	first := must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": got0(e, req), "hunks": []int{0}, "rest": "keep"})
	if first.RestProposalID == "" {
		t.Fatalf("no rest: %+v", first)
	}
	rest := must[ProposalView](t, e.client, "kaiak/proposal/get", m{"proposal_id": first.RestProposalID})
	if rest.Status != ProposalPending || !rest.Current || len(rest.Files[0].Hunks) != 2 || rest.RestOf != first.ProposalID {
		t.Fatalf("rest %+v", rest)
	}
	second := must[ProposalStatusResult](t, e.client, "kaiak/proposal/reject", m{"proposal_id": rest.ProposalID, "hunks": []int{0}, "reason": "not this one"})
	if second.Status != ProposalSuperseded || second.RestProposalID == "" {
		t.Fatalf("rejected %+v", second)
	}
	must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": second.RestProposalID})
	if want := strings.NewReplacer("oldCall(1)", "newCall(1)", "oldCall(3)", "newCall(3)").Replace(text); e.read("a.go") != want {
		t.Errorf("the file is\n%s", e.read("a.go"))
	}
	rows := must[RequestView](t, e.client, "kaiak/request/status", m{"request_id": req.RequestID}).Incidents
	if rows[0].State != "fixed" || rows[2].State != "fixed" || rows[1].State != "skipped" || rows[1].Reason != "not this one" {
		t.Errorf("rows %+v", rows)
	}
	if must[ProposalStatusResult](t, e.client, "kaiak/proposal/reject", m{"proposal_id": reset(e, t, session, text), "hunks": []int{0, 1}}).Status != ProposalRejected {
		t.Error("rejecting every hunk does not reject the proposal")
	}
	e.checkStream(session)
}

// reset puts the file back and makes a proposal of two hunks.
func reset(e *env, t *testing.T, session, text string) string {
	e.write("a.go", text)
	req := e.generate(session, []m{incident("4", "a.go", 4), incident("5", "a.go", 5)}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	return got0(e, req)
}
