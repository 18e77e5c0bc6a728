package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A check follows the project's settings as the server does, and a flag wins.
func TestCheckFollowsTheProject(t *testing.T) {
	const (
		rule = "id: no-foo\nlanguage: go\nseverity: warning\nmessage: foo is gone\nrule: {pattern: foo()}\n"
		code = "package a\n\nfunc a() { foo() }\n"
	)
	for _, tt := range []struct {
		name, config string
		flags        checkFlags
		want, fails  string
	}{
		{name: "no settings", want: "a.go:3:12: warning: foo is gone [no-foo]\n"},
		{name: "switched off", config: "disabled_rules: [no-foo]\n"},
		{name: "severity", config: "severity: {no-foo: error}\n", want: "a.go:3:12: error: foo is gone [no-foo]\n"},
		{name: "rules", config: "rules: [builtin:go-any]\n"},
		{name: "a flag wins", config: "rules: [builtin:go-any]\n", flags: checkFlags{rules: []string{".kaiak/rules"}}, want: "a.go:3:12: warning: foo is gone [no-foo]\n"},
		{name: "denied", config: "deny: [a.go]\n"},
		{name: "no such baseline", config: "baseline: gone.json\n", fails: "gone.json"},
		{name: "unknown key", config: "rules: []\nrulez: []\n", fails: ".kaiak/config.yaml:2:1: there is no key \"rulez\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			files := map[string]string{".kaiak/rules/rule.yml": rule, "a.go": code, ".kaiak/config.yaml": tt.config}
			for path, text := range files {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			tt.flags.format, tt.flags.noCache = "text", true
			var out, log bytes.Buffer
			found, err := runCheck(t.Context(), tt.flags, nil, &out, &log)
			switch {
			case tt.fails != "":
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("error %v, want …%s…", err, tt.fails)
				}
			case err != nil:
				t.Fatal(err)
			case out.String() != tt.want || found != (tt.want != ""):
				t.Errorf("found %v:\n%swant\n%s", found, out.String(), tt.want)
			}
		})
	}
}
