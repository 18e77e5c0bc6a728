package tool

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"
	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/workspace"
)

var update = flag.Bool("update", false, "write the golden files")

const tree = `
-- go.mod --
module m
-- cart/cart.go --
package cart

// Cart holds items.
type Cart struct{ items []string }

// Add appends an item.
func (c *Cart) Add(item string) {
	c.items = append(c.items, item)
}
-- cart/use.go --
package cart

func use() {
	var c Cart
	c.Add("x")
}
-- .env --
SECRET=1
-- big.txt --
-- node_modules/x/index.js --
function Add() {}
-- .gitignore --
ignored/
node_modules/
-- ignored/a.go --
package ignored // Add
`

func box(t *testing.T, env Env) *Box {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(tree)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		data := slices.Clone(f.Data)
		if f.Name == "big.txt" {
			for i := range 5000 {
				data = fmt.Appendf(data, "line %d of a long file\n", i+1)
			}
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	env.Workspace = ws
	return NewBox(env)
}

func (b *Box) call(name, args string) Result {
	return b.Run(context.Background(), "c", name, json.RawMessage(args))
}

func TestTools(t *testing.T) {
	for _, tt := range []struct {
		tool, args string
		ok         bool
		says       []string
		not        string
	}{
		{"read_file", `{"path":"cart/use.go"}`, true, []string{"cart/use.go, lines 1 to 6 of 6, base_sha256 ", "   4│\tvar c Cart\n"}, ""},
		{"read_file", `{"file_path":"./cart/use.go","start":"4","end_line":4.0}`, true, []string{"lines 4 to 4 of 6", "var c Cart"}, "package"},
		{"read_file", `{"path":"big.txt"}`, true, []string{"lines 1 to 300 of 5000", "call again with start_line 301"}, ""},
		{"read_file", `{"path":"big.txt","start_line":1,"end_line":5000}`, true, []string{"of 5000", "call again"}, ""},
		{"read_file", `{"path":"big.txt","start_line":6000}`, false, []string{"has 5000 lines only"}, ""},
		{"read_file", `{"path":"big.txt","start_line":9,"end_line":3}`, false, []string{"before start_line"}, ""},
		{"read_file", `{}`, false, []string{"path is missing"}, ""},
		{"read_file", `{"path":["x"]}`, false, []string{"must be a string"}, ""},
		{"read_file", `{"path":"x","start_line":"three"}`, false, []string{"must be a whole number"}, ""},
		{"read_file", `nonsense`, false, []string{"not a JSON object"}, ""},
		{"read_file", `{"path":"nowhere.go"}`, false, []string{"does not exist"}, ""},
		{"read_file", `{"path":"../outside"}`, false, []string{"cannot read it"}, ""},
		{"read_file", `{"path":"/etc/passwd"}`, false, []string{"cannot read it"}, "root:"},
		{"read_file", `{"path":".env"}`, false, []string{"cannot read it"}, "SECRET"},
		{"search", `{"query":"Add("}`, true, []string{"cart/cart.go:7: func (c *Cart) Add(item string) {\n", "cart/use.go:5:"}, "node_modules"},
		{"search", `{"query":"^func .*Add","regex":true}`, true, []string{"cart/cart.go:7:"}, "use.go"},
		{"search", `{"query":"Add","glob":"**/use.go"}`, true, []string{"use.go:5"}, "cart.go"},
		{"search", `{"query":"Add"}`, true, nil, "ignored"},
		{"search", `{"query":"SECRET"}`, true, []string{"no hit"}, ".env"},
		{"search", `{"query":"line "}`, true, []string{"and 4800 more"}, ""},
		{"search", `{"query":"(","regex":true}`, false, []string{"no regular expression"}, ""},
		{"search", `{"query":"x","glob":"[a"}`, false, []string{"not a pattern"}, ""},
		{"search", `{"query":" "}`, false, []string{"empty"}, ""},
		{"outline", `{"path":"cart/cart.go"}`, true, []string{"   4│", "Cart", "   7│", "Add(item string)"}, ""},
		{"outline", `{"path":"big.txt"}`, false, []string{"language is not known"}, ""},
		{"outline", `{"path":"../x"}`, false, []string{"cannot read it"}, ""},
		{"symbol", `{"name":"Cart"}`, true, []string{"cart/cart.go:4:", "type Cart struct"}, "func"},
		{"symbol", `{"name":"Cart.Add"}`, true, []string{"cart/cart.go:7:", "c.items = append"}, "use.go"},
		{"symbol", `{"name":"Nothing"}`, true, []string{"no declaration"}, ""},
		{"symbol", `{"name":""}`, false, []string{"empty"}, ""},
		{"ask_user", `{"question":"Which?"}`, false, []string{"nobody to ask"}, ""},
		{"retrieve_output", `{"artifact_id":"out_none"}`, false, []string{"no artifact"}, ""},
		{"propose_edits", `{}`, false, []string{"nothing can be proposed"}, ""},
		{"shell", `{}`, false, []string{`no tool "shell"`, "read_file"}, ""},
	} {
		t.Run(tt.tool+" "+tt.args, func(t *testing.T) {
			r := box(t, Env{}).call(tt.tool, tt.args)
			if r.OK != tt.ok {
				t.Errorf("ok = %t: %s", r.OK, r.Text)
			}
			for _, s := range tt.says {
				if !strings.Contains(r.Text, s) {
					t.Errorf("result lacks %q:\n%.500s", s, r.Text)
				}
			}
			if tt.not != "" && strings.Contains(r.Text, tt.not) {
				t.Errorf("result has %q:\n%.500s", tt.not, r.Text)
			}
			if len(r.Text) > MaxOutput {
				t.Errorf("result has %d bytes", len(r.Text))
			}
		})
	}
}

func TestDeniedPathsAreMarked(t *testing.T) {
	b := box(t, Env{})
	for path, want := range map[string]bool{"../x": true, ".env": true, "/etc/passwd": true, ".git/config": true, "missing.go": false} {
		if r := b.call("read_file", `{"path":"`+path+`"}`); r.Denied != want || r.OK {
			t.Errorf("%s: denied = %t, ok = %t", path, r.Denied, r.OK)
		}
	}
}

func TestOverlayIsRead(t *testing.T) {
	f := &workspace.File{Path: "cart/use.go", Text: []byte("package other\n"), SHA256: "feed"}
	b := box(t, Env{Overlay: map[string]*workspace.File{f.Path: f}})
	if r := b.call("read_file", `{"path":"cart/use.go"}`); !strings.Contains(r.Text, "package other") || !strings.Contains(r.Text, "feed") {
		t.Errorf("got %s", r.Text)
	}
	if r := b.call("search", `{"query":"package other"}`); !strings.Contains(r.Text, "cart/use.go:1") {
		t.Errorf("got %s", r.Text)
	}
}

func TestAskUser(t *testing.T) {
	answered := true
	b := box(t, Env{Ask: func(_ context.Context, q string, choices []string) (string, bool) {
		return q + strings.Join(choices, "|"), answered
	}})
	if r := b.call("ask_user", `{"question":"Which?","choices":["a","b"]}`); !r.OK || r.Text != "The user answered: Which?a|b" {
		t.Errorf("got %+v", r)
	}
	answered = false
	if r := b.call("ask_user", `{"question":"Which?","options":"a"}`); r.OK || !strings.Contains(r.Text, "did not answer") {
		t.Errorf("got %+v", r)
	}
	if r := b.call("ask_user", `{"question":"`+strings.Repeat("x", 2000)+`"}`); r.OK {
		t.Errorf("got %+v", r)
	}
}

func TestLongOutputIsCutAndKept(t *testing.T) {
	b := box(t, Env{Redact: func(s string) string { return strings.ReplaceAll(s, "line 77 ", "line ⟦hidden⟧ ") }})
	text := b.env.Redact(func() string { f, _ := b.env.Workspace.Read("big.txt"); return string(f.Text) }())
	cut, id := b.bound(text, false)
	if len(cut) > MaxOutput || b.Artifact(id) != text || !strings.Contains(cut, id) || !strings.HasSuffix(cut, "line 5000 of a long file\n") {
		t.Fatalf("%d bytes, artifact %q", len(cut), id)
	}
	r := b.call("retrieve_output", `{"artifact_id":"`+id+`","query":"LINE 4321 "}`)
	if r.Text != "4321│line 4321 of a long file\n" {
		t.Errorf("got %q", r.Text)
	}
	r = b.call("retrieve_output", `{"id":"`+id+`","offset":76,"limit":2}`)
	if r.Text != "  76│line 76 of a long file\n  77│line ⟦hidden⟧ of a long file\n(more from offset 78)\n" {
		t.Errorf("got %q", r.Text)
	}
}

func TestRepeatedOutputIsReferredTo(t *testing.T) {
	b := box(t, Env{})
	first := b.Run(context.Background(), "call_1", "read_file", json.RawMessage(`{"path":"big.txt"}`))
	again := b.Run(context.Background(), "call_2", "read_file", json.RawMessage(`{"path":"./big.txt"}`))
	if first.Repeated || !again.Repeated || !strings.Contains(again.Text, "call_1") || len(again.Text) > 200 {
		t.Errorf("got %+v", again)
	}
}

// Whatever the text, the result is bounded and valid.
func FuzzBound(f *testing.F) {
	f.Add("a line\n", 4000, uint64(1))
	f.Add("é🦀", 9000, uint64(2))
	f.Add("\xff\xfe", 20000, uint64(3))
	f.Fuzz(func(t *testing.T, piece string, n int, seed uint64) {
		if n < 0 || n*len(piece) > 1<<20 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		for range n {
			text.WriteString(piece)
			if rng.IntN(50) == 0 {
				text.WriteByte('\n')
			}
		}
		cut, id := NewBox(Env{}).bound(text.String(), false)
		if len(cut) > MaxOutput || !utf8.ValidString(cut) {
			t.Fatalf("%d bytes, valid %t", len(cut), utf8.ValidString(cut))
		}
		if (id != "") != (len(strings.ToValidUTF8(text.String(), "\ufffd")) > MaxOutput) {
			t.Fatalf("artifact %q for %d bytes", id, text.Len())
		}
		for offset := 1; offset > 0; {
			var page string
			before := offset
			if page, offset = Page(text.String(), "", offset, 0); len(page) > MaxOutput || offset > 0 && offset <= before {
				t.Fatalf("page of %d bytes, next offset %d after %d", len(page), offset, before)
			}
		}
	})
}

// The definitions are the beginning of every request: their bytes must not
// change by accident.
func TestDefinitions(t *testing.T) {
	js, err := json.MarshalIndent(NewBox(Env{Ask: func(context.Context, string, []string) (string, bool) { return "", false }}).Definitions(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/definitions.json"
	if *update {
		if err := os.WriteFile(golden, append(js, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(js)+"\n" {
		t.Errorf("the definitions have changed; run the test with -update and look at the difference")
	}
	for _, name := range Names() {
		if Description(name) == "" {
			t.Errorf("%s has no description", name)
		}
		if !strings.Contains(string(js), `"name": "`+name+`"`) {
			t.Errorf("%s is not offered", name)
		}
	}
	files, _ := filepath.Glob("*.md")
	if len(files) != len(tools) {
		t.Errorf("%d descriptions for %d tools", len(files), len(tools))
	}
	if without := NewBox(Env{}).Definitions(); slices.ContainsFunc(without, func(d openai.Tool) bool { return d.Function.Name == "ask_user" }) {
		t.Error("ask_user is offered although there is nobody")
	}
}
