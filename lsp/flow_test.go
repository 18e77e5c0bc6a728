package lsp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"

	"github.com/kaiak/kaiak/internal/fakeeditor"
	"github.com/kaiak/kaiak/kaiak"
)

// twoFiles is a project with one incident in each of two files; an editor opens
// main.go, other.go stays on disk.
const twoFiles = goProject + `-- other.go --
package main

import "io/ioutil"

func other() ([]byte, error) { return ioutil.ReadFile("y") }
`

const fixedOther = `package main

import "os"

func other() ([]byte, error) { return os.ReadFile("y") }
`

// sameText compares texts that the archive's own line breaks surround.
func sameText(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// TestFixRuleInWorkspace fixes all of a rule, in an open buffer and on disk, in
// a client that knows nothing of kaiak/*: it is asked once by a message.
func TestFixRuleInWorkspace(t *testing.T) {
	check := checks(t)
	for _, profile := range fakeeditor.Profiles {
		t.Run(profile.Name, func(t *testing.T) {
			ed := fakeeditor.Open(t, fakeeditor.Options{
				Start: inProcess(t.TempDir()), Profile: profile, Files: twoFiles, Check: check,
				Answer: func(string, []string) string { return "Apply all" },
			})
			ed.OpenFile("main.go")
			r := ed.Range("main.go", "ioutil.ReadFile")
			var title string
			for _, a := range ed.CodeActions("main.go", r, []string{"refactor"}) {
				if strings.HasSuffix(a.Title, "in the workspace") {
					title = a.Title
					if err := ed.Choose(a); err != nil {
						t.Fatal(err)
					}
				}
			}
			if title == "" {
				t.Fatal("nothing is offered for the workspace")
			}
			ed.Await(fakeeditor.HasText("main.go", fixedMain))
			if got := ed.ReadFile("other.go"); !sameText(got, fixedOther) {
				t.Errorf("on disk there is %s", got)
			}
			if got := ed.ReadFile("main.go"); !strings.Contains(got, "ioutil") {
				t.Errorf("the file under the buffer was written: %s", got)
			}
			ed.Read(func(s *fakeeditor.State) {
				if len(s.Questions) != 1 || len(s.Edits) != 1 || !s.Edits[0].Applied {
					t.Errorf("questions %q, %d edits", s.Questions, len(s.Edits))
				}
				if len(s.Streams) != 0 {
					t.Errorf("an editor that never spoke of kaiak/* was sent %s", s.Streams[0].Method)
				}
			})
			ed.Save("main.go")
		})
	}
}

// TestApprovalOverTheWire goes through the contract's own path: a session, a
// request, a question, an answer, and the change in the buffer.
func TestApprovalOverTheWire(t *testing.T) {
	ed := fakeeditor.Open(t, fakeeditor.Options{
		Start: inProcess(t.TempDir()), Files: goProject, Check: checks(t), Experimental: `{"kaiak":true}`,
	})
	ed.OpenFile("main.go")
	var created kaiak.SessionCreateResult
	call(t, ed, "kaiak/session/create", map[string]any{"workspace_path": ed.Dir}, &created)
	request := generate(t, ed, created.SessionID)
	ed.Await(fakeeditor.Streamed(kaiak.StreamUserInteraction, request.RequestID))

	question := lastEvent(t, ed, kaiak.StreamUserInteraction)
	ed.Read(func(s *fakeeditor.State) {
		if len(s.Questions) != 0 {
			t.Error("a client that answers interactions itself was shown a message")
		}
	})
	answer := map[string]any{"interaction_id": question.InteractionID, "response_type": "approval", "response_data": map[string]any{"approved": true}}
	call(t, ed, "kaiak/interaction/respond", answer, nil)
	ed.Await(fakeeditor.HasText("main.go", fixedMain), fakeeditor.Streamed(kaiak.StreamSystem, "request_completed"))

	err := ed.Call("kaiak/interaction/respond", answer, nil)
	var wire *jsonrpc2.Error
	if !errors.As(err, &wire) || wire.Code != -32010 || !strings.Contains(string(wire.Data), "INTERACTION_ALREADY_RESPONDED") {
		t.Errorf("answered twice: %v", err)
	}
}

// TestStaleApproval changes the buffer while the question is open: approving
// then changes nothing.
func TestStaleApproval(t *testing.T) {
	ed := fakeeditor.Open(t, fakeeditor.Options{
		Start: inProcess(t.TempDir()), Files: goProject, Check: checks(t), Experimental: `{"kaiak":true}`,
	})
	ed.OpenFile("main.go")
	var created kaiak.SessionCreateResult
	call(t, ed, "kaiak/session/create", map[string]any{"workspace_path": ed.Dir}, &created)
	request := generate(t, ed, created.SessionID)
	ed.Await(fakeeditor.Streamed(kaiak.StreamUserInteraction, request.RequestID))
	question := lastEvent(t, ed, kaiak.StreamUserInteraction)
	ed.Replace("main.go", `ReadFile("x")`, `ReadFile("changed")`)
	text := ed.Text("main.go")
	err := ed.Call("kaiak/interaction/respond", map[string]any{
		"interaction_id": question.InteractionID, "response_type": "approval", "response_data": map[string]any{"approved": true},
	}, nil)
	var wire *jsonrpc2.Error
	if !errors.As(err, &wire) || wire.Code != -32801 {
		t.Errorf("approving what is stale: %v", err)
	}
	if got := ed.Text("main.go"); got != text {
		t.Errorf("the buffer is %q", got)
	}
	ed.Read(func(s *fakeeditor.State) {
		if len(s.Edits) != 0 {
			t.Error("the editor was asked to apply a stale edit")
		}
	})
}

// TestKilledServer kills the server while a proposal waits: another server with
// the same state still has it, and it can be applied.
func TestKilledServer(t *testing.T) {
	start := asChild(t)
	ed := fakeeditor.Open(t, fakeeditor.Options{Start: start, Files: goProject, Check: checks(t), Experimental: `{"kaiak":true}`})
	var created kaiak.SessionCreateResult
	call(t, ed, "kaiak/session/create", map[string]any{"workspace_path": ed.Dir}, &created)
	request := generate(t, ed, created.SessionID)
	ed.Await(fakeeditor.Streamed(kaiak.StreamUserInteraction, request.RequestID))
	ed.Kill()

	again := fakeeditor.Open(t, fakeeditor.Options{Start: start, Dir: ed.Dir, Check: checks(t), Experimental: `{"kaiak":true}`})
	var list struct {
		Proposals []struct {
			ProposalID string `json:"proposal_id"`
			Status     string `json:"status"`
			State      string `json:"state"`
		} `json:"proposals"`
	}
	call(t, again, "kaiak/proposal/list", map[string]any{"session_id": created.SessionID}, &list)
	if len(list.Proposals) != 1 {
		t.Fatalf("%d proposals are left", len(list.Proposals))
	}
	call(t, again, "kaiak/proposal/apply", map[string]any{"proposal_id": list.Proposals[0].ProposalID}, nil)
	if got := again.ReadFile("main.go"); !sameText(got, fixedMain) {
		t.Errorf("on disk there is %s", got)
	}
}

// TestStdoutCarriesFramesOnly makes the server log, which must not reach stdout.
func TestStdoutCarriesFramesOnly(t *testing.T) {
	ed := fakeeditor.Open(t, fakeeditor.Options{Start: asChild(t), Files: goProject, Check: checks(t), Profile: fakeeditor.Bare})
	ed.Notify("workspace/didChangeConfiguration", json.RawMessage(`{"settings":{"kaiak":{"no_such_setting":1}}}`))
	ed.Await(fakeeditor.HasMessage("no_such_setting"))
}

// call calls a method that must succeed.
func call(t *testing.T, ed *fakeeditor.Editor, method string, params, result any) {
	t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var answer json.RawMessage
	if err := ed.Call(method, json.RawMessage(raw), &answer); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	if result != nil {
		if err := json.Unmarshal(answer, result); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
}

// generate asks for a fix of the deprecated call in main.go.
func generate(t *testing.T, ed *fakeeditor.Editor, sessionID string) kaiak.FixGenerateResult {
	t.Helper()
	var request kaiak.FixGenerateResult
	call(t, ed, "kaiak/fix/generate", map[string]any{
		"session_id": sessionID,
		"incidents": []any{map[string]any{
			"id": "incident-1", "rule_id": "go-ioutil-readfile", "file_path": "main.go", "line_number": 9,
			"severity": "warning", "description": "d", "message": "m", "category": "c",
		}},
	}, &request)
	if request.Status != "processing" {
		t.Errorf("fix/generate answers %q", request.Status)
	}
	return request
}

// lastEvent returns the newest event of a stream.
func lastEvent(t *testing.T, ed *fakeeditor.Editor, method string) kaiak.Event {
	t.Helper()
	var event kaiak.Event
	ed.Read(func(s *fakeeditor.State) {
		for _, st := range s.Streams {
			if st.Method == method {
				if err := json.Unmarshal(st.Params, &event); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return event
}
