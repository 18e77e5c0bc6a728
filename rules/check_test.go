package rules

import (
	"context"
	"os"
	"testing"

	"github.com/kaiak/kaiak/treesitter"
)

// TestDeclarationsInOnePass: the pass gives what looking up each offset gives.
func TestDeclarationsInOnePass(t *testing.T) {
	text, err := os.ReadFile("check.go")
	if err != nil {
		t.Fatal(err)
	}
	java := []byte("class A { int a, b = 1; void f() { int c; } class B { int d; } } class C {}\nenum D { X, Y }\n")
	for lang, src := range map[string][]byte{"go": text, "java": java} {
		tree, err := treesitter.Parse(context.Background(), treesitter.Lookup(lang), src)
		if err != nil {
			t.Fatal(err)
		}
		outline := treesitter.Outline(tree)
		d := declarations{outline: outline}
		for offset := range len(src) {
			want, _ := treesitter.EnclosingIn(outline, offset)
			if got := d.at(offset); got != want.Qualified {
				t.Fatalf("%s: offset %d: %q, want %q", lang, offset, got, want.Qualified)
			}
		}
	}
}
