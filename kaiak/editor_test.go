package kaiak

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// open opens a file of the workspace in the environment's editor.
func (e *env) open(name, text string) string {
	e.t.Helper()
	if err := e.client.SetFolders(context.Background(), []string{e.dir}, nil); err != nil {
		e.t.Fatal(err)
	}
	uri := "file://" + e.dir + "/" + name
	if err := e.client.DidOpen(uri, "go", 1, text); err != nil {
		e.t.Fatal(err)
	}
	e.front.mu.Lock()
	e.front.docs[uri] = 1
	e.front.mu.Unlock()
	return uri
}

func (e *env) incidents(uri string) Incidents {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := e.client.Incidents(ctx, uri)
	if err != nil {
		e.t.Fatal(err)
	}
	return got
}

// replace tells the client that the user replaced a text in the buffer.
func (e *env) replace(uri, old, new string) {
	e.t.Helper()
	file, ok := e.client.Document(uri)
	if !ok {
		e.t.Fatalf("%s is not open", uri)
	}
	at := strings.Index(string(file.Text), old)
	if at < 0 {
		e.t.Fatalf("no %q in the buffer", old)
	}
	e.front.mu.Lock()
	e.front.docs[uri]++
	version := e.front.docs[uri]
	e.front.mu.Unlock()
	if err := e.client.DidChange(uri, version, []workspace.Edit{{Start: at, End: at + len(old), New: new}}); err != nil {
		e.t.Fatal(err)
	}
}

func rulesOf(list []incidents.Incident) string {
	var out []string
	for _, in := range list {
		out = append(out, fmt.Sprintf("%s:%d", in.RuleID, in.LineNumber))
	}
	return strings.Join(out, " ")
}

func TestIncidentsFollowTheBuffer(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": "package p\n"})
	uri := e.open("a.go", before)
	first := e.incidents(uri)
	if got, want := rulesOf(first.List), "old-call:4 old-call:5 find-only:6"; got != want {
		t.Fatalf("incidents %s, want %s", got, want)
	}
	if again := e.incidents(uri); again.ResultID != first.ResultID {
		t.Error("the same list has another result id")
	}
	e.replace(uri, "oldCall(1)\n", "newCall(1)\n\t// more\n")
	second := e.incidents(uri)
	if got, want := rulesOf(second.List), "old-call:6 find-only:7"; got != want {
		t.Errorf("incidents %s, want %s", got, want)
	}
	if second.List[0].ID != first.List[1].ID {
		t.Error("an edit above an incident gave it another id")
	}
	if second.Version != 2 || second.ResultID == first.ResultID {
		t.Errorf("version %d, result id %s", second.Version, second.ResultID)
	}
}

func TestAnEditIsParsedIncrementally(t *testing.T) {
	var b strings.Builder
	b.WriteString("package p\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "\nfunc f%d() {\n\tnothing(%d)\n}\n", i, i)
	}
	e := newEnv(t, map[string]string{"a.go": "package p\n"})
	uri := e.open("a.go", b.String()+"\nfunc g() { oldCall(1) }\n")
	e.incidents(uri)
	d, err := e.client.document(uri)
	if err != nil {
		t.Fatal(err)
	}
	e.replace(uri, "nothing(2500)", "oldCall(2500)")
	if got := e.incidents(uri); len(got.List) != 2 {
		t.Errorf("incidents %s", rulesOf(got.List))
	}
	d.mu.Lock()
	read := d.parsed.BytesRead()
	d.mu.Unlock()
	if read > b.Len()/20 {
		t.Errorf("%d of %d bytes were read again for one word", read, b.Len())
	}
}

// Whatever is typed while a check runs: the answer is of the present version.
func TestIncidentsUnderTyping(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": "package p\n"})
	uri := e.open("a.go", "package p\n\nfunc f() {\n}\n")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if _, err := e.client.Incidents(context.Background(), uri); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 50 {
		e.replace(uri, "{\n", fmt.Sprintf("{\n\toldCall(%d)\n", i))
	}
	wg.Wait()
	if got := e.incidents(uri); len(got.List) != 50 || got.Version != 51 {
		t.Errorf("%d incidents at version %d", len(got.List), got.Version)
	}
}

func actionTitled(t *testing.T, actions []Action, part string) Action {
	t.Helper()
	for _, a := range actions {
		if strings.Contains(a.Title, part) {
			return a
		}
	}
	var titles []string
	for _, a := range actions {
		titles = append(titles, a.Title)
	}
	t.Fatalf("no action %q in %q", part, titles)
	return Action{}
}

func TestQuickFixCarriesItsEditAndIsRecognised(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	uri := e.open("a.go", before)
	ctx := context.Background()
	in := e.incidents(uri).List[0]
	actions, err := e.client.Actions(ctx, uri, in.Span, nil)
	if err != nil {
		t.Fatal(err)
	}
	fix := actionTitled(t, actions, "Fix: oldCall is deprecated")
	if fix.Kind != KindQuickFix || !fix.Preferred || fix.Command != "" || fix.Disabled != "" {
		t.Errorf("action %+v", fix)
	}
	actionTitled(t, actions, "Fix all 2 incidents of old-call in this file")
	if all := actionTitled(t, actions, "in the workspace"); all.Command != CommandFixRule {
		t.Errorf("action %+v", all)
	}
	if all := actionTitled(t, actions, "that a rule can fix"); all.Kind != KindFixAll {
		t.Errorf("action %+v", all)
	}

	got, err := e.client.Resolve(ctx, fix.Data)
	if err != nil || got.Disabled != "" || got.Version != 1 || len(got.Edits) != 1 {
		t.Fatalf("resolved %+v, %v", got, err)
	}
	if err := e.client.DidChange(uri, 2, got.Edits); err != nil {
		t.Fatal(err)
	}
	applied := e.front.system(t, "proposal_applied", "")
	if applied.system().Status != ProposalAppliedUnsaved || applied.ProposalID != got.ProposalID || applied.system().Results[0].State != "fixed" {
		t.Errorf("applied %s", applied.Raw)
	}
	file, _ := e.client.Document(uri)
	e.write("a.go", string(file.Text))
	if err := e.client.DidSave(uri, nil); err != nil {
		t.Fatal(err)
	}
	p := must[ProposalView](t, e.client, "kaiak/proposal/get", m{"proposal_id": got.ProposalID})
	if p.Status != ProposalApplied {
		t.Errorf("after saving the proposal is %s", p.Status)
	}
	// What the user changed elsewhere stays when the fix is taken back.
	e.front.mu.Lock()
	e.front.docs[uri] = 2
	e.front.mu.Unlock()
	e.replace(uri, "lonely()", "lonely() // mine")
	must[any](t, e.client, "kaiak/proposal/revert", m{"proposal_id": got.ProposalID})
	file, _ = e.client.Document(uri)
	if want := strings.Replace(before, "lonely()", "lonely() // mine", 1); string(file.Text) != want {
		t.Errorf("after the revert the buffer is\n%s", file.Text)
	}
	e.checkStream(applied.SessionID)
}

func TestResolveOfAChangedText(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	uri := e.open("a.go", before)
	actions, err := e.client.Actions(context.Background(), uri, e.incidents(uri).List[0].Span, nil)
	if err != nil {
		t.Fatal(err)
	}
	fix := actionTitled(t, actions, "Fix: oldCall")
	e.replace(uri, "package p\n", "package p\n\n// above\n")
	if got, err := e.client.Resolve(context.Background(), fix.Data); err != nil || got.Disabled != "" || got.Version != 2 {
		t.Errorf("after an edit above: %+v, %v; want the edit for the new version", got, err)
	}
	e.replace(uri, "oldCall(1)", "other(1)")
	if got, err := e.client.Resolve(context.Background(), fix.Data); err != nil || !strings.Contains(got.Disabled, "stale") {
		t.Errorf("after the incident went away: %+v, %v; want it disabled", got, err)
	}
}

func TestForeignDiagnosticsHaveActions(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, "b.go": before, ".kaiak/rules/bound.yml": "id: bound\nlanguage: go\nmessage: bound\nrule: {pattern: lonely()}\nfix: crowd()\nmetadata: {fixes: [SA9999]}\n"})
	uri := e.open("a.go", before)
	ctx := context.Background()
	at := strings.Index(before, "lonely")
	foreign := incidents.Incident{ID: "theirs", RuleID: "SA9999", FilePath: "a.go", LineNumber: 6, Message: "do not be lonely", Source: "staticcheck",
		Range: &incidents.Range{Start: incidents.Position{Line: 5, Character: 1}, End: incidents.Position{Line: 5, Character: 9}}, Span: incidents.Span{Start: at, End: at + 8}}
	actions, err := e.client.Actions(ctx, uri, incidents.Span{}, []incidents.Incident{foreign})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.client.Resolve(ctx, actionTitled(t, actions, "Fix: do not be lonely").Data)
	if err != nil || len(got.Edits) == 0 {
		t.Fatalf("resolved %+v, %v", got, err)
	}

	// A fix of its own source that changes two files is a command.
	edit := func(path string) incidents.FixEdit {
		return incidents.FixEdit{FilePath: path, NewText: "q", Range: incidents.Range{Start: incidents.Position{Character: 8}, End: incidents.Position{Character: 9}}}
	}
	foreign.ID, foreign.RuleID, foreign.Fixes = "two", "other", []incidents.Fix{{Title: "Rename the package", Edits: []incidents.FixEdit{edit("a.go"), edit("b.go")}}}
	actions, err = e.client.Actions(ctx, uri, incidents.Span{}, []incidents.Incident{foreign})
	if err != nil {
		t.Fatal(err)
	}
	rename := actionTitled(t, actions, "Rename the package")
	if rename.Command != CommandFix {
		t.Fatalf("action %+v, want a command", rename)
	}
	if _, err := e.client.Command(ctx, rename.Command, []json.RawMessage{mustJSON(rename.Data)}); err != nil {
		t.Fatal(err)
	}
	file, _ := e.client.Document(uri)
	if !strings.HasPrefix(string(file.Text), "package q\n") || !strings.HasPrefix(e.read("b.go"), "package q\n") {
		t.Errorf("the buffer is\n%s\nthe file is\n%s", file.Text, e.read("b.go"))
	}
}

func TestFixRuleInTheWorkspaceAsksOnce(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, "sub/b.go": before, "c.txt": "oldCall(1)\n"})
	front, client := connect(e.service, ClientInfo{Name: "plain"})
	front.answer = "Apply all"
	if err := client.SetFolders(context.Background(), []string{e.dir}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Command(context.Background(), CommandFixRule, []json.RawMessage{mustJSON(ActionData{Action: ActionFixRuleAll, RuleID: "old-call"})}); err != nil {
		t.Fatal(err)
	}
	if e.read("a.go") != after || e.read("sub/b.go") != after {
		t.Error("not everything was fixed")
	}
	if len(front.asked) != 1 {
		t.Errorf("asked %q", front.asked)
	}
}

func TestCommands(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	ctx := context.Background()
	seen := map[string]bool{}
	for _, name := range e.client.Commands() {
		seen[name] = true
	}
	if !seen["kaiak/fix/generate"] || !seen["kaiak/generate_fix"] || !seen[CommandApply] {
		t.Errorf("commands %v", e.client.Commands())
	}
	_, err := e.client.Command(ctx, "kaiak.nothing", nil)
	wantError(t, err, MethodNotFound, "")
	_, err = e.client.Command(ctx, CommandApply, []json.RawMessage{json.RawMessage(`{"action":"apply","proposal_id":"none"}`)})
	wantError(t, err, RequestFailed, "PROPOSAL_NOT_FOUND")
	_, err = e.client.Command(ctx, CommandApply, []json.RawMessage{json.RawMessage(`[1]`)})
	wantError(t, err, InvalidParams, "")
	if _, err := e.client.Command(ctx, "kaiak/session/create", []json.RawMessage{mustJSON(m{"workspace_path": e.dir})}); err != nil {
		t.Error(err)
	}
}

const sarifReport = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"checker"}},"results":[
{"ruleId":"R1","message":{"text":"found by another"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":6}}}]}]}]}`

func TestAnalysisFilesAreWatched(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, ".kaiak/config.yaml": "analysis_files: [\"reports/*.sarif\"]\n"})
	uri := e.open("a.go", before)
	wait := func(what string, ok func(Incidents) bool) {
		t.Helper()
		deadline := time.NewTimer(patience)
		defer deadline.Stop()
		for {
			e.front.mu.Lock()
			changed := e.front.changed
			e.front.mu.Unlock()
			if ok(e.incidents(uri)) {
				return
			}
			select {
			case <-changed:
			case <-deadline.C:
				t.Fatalf("%s: incidents %s", what, rulesOf(e.incidents(uri).List))
			}
		}
	}
	has := func(got Incidents) bool { return strings.Contains(rulesOf(got.List), "R1:6") }
	e.write("reports/one.sarif", sarifReport)
	wait("a new report", has)
	e.write("reports/one.sarif", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"checker"}},"results":[]}]}`)
	wait("an empty report", func(got Incidents) bool { return !has(got) })
	e.write(".kaiak/rules/test.yml", strings.ReplaceAll(testRules, "old-call", "renamed"))
	wait("other rules", func(got Incidents) bool { return strings.Contains(rulesOf(got.List), "renamed:4") })
	e.write(".kaiak/config.yaml", "disabled_rules: [renamed]\n")
	wait("other settings", func(got Incidents) bool { return !strings.Contains(rulesOf(got.List), "renamed") })
}

func TestIncidentOperations(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, "sub/b.go": before, "report.sarif": sarifReport})
	got := must[IncidentScanResult](t, e.client, "kaiak/incident/scan", m{"workspace_path": e.dir})
	// A workspace that nothing else uses is closed after the call; a session keeps it.
	if len(got.Incidents) != 6 || got.Files != 2 {
		t.Errorf("scan %+v", got)
	}
	session := e.session()
	part := must[IncidentScanResult](t, e.client, "kaiak/incident/scan", m{"session_id": session, "paths": []string{"sub"}})
	if rulesOf(part.Incidents) != "old-call:4 old-call:5 find-only:6" || part.Incidents[0].FilePath != "sub/b.go" {
		t.Errorf("scan of a part %+v", part)
	}
	one := must[IncidentScanResult](t, e.client, "kaiak/incident/scan", m{"session_id": session, "rule_ids": []string{"find-only"}})
	if len(one.Incidents) != 2 {
		t.Errorf("scan by one rule %+v", one)
	}
	in := must[IncidentIngestResult](t, e.client, "kaiak/incident/ingest", m{"session_id": session, "file_path": "report.sarif"})
	if in.Count != 1 || in.Incidents[0].RuleID != "R1" {
		t.Errorf("ingest %+v", in)
	}
	list := must[IncidentListResult](t, e.client, "kaiak/incident/list", m{"session_id": session, "rule_id": "R1"})
	if list.Total != 1 || list.Incidents[0].LineNumber != 6 {
		t.Errorf("list %+v", list)
	}
	// An id is enough for an incident that is known.
	req := e.generate(session, []m{{"id": part.Incidents[0].ID}}, m{"approval": "defer"})
	e.front.system(t, "request_completed", req.RequestID)
	if got := e.proposals(req.RequestID); len(got) != 1 || got[0].FilePaths[0] != "sub/b.go" {
		t.Errorf("proposals %+v", got)
	}
	_, err := call[any](e.client, "kaiak/incident/ingest", m{"session_id": session, "content": "what is this"})
	wantError(t, err, InvalidParams, "")
	must[IncidentIngestResult](t, e.client, "kaiak/incident/ingest", m{"session_id": session, "incidents": []m{{"file_path": "a.go", "line_number": 2, "rule_id": "mine"}}})
}

// A document that was open before its folder was is at home in it afterwards,
// and homeless again when the folder goes.
func TestFoldersComeAndGo(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	ctx := context.Background()
	uri := "file://" + e.dir + "/a.go"
	if err := e.client.DidOpen(uri, "go", 1, before); err != nil {
		t.Fatal(err)
	}
	if got := e.incidents(uri); len(got.List) != 0 {
		t.Errorf("outside of every folder: %s", rulesOf(got.List))
	}
	if err := e.client.SetFolders(ctx, []string{e.dir}, nil); err != nil {
		t.Fatal(err)
	}
	if got := e.incidents(uri); len(got.List) != 3 || got.Version != 1 {
		t.Errorf("in the folder: %s", rulesOf(got.List))
	}
	e.front.docs[uri] = 1
	e.replace(uri, "oldCall(1)", "other(1)")
	if err := e.client.SetFolders(ctx, nil, []string{e.dir}); err != nil {
		t.Fatal(err)
	}
	if got := e.incidents(uri); len(got.List) != 0 || got.Version != 2 {
		t.Errorf("without the folder: %s", rulesOf(got.List))
	}
	err := e.client.SetFolders(ctx, []string{e.dir + "/gone", e.dir}, nil)
	wantError(t, err, InvalidParams, "")
	if got := e.incidents(uri); len(got.List) != 2 {
		t.Errorf("one folder that cannot be opened costs the other: %s", rulesOf(got.List))
	}
	if err := e.client.DidClose(uri); err != nil {
		t.Fatal(err)
	}
	if _, open := e.client.Document(uri); open {
		t.Error("a closed document is open")
	}
}
