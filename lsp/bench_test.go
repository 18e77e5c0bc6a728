package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/uri"

	"github.com/kaiak/kaiak/kaiak"
)

// BenchmarkInitialize measures from the opening of a connection to the answer
// to initialize.
func BenchmarkInitialize(b *testing.B) {
	for b.Loop() {
		p := dial(b, newTestEngine())
		p.initialize()
		_ = p.conn.Close()
	}
}

// BenchmarkEditToDiagnostics measures from a didChange in a document of 10,000
// lines to its diagnostics, with an engine that searches for a word: it is the
// cost of the front alone.
func BenchmarkEditToDiagnostics(b *testing.B) {
	p := dial(b, newTestEngine())
	p.initialize()
	text := strings.Repeat("some line of code, as long as lines are\n", 10_000) + "old\n"
	p.notify("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":"file:///a.txt","languageId":"x","version":1,"text":%q}}`, text))
	p.published()
	version := 1
	for b.Loop() {
		version++
		p.notify("textDocument/didChange", fmt.Sprintf(
			`{"textDocument":{"uri":"file:///a.txt","version":%d},"contentChanges":[{"range":{"start":{"line":5000,"character":0},"end":{"line":5000,"character":1}},"text":"x"}]}`, version))
		p.published()
	}
}

// published reads up to the next publication of diagnostics.
func (p *peer) published() {
	for {
		if a := p.recv(); a.Method == "textDocument/publishDiagnostics" {
			return
		}
	}
}

// BenchmarkNotifications measures how fast didChange is taken in.
func BenchmarkNotifications(b *testing.B) {
	p := dial(b, newTestEngine())
	p.initialize()
	one := frame(`{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}`)
	for b.Loop() {
		p.raw(one)
	}
	p.alive()
}

// BenchmarkCancel measures from $/cancelRequest to the answer -32800 while 63
// other requests are running.
func BenchmarkCancel(b *testing.B) {
	e := newTestEngine()
	e.on("kaiak/slow", func(ctx context.Context, _ kaiak.Front, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p := dial(b, e)
	p.initialize()
	for i := range maxConcurrent - 1 {
		p.send(`{"jsonrpc":"2.0","id":"other %d","method":"kaiak/slow"}`, i)
	}
	for b.Loop() {
		p.send(`{"jsonrpc":"2.0","id":"one","method":"kaiak/slow"}`)
		p.notify("$/cancelRequest", `{"id":"one"}`)
		p.reply(`"one"`)
	}
}

// BenchmarkServiceEditToDiagnostics measures the same with the real service,
// the built-in rules and a Go file: from a keystroke to what they find.
func BenchmarkServiceEditToDiagnostics(b *testing.B) {
	svc, err := kaiak.New(b.Context(), kaiak.Options{StateDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = svc.Close() })
	dir := b.TempDir()
	p := dial(b, service{svc})
	p.call("1", "initialize", fmt.Sprintf(`{"processId":null,"rootUri":%q,"capabilities":{}}`, uri.File(dir)))
	p.notify("initialized", "{}")
	var text strings.Builder
	text.WriteString("package p\n\nimport \"io/ioutil\"\n\nvar _ = ioutil.Discard\n")
	for line := 5; line < 10_000; line += 5 {
		fmt.Fprintf(&text, "\nfunc f%d(a, b int) int {\n\tif a > b { // %[1]d\n\t\treturn a\n\t}; return b }\n", line)
	}
	document := fmt.Sprintf("%s/p.go", uri.File(dir))
	p.notify("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":%q}}`, document, text.String()))
	p.published()
	version := 1
	for b.Loop() {
		version++
		p.notify("textDocument/didChange", fmt.Sprintf(
			`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"range":{"start":{"line":5002,"character":12},"end":{"line":5002,"character":12}},"text":"x"}]}`, document, version))
		p.published()
	}
}
