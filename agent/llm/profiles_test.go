package llm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadProfiles(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("sk-from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(text string) (Profiles, error) {
		path := filepath.Join(dir, "models.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadProfiles(path, func(name string) string { return map[string]string{"MY_KEY": "sk-from-env"}[name] })
	}
	ps, err := read(`profiles:
  - name: local
    base_url: http://localhost:11434/v1
    model: qwen
    text_edits: true
    timeouts: {idle: 90s, total: 20m}
  - name: cloud
    base_url: https://api.example.com/v1
    key_env: MY_KEY
    headers: {X-Team: a}
  - name: file
    base_url: https://api.example.com/v1
    key_file: key
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 3 || !ps[0].TextEdits || ps[0].Timeouts.Idle != 90*time.Second || ps[0].Timeouts.Connect != 0 ||
		ps[1].Key.Reveal() != "sk-from-env" || ps[1].Headers["X-Team"] != "a" || ps[2].Key.Reveal() != "sk-from-file" {
		t.Errorf("profiles = %+v", ps)
	}
	for text, says := range map[string]string{
		"profiles: [{base_url: https://h/v1}]":                                       "has no name",
		"profiles: [{name: a, base_url: http://h/v1}]":                               "use https",
		"profiles: [{name: a, base_url: https://h/v1, key: sk-1}]":                   "models.yaml",
		"profiles: [{name: a, base_url: https://h/v1, key_env: A, key_file: key}]":   "both key_env and key_file",
		"profiles: [{name: a, base_url: https://h}, {name: a, base_url: https://h}]": "two profiles named a",
		"profiles: [{name: a, base_url: https://h, timeouts: {idle: soon}}]":         "no duration",
		"profiles: [{name: a, base_url: https://h, key_file: missing}]":              "key file",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error = %v, want %q", text, err, says)
		}
	}
	if ps, err := ReadProfiles(filepath.Join(dir, "none.yaml"), os.Getenv); err != nil || len(ps) != 0 {
		t.Errorf("a file that is not there: %v, %v", ps, err)
	}
}
