package rules_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// languageCases has a find-and-fix rule for every bundled grammar.
var languageCases = []struct {
	lang, path, rule, code, fixed string
}{
	{"bash", "a.sh", `pattern: which $CMD|fix: command -v $CMD`, "if which git; then echo yes; fi\n", "if command -v git; then echo yes; fi\n"},
	{"c", "a.c", `pattern: {context: 'void f() { gets($BUF); }', selector: call_expression}|fix: fgets($BUF, sizeof $BUF, stdin)`, "int main(void) { gets(line); return 0; }\n", "int main(void) { fgets(line, sizeof line, stdin); return 0; }\n"},
	{"cpp", "a.cpp", `pattern: {context: 'void f() { std::auto_ptr<$T> x; }', selector: template_type}|fix: unique_ptr<$T>`, "void f() { std::auto_ptr<int> p; }\n", "void f() { std::unique_ptr<int> p; }\n"},
	{"csharp", "a.cs", `pattern: Console.Write($A)|fix: Console.Out.Write($A)`, "class A { void F() { Console.Write(1); } }\n", "class A { void F() { Console.Out.Write(1); } }\n"},
	{"css", "a.css", `pattern: {context: 'a { color: $C; }', selector: declaration}|fix: 'background: $C;'`, "p { color: red; }\n", "p { background: red; }\n"},
	{"cue", "a.cue", `pattern: 'old: $V'|fix: 'new: $V'`, "a: {\n\told: 1\n}\n", "a: {\n\tnew: 1\n}\n"},
	{"dockerfile", "Dockerfile", `kind: image_name, regex: ^alpine$|fix: debian`, "FROM alpine:3\n", "FROM debian:3\n"},
	{"elixir", "a.ex", `pattern: 'Enum.count(Enum.filter($L, $F))'|fix: Enum.count($L, $F)`, "x = Enum.count(Enum.filter(list, f))\n", "x = Enum.count(list, f)\n"},
	{"elm", "a.elm", `kind: value_qid, regex: ^List\.concatMap$|fix: List.flatMap`, "module A exposing (..)\n\nx = List.concatMap f y\n", "module A exposing (..)\n\nx = List.flatMap f y\n"},
	{"go", "a.go", `pattern: {context: 'func f() { errors.New(fmt.Sprintf($$$A)) }', selector: call_expression}|fix: fmt.Errorf($$$A)`, "package p\n\nvar e = errors.New(fmt.Sprintf(\"%d\", 1))\n", "package p\n\nvar e = fmt.Errorf(\"%d\", 1)\n"},
	{"groovy", "a.gradle", `kind: identifier, regex: ^compile$|fix: implementation`, "dependencies {\n    compile 'a:b:1'\n}\n", "dependencies {\n    implementation 'a:b:1'\n}\n"},
	{"hcl", "a.tf", `pattern: version = $V|fix: required_version = $V`, "terraform {\n  version = \"1\"\n}\n", "terraform {\n  required_version = \"1\"\n}\n"},
	{"html", "a.html", `pattern: <center>$$$A</center>|fix: <div>$$$A</div>`, "<main><center>hello</center></main>\n", "<main><div>hello</div></main>\n"},
	{"java", "A.java", `pattern: new Integer($A)|fix: Integer.valueOf($A)`, "class A { Integer i = new Integer(1); }\n", "class A { Integer i = Integer.valueOf(1); }\n"},
	{"javascript", "a.js", `pattern: new Buffer($A)|fix: Buffer.from($A)`, "const b = new Buffer('x');\n", "const b = Buffer.from('x');\n"},
	{"json", "a.json", `kind: string, regex: '"old"'|fix: '"new"'`, "{\"a\": {\"old\": 1}}\n", "{\"a\": {\"new\": 1}}\n"},
	{"kotlin", "a.kt", `pattern: $S.toLowerCase()|fix: $S.lowercase()`, "fun f(s: String) = s.toLowerCase()\n", "fun f(s: String) = s.lowercase()\n"},
	{"lua", "a.lua", `pattern: table.getn($T)|fix: '#$T'`, "local n = table.getn(list)\n", "local n = #list\n"},
	{"ocaml", "a.ml", `kind: value_path, regex: ^Pervasives\.compare$|fix: Stdlib.compare`, "let c = Pervasives.compare 1 2\n", "let c = Stdlib.compare 1 2\n"},
	{"php", "a.php", `pattern: {context: '<?php split($A, $B);', selector: function_call_expression}|fix: explode($A, $B)`, "<?php\n$x = split(',', $s);\n", "<?php\n$x = explode(',', $s);\n"},
	{"properties", "a.properties", `kind: key, regex: ^server\.context-path$|fix: server.servlet.context-path`, "server.context-path=/a\nx=1\n", "server.servlet.context-path=/a\nx=1\n"},
	{"protobuf", "a.proto", `kind: identifier, regex: ^old_name$|fix: new_name`, "syntax = \"proto3\";\nmessage A { string old_name = 1; }\n", "syntax = \"proto3\";\nmessage A { string new_name = 1; }\n"},
	{"python", "a.py", `pattern: 'self.assertEquals($A, $B)'|fix: self.assertEqual($A, $B)`, "class T:\n    def t(self):\n        self.assertEquals(1, 2)\n", "class T:\n    def t(self):\n        self.assertEqual(1, 2)\n"},
	{"ruby", "a.rb", `pattern: File.exists?($F)|fix: File.exist?($F)`, "puts 1 if File.exists?(name)\n", "puts 1 if File.exist?(name)\n"},
	{"rust", "a.rs", `pattern: $S.trim_left()|fix: $S.trim_start()`, "fn f(s: &str) -> &str { s.trim_left() }\n", "fn f(s: &str) -> &str { s.trim_start() }\n"},
	{"scala", "a.scala", `pattern: $A.toIterator|fix: $A.iterator`, "object A { val m = x.toIterator }\n", "object A { val m = x.iterator }\n"},
	{"sql", "a.sql", `kind: identifier, regex: ^old_table$|fix: new_table`, "SELECT id FROM old_table;\n", "SELECT id FROM new_table;\n"},
	{"svelte", "a.svelte", `kind: tag_name, regex: ^center$|fix: div`, "<center>hello</center>\n", "<div>hello</div>\n"},
	{"swift", "a.swift", `pattern: $A.characters.count|fix: $A.count`, "let n = s.characters.count\n", "let n = s.count\n"},
	{"toml", "a.toml", `kind: bare_key, regex: ^dev_dependencies$|fix: dev-dependencies`, "[dev_dependencies]\na = 1\n", "[dev-dependencies]\na = 1\n"},
	{"tsx", "a.tsx", `pattern: <Old $$$P />|fix: <New $$$P />`, "const a = <Old id=\"x\" />;\n", "const a = <New id=\"x\" />;\n"},
	{"typescript", "a.ts", `pattern: $A as any|fix: $A as unknown`, "const a = b as any;\n", "const a = b as unknown;\n"},
	{"xml", "a.xml", `kind: Attribute, regex: ^version="3|fix: version="5.0"`, "<beans version=\"3.0\"><a/></beans>\n", "<beans version=\"5.0\"><a/></beans>\n"},
	{"yaml", "a.yaml", `pattern: 'apiVersion: extensions/v1beta1'|fix: 'apiVersion: apps/v1'`, "kind: Deployment\napiVersion: extensions/v1beta1\n", "kind: Deployment\napiVersion: apps/v1\n"},
}

func TestEveryLanguageFindsAndFixes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range languageCases {
		seen[c.lang] = true
		t.Run(c.lang, func(t *testing.T) {
			rule, fix, _ := strings.Cut(c.rule, "|")
			set := loadText(t, fmt.Sprintf("id: r\nlanguage: %s\n%s\nrule: {%s}\n", c.lang, fix, rule))
			file := &workspace.File{Path: c.path, Text: []byte(c.code)}
			matches, err := set.Check(context.Background(), file, nil)
			if err != nil || len(matches) == 0 {
				tree, _ := treesitter.Parse(context.Background(), treesitter.Lookup(c.lang), file.Text)
				t.Fatalf("%d matches, %v\n%s", len(matches), err, dump(tree.Root(), ""))
			}
			fixed, refused := rewrite(t, set, file, matches)
			if string(fixed) != c.fixed || refused != "" {
				t.Errorf("got %q\nwant %q\n%s", fixed, c.fixed, refused)
			}
		})
	}
	for _, l := range treesitter.All() {
		if !seen[l.Name] {
			t.Errorf("%s has no case", l.Name)
		}
	}
}

// dump shows a tree, so that a rule that finds nothing can be put right.
func dump(n treesitter.Node, indent string) string {
	out := fmt.Sprintf("%s%s %q\n", indent, n.Kind(), n.Text())
	for c := range n.Children() {
		out += dump(c, indent+"  ")
	}
	return out
}
