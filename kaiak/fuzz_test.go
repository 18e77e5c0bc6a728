package kaiak

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kaiak/kaiak/workspace"
)

// Whatever a client sends as params: they are decoded or refused as -32602 with
// a sentence, and what was accepted has the types that it should have.
func FuzzParams(f *testing.F) {
	files, err := filepath.Glob("testdata/contract/*.request.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var msg struct {
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(text, &msg); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(msg.Params))
	}
	f.Add([]byte(`{"Session_ID":"x","session_id":1e999,"incidents":[{"line_number":1.5}]}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		refused := func(err error) {
			t.Helper()
			var e *Error
			if err != nil && (!errors.As(err, &e) || e.Code != InvalidParams || e.Message == "") {
				t.Errorf("error %v", err)
			}
		}
		_, err := decodeParams[FixGenerateParams](raw)
		refused(err)
		_, err = decodeParams[InteractionRespondParams](raw)
		refused(err)
		p, err := decodeParams[SessionCreateParams](raw)
		refused(err)
		if err == nil {
			var loose map[string]any
			if json.Unmarshal(raw, &loose) == nil && loose["workspace_path"] != p.WorkspacePath {
				t.Errorf("workspace_path is %q, the message says %v", p.WorkspacePath, loose["workspace_path"])
			}
		}
	})
}

// Whatever an editor or a workspace has as settings: a configuration or a
// -32014, never a panic.
func FuzzSettings(f *testing.F) {
	f.Add([]byte(`{"rules": ["builtin"], "model": {"name": "x"}, "severity": {"a": "hint"}}`))
	f.Add([]byte(`{"kaiak": {"timeout": 1e30}}`))
	f.Add([]byte("rules: [a, b]\nmodel:\n  max_turns: 3\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("? [x]\n: 1\n"))
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".kaiak"), 0o755); err != nil {
		f.Fatal(err)
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { ws.Close() })
	f.Fuzz(func(t *testing.T, raw []byte) {
		check := func(s settings, err error) {
			t.Helper()
			var e *Error
			if err != nil && (!errors.As(err, &e) || e.Code != ConfigurationError) {
				t.Errorf("error %v", err)
			}
			if err == nil {
				mergeSettings(s, s)
			}
		}
		check(parseSettings(raw, "settings"))
		if _, err := ws.OpenBuffer(configFile, 1, raw, "yaml"); err != nil {
			t.Fatal(err)
		}
		check(readProjectConfig(ws))
	})
}
