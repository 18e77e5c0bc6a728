package kaiak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// samples reads the contract's JSON samples, which stand in testdata as they
// stand in the contract, by the part of their name after the dot.
func samples(t *testing.T, kind string) map[string]json.RawMessage {
	t.Helper()
	files, err := filepath.Glob("testdata/contract/*." + kind + ".json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	out := map[string]json.RawMessage{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), "."+kind+".json")
		out[strings.Replace("kaiak/"+name, "_", "/", 1)] = text
	}
	return out
}

// contains reports where got lacks a member of want or has another value for
// it; equal says whether values must be the same or only of the same type.
func contains(path string, got, want any, equal bool) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %T, want an object", path, got)
		}
		for key, value := range w {
			if _, ok := g[key]; !ok {
				return fmt.Errorf("%s.%s is missing", path, key)
			}
			if err := contains(path+"."+key, g[key], value, equal); err != nil {
				return err
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s is %T, want an array", path, got)
		}
		if equal && !reflect.DeepEqual(g, w) {
			for i := range min(len(g), len(w)) {
				if err := contains(fmt.Sprintf("%s[%d]", path, i), g[i], w[i], equal); err != nil {
					return err
				}
			}
			if len(g) != len(w) {
				return fmt.Errorf("%s has %d items, want %d", path, len(g), len(w))
			}
		}
	default:
		if reflect.TypeOf(got) != reflect.TypeOf(want) {
			return fmt.Errorf("%s is %T, want %T", path, got, want)
		}
		if equal && got != want {
			return fmt.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	return nil
}

func parse(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// through writes a sample into a type and out again.
func through(t *testing.T, raw json.RawMessage, typ reflect.Type) any {
	t.Helper()
	v := reflect.New(typ)
	if err := json.Unmarshal(raw, v.Interface()); err != nil {
		t.Fatal(err)
	}
	return parse(t, mustJSON(v.Interface()))
}

// Every sample of the contract goes in and comes out with all its members.
func TestSamplesGoThroughVerbatim(t *testing.T) {
	for method, raw := range samples(t, "request") {
		row := operations.byMethod[method]
		if row == nil {
			t.Errorf("no operation for %s", method)
			continue
		}
		var msg struct {
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(raw, &msg); err != nil {
			t.Fatal(err)
		}
		var numbers any
		dec := json.NewDecoder(bytes.NewReader(msg.Params))
		dec.UseNumber()
		if err := dec.Decode(&numbers); err != nil {
			t.Fatal(err)
		}
		if e := (checker{code: InvalidParams}).check("params", numbers, row.Params); e != nil {
			t.Errorf("%s: %v", method, e)
		}
		if err := contains("params", through(t, msg.Params, row.Params), parse(t, msg.Params), true); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	for method, raw := range samples(t, "response") {
		var msg struct {
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(raw, &msg); err != nil {
			t.Fatal(err)
		}
		if err := contains("result", through(t, msg.Result, operations.byMethod[method].Result), parse(t, msg.Result), true); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	contents := map[string]reflect.Type{}
	for _, n := range Notifications {
		contents[n.Method] = reflect.TypeOf(n.Content)
	}
	seen := samples(t, "notification")
	for method, raw := range seen {
		var msg struct {
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(raw, &msg); err != nil {
			t.Fatal(err)
		}
		got := through(t, msg.Params, reflect.TypeFor[Event]()).(map[string]any)
		want := parse(t, msg.Params).(map[string]any)
		got["content"] = through(t, mustJSON(want["content"]), contents[method])
		if err := contains("params", got, want, true); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	if len(seen) != len(Notifications) {
		t.Errorf("%d samples of notifications, %d notifications", len(seen), len(Notifications))
	}
}

// What the service really says has every member of the samples, in their types.
func TestAnswersHaveTheSamplesMembers(t *testing.T) {
	e := newEnv(t, map[string]string{"src/main.go": before})
	request := func(method string, fill func(params map[string]any)) any {
		t.Helper()
		params := parse(t, samples(t, "request")[method]).(map[string]any)["params"].(map[string]any)
		fill(params)
		result := must[any](t, e.client, method, params)
		want := parse(t, samples(t, "response")[method]).(map[string]any)["result"]
		if err := contains("result", result, want, false); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		return result
	}
	created := request("kaiak/session/create", func(p map[string]any) { p["workspace_path"] = e.dir }).(map[string]any)
	session := created["session_id"]
	fix := func() string {
		return request("kaiak/fix/generate", func(p map[string]any) {
			p["session_id"] = session
			in := p["incidents"].([]any)[0].(map[string]any)
			in["file_path"], in["line_number"], in["rule_id"] = "src/main.go", 4, "old-call"
		}).(map[string]any)["request_id"].(string)
	}
	first := fix()
	ask := e.front.await(t, "question", func(s sent) bool { return s.Method == StreamUserInteraction })
	request("kaiak/session/status", func(p map[string]any) { p["session_id"] = session })
	request("kaiak/interaction/respond", func(p map[string]any) { p["interaction_id"] = ask.InteractionID })
	e.front.system(t, "request_completed", first)
	second := must[FixGenerateResult](t, e.client, "kaiak/fix/generate", m{"session_id": session, "incidents": []m{incident("9", "src/main.go", 5)}})
	request("kaiak/fix/cancel", func(p map[string]any) { p["request_id"] = second.RequestID })
	request("kaiak/session/terminate", func(p map[string]any) { p["session_id"] = session })

	checked := map[string]bool{}
	for _, s := range e.front.all() {
		want := parse(t, samples(t, "notification")[s.Method]).(map[string]any)["params"].(map[string]any)
		if c := s.system(); s.Method == StreamSystem && c.Event != "request_completed" {
			delete(want, "content") // the sample is of one event
		}
		if err := contains("params", parse(t, s.Raw), want, false); err != nil {
			t.Errorf("%s: %v", s.Method, err)
		}
		checked[s.Method] = true
	}
	for _, method := range []string{StreamProgress, StreamUserInteraction, StreamFileModification, StreamSystem} {
		if !checked[method] {
			t.Errorf("no %s was sent", method)
		}
	}
}
