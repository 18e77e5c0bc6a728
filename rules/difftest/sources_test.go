package difftest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// A snippet is code of one language that nobody wrote for these tests.
type snippet struct {
	name string
	text []byte
}

// sizes of the snippets that are used, in bytes: with larger ones most of the
// time would go into matching the same code.
const (
	minSnippet = 40
	maxSnippet = 6000
)

// snippets returns code of a language: from the testdata of this package, from
// Go's own source tree, and from the grammars' modules in the module cache,
// whose corpora and examples are real code.
func snippets(t testing.TB, language string) []snippet {
	var out []snippet
	add := func(name string, text []byte) {
		if len(text) >= minSnippet && len(text) <= maxSnippet {
			out = append(out, snippet{name, text})
		}
	}
	local, err := filepath.Glob(filepath.Join("testdata", "code", language+".*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range local {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		add(f, text)
	}
	if language == "go" {
		for _, dir := range []string{"src/bytes", "src/container/list", "src/errors", "src/flag", "src/io", "src/path", "src/sort", "src/strings", "src/text/tabwriter", "src/sync", "src/net/url", "src/go/doc"} {
			files, _ := filepath.Glob(filepath.Join(goroot(t), dir, "*.go"))
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err == nil {
					add(filepath.Base(f), text)
				}
			}
		}
	}
	module, ok := corpora[language]
	if !ok {
		return out
	}
	dir := moduleDir(module)
	if dir == "" {
		t.Logf("%s is not in the module cache: its corpus is left out", module)
		return out
	}
	files, _ := filepath.Glob(filepath.Join(dir, "test", "corpus", "*.txt"))
	sort.Strings(files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for i, code := range corpusCode(text) {
			add(filepath.Base(f)+"#"+string(rune('0'+i%10)), code)
		}
	}
	return out
}

// corpora are the modules whose test corpora are code of a language.
var corpora = map[string]string{
	"java":       "github.com/tree-sitter/tree-sitter-java",
	"python":     "github.com/tree-sitter/tree-sitter-python",
	"javascript": "github.com/tree-sitter/tree-sitter-javascript",
	"typescript": "github.com/tree-sitter/tree-sitter-typescript",
	"tsx":        "github.com/tree-sitter/tree-sitter-typescript",
	"rust":       "github.com/tree-sitter/tree-sitter-rust",
	"csharp":     "github.com/tree-sitter/tree-sitter-c-sharp",
	"json":       "github.com/tree-sitter/tree-sitter-json",
}

var corpusHead = regexp.MustCompile(`(?m)^=+\r?\n(?:.*\r?\n)+?=+\r?\n`)

// corpusCode returns the code of a grammar's test file, several tests in one.
func corpusCode(text []byte) [][]byte {
	var out [][]byte
	var joined bytes.Buffer
	heads := corpusHead.FindAllIndex(text, -1)
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		body := text[h[1]:end]
		if j := bytes.Index(body, []byte("\n---")); j >= 0 {
			body = body[:j]
		}
		joined.Write(bytes.TrimSpace(body))
		joined.WriteString("\n")
		if joined.Len() > 600 {
			out = append(out, bytes.Clone(joined.Bytes()))
			joined.Reset()
		}
	}
	return append(out, bytes.Clone(joined.Bytes()))
}

func goroot(t testing.TB) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("the go command is not there, and so is its source tree")
	}
	return strings.TrimSpace(string(out))
}

func moduleDir(module string) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
