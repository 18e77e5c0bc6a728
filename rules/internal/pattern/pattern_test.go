package pattern

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/treesitter"
)

func TestParseMetaVar(t *testing.T) {
	for _, c := range []struct {
		src   string
		sigil rune
		want  MetaVar
	}{
		{"$A", '$', MetaVar{Capture, "A", true}},
		{"$$A", '$', MetaVar{Capture, "A", false}},
		{"$MATCH1", '$', MetaVar{Capture, "MATCH1", true}},
		{"$_", '$', MetaVar{Dropped, "", true}},
		{"$_123", '$', MetaVar{Dropped, "", true}},
		{"$$_", '$', MetaVar{Dropped, "", false}},
		{"$$$", '$', MetaVar{Kind: Multi}},
		{"$$$_X", '$', MetaVar{Kind: Multi}},
		{"$$$ARGS", '$', MetaVar{Kind: MultiCapture, Name: "ARGS"}},
		{"µµµARGS", 'µ', MetaVar{Kind: MultiCapture, Name: "ARGS"}},
		{"𐀀A", '𐀀', MetaVar{Capture, "A", true}},
		{"zA", 'z', MetaVar{Capture, "A", true}},
		{"$a", '$', MetaVar{}}, {"$1", '$', MetaVar{}}, {"$", '$', MetaVar{}}, {"$$", '$', MetaVar{}},
		{"A", '$', MetaVar{}}, {"$A b", '$', MetaVar{}}, {"$$$a", '$', MetaVar{}}, {"$$$$A", '$', MetaVar{}}, {"", '$', MetaVar{}},
	} {
		if got := ParseMetaVar(c.src, c.sigil); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.src, got, c.want)
		}
	}
}

func TestPreprocess(t *testing.T) {
	for src, want := range map[string]string{
		"f($A, $$B, $$$C)": "f(µA, µµB, µµµC)",
		"f($$$)":           "f(µµµ)",
		"$a $1 $$ $_":      "$a $1 $$ µ_",
		"x$$$":             "xµµµ",
	} {
		if got := Preprocess(src, 'µ'); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

// find returns the environments of all matches, as "A=text B=[x y]".
func find(t *testing.T, language, pattern string, strictness Strictness, code string) []string {
	t.Helper()
	lang := treesitter.Lookup(language)
	vars := &Vars{}
	p, err := Compile(pattern, lang, strictness, vars)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := treesitter.Parse(context.Background(), lang, []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for n := range tree.Root().Descendants() {
		env := NewEnv(vars)
		if !p.Match(n, env) {
			if env.Mark() != 0 {
				t.Errorf("a match that failed left bindings")
			}
			continue
		}
		var parts []string
		for slot, name := range vars.Names() {
			if s := env.Single(slot); !s.IsZero() {
				parts = append(parts, name+"="+s.Text())
			}
			if list, ok := env.Multi(slot); ok {
				var texts []string
				for _, m := range list {
					texts = append(texts, m.Text())
				}
				parts = append(parts, fmt.Sprintf("%s=%q", name, texts))
			}
		}
		sort.Strings(parts)
		out = append(out, strings.Join(parts, " "))
	}
	return out
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern    string
		strictness Strictness
		code       string
		want       string // matches, one after the other
	}{
		{"foo($A)", Smart, "foo(1); foo(2, 3); foo()", "A=1"},
		{"foo($A)", Smart, "foo(/* c */ 1)", "A=1"},
		{"foo($A)", CST, "foo(/* c */ 1)", ""},
		{"foo($A, $B)", Smart, "foo(1, 2,)", "A=1 B=2"},
		{"foo($$$A)", Smart, "foo(1, 2)", `A=["1" "," "2"]`},
		{"foo($$$A)", Smart, "foo()", "A=[]"},
		{"foo($$$A, c)", Smart, "foo(a, b, c)", `A=["a" "," "b"]`},
		{"foo($A, $$$REST)", Smart, "foo(1, 2, 3)", `A=1 REST=["2" "," "3"]`},
		{"foo($A, $A)", Smart, "foo(1, 1); foo(1, 2); foo(a.b, a . b)", "A=1|A=a . b"},
		{"foo($_X, $_X)", Smart, "foo(1, 2)", ""},
		{"return $A", Smart, "function f() { return; }", ""},
		{"var $A = $B", Smart, "var a = 1, b = 2", "A=a B=1"},
		{"var $A = $B", CST, "var a = 1, b = 2", ""},
		{"import $A from 'lib'", AST, `import x from "lib"`, "A=x"},
		{"import $A from 'lib'", Smart, `import x from "lib"`, ""},
		{"foo(bar)", Signature, "foo(baz)", ""},
		{"$A = $B", TextOnly, "class C { a = 1 }", "A=a B=1"},
		{"if (true) { $$$A } else { $$$A }", Smart, "if (true) { a += 1; b() } else { a += 1; b() }", `A=["a += 1;" "b()"]`},
		{"function _() {\n $$$A\n let $P = g()\n}", Smart, "function _() { let a = 0; let p = g(); }", `A=["let a = 0;"] P=p`},
	} {
		got := strings.Join(find(t, "javascript", c.pattern, c.strictness, c.code), "|")
		want := c.want
		if c.pattern == "foo($_X, $_X)" {
			// What is not captured need not be equal: one match without bindings.
			if n := len(find(t, "javascript", c.pattern, c.strictness, c.code)); n != 1 {
				t.Errorf("%s on %s: %d matches", c.pattern, c.code, n)
			}
			continue
		}
		if c.strictness == Signature {
			if n := len(find(t, "javascript", c.pattern, c.strictness, c.code)); n != 1 {
				t.Errorf("%s on %s: %d matches", c.pattern, c.code, n)
			}
			continue
		}
		if got != want {
			t.Errorf("%s (%d) on %s:\n got %s\nwant %s", c.pattern, c.strictness, c.code, got, want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	lang := treesitter.Lookup("javascript")
	for pattern, want := range map[string]string{
		"":                         "has no code",
		"a; b":                     "more than one node",
		"$$$A":                     "nothing but $$$",
		strings.Repeat("x", 1<<17): "too long",
	} {
		if _, err := Compile(pattern, lang, Smart, &Vars{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", pattern, err, want)
		}
	}
	if _, err := CompileContext("foo()", "nonsense", lang, Smart, &Vars{}); err == nil {
		t.Error("a selector that is no kind was taken")
	}
	if _, err := CompileContext("foo()", "class_body", lang, Smart, &Vars{}); err == nil {
		t.Error("a selector that is nowhere was taken")
	}
}

// TestNestedEllipsesAreCheap: the work is not doubled at every level.
func TestNestedEllipsesAreCheap(t *testing.T) {
	depth := 40
	pattern := strings.Repeat("f($$$, ", depth) + "x" + strings.Repeat(")", depth)
	code := strings.Repeat("f(a, b, ", depth) + "x" + strings.Repeat(")", depth)
	if got := len(find(t, "javascript", pattern, Smart, code)); got != 1 {
		t.Errorf("%d matches, want 1", got)
	}
}

func TestTemplateIndentation(t *testing.T) {
	lang := treesitter.Lookup("javascript")
	code := "if (true) {\n  a(\n    1\n      + 2\n      + 3\n  )\n}"
	vars := &Vars{}
	p, err := Compile("a($B)", lang, Smart, vars)
	if err != nil {
		t.Fatal(err)
	}
	tpl := ParseTemplate("c(\n  $B, $UNBOUND, $$, $b\n)", vars, nil)
	tree, err := treesitter.Parse(context.Background(), lang, []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	for n := range tree.Root().Descendants() {
		env := NewEnv(vars)
		if !p.Match(n, env) {
			continue
		}
		want := "c(\n    1\n      + 2\n      + 3, , $$, $b\n  )"
		if got := string(tpl.Fill(env, tree.Source(), n.Start())); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
		return
	}
	t.Error("no match")
}

func TestHasRun(t *testing.T) {
	run := []string{"interface", "{", "}"}
	for text, want := range map[string]bool{
		"x interface{}":             true,
		"x interface { }":           true,
		"interface {\n\t// why\n}":  true,
		"interface { M() }":         false,
		"interfaces{} interface{a}": false,
		"interface{a} interface{}":  true,
		"":                          false,
		"interface":                 false,
	} {
		if got := HasRun([]byte(text), run); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !HasRun([]byte("a . // c\n Long ( x )"), []string{"a", ".", "Long", "("}) {
		t.Error("a comment between the tokens hides the run")
	}
}

func FuzzCompileAndMatch(f *testing.F) {
	for _, s := range []string{"foo($A)", "$$$A", "var $A = $B", "f($$$, g($$$B))", "{{", "µ$"} {
		f.Add(s, "foo(1); var a = 2", uint8(3))
	}
	langs := treesitter.All()
	f.Fuzz(func(t *testing.T, pattern, code string, choice uint8) {
		if len(pattern) > 2000 || len(code) > 5000 {
			t.Skip()
		}
		lang := langs[int(choice)%len(langs)]
		vars := &Vars{}
		p, err := Compile(pattern, lang, Strictness(choice%6), vars)
		if err != nil {
			return
		}
		tree, err := treesitter.Parse(context.Background(), lang, []byte(code))
		if err != nil {
			return
		}
		tpl := ParseTemplate(pattern, vars, nil)
		env := NewEnv(vars)
		for n := range tree.Root().Descendants() {
			if p.Match(n, env) {
				tpl.Fill(env, tree.Source(), n.Start())
				for _, text := range p.Literals() {
					if !strings.Contains(code, text) {
						t.Errorf("%q matches code without %q, which it is said to need", pattern, text)
					}
				}
			}
			env.Undo(0)
		}
	})
}
