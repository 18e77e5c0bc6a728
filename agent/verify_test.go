package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

func TestVerify(t *testing.T) {
	base := source("var a = oldName", "var b = oldName")
	edit := func(line int, text string) workspace.Edit {
		start := strings.Index(base, "oldName")
		if line == 4 {
			start = strings.LastIndex(base, "oldName")
		}
		return workspace.Edit{Start: start, End: start + len("oldName"), New: text}
	}
	hunk := func(id string, e workspace.Edit) rules.Hunk {
		return rules.Hunk{Path: "a.go", Edits: []workspace.Edit{e}, IncidentIDs: []string{id}, RuleID: "old"}
	}
	first, second := hunk("1", edit(3, "newName")), hunk("2", edit(4, "newName"))
	wrong := hunk("1", edit(3, "oldName+0"))
	foreign := hunk("3", edit(3, "newName"))
	for _, tt := range []struct {
		name  string
		hunks []rules.Hunk
		now   string // "": the base with the hunks
		ids   []string
		want  []Verdict
	}{
		{"both", []rules.Hunk{first, second}, "", []string{"1", "2"}, []Verdict{Fixed, Fixed}},
		{"one of two", []rules.Hunk{first}, "", []string{"1", "2"}, []Verdict{Fixed, Unfixed}},
		{"the rule still matches there", []rules.Hunk{wrong}, "", []string{"1"}, []Verdict{Unfixed}},
		{"formatted on save", []rules.Hunk{first, second}, source("var  a = newName", "var b = newName"), []string{"1"}, []Verdict{Fixed}},
		{"changed further, one is left", []rules.Hunk{first}, source("var  a = newName", "var b = oldName"), []string{"1"}, []Verdict{Partial}},
		{"undone by hand", []rules.Hunk{first}, base, []string{"1"}, []Verdict{Unfixed}},
		{"broken by hand", []rules.Hunk{first}, source("var a = (newName", "var b = oldName"), []string{"1"}, []Verdict{Regressed}},
		{"nobody can tell", []rules.Hunk{foreign}, "", []string{"3"}, []Verdict{Partial}},
		{"deleted by hand", []rules.Hunk{first}, "gone", []string{"1"}, []Verdict{Failed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var edits []workspace.Edit
			for _, h := range tt.hunks {
				edits = append(edits, h.Edits...)
			}
			now := tt.now
			if now == "" {
				text, err := workspace.ApplyEdits([]byte(base), edits)
				if err != nil {
					t.Fatal(err)
				}
				now = string(text)
			}
			ws := testWorkspace(t, map[string]string{"a.go": now})
			if now == "gone" {
				if err := os.Remove(filepath.Join(ws.Dir(), "a.go")); err != nil {
					t.Fatal(err)
				}
			}
			var list []incidents.Incident
			for i, id := range tt.ids {
				rule := "old"
				if id == "3" {
					rule = "foreign"
				}
				list = append(list, at(id, rule, "a.go", 3+i))
			}
			out, err := New(Options{Rules: wordRules{oldToNew}}).Verify(context.Background(), ws, list,
				[]Applied{{Path: "a.go", Kind: workspace.EditFile, Base: []byte(base), Edits: edits, Hunks: tt.hunks}})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.want {
				if out[i].Verdict != want {
					t.Errorf("%s: %+v, want %s", tt.ids[i], out[i], want)
				}
				if (out[i].Reason == "") != (want == Fixed) {
					t.Errorf("%s: reason %q with verdict %s", tt.ids[i], out[i].Reason, want)
				}
			}
		})
	}
}
