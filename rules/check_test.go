package rules

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
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

// TestLineEndsOfTheFile: what a fix writes has the line ends of its file.
func TestLineEndsOfTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r.yml"), []byte("id: a\nlanguage: js\nrule: {pattern: 'two($A, $B)'}\nfix: \"one($B);\\none($A)\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, problems, err := Load(context.Background(), []string{dir}, LoadOptions{})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	for text, want := range map[string]string{
		"two(1, 2);\n":                  "one(2);\none(1);\n",
		"x\r\ntwo(1, [\r\n3\r\n]);\r\n": "x\r\none([\r\n3\r\n]);\r\none(1);\r\n",
	} {
		file := &workspace.File{Path: "a.js", Text: []byte(text)}
		matches, err := set.Check(context.Background(), file, nil)
		if err != nil || len(matches) != 1 {
			t.Fatal(len(matches), err)
		}
		got, err := workspace.ApplyEdits(file.Text, matches[0].Fixes[0].Edits)
		if err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}
