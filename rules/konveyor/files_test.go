package konveyor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/kaiak/kaiak/workspace"
)

// TestFromWorkspace runs over a workspace: buffers count, ignored files do not.
func TestFromWorkspace(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".gitignore": "out/\n", "a.txt": "old\n", "sub/b.txt": "old\n", "out/c.txt": "old\n", "big.txt": strings.Repeat("old\n", 1<<19),
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.OpenBuffer("a.txt", 1, []byte("x\nold\n"), "plaintext"); err != nil {
		t.Fatal(err)
	}
	set, _ := LoadFS(fstest.MapFS{"r.yaml": {Data: []byte(`
- {ruleID: text, message: m, effort: 1, when: {builtin.filecontent: {pattern: old}}}
- {ruleID: name, message: m, effort: 1, when: {builtin.file: {pattern: '.*\.txt'}}}
`)}}, ".")
	for under, want := range map[string]string{
		"":    "name a.txt:0 name big.txt:0 name sub/b.txt:0 text a.txt:2 text sub/b.txt:1 ",
		"sub": "name sub/b.txt:0 text sub/b.txt:1 ",
	} {
		files := FromWorkspace(w)
		if under != "" {
			files = FromWorkspace(w, under, under)
		}
		res, err := set.Run(context.Background(), files, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, in := range res.Incidents {
			got += fmt.Sprintf("%s %s:%d ", in.RuleID, in.FilePath, in.LineNumber)
			if in.URI != w.URI(in.FilePath) {
				t.Errorf("URI is %s", in.URI)
			}
		}
		if got != want {
			t.Errorf("under %q: got %q, want %q", under, got, want)
		}
		if under == "" && len(res.Notes) == 0 {
			t.Error("nothing says that the large file was not read")
		}
	}
}

func TestReadTextRefusesBinary(t *testing.T) {
	files := FromFS(fstest.MapFS{"a": {Data: []byte("a\x00b")}, "b": {Data: []byte("text")}}, "/")
	if _, err := readText(files, "a"); err == nil {
		t.Error("a NUL is text")
	}
	if _, err := readText(files, "b"); err != nil {
		t.Error(err)
	}
	if !isBinaryName("a/B.JAR") || isBinaryName("a/b.java") {
		t.Error("names of binary files are told apart wrongly")
	}
}

func TestFirstOccurrence(t *testing.T) {
	text := "a\n\t<b>one\n  two </b>\none\n" + strings.Repeat("x", 70<<10) + "\nafter\n"
	for content, want := range map[string]int{
		"one": 2, "one\n two": 2, "\none\n\ttwo\n": 2, "": 0, "\n\n": 0, "absent": 0, "after": 0, "a": 1,
	} {
		if got := firstOccurrence([]byte(text), content); got != want {
			t.Errorf("%q: got line %d, want %d", content, got, want)
		}
	}
}

func TestXPathLiterals(t *testing.T) {
	for expr, want := range map[string]string{
		"//*/c:setHeader/@headerName[matches(self::node(), 'X')]": "headerName",
		"/beans":                           "beans",
		"//a[b]/c | /long/name":            "",
		"//abc[b]/cde | /long/name":        "abc|long",
		"//*[local-name()='web-app']":      "web-app",
		"//*[local-name()='ab' or @x]/@yz": "yz",
		"//*[contains(text(),'javax')]":    "",
		"count(//dependency)":              "",
		"//s:p[not(s:provider)]":           "",
		"//text()[contains(., 'needle')]":  "",
		"p:persistence[@version='2.1']":    "persistence",
		"//m:java.version[number(.) < 17]": "java.version",
	} {
		got := ""
		for _, clause := range xpathLiterals(expr) {
			got = strings.Join(clause, "|")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
}

// fuzzRules has a condition of every kind that reads files.
const fuzzRules = `
- {ruleID: a, message: "{{matchingText}}", effort: 1, when: {builtin.filecontent: {pattern: '(a|b).*$'}}}
- {ruleID: b, message: m, effort: 1, when: {builtin.filecontent: {pattern: '(?<!x)a(?!b)'}}}
- {ruleID: c, message: "{{matchingXML}}", effort: 1, when: {builtin.xml: {xpath: '//*'}}}
- {ruleID: d, message: m, effort: 1, when: {builtin.xml: {xpath: '//@*'}}}
- {ruleID: e, message: m, effort: 1, when: {builtin.xml: {xpath: '//text()'}}}
- {ruleID: f, message: m, effort: 1, when: {builtin.xmlPublicID: {regex: '.*'}}}
- {ruleID: g, message: m, effort: 1, when: {builtin.json: {xpath: '//*'}}}
- {ruleID: h, message: m, effort: 1, when: {java.referenced: {pattern: '*'}}}
- {ruleID: i, message: m, effort: 1, when: {java.dependency: {nameregex: '.*', lowerbound: 0.0.0}}}
- {ruleID: j, message: m, effort: 1, when: {nodejs.referenced: {pattern: '.*'}}}
`

func FuzzRun(f *testing.F) {
	f.Add("<a b=\"c\"><!-- <d/> --><e>text</e><![CDATA[<f>]]></a>", uint8(0))
	f.Add("{\"a\": [1, {\"b\": null}]}", uint8(1))
	f.Add("class A { b c; }", uint8(2))
	f.Add("<project><dependencies><dependency><groupId>a</groupId><artifactId>b</artifactId></dependency></dependencies></project>", uint8(3))
	f.Add("ab\na", uint8(4))
	f.Add("\xe4ab\xff", uint8(4))
	names := []string{"a.xml", "a.json", "a.java", "pom.xml", "a.txt", "a.ts", "build.gradle"}
	set, problems := LoadFS(fstest.MapFS{"r.yaml": {Data: []byte(fuzzRules)}}, ".")
	if len(problems) > 0 {
		f.Fatal(problems)
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		app := fstest.MapFS{names[int(kind)%len(names)]: {Data: []byte(text)}}
		res, err := set.Run(context.Background(), FromFS(app, "/app"), RunOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
		for _, in := range res.Incidents {
			if in.LineNumber < 0 || in.LineNumber > lines {
				t.Errorf("%s on line %d of %d", in.RuleID, in.LineNumber, lines)
			}
			if s := in.Span; s.Start < 0 || s.End < s.Start || s.End > len(text) {
				t.Errorf("%s at %+v of %d bytes", in.RuleID, s, len(text))
			}
		}
		for _, in := range res.Incidents {
			if !utf8.ValidString(in.Message) || !utf8.ValidString(in.Snippet) {
				t.Errorf("%s: the message %q or the snippet %q is not UTF-8", in.RuleID, in.Message, in.Snippet)
			}
		}
		var b bytes.Buffer
		if err := res.WriteYAML(&b, nil); err != nil {
			t.Error(err)
		}
	})
}
