package rules

import (
	"go/format"
	"testing"

	"github.com/kaiak/kaiak/workspace"
)

func TestSpacing(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		edits      int
	}{
		{"same", "x y", "x y", 0},
		{"narrower column", "a any         // c\nbc int // d\n", "a any  // c\nbc int // d\n", 1},
		{"two columns of a line", "a   any   // c\n", "a any // c\n", 2},
		{"another token", "a b\n", "a c\n", 0},
		{"a token more", "a b", "a b c", 0},
		{"only blanks at the end", "a\n\n", "a\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edits := spacing([]byte(tt.a), []byte(tt.b))
			if len(edits) != tt.edits {
				t.Fatalf("%d edits, want %d: %+v", len(edits), tt.edits, edits)
			}
			if tt.edits == 0 {
				return
			}
			got, err := workspace.ApplyEdits([]byte(tt.a), edits)
			if err != nil || string(got) != tt.b {
				t.Errorf("got %q, %v, want %q", got, err, tt.b)
			}
		})
	}
}

// TestRewriteKeepsGofmtsLayout holds the promise on columns that a shorter name
// moves, and that a file which was not formatted is not formatted by the way.
func TestRewriteKeepsGofmtsLayout(t *testing.T) {
	set := load(t, "id: any\nlanguage: go\nmessage: m\nrule: {kind: interface_type, regex: '^interface\\{\\}$'}\nfix: any\n")
	const src = "package p\n\ntype T struct {\n\tA    interface{} // first\n\tBcde int         // second\n\n\tF, G map[string]interface{}\n}\n"
	for name, text := range map[string]string{"formatted": src, "not formatted": src + "func  f() {}\n"} {
		t.Run(name, func(t *testing.T) {
			file := &workspace.File{Path: "p.go", Text: []byte(text)}
			matches, err := set.Check(t.Context(), file, nil)
			if err != nil || len(matches) != 2 {
				t.Fatalf("%d matches, %v", len(matches), err)
			}
			rw, err := set.Rewrite(t.Context(), file, nil, matches)
			if err != nil || len(rw.Hunks) != 2 {
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
