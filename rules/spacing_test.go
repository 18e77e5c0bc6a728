package rules

import (
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
