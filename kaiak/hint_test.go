package kaiak

import (
	"slices"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/workspace"
)

func TestLineChanges(t *testing.T) {
	const base = "one\ntwo three\nfour\n"
	for _, tt := range []struct {
		name  string
		edits []workspace.Edit
		want  string
	}{
		{"in a line", []workspace.Edit{{Start: 4, End: 7, New: "2"}}, "- two three\n+ 2 three\n"},
		{"twice in a line", []workspace.Edit{{Start: 8, End: 13, New: "3"}, {Start: 4, End: 7, New: "2"}}, "- two three\n+ 2 3\n"},
		{"a new line", []workspace.Edit{{Start: 4, End: 4, New: "new\n"}}, "+ new\n"},
		{"at the start of a line", []workspace.Edit{{Start: 4, End: 4, New: "x"}}, "- two three\n+ xtwo three\n"},
		{"a deleted line", []workspace.Edit{{Start: 4, End: 14}}, "- two three\n"},
		{"joined lines", []workspace.Edit{{Start: 13, End: 14, New: ""}}, "- two three\n- four\n+ two threefour\n"},
		{"outside", []workspace.Edit{{Start: 4, End: 99}}, ""},
		{"nothing", []workspace.Edit{{Start: 4, End: 7, New: "two"}}, ""},
	} {
		var got strings.Builder
		for _, c := range lineChanges([]byte(base), tt.edits) {
			got.WriteString(c.String())
		}
		if got.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got.String(), tt.want)
		}
	}
}

// What the user takes from the model unchanged is a hint for the rule, until it
// is deleted, reverted or switched off.
func TestHints(t *testing.T) {
	engine := &scriptedEngine{}
	e := newEnv(t, map[string]string{"a.go": before}, withEngine(engine))
	session := e.session()
	list := func() []Memory {
		return must[MemoryListResult](t, e.client, "kaiak/memory/list", m{"workspace_path": e.dir, "scope": "rule_hint"}).Memories
	}
	accept := func() string {
		t.Helper()
		req := e.generate(session, []m{lonely("3")}, m{"engines": []string{"model"}, "approval": "defer"})
		e.front.system(t, "request_completed", req.RequestID)
		id := e.proposals(req.RequestID)[0].ProposalID
		must[ApplyResult](t, e.client, "kaiak/proposal/apply", m{"proposal_id": id})
		return id
	}
	id := accept()
	hints := list()
	if len(hints) != 1 || hints[0].RuleID != "find-only" || hints[0].FilePath != "a.go" || hints[0].ProposalID != id || hints[0].Text != "- \tlonely()\n+ \tcrowd()\n" {
		t.Fatalf("hints %+v", hints)
	}
	must[any](t, e.client, "kaiak/proposal/revert", m{"proposal_id": id})
	if got := list(); len(got) != 0 {
		t.Errorf("after the revert there are %+v", got)
	}

	accept()
	hints = list()
	e.write("a.go", before)
	accept()
	if shown := engine.settings.Hints("find-only"); len(shown) != 1 || !strings.Contains(shown[0], "find-only, accepted in a.go ("+hints[0].ID+")") || !strings.Contains(shown[0], hints[0].Text) {
		t.Errorf("the model was shown %q", shown)
	}
	if shown := engine.settings.Hints("old-call"); len(shown) != 0 {
		t.Errorf("another rule was shown %q", shown)
	}
	hints = list()
	if len(hints) != 1 {
		t.Fatalf("the same fix twice gives %+v", hints)
	}

	e.write("a.go", before)
	must[any](t, e.client, "kaiak/config/update", m{"session_id": session, "configuration": m{"model": m{"hints": false}}})
	accept()
	if engine.settings.Hints != nil {
		t.Error("hints are shown though they are switched off")
	}
	if got := list(); !slices.Equal(got, hints) {
		t.Errorf("switched off, there are %+v", got)
	}

	_, err := call[any](e.client, "kaiak/memory/delete", m{"session_id": session, "memory_id": "hint-none"})
	wantError(t, err, InvalidParams, "")
	_, err = call[any](e.client, "kaiak/memory/delete", m{"session_id": session})
	wantError(t, err, InvalidParams, "")
	_, err = call[any](e.client, "kaiak/memory/list", m{"session_id": session, "scope": "user"})
	wantError(t, err, InvalidParams, "")
	if got := must[MemoryDeleteResult](t, e.client, "kaiak/memory/delete", m{"session_id": session, "memory_id": hints[0].ID}); got.Deleted != 1 || len(list()) != 0 {
		t.Errorf("deleted %d, left %+v", got.Deleted, list())
	}
}
