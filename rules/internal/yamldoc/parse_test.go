package yamldoc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseValues(t *testing.T) {
	docs, err := Parse([]byte(`
id: a
base: &b {x: 1, y: "two"}
use:
  <<: *b
  y: three
text: |
  line 1
    line 2
folded: >-
  one
  two
list: [true, ~, 1.5, 'q']
---
---
id: second
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, d := range docs {
		got = append(got, d.Value())
	}
	want := []any{
		map[string]any{
			"id": "a", "base": map[string]any{"x": 1, "y": "two"}, "use": map[string]any{"x": 1, "y": "three"},
			"text": "line 1\n  line 2\n", "folded": "one two", "list": []any{true, nil, 1.5, "q"},
		},
		map[string]any{"id": "second"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPositionsAndErrors(t *testing.T) {
	docs, err := Parse([]byte("id: a\nrule:\n  pattern: 12\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := docs[0].Get("rule").Get("pattern")
	if _, err := n.Str("`pattern`"); err == nil || err.Error() != "line 3, column 12: `pattern` must be a string, not a number; put quotes around 12" {
		t.Errorf("got %v", err)
	}
	if err := docs[0].Get("rule").Keys("`rule`", "kind", "regex"); err == nil || !strings.HasPrefix(err.Error(), "line 3, column 3: `rule` has no key \"pattern\"") {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{"a: [1, 2", "a: *nowhere", "a: 1\na: 2", "? [x]\n: 1", "a: &x [*x]", "a: \"b", "\t- x", "a:\n - b\n  c: d"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestAliasesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		p := "*a" + string(rune('0'+i-1))
		if i > 10 {
			break
		}
		b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(p+", ", 9) + p + "]\n")
	}
	if _, err := Parse([]byte(b.String())); err == nil {
		t.Error("ten levels of ten aliases were expanded")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("id: a\nrule: {pattern: $A, all: [*x]}\n--- \n&x y: |\n  z"))
	f.Fuzz(func(t *testing.T, src []byte) {
		docs, err := Parse(src)
		if err != nil && err.Error() == "" {
			t.Error("an error without a message")
		}
		for _, d := range docs {
			d.Value()
		}
	})
}
