package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"

	"github.com/kaiak/kaiak/incidents"
)

// The test binary is the server when this names its state file.
const serverEnv = "BATCH_TEST_STATE"

func TestMain(m *testing.M) {
	file := os.Getenv(serverEnv)
	if file == "" {
		code := m.Run()
		removeBinary()
		os.Exit(code)
	}
	s := &fakeServer{file: file}
	if raw, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(raw, &s.state); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
	}
	s.conn = jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(struct {
		io.Reader
		io.WriteCloser
	}{os.Stdin, os.Stdout}))
	s.conn.Go(context.Background(), s.handle)
	<-s.conn.Done()
	os.Exit(0)
}

// A fakeServer answers as the contract says and does what the rule ids of the
// incidents ask for. Its state outlives it, as a real server's does. It
// changes no files.
type fakeServer struct {
	conn  jsonrpc2.Conn
	file  string
	state serverState
}

type serverState struct {
	Calls    []string // methods, in order
	Sessions int
	Requests []*fakeRequest
	Applies  map[string]int // by proposal
	Deleted  bool
	Ended    bool
	Init     json.RawMessage
}

type fakeRequest struct {
	ID, ClientID string
	Incidents    []incidents.Incident
	Proposals    []*fakeProposal
}

type fakeProposal struct {
	proposal
	IncidentIDs []string
	Rule        string
	Verdict     string
}

func (s *fakeServer) save() {
	raw, err := json.Marshal(s.state)
	if err == nil {
		err = os.WriteFile(s.file, raw, 0o600)
	}
	if err != nil {
		panic(err)
	}
}

func refuse(code int, kind, message string, retryable bool) error {
	data, _ := json.Marshal(map[string]any{"kind": kind, "retryable": retryable})
	return &jsonrpc2.Error{Code: jsonrpc2.Code(code), Message: message, Data: data}
}

func (s *fakeServer) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	method := strings.Clone(req.Method())
	s.state.Calls = append(s.state.Calls, method)
	defer s.save()
	decode := func(into any) {
		if err := json.Unmarshal(req.Params(), into); err != nil {
			panic(err)
		}
	}
	switch method {
	case "initialize":
		s.state.Init = slices.Clone(json.RawMessage(req.Params()))
		return map[string]any{"capabilities": map[string]any{}}, nil
	case "initialized", "shutdown", "$/cancelRequest":
		return nil, nil
	case "exit":
		go s.conn.Close()
		return nil, nil
	case methodCreate:
		s.state.Sessions++
		return map[string]string{"session_id": "s1", "status": "created"}, nil
	case methodResume:
		return map[string]string{"session_id": "s1"}, nil
	case methodEnd:
		s.state.Ended = true
		return map[string]string{"status": "terminated"}, nil
	case methodDelete:
		s.state.Deleted = true
		return map[string]string{"status": "deleted"}, nil
	case methodScan:
		return scanResult{Incidents: []incidents.Incident{{ID: "scan-1", RuleID: "fix", FilePath: "scanned.txt", LineNumber: 1, Severity: "warning"}}, Notes: []string{"big.bin: skipped"}, Problems: []string{"rule.yml:3: no"}}, nil
	case methodGenerate:
		var p generateParams
		decode(&p)
		return s.generate(ctx, p)
	case methodStatus:
		var p struct {
			ID string `json:"request_id"`
		}
		decode(&p)
		return s.status(p.ID), nil
	case methodList:
		var p struct {
			ID     string `json:"request_id"`
			Cursor string `json:"cursor"`
		}
		decode(&p)
		return s.list(p.ID, p.Cursor), nil
	case methodGet:
		var p struct {
			ID string `json:"proposal_id"`
		}
		decode(&p)
		return s.proposal(p.ID).proposal, nil
	case methodApply:
		var p applyParams
		decode(&p)
		return s.apply(p)
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "no %s", method)
}

func (s *fakeServer) generate(ctx context.Context, p generateParams) (any, error) {
	for _, r := range s.state.Requests {
		if r.ClientID == p.ClientRequestID {
			return map[string]string{"request_id": r.ID}, nil
		}
	}
	r := &fakeRequest{ID: fmt.Sprintf("req-%d", len(s.state.Requests)), ClientID: p.ClientRequestID, Incidents: p.Incidents}
	s.state.Requests = append(s.state.Requests, r)
	note := func(method string, e event, content any) {
		e.SessionID, e.RequestID = "s1", r.ID
		e.Content, _ = json.Marshal(content)
		if err := s.conn.Notify(ctx, method, e); err != nil {
			panic(err)
		}
	}
	note(streamProgress, event{}, progressContent{50, "fixing", "half"})
	for _, in := range p.Incidents {
		if in.RuleID == "skip" || in.RuleID == "pending" {
			continue
		}
		q := &fakeProposal{IncidentIDs: []string{in.ID}, Rule: in.RuleID}
		q.ProposalID, q.Status, q.Source = "prop-"+in.ID, "pending", "recipe"
		q.Evidence = Evidence{Tier: "R1", Checks: map[string]string{"parse": "ok"}}
		if tier, ok := strings.CutPrefix(in.RuleID, "model-"); ok {
			q.Source, q.Evidence.Tier = "model", tier
		}
		q.FilePaths = []string{in.FilePath}
		q.Files = []fileModification{{FilePath: in.FilePath, ChangeType: "edit", SetSize: 1, BaseSHA256: "base-" + in.ID, ProposedSHA256: "after-" + in.ID,
			Diff: fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]d +%[2]d @@\n-old\n+new\n", in.FilePath, in.LineNumber)}}
		r.Proposals = append(r.Proposals, q)
		told := q.Files[0]
		if in.RuleID == "truncated" {
			told.Truncated, told.Diff = true, ""
		}
		note(streamModify, event{ProposalID: q.ProposalID}, told)
	}
	if slices.ContainsFunc(p.Incidents, func(in incidents.Incident) bool { return in.RuleID == "pending" }) {
		note(streamSystem, event{}, systemContent{Event: "budget_exceeded"})
	}
	note(streamSystem, event{}, systemContent{Event: "request_completed", RequestID: r.ID, Status: "success"})
	return map[string]string{"request_id": r.ID}, nil
}

func (s *fakeServer) status(id string) requestStatus {
	st := requestStatus{Status: "completed"}
	for _, r := range s.state.Requests {
		if r.ID != id {
			continue
		}
		for _, in := range r.Incidents {
			row := incidentRow{IncidentID: in.ID, State: "skipped", Reason: "no rule has a fix for it"}
			if in.RuleID == "pending" {
				row.State, row.Reason = "pending", ""
			}
			for _, q := range r.Proposals {
				if slices.Contains(q.IncidentIDs, in.ID) {
					row = incidentRow{IncidentID: in.ID, State: "proposed", ProposalID: q.ProposalID, Engine: q.Source}
					if q.Status == "applied" {
						row.State = q.Verdict
					}
				}
			}
			st.Incidents = append(st.Incidents, row)
		}
	}
	return st
}

// list gives pages of two.
func (s *fakeServer) list(id, cursor string) proposalPage {
	var page proposalPage
	start := 0
	if cursor != "" {
		fmt.Sscan(cursor, &start)
	}
	for _, r := range s.state.Requests {
		if r.ID != id {
			continue
		}
		for i := start; i < min(start+2, len(r.Proposals)); i++ {
			q := r.Proposals[i].proposal
			q.Files = nil
			page.Proposals = append(page.Proposals, q)
		}
		if start+2 < len(r.Proposals) {
			page.Cursor = fmt.Sprint(start + 2)
		}
	}
	return page
}

func (s *fakeServer) proposal(id string) *fakeProposal {
	for _, r := range s.state.Requests {
		for _, q := range r.Proposals {
			if q.ProposalID == id {
				return q
			}
		}
	}
	panic("no proposal " + id)
}

func (s *fakeServer) apply(p applyParams) (any, error) {
	q := s.proposal(p.ProposalID)
	if s.state.Applies == nil {
		s.state.Applies = map[string]int{}
	}
	s.state.Applies[q.ProposalID]++
	tries := s.state.Applies[q.ProposalID]
	id := q.IncidentIDs[0]
	if len(p.Files) != 1 || p.Files[0] != (boundFile{q.FilePaths[0], "base-" + id, "after-" + id}) {
		return nil, refuse(-32602, "INVALID_PARAMS", fmt.Sprintf("the approval names %+v", p.Files), false)
	}
	switch {
	case q.Rule == "stale":
		return nil, refuse(-32801, "CONTENT_MODIFIED", "the file changed", false)
	case q.Rule == "broken":
		return nil, refuse(-32012, "FILE_MODIFICATION_FAILED", "no space left on device", false)
	case q.Rule == "busy" && tries == 1:
		return nil, refuse(-32005, "WORKSPACE_BUSY", "busy", true)
	case q.Rule == "die" && tries == 1:
		s.save()
		os.Exit(7)
	}
	q.Status, q.Verdict = "applied", "fixed"
	if q.Rule == "partial" {
		q.Verdict = "partial"
	}
	return map[string]string{"status": "applied"}, nil
}

// testOptions are options of a run against the fake server, whose state is in
// the returned file.
func testOptions(t *testing.T, list ...incidents.Incident) (Options, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	state := filepath.Join(dir, "server.json")
	t.Setenv(serverEnv, state)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector delays the end of a process by a second
	opts := Options{Server: []string{exe}, Workspace: filepath.Join(dir, "ws"), StateDir: filepath.Join(dir, "state"), Log: os.Stderr}
	if err := os.Mkdir(opts.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		file := filepath.Join(dir, "incidents.json")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := incidents.WriteNative(f, list); err != nil {
			t.Fatal(err)
		}
		opts.Incidents = []string{file}
	}
	return opts, state
}

func readState(t *testing.T, file string) serverState {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s serverState
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}
