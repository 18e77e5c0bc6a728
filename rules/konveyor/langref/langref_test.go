package langref

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/treesitter"
)

func extract(t testing.TB, path, src string) *File {
	t.Helper()
	lang := ForPath(path)
	tree, err := treesitter.Parse(context.Background(), Grammar(lang, path), []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return Extract(lang, tree)
}

// TestFind checks the lines on which patterns match, and that a match never
// lacks the literals that let a file be skipped.
func TestFind(t *testing.T) {
	const goSource = `package p

import (
	"fmt"
	. "math"
	_ "crypto/rc4"
	yaml "gopkg.in/yaml.v3"
	oidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/foo/go-bar"
	"k8s.io/api/networking/v1"
)

var a v1.Ingress
var b = Abs(1)
var c, d = yaml.Marshal, bar.Do
func Println() { fmt.Println(oidc.X, fmt.Fields) }
`
	const tsSource = `import { Text, Modal as M } from '@lib/core';
import type { Label } from './x';
const a: Label = <Label>b;
const o = { Text, isOpen: true };
// Text
foo.Text(obj?.Text, "Text", ` + "`Text ${Text}`" + `);
class Text {}
`
	const tsxSource = `export const A = () => <Modal isOpen {...props}><Text.Small/>isOpen</Modal>;
`
	const pySource = `import os, sys as system
import a.b.c
from x.y import (one, two as zwei)
from . import local

def f():
    system.exit(one(zwei.attr))
    a.b.c.d()
    g(one=1)
    return x.y
`
	const csSource = `using System.Web;
using Sys = System;
using static System.Math;
namespace A.B
{
    [Obsolete]
    public class C<T> : List<Page>, IThing where T : Page
    {
        private HttpContext field;
        public Page Do(HttpRequest r)
        {
            var x = new BinaryFormatter();
            HttpContext.Current.Session.Clear();
            Sys.Console.WriteLine(typeof(Page));
            return (Page)r.Query["HttpContext.Current"];
        }
    }
}
`
	tests := []struct {
		path, src, pattern, location string
		want                         string
	}{
		{"a.go", goSource, "fmt.Println", "", "16"},
		{"a.go", goSource, "fmt", "", "4 16"},
		{"a.go", goSource, "crypto/rc4", "", "6"},
		{"a.go", goSource, "math.Abs", "", "14"},
		{"a.go", goSource, "gopkg.in/yaml.v3", "", "7"},
		{"a.go", goSource, "gopkg.in/yaml.v3.Marshal", "", "15"},
		{"a.go", goSource, "github.com/coreos/go-oidc", "", "8"},
		{"a.go", goSource, "github.com/coreos/go-oidc/v3/oidc.X", "", "16"},
		{"a.go", goSource, "github.com/foo/go-bar.Do", "", "15"},
		{"a.go", goSource, "k8s.io/api/networking/v1.Ingress", "", "13"},
		{"a.go", goSource, "k8s.io/api/networking/v1", "", "10"},
		{"a.go", goSource, "Println", "", "16"},
		{"a.go", goSource, "net/http", "", ""},
		{"a.go", goSource, `^k8s\.io/.*\.Ing`, "", "13"},
		{"a.ts", tsSource, "Text", "", "1 4 6 7"},
		{"a.ts", tsSource, "Label", "", "2 3"},
		{"a.ts", tsSource, "isOpen", "", "4"},
		{"a.ts", tsSource, "foo.Text", "", "6"},
		{"a.ts", tsSource, "M(odal)?", "", "1"},
		{"a.tsx", tsxSource, "isOpen", "", "1"},
		{"a.tsx", tsxSource, "Text.Small", "", "1"},
		{"a.tsx", tsxSource, "Small.Text", "", ""},
		{"a.py", pySource, "sys.exit", "", "7"},
		{"a.py", pySource, "x.y.one", "", "3 7"},
		{"a.py", pySource, "x.y.two.attr", "", "7"},
		{"a.py", pySource, "a.b.c.d", "", "8"},
		{"a.py", pySource, "one", "", "3 7"},
		{"a.py", pySource, `x\.y\..*`, "", "3 7"},
		{"a.py", pySource, "missing", "", ""},
		{"a.cs", csSource, "System.Web", "ALL", "1"},
		{"a.cs", csSource, `System\.Web\.Page`, "ALL", "7 10 14 15"},
		{"a.cs", csSource, `.*\.BinaryFormatter`, "ALL", "12"},
		{"a.cs", csSource, `.*\.HttpContext\.Current`, "FIELD", "13"},
		{"a.cs", csSource, `System\.Console\.WriteLine`, "METHOD", "14"},
		{"a.cs", csSource, `System\.Console\.WriteLine`, "FIELD", ""},
		{"a.cs", csSource, `A\.B\.C`, "CLASS", "7"},
		{"a.cs", csSource, `ObsoleteAttribute`, "ALL", "6"},
	}
	for _, tt := range tests {
		q, err := NewQuery(ForPath(tt.path), tt.pattern, tt.location, "")
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		var lines []string
		seen := map[string]bool{}
		for _, m := range extract(t, tt.path, tt.src).Find(q) {
			if line := fmt.Sprint(1 + strings.Count(tt.src[:m.Start], "\n")); !seen[line] {
				seen[line] = true
				lines = append(lines, line)
			}
		}
		if got := strings.Join(lines, " "); got != tt.want {
			t.Errorf("%s in %s: got lines %q, want %q", tt.pattern, tt.path, got, tt.want)
		}
		if len(lines) == 0 {
			continue
		}
		if !q.MayMatch([]byte(tt.src)) {
			t.Errorf("%s matches in %s, which it would skip", tt.pattern, tt.path)
		}
		for _, clause := range q.Literals() {
			met := false
			for _, s := range clause {
				met = met || strings.Contains(tt.src, s)
			}
			if !met {
				t.Errorf("%s matches in %s, which lacks %q", tt.pattern, tt.path, clause)
			}
		}
	}
}

func TestNamespaceNarrows(t *testing.T) {
	src := "using A;\nusing B;\nclass X : Page {}\n"
	for ns, want := range map[string]int{"": 1, "A": 1, "C": 0} {
		q, err := NewQuery("csharp", `\.Page$`, "ALL", ns)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(extract(t, "a.cs", src).Find(q)); got != want {
			t.Errorf("namespace %q: got %d matches, want %d", ns, got, want)
		}
	}
}

func TestNewQueryErrors(t *testing.T) {
	if _, err := NewQuery("csharp", "(", "", ""); err == nil {
		t.Error("a broken expression is accepted")
	}
	if _, err := NewQuery("cobol", "a", "", ""); err == nil {
		t.Error("an unknown language is accepted")
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("package a; import b \"c\"; var d = b.E", "import a.b as c\nc.d()", "using A; class B : C { D e = F.G(); }", "import {a} from 'b'; <C d={e.f}/>")
	f.Fuzz(func(t *testing.T, golang, python, csharp, tsx string) {
		for path, src := range map[string]string{"a.go": golang, "a.py": python, "a.cs": csharp, "a.tsx": tsx} {
			q, err := NewQuery(ForPath(path), ".*", "ALL", "")
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range extract(t, path, src).Find(q) {
				if m.Start < 0 || m.End < m.Start || m.End > len(src) {
					t.Fatalf("%+v is out of range of %s", m, path)
				}
			}
		}
	})
}
