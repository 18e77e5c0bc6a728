package kaiak

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSettingsErrorsNameTheKey(t *testing.T) {
	for _, tt := range []struct{ raw, member, says string }{
		{`{"rulez": []}`, "settings.rulez", `did you mean "rules"`},
		{`{"model": {"nam": "x"}}`, "settings.model.nam", `did you mean "name"`},
		{`{"model": {"endpoint": "http://x"}}`, "settings.model.endpoint", "no key"},
		{`{"rules": "builtin"}`, "settings.rules", "an array"},
		{`{"rules": [1]}`, "settings.rules[0]", "a string"},
		{`{"timeout": 0}`, "settings.timeout", "positive"},
		{`{"timeout": 1.5}`, "settings.timeout", "an integer"},
		{`{"engine": "magic"}`, "settings.engine", "one of recipes, auto, model"},
		{`{"severity": {"r": "bad"}}`, "settings.severity.r", "error, warning, info or hint"},
		{`{"kaiak": {"trusted": "yes"}}`, "settings.trusted", "true or false"},
		{`[]`, "settings", "an object"},
	} {
		_, err := parseSettings(json.RawMessage(tt.raw), "settings")
		e := wantError(t, err, ConfigurationError, "")
		if e.Data["member"] != tt.member || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%s: %v, %v; want %s, …%s…", tt.raw, e, e.Data, tt.member, tt.says)
		}
	}
	for _, raw := range []string{``, `null`, `{}`, `{"kaiak": {"rules": ["builtin"]}}`, `{"rules": null, "timeout": 10}`} {
		if _, err := parseSettings(json.RawMessage(raw), "settings"); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestProjectConfigErrorsHaveAPlace(t *testing.T) {
	for _, tt := range []struct {
		text         string
		line, column int
		says         string
	}{
		{"# mine\nrules: [builtin]\nbaselin: x\n", 3, 1, `did you mean "baseline"`},
		{"model:\n  max_turns: many\n", 2, 3, "an integer"},
		{"rules:\n  - builtin\n  - 7\n", 3, 0, "a string"},
		{"trusted: true\n", 1, 1, "cannot vouch for itself"},
	} {
		e := newEnv(t, map[string]string{".kaiak/config.yaml": tt.text})
		problem := must[ConfigGetResult](t, e.client, "kaiak/config/get", m{"workspace_path": e.dir}).Problem
		want := fmt.Sprintf(".kaiak/config.yaml:%d:", tt.line)
		if tt.column > 0 {
			want += fmt.Sprintf("%d:", tt.column)
		}
		if !strings.HasPrefix(problem, want) || !strings.Contains(problem, tt.says) {
			t.Errorf("%q: problem %q, want %s …%s…", tt.text, problem, want, tt.says)
		}
	}
	e := newEnv(t, map[string]string{".kaiak/config.yaml": "rules: [\n"})
	if problem := must[ConfigGetResult](t, e.client, "kaiak/config/get", m{"workspace_path": e.dir}).Problem; !strings.HasPrefix(problem, ".kaiak/config.yaml") {
		t.Errorf("broken YAML: problem %q", problem)
	}
}

func TestLayersOfSettings(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, ".kaiak/config.yaml": "engine: model\nmodel: {name: theirs, profile: theirs}\ntimeout: 60\ndisabled_rules: [find-only]\n"})
	ctx := context.Background()
	if err := e.client.SetFolders(ctx, []string{e.dir}, nil); err != nil {
		t.Fatal(err)
	}
	get := func() Config {
		t.Helper()
		return must[ConfigGetResult](t, e.client, "kaiak/config/get", m{}).Configuration
	}
	// A workspace that nobody trusts does not choose the model.
	if c := get(); c.Engine != "recipes" || c.Model.Name != "" || c.Timeout != 60 || len(c.DisabledRules) != 1 {
		t.Errorf("untrusted: %+v", c)
	}
	if err := e.client.Configure(ctx, json.RawMessage(`{"kaiak": {"trusted": true, "model": {"name": "mine"}}}`)); err != nil {
		t.Fatal(err)
	}
	if c := get(); c.Engine != "model" || c.Model.Name != "mine" || c.Model.Profile != "theirs" || c.Timeout != 60 {
		t.Errorf("trusted: %+v", c)
	}
	must[any](t, e.client, "kaiak/config/update", m{"configuration": m{"timeout": 5, "severity": m{"old-call": "hint"}}})
	if c := get(); c.Timeout != 5 || c.Model.Name != "mine" {
		t.Errorf("overridden: %+v", c)
	}
	wantError(t, e.client.Configure(ctx, json.RawMessage(`{"timout": 5}`)), ConfigurationError, "")
	if c := get(); c.Model.Name != "mine" {
		t.Errorf("a refused setting changed something: %+v", c)
	}
	uri := e.open("a.go", before)
	list := e.incidents(uri).List
	if rulesOf(list) != "old-call:4 old-call:5" || list[0].Severity != "hint" {
		t.Errorf("incidents %s with severity %s", rulesOf(list), list[0].Severity)
	}
	must[any](t, e.client, "kaiak/config/update", m{"configuration": m{}, "reset": true})
	if c := get(); c.Timeout != 60 {
		t.Errorf("reset: %+v", c)
	}
	result := must[ConfigureResult](t, e.client, "kaiak/configure", m{"configuration": m{"workspace": m{"working_dir": e.dir}, "model": m{"provider": "x", "model": "gpt", "temperature": 1}}})
	if result.ConfigurationApplied.Model.Name != "gpt" || len(result.Warnings) != 1 {
		t.Errorf("configure %+v", result)
	}
}

func TestBaselineHidesWhatWasThere(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before})
	found := must[IncidentScanResult](t, e.client, "kaiak/incident/scan", m{"workspace_path": e.dir}).Incidents
	e.write(".kaiak/baseline.json", string(mustJSON(found[:1])))
	e.write(".kaiak/config.yaml", "baseline: .kaiak/baseline.json\n")
	left := must[IncidentScanResult](t, e.client, "kaiak/incident/scan", m{"workspace_path": e.dir}).Incidents
	if got := rulesOf(left); got != "old-call:5 find-only:6" {
		t.Errorf("with the baseline: %s", got)
	}
}

func TestDeniedFilesAreNotRead(t *testing.T) {
	e := newEnv(t, map[string]string{"a.go": before, "secret/b.go": before, ".kaiak/config.yaml": "deny: [secret]\n"})
	found := must[IncidentScanResult](t, e.client, "kaiak/incident/scan", m{"workspace_path": e.dir})
	for _, in := range found.Incidents {
		if strings.HasPrefix(in.FilePath, "secret/") {
			t.Errorf("a denied file was read: %+v", in)
		}
	}
	_, err := call[any](e.client, "kaiak/fix/generate", m{"session_id": e.session(), "incidents": []m{incident("1", "secret/b.go", 4)}})
	wantError(t, err, InvalidParams, "")
}
