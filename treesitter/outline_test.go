package treesitter

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each golden file is what is read off one language's sample: the package, the
// imports, and the outline.
func TestOutlineAndImports(t *testing.T) {
	for name, src := range samples(t) {
		t.Run(name, func(t *testing.T) {
			tree := mustParse(t, name, string(src))
			var b strings.Builder
			if pkg, node := Package(tree); pkg != "" {
				fmt.Fprintf(&b, "package %s (%q)\n", pkg, node.Text())
			}
			for _, i := range Imports(tree) {
				fmt.Fprintf(&b, "import path=%q name=%q alias=%q static=%v local=%q in %q\n", i.Path, i.Name, i.Alias, i.Static, i.Local(), i.Stmt.Text())
			}
			for _, s := range Outline(tree) {
				fmt.Fprintf(&b, "%s%s %s: %s\n", strings.Repeat("  ", s.Depth), s.Kind, s.Qualified, s.Signature())
			}
			golden := filepath.Join("testdata", "outline", name+".golden")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", &b, want)
			}
		})
	}
}

// What the tables name must exist in the grammar, or a row does nothing.
func TestOutlineTablesNameRealKinds(t *testing.T) {
	shared := []string{"typescript", "tsx", "javascript", "c", "cpp"} // their tables name kinds that only some of them have
	for name, rules := range outlines {
		lang := Lookup(name)
		if lang == nil {
			t.Errorf("outline table for the unknown language %q", name)
			continue
		}
		for kind := range rules {
			if lang.KindID(kind, true) == 0 && !slices.Contains(shared, name) {
				t.Errorf("%s: the grammar has no kind %q", name, kind)
			}
		}
	}
	for name, readers := range importReaders {
		for kind := range readers {
			if Lookup(name).KindID(kind, true) == 0 {
				t.Errorf("%s: the grammar has no kind %q", name, kind)
			}
		}
	}
}

func TestEnclosing(t *testing.T) {
	for _, c := range []struct{ lang, src, want string }{
		{"go", "package a\nfunc (s *Server[T]) Close() { HERE() }", "Server.Close"},
		{"go", "package a\nvar x = HERE()", "x"},
		{"go", "package a\nfunc f() { g := func() { y := HERE() } }", "f"},
		{"go", "package a\n// HERE\n", ""},
		{"java", "class A { class B { void m() { int v = HERE(); } } }", "A.B.m"},
		{"java", "class A { int f = HERE(), g; }", "A.f"},
		{"java", "class A { void m() { new B() { void n() { HERE(); } }; } }", "A.m.n"},
		{"python", "class A:\n  @d\n  def m(self):\n    x = HERE()\n", "A.m"},
		{"python", "class A:\n  @HERE\n  def m(self):\n    pass\n", "A.m"},
		{"typescript", "export class A { m = () => { HERE(); } }", "A.m"},
		{"javascript", "const a = { b() {}, c: function() { HERE(); } }", "a.c"},
		{"javascript", "const f = async (x) => { const y = HERE(); }", "f"},
		{"rust", "impl<T> Cart<T> { fn total(&self) { HERE(); } }", "Cart.total"},
		{"rust", "impl Display for Cart { fn fmt(&self) { HERE(); } }", "Cart.fmt"},
		{"csharp", "namespace N { class A { int P { get { HERE(); } } } }", "N.A.P"},
		{"cpp", "int Cart::total() const { return HERE(); }", "Cart.total"},
		{"typescript", "enum A { B, C = HERE() }", "A.C"},
		{"java", "class A { Runnable r = new Runnable() { public void run() { HERE(); } }; }", "A.r.run"},
		{"c", "static int *f(int x) { return HERE(); }", "f"},
		{"kotlin", "class A {\n  companion object {\n    fun m() { HERE() }\n  }\n}\n", "A.Companion.m"},
		{"ruby", "module A\n  class B\n    def self.m\n      HERE()\n    end\n  end\nend\n", "A.B.m"},
		{"php", "<?php namespace N; class A { function m() { HERE(); } }", "A.m"},
	} {
		tree := mustParse(t, c.lang, c.src)
		s, ok := Enclosing(tree, strings.Index(c.src, "HERE"))
		if s.Qualified != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q: enclosed by %q, want %q", c.lang, c.src, s.Qualified, c.want)
		}
	}
}

func TestImports(t *testing.T) {
	for _, c := range []struct{ lang, src, want string }{
		{"go", "package a\nimport . \"a/b/v2\"\nimport _ \"c\"\nimport \"gopkg.in/yaml.v3\"", "a/b/v2::. c::_ gopkg.in/yaml.v3::=yaml"},
		{"java", "import a.b.*;\nimport static a.B.*;\nimport static a.B.c;\nimport a.b.C;", "a.b:*: a.B:*: a.B:c:=c a.b:C:=C"},
		{"python", "import a.b, c as d\nfrom . import e\nfrom ..x.y import (f as g, h)\nfrom z import *\nfrom __future__ import annotations",
			"a.b::=a c::d=d .:e:=e ..x.y:f:g=g ..x.y:h:=h z:*: __future__:annotations:=annotations"},
		{"javascript", "import 'x';\nimport a, * as b from \"y\";\nimport { c, d as e } from 'z';\nexport * from './w';\nexport { f as g } from './v';\nconst { h, i: j } = require('k');\nrequire('l');",
			"x:: y:default:a=a y:*:b=b z:c:=c z:d:e=e ./w:*: ./v:f:g=g k:h:=h k:i:j=j l::"},
		{"typescript", "import type { A } from 'a';\nimport { type B, C } from 'b';", "a:A:=A b:B:=B b:C:=C"},
		{"rust", "use a::b;\nuse a::{self, c::D as E, f::*};\nextern crate g;", "a:b:=b :a:=a a::c:D:E=E a::f:*: g::=g"},
		{"csharp", "using A.B;\nusing static A.C;\nusing D = A.E;\nglobal using F;", "A.B:: A.C:: A.E::D=D F::"},
		{"kotlin", "import a.b.C\nimport a.b.*\nimport a.D as E\n", "a.b:C:=C a.b:*: a:D:E=E"},
		{"php", "<?php use A\\B; use A\\C as D;", `A:B:=B A:C:D=D`},
		{"cpp", "#include <vector>\n#include \"a/b.h\"\n", "vector:: a/b.h::"},
		{"ruby", "require 'a'\nrequire_relative \"b\"\nobj.require 'c'\n", "a:: b::"},
	} {
		var got []string
		for _, i := range Imports(mustParse(t, c.lang, c.src)) {
			s := i.Path + ":" + i.Name + ":" + i.Alias
			if l := i.Local(); l != "" {
				s += "=" + l
			}
			got = append(got, s)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: %q\n got %s\nwant %s", c.lang, c.src, g, c.want)
		}
	}
}

func TestSignature(t *testing.T) {
	for _, c := range []struct{ lang, src, want string }{
		{"go", "package a\nfunc (s *S) F(\n\ta int,\n) error { return nil }", "func (s *S) F( a int, ) error"},
		{"java", "class A { @X public int m(int a) throws E { return 1; } }", "@X public int m(int a) throws E"},
		{"python", "class A:\n  @d\n  def m(self, x=lambda y: y) -> int:\n    pass\n", "@d def m(self, x=lambda y: y) -> int"},
		{"typescript", "export const f = (a: number): void => { g(); }", "f = (a: number): void =>"},
	} {
		outline := Outline(mustParse(t, c.lang, c.src))
		if len(outline) == 0 {
			t.Errorf("%s: empty outline", c.lang)
			continue
		}
		if got := outline[len(outline)-1].Signature(); got != c.want {
			t.Errorf("%s: %q, want %q", c.lang, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	sound := mustParse(t, "java", "class A { void m() { f(); } }")
	if got := Errors(sound); got != nil {
		t.Errorf("Errors of sound code: %v", got)
	}
	one := mustParse(t, "c", "int a = (1;")
	if got := Errors(one); len(got) != 1 || got[0].Kind != "MISSING )" || got[0].Count != 1 {
		t.Errorf("Errors = %v, want one missing parenthesis", got)
	}
	two := mustParse(t, "c", "int a = (1; int b = (2;")
	if got := NewErrors(one, two); len(got) != 1 || got[0].Count != 1 {
		t.Errorf("NewErrors = %v, want the second parenthesis only", got)
	}
	if got := NewErrors(two, one); got != nil {
		t.Errorf("NewErrors after a repair = %v, want none", got)
	}
}
