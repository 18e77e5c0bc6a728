package rules_test

import (
	"go/format"
	"testing"

	"github.com/kaiak/kaiak/workspace"
)

// TestRewriteKeepsGofmtsLayout holds the promise on columns that a shorter name
// moves, and that a file which was not formatted is not formatted by the way.
func TestRewriteKeepsGofmtsLayout(t *testing.T) {
	set := loadText(t, "id: any\nlanguage: go\nmessage: m\nrule: {kind: interface_type, regex: '^interface\\{\\}$'}\nfix: any\n")
	const src = "package p\n\ntype T struct {\n\tA    interface{} // first\n\tBcde int         // second\n\tC    interface{} // third\n\tD    []interface{}\n\n\tF, G map[string]interface{}\n}\n"
	for name, text := range map[string]string{"formatted": src, "not formatted": src + "func  f() {}\n"} {
		t.Run(name, func(t *testing.T) {
			file := &workspace.File{Path: "p.go", Text: []byte(text)}
			matches, err := set.Check(t.Context(), file, nil)
			if err != nil || len(matches) != 4 {
				t.Fatalf("%d matches, %v", len(matches), err)
			}
			rw, err := set.Rewrite(t.Context(), file, nil, matches)
			if err != nil || len(rw.Hunks) != 4 {
				t.Fatalf("%+v, %v", rw, err)
			}
			var edits []workspace.Edit
			for _, h := range rw.Hunks {
				edits = append(edits, h.Edits...)
			}
			got, err := workspace.ApplyEdits(file.Text, edits)
			if err != nil {
				t.Fatal(err)
			}
			formatted, err := format.Source(got)
			if err != nil {
				t.Fatal(err)
			}
			if clean := string(formatted) == string(got); clean != (name == "formatted") {
				t.Errorf("formatted: %v\n%s", clean, got)
			}
		})
	}
}
