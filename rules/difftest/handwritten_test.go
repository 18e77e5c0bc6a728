package difftest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/treesitter"
)

// handwritten are cases for what generated ones seldom hit: each is a language,
// a rule without id and language, and code.
var handwritten = []struct{ lang, rule, code string }{
	// Comments and strictness.
	{"js", `rule: {pattern: foo($A)}`, "foo(/*c*/ a); foo(a /*c*/); foo(/*z*/); foo()"},
	{"js", `rule: {pattern: {context: foo($A), strictness: cst}}`, "foo(/*c*/ a); foo(a /*c*/); foo(/*z*/); foo(b)"},
	{"js", `rule: {pattern: {context: foo($A), strictness: ast}}`, "foo(/*c*/ a); foo(a,); foo(/*z*/); foo(b)"},
	{"js", `rule: {pattern: {context: "foo($A, $$$B)", strictness: relaxed}}`, "foo(/*c*/ a); foo(a /*c*/, b); foo(b)"},
	{"js", `rule: {pattern: {context: "foo(/*c*/ $A)"}}`, "foo(/*c*/ a); foo(/*d*/ a); foo(a)"},
	{"js", `rule: {pattern: {context: "import {foo} from 'bar'", strictness: relaxed}}`, "import {foo,} from 'bar'; import {foo, x} from 'bar'"},
	{"js", `rule: {pattern: {context: "$A = $B", strictness: template, }, kind: variable_declarator}`, "var a = b; let c = d; class X { e = f }"},
	{"js", `rule: {pattern: {context: "foo(bar)", strictness: signature}}`, "foo(bar); baz(qux); foo(1)"},
	{"js", `rule: {pattern: {context: "class A { get b() {} }", selector: method_definition}}`, "class X { get b() {} b() {} get c() {} }"},
	// Ellipses.
	{"js", `rule: {pattern: "foo($$$A, b, $$$C)"}`, "foo(b); foo(a, b); foo(a, b, c); foo(a, b, c,); foo(c)"},
	{"js", `rule: {pattern: "foo($A, $$$, $B)"}`, "foo(1, 2); foo(1, 2, 3); foo(1)"},
	{"js", `rule: {pattern: "[$$$A, $$$B]"}`, "[1, 2, 3]; [1]; []"},
	{"js", `rule: {pattern: "if (true) { $$$A } else { $$$A }"}`, "if (true) { a(); b() } else { a(); b() } if (true) { a() } else { b() }"},
	{"js", "rule: {pattern: \"function _() {\\n $$$A\\n let $P = g()\\n let $Q = h()\\n $$$B\\n}\"}", "function _() { let a = 0; let p = g(); let q = h(); let b = 1; }"},
	{"js", `rule: {pattern: "foo($$A)"}`, "foo(); foo(1); foo(...x)"},
	{"js", `rule: {pattern: "$A === $A"}`, "a === a; a.b === a.b; a === b; f(x) === f( x )"},
	{"js", `rule: {pattern: "$$$A"}`, "a"},
	{"js", `rule: {pattern: "foo($A"}`, "foo(a)"},
	{"js", `rule: {pattern: "a b c"}`, "a"},
	// Selectors.
	{"js", `rule: {kind: "pair:has(> number)"}`, "x = {a: 1, b: {c: 2}}"},
	{"js", `rule: {kind: "object:has(number)"}`, "x = {a: 1, b: {c: 2}}; y = {}"},
	{"js", `rule: {kind: "pair:not(:has(> number)):nth-child(2)"}`, "x = {a: 1, b: {c: 2}}"},
	{"js", `rule: {kind: "pair:nth-child(2n+1 of pair)"}`, "x = {a: 1, ...z, b: 2, c: 3}"},
	{"js", `rule: {kind: "pair:nth-last-child(1)"}`, "x = {a: 1, b: 2}"},
	{"js", `rule: {kind: "pair ~ pair, pair > number ,"}`, "x = {a: 1, b: 2}"},
	{"js", `rule: {kind: "pair.value"}`, "x = {a: 1}"},
	{"js", `rule: {kind: ":has(number)"}`, "x = {a: 1}"},
	{"js", `rule: {kind: "pair:is(pair, number) > number"}`, "x = {a: 1}"},
	// Relations.
	{"js", `rule: {kind: number, inside: {kind: object, stopBy: {kind: array}}}`, "x = {a: [1], b: 2}"},
	{"js", `rule: {kind: object, has: {kind: number, stopBy: {kind: array}}}`, "x = {a: [1]}; y = {a: 1}"},
	{"js", `rule: {kind: pair, has: {field: value, kind: number, stopBy: {kind: object}}}`, "x = {a: {b: 1}, c: 2, d: [[3]]}"},
	{"js", `rule: {kind: pair, has: {field: value, kind: number, stopBy: end}}`, "x = {a: {b: 1}, c: 2, d: [[3]]}"},
	{"js", `rule: {kind: identifier, inside: {field: function, kind: call_expression}}`, "f(g(x))"},
	{"js", `rule: {kind: identifier, inside: {field: arguments, kind: call_expression, stopBy: end}}`, "f(g(x))"},
	{"js", `rule: {kind: pair, follows: {pattern: $X, kind: pair, stopBy: end}}`, "x = {a: 1, b: 2, c: 3}"},
	{"js", `rule: {kind: pair, precedes: {pattern: $X, kind: pair, stopBy: end}}`, "x = {a: 1, b: 2, c: 3}"},
	{"js", `rule: {kind: pair, follows: {kind: pair, stopBy: {regex: "^a"}}}`, "x = {a: 1, b: 2, c: 3}"},
	{"js", `rule: {kind: call_expression, has: {all: [{pattern: $A}, {regex: "^y$"}], stopBy: end}}`, "foo(x, y)"},
	{"js", `rule: {kind: call_expression, has: {has: {kind: number}}}`, "foo(1); foo([1])"},
	{"js", `rule: {any: [{all: [{pattern: f($A)}, {regex: z}]}, {pattern: f($B)}]}`, "f(x); f(z)"},
	{"js", `rule: {all: [{pattern: f($A)}, {not: {pattern: f(1)}}, {not: {has: {kind: string, stopBy: end}}}]}`, "f(1); f(2); f('a')"},
	{"js", `rule: {kind: call_expression, not: {pattern: $F(1)}}`, "f(1); g(2)"},
	{"js", `rule: {pattern: a();, inside: {kind: statement_block, inside: {kind: function_declaration}}}`, "function f() { a(); { a(); } }"},
	// Positions.
	{"js", `rule: {kind: number, nthChild: {position: 2, ofRule: {pattern: $B}}}`, "f(1, 2, 3)"},
	{"js", `rule: {kind: number, nthChild: {position: 2, ofRule: {kind: number}, reverse: true}}`, "f(1, a, 2, 3)"},
	{"js", `rule: {kind: number, nthChild: "-n+2"}`, "f(1, 2, 3)"},
	{"js", `rule: {kind: number, nthChild: 0}`, "f(1, 2, 3)"},
	{"js", `rule: {kind: number, nthChild: "2x"}`, "f(1)"},
	{"js", `rule: {kind: string, range: {start: {line: 0, column: 4}, end: {line: 0, column: 7}}}`, "'ä';'b'"},
	{"js", `rule: {kind: string, range: {start: {line: 1}, end: {line: 1}}}`, "'a'\n'b'"},
	// Utilities and constraints.
	{"js", "rule: {matches: u}\nutils: {u: {pattern: f($A)}}\nfix: g($A)", "f(1)"},
	{"js", "rule: {matches: u, kind: array}\nutils: {u: {any: [{kind: number}, {kind: array, has: {matches: u}}]}}", "[[1], [a]]"},
	{"js", "rule: {matches: u}\nutils: {u: {matches: v}, v: {matches: u}}", "1"},
	{"js", "rule: {pattern: $A = $B}\nconstraints: {A: {pattern: $B}}", "a = a; a = b"},
	{"js", "rule: {pattern: $A = $B}\nconstraints: {B: {pattern: $C + $D}}\nfix: $C", "a = a; a = 1 + 2"},
	{"js", "rule: {pattern: $A = $B}\nconstraints: {C: {kind: number}}", "a = 1"},
	{"js", "rule: {pattern: f($$$A)}\nconstraints: {A: {kind: number}}", "f(1); f(a)"},
	// Transforms and fixes.
	{"js", "rule: {pattern: f($A)}\ntransform: {B: {substring: {source: $A, startChar: 1, endChar: -1}}}\nfix: g($B)", "f('äöü'); f(x); f(xy)"},
	{"js", "rule: {pattern: f($A)}\ntransform: {B: {replace: {source: $A, replace: '(?<a>[a-z])(\\d)', by: '$2${a}$$'}}}\nfix: g($B)", "f(a1b2)"},
	{"js", "rule: {pattern: f($A)}\ntransform: {B: 'convert($A, toCase=snakeCase, separatedBy=[caseChange, dot])'}\nfix: $B", "f(XMLHttp.fooBar); f(aB_c)"},
	{"js", "rule: {pattern: f($A)}\ntransform: {B: {convert: {source: $C, toCase: upperCase}}, C: {convert: {source: $A, toCase: capitalize}}}\nfix: $B $C", "f(abc)"},
	{"js", "rule: {pattern: f($A)}\ntransform: {A: {convert: {source: $A, toCase: upperCase}}}", "f(abc)"},
	{"js", "rule: {pattern: f($A)}\nfix: g($Z)", "f(abc)"},
	{"js", "rule: {pattern: f($A)}\nmessage: '$A $Z $$$Q $$ $a $A1'", "f(abc)"},
	{"js", "rule: {pattern: f($A)}\nfix: '$A$A $$$A $$ $x'", "f(abc)"},
	{"js", "rule: {pattern: f($B)}\nfix: \"c(\\n  $B\\n)\"", "if (true) {\n  f(\n    1\n      + 2\n      + 3\n  )\n}"},
	{"js", "rule: {pattern: f($B)}\nfix: \"c(\\n\\t$B\\n)\"", "if (true) {\n\tf(\n\t\t1\n\t\t\t+ 2\n\t)\n}"},
	{"js", "rule: {pattern: f($$$B)}\nfix: \"    c(\\n  $$$B\\n)\"", "  f(1,\n     2)"},
	{"js", "rule: {pattern: f($A)}\nfix: {template: '', expandEnd: {regex: ';'}, expandStart: {kind: comment}}", "/*x*/ f(1);"},
	{"js", "rule: {kind: pair, regex: ^b}\nfix: {template: '', expandEnd: {regex: ','}, expandStart: {regex: ',', stopBy: end}}", "x = {a: 1, b: 2, c: 3}"},
	{"js", "rule: {kind: pair, regex: ^b}\nfix: [{title: x, template: one}, {title: y, template: two}]", "x = {a: 1, b: 2}"},
	{"js", "rule: {kind: pair}\nfix: [{template: one}]", "x = {a: 1, b: 2}"},
	{"js", "rule: {pattern: 'a = $A'}\nrewriters: [{id: re, rule: {kind: number, pattern: $N}, fix: '<$N>'}]\ntransform: {B: {rewrite: {rewriters: [re], source: $A}}}\nfix: b = $B", "a = [1, 2, [3]]"},
	{"js", "rule: {pattern: 'f($$$A)'}\nrewriters: [{id: num, rule: {kind: number}, fix: n}, {id: str, rule: {kind: string}, fix: s}]\ntransform: {B: {rewrite: {rewriters: [str, num], source: $$$A, joinBy: ' + '}}}\nfix: $B", "f(1, 'a', x, 2)"},
	{"js", "rule: {pattern: 'f($A)'}\nrewriters: [{id: re, rule: {pattern: '[$$$C]'}, transform: {D: {rewrite: {source: $$$C, rewriters: [re]}}}, fix: $D}]\ntransform: {B: {rewrite: {rewriters: [re], source: $A}}}\nfix: $B", "f([1, [2, [3]]])"},
	{"js", "rule: {pattern: '[$A, $C]'}\nrewriters: [{id: re, rule: {pattern: $C, kind: number}, fix: same}]\ntransform: {B: {rewrite: {rewriters: [re], source: $A}}}\nfix: $B", "[1, 1]; [1, 2]"},
	{"js", "rule: {pattern: 'f($A)'}\ntransform: {B: {rewrite: {rewriters: [nope], source: $A}}}", "f(1)"},
	{"js", "rule: {pattern: var $A = $B}\nfix: let $A = $B", "var a = 1, b = 2; var c = 3;"},
	// What a rule file may be.
	{"js", "rule: {pattern: $A}", "a"},
	{"js", "rule: {regex: a}", "a"},
	{"js", "rule: {}", "a"},
	{"js", "rule: {pattern: 12}", "12"},
	{"js", "rule: {kind: nonsense}", "a"},
	{"js", "rule: {kind: pair, has: {field: nonsense, kind: number}}", "a"},
	{"js", "rule: {any: []}", "a"},
	{"js", "rule: {kind: number, all: []}", "1"},
	{"js", "rule: {kind: pair, has: null}", "a"},
	{"js", "rule: {kind: number, precedes: {kind: number, field: key}}", "a"},
	{"js", "rule: {kind: string, regex: '(?=x)'}", "a"},
	// Languages with characters that stand for $.
	{"go", "rule: {pattern: 'if err != nil { return $$$R }'}\nfix: check($$$R)", "package p\nfunc f() error { if err != nil { return 1, err }; return nil }"},
	{"go", "rule: {pattern: 'fmt.Println($A)'}", "package p\nfunc f() { fmt.Println(1) }"},
	{"go", "rule: {pattern: {context: 'func f() { fmt.Println($A) }', selector: call_expression}}\nfix: log.Println($A)", "package p\nfunc f() { fmt.Println(1) }"},
	{"go", "rule: {pattern: 'interface{}'}", "package p\nvar a interface{}; var b interface { M() }; var c interface { }"},
	{"go", "rule: {pattern: 'type $T struct { $$$F }'}", "package p\ntype A struct { B int; C string }"},
	{"python", "rule: {pattern: 'self.assertEquals($A, $$$B)'}\nfix: self.assertEqual($A, $$$B)", "self.assertEquals(1, 2, msg='x')"},
	{"python", "rule: {pattern: \"def $F($$$A):\\n  $$$B\"}", "def f(a, b=1):\n    return a\n"},
	{"java", "rule: {pattern: 'import javax.$$$A'}", "import javax.ejb.EJB; import java.util.List;"},
	{"java", "rule: {kind: import_declaration, has: {kind: scoped_identifier, regex: ^javax}}\nfix: x", "import javax.ejb.EJB; import java.util.List;"},
	{"csharp", "rule: {pattern: 'Console.Write($A)'}\nfix: 'Log($A)'", "class A { void F() { Console.Write(1); } }"},
	{"rust", "rule: {pattern: '$A.unwrap()'}\nfix: $A?", "fn f() { a.b().unwrap(); }"},
	{"html", "rule: {pattern: '<b>$$$A</b>'}\nfix: <strong>$$$A</strong>", "<p><b>x</b> y <b>z</b></p>"},
	{"css", "rule: {pattern: 'color: $C'}", "a { color: red; }"},
	{"yaml", "rule: {pattern: 'image: $I'}", "a:\n  - image: x:1\n    b: c\n"},
	{"json", "rule: {pattern: '\"a\": $V'}", "{\"a\": 1}"},
	{"c", "rule: {pattern: 'strcpy($A, $B);'}\nfix: 'strlcpy($A, $B, sizeof $A);'", "void f() { strcpy(a, b); }"},
	{"bash", "rule: {pattern: 'rm $F'}", "rm a; rm -r b\n"},
	{"ts", "rule: {pattern: '$A as any'}", "x = y as any; z = y as string"},
	{"tsx", "rule: {pattern: '<A $$$P />'}", "x = <A b={1} c />"},
}

func TestHandWritten(t *testing.T) {
	bin := oracle(t)
	sum := &tally{excluded: map[string]int{}}
	for i, c := range handwritten {
		id := fmt.Sprintf("h%03d", i)
		lang := treesitter.Lookup(c.lang)
		rule := fmt.Sprintf("id: %s\nlanguage: %s\n%s\n", id, lang.Name, c.rule)
		if !strings.Contains(c.rule, "message:") {
			rule += "message: m\n"
		}
		compare(t, bin, t.TempDir(), lang, snippet{id, []byte(c.code)}, map[string]string{id: rule}, sum)
	}
	t.Logf("%d cases, %d matches, %d that both reject; excluded: %v", sum.cases, sum.matches, sum.rejected, sum.excluded)
}
