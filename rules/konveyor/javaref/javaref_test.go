package javaref

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/treesitter"
)

// parse extracts one file.
func parse(t testing.TB, path, src string) *File {
	t.Helper()
	tree, err := treesitter.Parse(context.Background(), treesitter.Lookup("java"), []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return Extract(path, tree)
}

// TestFind runs the queries of testdata/*.txtar. A line of the file "queries" is
//
//	LOCATION pattern [@annotation{name=value,…}] => File.java:line …
//
// where LOCATION "-" is the default; places are in order, without repetitions
// of a line.
func TestFind(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(data)
			project := NewProject()
			var files []*File
			text := map[string]string{}
			queries := ""
			for _, f := range archive.Files {
				if f.Name == "queries" {
					queries = string(f.Data)
					continue
				}
				text[f.Name] = string(f.Data)
				files = append(files, parse(t, f.Name, string(f.Data)))
				project.Add(files[len(files)-1])
			}
			for n, line := range strings.Split(queries, "\n") {
				if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
					continue
				}
				query, want, ok := strings.Cut(line, "=>")
				if !ok {
					t.Fatalf("query %d has no =>: %s", n+1, line)
				}
				got := findLines(t, project, files, text, strings.TrimSpace(query))
				if got != strings.TrimSpace(want) {
					t.Errorf("query %d: %s\n got %s\nwant %s", n+1, query, got, strings.TrimSpace(want))
				}
			}
		})
	}
}

func findLines(t *testing.T, p *Project, files []*File, text map[string]string, query string) string {
	t.Helper()
	location, rest, _ := strings.Cut(query, " ")
	q := &Query{}
	if location != "-" {
		var known bool
		if q.Location, known = ParseLocation(location); !known {
			t.Fatalf("location %s is unknown", location)
		}
	}
	pattern, annotated, ok := strings.Cut(rest, " @")
	if ok {
		q.Annotated = parseAnnotated(t, annotated)
	}
	q.Pattern = CompilePattern(strings.TrimSpace(pattern), q.Location)
	need := q.Pattern.Literals()
	var out []string
	for _, f := range files {
		seen := map[int]bool{}
		for _, m := range p.Find(f, q) {
			for _, clause := range need {
				met := false
				for _, s := range clause {
					met = met || strings.Contains(text[f.Path], s)
				}
				if !met {
					t.Errorf("%s matches in %s, which lacks %q", query, f.Path, clause)
				}
			}
			if line := 1 + strings.Count(text[f.Path][:m.Span.Start], "\n"); !seen[line] {
				seen[line] = true
				out = append(out, fmt.Sprintf("%s:%d", f.Path, line))
			}
		}
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, " ")
}

func parseAnnotated(t *testing.T, s string) *Annotated {
	t.Helper()
	a := &Annotated{}
	name, values, _ := strings.Cut(strings.TrimSuffix(s, "}"), "{")
	if name != "" {
		re, err := Whole(name)
		if err != nil {
			t.Fatal(err)
		}
		a.Pattern = re
	}
	for _, v := range strings.FieldsFunc(values, func(r rune) bool { return r == ',' }) {
		key, value, _ := strings.Cut(v, "=")
		re, err := Whole(value)
		if err != nil {
			t.Fatal(err)
		}
		a.Elements = append(a.Elements, Element{key, re})
	}
	return a
}

func TestParseLocation(t *testing.T) {
	for text, want := range map[string]Location{"": Default, "import": Import, "FIELD_DECLARATION": Field, "ENUM": EnumConstant} {
		if got, ok := ParseLocation(text); !ok || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"ENUM_CONSTANT", "THROW_STATEMENT", "METHOD_PARAMETER"} {
		if got, ok := ParseLocation(text); ok || got != Default {
			t.Errorf("%q: got %v, %v; want the default and false", text, got, ok)
		}
	}
}

func TestWildcard(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"a.b.C", "a.b.C", true}, {"a.b.C", "a.b.CD", false}, {"a.b*", "a.b", true}, {"a.b*", "a.bc.D", true},
		{"*b*", "abc", true}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"", "", true}, {"*", "", true}, {"a*b*c", "aXbYbZc", true},
	}
	for _, tt := range tests {
		if got := wildcard(tt.pattern, tt.text); got != tt.want {
			t.Errorf("%q in %q: got %v", tt.pattern, tt.text, got)
		}
	}
}

func TestCompilePattern(t *testing.T) {
	tests := []struct {
		pattern string
		want    string // qual|simple|params, by semicolons
	}{
		{"a.b.C", "a.b|C|-1"},
		{"a.b.(C|D)", "a.b|C|-1;a.b|D|-1"},
		{"w.Work(Event|Item)?", "w|Work|-1;w|WorkEvent|-1;w|WorkItem|-1"},
		{"(a.B|c.D)", "a|B|-1;c|D|-1"},
		{"a.B.m(int, java.util.Map<K,V>)", "a.B|m|2"},
		{"m()", "|m|0"},
		{"a.B$C", "a.B|C|-1"},
		{"com.ibm*.jms.(Jms|MQ)?*Factory", "com.ibm*.jms|*Factory|-1;com.ibm*.jms|Jms*Factory|-1;com.ibm*.jms|MQ*Factory|-1"},
	}
	for _, tt := range tests {
		var got []string
		for _, a := range CompilePattern(tt.pattern, Default).alts {
			got = append(got, fmt.Sprintf("%s|%s|%d", a.qual, a.simple, a.params))
		}
		if s := strings.Join(got, ";"); s != tt.want {
			t.Errorf("%s: got %s, want %s", tt.pattern, s, tt.want)
		}
	}
}

func TestPatternWarnings(t *testing.T) {
	for pattern, loc := range map[string]Location{
		"a.b.C.{get|set}X*": MethodCall,
		"a.b.(C|D))*":       MethodCall,
		"com.sun.jna*":      ConstructorCall,
		"* a.b.C":           MethodCall,
	} {
		if len(CompilePattern(pattern, loc).Warnings()) == 0 {
			t.Errorf("%s (%v): no warning", pattern, loc)
		}
	}
	if w := CompilePattern("javax.mail*", Package).Warnings(); len(w) > 0 {
		t.Errorf("unexpected warnings %q", w)
	}
}

func TestDeclareLoadsOnDemand(t *testing.T) {
	loads := 0
	p := NewProject()
	p.Declare([]string{"app.Base"}, func() *File {
		loads++
		return parse(t, "Base.java", "package app; import lib.Root; public class Base extends Root {}")
	})
	f := parse(t, "Sub.java", "package app;\nclass Sub extends Base {\n void m() { go(); }\n}\n")
	p.Add(f)
	q := &Query{Pattern: CompilePattern("lib.Root.go", MethodCall), Location: MethodCall}
	for range 2 {
		if got := p.Find(f, q); len(got) != 1 {
			t.Errorf("got %d matches, want the inherited call", len(got))
		}
	}
	if loads != 1 {
		t.Errorf("the file was read %d times", loads)
	}
}

func TestDeepNesting(t *testing.T) {
	src := "class A { Object o = " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + "; }"
	parse(t, "A.java", src)
	parse(t, "B.java", "class B { void m() { x"+strings.Repeat(".f()", 5000)+"; } }")
}

func FuzzExtract(f *testing.F) {
	f.Add("package a; import b.*; class C<T extends D> extends E<F> { @G(h=1) I j = new K() { void l() { m.n(o::p); } }; }")
	f.Add("enum A { B { void c(){} }; switch(x) { case D -> E.F; } }")
	f.Fuzz(func(t *testing.T, src string) {
		file := parse(t, "A.java", src)
		p := NewProject()
		p.Add(file)
		for l := Default; l <= Class; l++ {
			q := &Query{Pattern: CompilePattern("*", l), Location: l}
			for _, m := range p.Find(file, q) {
				if m.Span.Start < 0 || m.Span.End < m.Span.Start || m.Span.End > len(src) {
					t.Fatalf("match %+v is out of range", m)
				}
			}
		}
	})
}

// TestLibrary resolves through types that are only known compiled.
func TestLibrary(t *testing.T) {
	p := NewProject()
	p.Library = func(name string) *LibraryType {
		return map[string]*LibraryType{
			"lib.Child":  {Supertypes: []string{"lib.Parent", "lib.Port"}, Methods: map[string][]string{"own": {"lib.Other"}, "self": {"lib.Child"}, "any": {"java.lang.Object"}}},
			"lib.Parent": {Methods: map[string][]string{"inherited": {""}}, Fields: map[string]string{"field": "lib.Other"}},
			"lib.Other":  {Methods: map[string][]string{"go": {""}}},
			"star.Known": {},
		}[name]
	}
	const src = `package app;
import lib.Child;
import star.*;
import other.*;
class A {
 void m(Child c) {
  c.inherited();
  c.own().go();
  c.self().self().own();
  c.field.go();
  c.any().go();
 }
 Known k;
}
class B extends Child {
 void m() {
  inherited();
  own().go();
 }
}
`
	f := parse(t, "A.java", src)
	p.Add(f)
	for query, want := range map[string]string{
		"METHOD_CALL lib.Parent.inherited": "7 17",
		"METHOD_CALL lib.Child.inherited":  "",
		"METHOD_CALL lib.Child.own":        "8 9 18",
		"METHOD_CALL lib.Other.go":         "8 10 18",
		"FIELD star.Known":                 "13",
		"FIELD other.Known":                "",
	} {
		location, pattern, _ := strings.Cut(query, " ")
		loc, _ := ParseLocation(location)
		var lines []string
		for _, m := range p.Find(f, &Query{Pattern: CompilePattern(pattern, loc), Location: loc}) {
			lines = append(lines, fmt.Sprint(1+strings.Count(src[:m.Span.Start], "\n")))
		}
		if got := strings.Join(lines, " "); got != want {
			t.Errorf("%s: got lines %q, want %q", query, got, want)
		}
	}
}
