package wirecheck

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	answered   = `{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}`
)

// event is a progress event of a session, sent by the server.
func event(session string, sequence int) string {
	return fmt.Sprintf(`<{"jsonrpc":"2.0","method":"kaiak/stream/progress","params":{"session_id":%q,"message_id":"m","timestamp":"2025-12-22T10:36:00Z",`+
		`"content":{"percentage":25,"phase":"p","description":"d"},"sequence":%d}}`, session, sequence)
}

// TestFaults injects one fault each and expects it, and no other, to be found.
func TestFaults(t *testing.T) {
	type created struct {
		SessionID string `json:"session_id"`
		Note      string `json:"note,omitempty"`
	}
	diagnostics := func(body string) []string {
		return []string{initialize, "<" + answered,
			`<{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":` + body + `}`}
	}
	opened := func(rest ...string) []string { return append([]string{initialize, "<" + answered}, rest...) }
	const down = `{"jsonrpc":"2.0","id":"down","method":"shutdown"}`
	const isDown = `<{"jsonrpc":"2.0","id":"down","result":null}`

	tests := []struct {
		name string
		sent []string // "<" marks the server's
		want string   // in the only fault; "" for none
	}{
		{"nothing", opened(down, isDown), ""},
		{"good diagnostics", diagnostics(`{"uri":"file:///a","version":1,"diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"severity":2,"code":"x","source":"kaiak","message":"m","data":{"incident_id":"i"}}]}`), ""},
		{"no diagnostics", diagnostics(`{"uri":"file:///a","diagnostics":[]}`), ""},
		{"null for a list", diagnostics(`{"uri":"file:///a","diagnostics":null}`), "diagnostics"},
		{"unknown member", diagnostics(`{"uri":"file:///a","diagnostics":[],"extra":1}`), `"extra"`},
		{"missing member", diagnostics(`{"diagnostics":[]}`), `"uri"`},
		{"missing member, deep", diagnostics(`{"uri":"file:///a","diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0}},"message":"m"}]}`), `"character"`},
		{"wrong kind", diagnostics(`{"uri":"file:///a","diagnostics":{}}`), "diagnostics"},
		{"too early", []string{initialize, `<{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///a","diagnostics":[]}}`}, "before the answer to initialize"},
		{"early, but allowed", []string{initialize, `<{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":1,"message":"m"}}`}, ""},
		{"not for a server", opened(`<{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}`), "nothing that a server may send"},
		{"answer to nothing", opened(`<{"jsonrpc":"2.0","id":9,"result":null}`), "not waiting"},
		{"answered twice", opened(`<` + answered), "not waiting"},
		{"result and error", opened(down, `<{"jsonrpc":"2.0","id":"down","result":null,"error":{"code":1,"message":"m","data":{"kind":"K","retryable":false}}}`), "one of them"},
		{"error without kind", opened(`{"jsonrpc":"2.0","id":2,"method":"x"}`, `<{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}`), "kind"},
		{"shutdown with a result", opened(down, `<{"jsonrpc":"2.0","id":"down","result":{}}`), "null"},
		{"no version", opened(`<{"method":"window/logMessage","params":{"type":1,"message":"m"}}`), "jsonrpc"},
		{"unknown envelope member", opened(`<{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":1,"message":"m"},"x":1}`), "not a message"},
		{"never answered", opened(`{"jsonrpc":"2.0","id":2,"method":"textDocument/codeAction","params":{}}`, down, isDown), "never answered"},
		{"null for code actions", opened(`{"jsonrpc":"2.0","id":2,"method":"textDocument/codeAction","params":{}}`, `<{"jsonrpc":"2.0","id":2,"result":null}`), "not an array"},
		{"code actions", opened(`{"jsonrpc":"2.0","id":2,"method":"textDocument/codeAction","params":{}}`,
			`<{"jsonrpc":"2.0","id":2,"result":[{"title":"a","kind":"quickfix.kaiak","data":{"x":1}},{"title":"b","command":"c","arguments":[1]}]}`), ""},
		{"code action with a member of another", opened(`{"jsonrpc":"2.0","id":2,"method":"textDocument/codeAction","params":{}}`,
			`<{"jsonrpc":"2.0","id":2,"result":[{"title":"a","arguments":[1]}]}`), `"arguments"`},
		{"id used twice", opened(`<{"jsonrpc":"2.0","id":5,"method":"workspace/diagnostic/refresh"}`, `{"jsonrpc":"2.0","id":5,"result":null}`,
			`<{"jsonrpc":"2.0","id":5,"method":"workspace/diagnostic/refresh"}`), "again"},
		{"params where none are taken", opened(`<{"jsonrpc":"2.0","id":5,"method":"workspace/diagnostic/refresh","params":{}}`), "takes none"},
		{"progress out of nothing", opened(`<{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"begin","title":"x"}}}`), "neither side has made"},
		{"progress not ended", opened(
			`<{"jsonrpc":"2.0","id":5,"method":"window/workDoneProgress/create","params":{"token":"t"}}`, `{"jsonrpc":"2.0","id":5,"result":null}`,
			`<{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"begin","title":"x"}}}`, down, isDown), "never ended"},
		{"progress after its end", opened(
			`{"jsonrpc":"2.0","id":5,"method":"x","params":{"workDoneToken":"t"}}`, `<{"jsonrpc":"2.0","id":5,"result":1}`,
			`<{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"begin","title":"x"}}}`,
			`<{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"end"}}}`,
			`<{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"report","percentage":5}}}`), "not running"},
		{"events", opened(event("a", 4), event("b", 1), event("a", 5)), ""},
		{"a gap in the events", opened(event("a", 4), event("a", 6)), "after 4"},
		{"an event twice", opened(event("a", 4), event("a", 4)), "after 4"},
		{"an event of no kind", opened(strings.Replace(event("a", 1), "stream/progress", "stream/ninth", 1)), "no notification"},
		{"an event with a stranger", opened(strings.Replace(event("a", 1), `"phase"`, `"x":1,"phase"`, 1)), `"x"`},
		{"an event that lacks", opened(strings.Replace(event("a", 1), `"message_id":"m",`, "", 1)), `"message_id"`},
		{"kaiak result", opened(`{"jsonrpc":"2.0","id":2,"method":"kaiak/create"}`, `<{"jsonrpc":"2.0","id":2,"result":{"session_id":"s"}}`), ""},
		{"kaiak result with a stranger", opened(`{"jsonrpc":"2.0","id":2,"method":"kaiak/create"}`, `<{"jsonrpc":"2.0","id":2,"result":{"session_id":"s","x":1}}`), `"x"`},
		{"kaiak result that lacks", opened(`{"jsonrpc":"2.0","id":2,"method":"kaiak/create"}`, `<{"jsonrpc":"2.0","id":2,"result":{}}`), `"session_id"`},
	}
	mm, err := LoadMetamodel()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := New(Options{Results: map[string]reflect.Type{"kaiak/create": reflect.TypeFor[created]()}})
			strict := New(Options{Metamodel: mm})
			for _, m := range tt.sent {
				if own, ok := strings.CutPrefix(m, "<"); ok {
					c.FromServer([]byte(own))
					strict.FromServer([]byte(own))
				} else {
					c.ToServer([]byte(m))
					strict.ToServer([]byte(m))
				}
			}
			faults := c.Finish()
			if tt.want == "" {
				if faults = append(faults, strict.Finish()...); len(faults) > 0 {
					t.Fatalf("found %q in what is right", faults)
				}
				return
			}
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, tt.want) }) {
				t.Errorf("found %q, want one about %q", faults, tt.want)
			}
			if len(faults) > 1 {
				t.Errorf("one fault is reported as %q", faults)
			}
		})
	}
}

// TestMetamodel injects what only the metamodel can tell.
func TestMetamodel(t *testing.T) {
	mm, err := LoadMetamodel()
	if err != nil {
		t.Fatal(err)
	}
	if mm == nil {
		t.Skipf("set %s to LSP's metaModel.json to check against it", MetamodelEnv)
	}
	bad := map[string]string{
		"severity": `{"uri":"file:///a","diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"severity":9,"message":"m"}]}`,
		"line":     `{"uri":"file:///a","diagnostics":[{"range":{"start":{"line":-1,"character":0},"end":{"line":0,"character":1}},"message":"m"}]}`,
		"uri":      `{"uri":"/a","diagnostics":[]}`,
	}
	for what, params := range bad {
		faults := mm.Params("textDocument/publishDiagnostics", []byte(params))
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, what) }) {
			t.Errorf("%s: found %q", what, faults)
		}
	}
	if faults := mm.Params("textDocument/didOpen", []byte(`{}`)); len(faults) != 1 || !strings.Contains(faults[0], "only a client") {
		t.Errorf("the wrong direction: found %q", faults)
	}
}

// TestCheckLog judges recordings: a sound one, one with a fault, one that is
// none.
func TestCheckLog(t *testing.T) {
	line := func(dir, msg string) string { return `{"t":1,"dir":"` + dir + `","msg":` + msg + "}\n" }
	sound := `{"t":0,"dir":"-","event":"spawn"}` + "\n" + line("c2s", initialize) + line("s2c", answered)
	tests := []struct {
		name, log string
		faults    int
		judged    int
		fails     bool
	}{
		{"sound", sound, 0, 1, false},
		{"a fault of framing", sound + `{"dir":"s2c","fault":"bad header"}` + "\n", 1, 2, false},
		{"a fault of ours", sound + line("s2c", `{"jsonrpc":"2.0","method":"x/y"}`), 1, 2, false},
		{"the client's own affair", sound + `{"dir":"c2s","fault":"bad header"}` + "\n", 0, 1, false},
		{"no log", "hello\n", 0, 0, true},
	}
	for _, tt := range tests {
		faults, judged, err := CheckLog(strings.NewReader(tt.log), Options{})
		if len(faults) != tt.faults || judged != tt.judged || (err != nil) != tt.fails {
			t.Errorf("%s: found %q in %d messages, %v", tt.name, faults, judged, err)
		}
	}
}
