package redact

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/internal/secretsample"
)

// contexts are the places where a secret may stand.
var contexts = []string{
	"%s", "x := \"%s\"\n", "KEY=%s\n", "// use %s for the demo\n", "key: %s\nother: 1\n", "curl -H 'X-Key: %s' https://api.example.com\n",
	"{\"k\":\"%s\"}", "<add key=\"k\" value=\"%s\"/>", "(%s)", "a %s b %s c",
}

func TestEveryKindIsHidden(t *testing.T) {
	rules := New(Options{})
	kinds := 0
	for _, d := range Detectors {
		kinds++
		for seed := range uint64(5) {
			list := secretsample.ByKind(rand.New(rand.NewPCG(seed, 3)))[d.Kind]
			if len(list) == 0 {
				t.Fatalf("kind %s has no sample", d.Kind)
			}
			for _, sample := range list {
				for _, c := range contexts {
					secret := sample.Secret
					in := strings.ReplaceAll(c, "%s", sample.Text)
					out := rules.Text(in)
					if strings.Contains(out, secret) || !HasPlaceholder(out) {
						t.Errorf("%s: %q becomes %q", d.Kind, in, out)
					}
					if strings.Count(out, "\n") != strings.Count(in, "\n") {
						t.Errorf("%s: the number of lines changes", d.Kind)
					}
					if again := rules.Text(out); again != out {
						t.Errorf("%s: hiding twice changes %q to %q", d.Kind, out, again)
					}
				}
			}
		}
	}
	if kinds < 60 {
		t.Errorf("%d kinds, want at least 60", kinds)
	}
}

func TestConfiguredValuesAreHidden(t *testing.T) {
	rules := New(Options{
		Values:  []string{"plain words as a key", "short"},
		Environ: []string{"MY_API_KEY=correct horse", "DB_PASSWORD=p@ss/w:rd", "HOME=/home/somebody", "SSH_KEY=/home/somebody/.ssh/id", "X_TOKEN=tiny"},
	})
	for in, want := range map[string]string{
		"a plain words as a key b":                "a ⟦REDACTED:configured:1⟧ b",
		"correct horse battery":                   "⟦REDACTED:configured:1⟧ battery",
		"Y29ycmVjdCBob3JzZQ==":                    "⟦REDACTED:configured:1⟧",     // base64
		"?pw=p%40ss%2Fw%3Ard":                     "?pw=⟦REDACTED:configured:1⟧", // in a URL
		"short tiny":                              "short tiny",                  // too common to be hidden
		"/home/somebody/.ssh/id":                  "/home/somebody/.ssh/id",      // a path is no key
		"correct horse, correct horse, p@ss/w:rd": "⟦REDACTED:configured:1⟧, ⟦REDACTED:configured:1⟧, ⟦REDACTED:configured:2⟧",
	} {
		if got := rules.Text(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestPlaceholdersAreStableWithinARun(t *testing.T) {
	run := New(Options{Values: []string{"first-secret", "second-secret"}}).Run()
	a := run.Text("second-secret")
	b := run.Text("first-secret second-secret")
	if a != "⟦REDACTED:configured:1⟧" || b != "⟦REDACTED:configured:2⟧ ⟦REDACTED:configured:1⟧" || run.Hidden() != 2 {
		t.Errorf("got %q, then %q", a, b)
	}
	for text, want := range map[string]bool{a: true, "x ⟦REDACTED:jwt": true, "REDACTED:jwt:1⟧": true, "REDACTED": false, "⟦math⟧": false} {
		if HasPlaceholder(text) != want {
			t.Errorf("HasPlaceholder(%q) = %t", text, !want)
		}
	}
}

// innocent are lines that must stay as they are.
var innocent = []string{
	`{"tokens_before": 12345, "tokensAfter": 678, "input_tokens": 9, "max_tokens": 4096, "completion_tokens": "1234567890"}`,
	`{"base_sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","proposal_id":"prop-01J9ZQ4W8X2K5N7P3R6T1V0YBD","session_id":"5f0c2b1e-3a4d-4b5c-8d9e-0f1a2b3c4d5e"}`,
	`{"contextTokens": 1000, "token_usage": {"total": 3}, "key": "value", "keys": ["name", "uri"], "secret_kinds": 60}`,
	`password := os.Getenv("DB_PASSWORD")`,
	`String password = request.getParameter("password");`,
	`private static final String TOKEN_HEADER = "Authorization";`,
	`spring.datasource.password=${DB_PASSWORD}`,
	`password: "changeme123"`,
	`api_key = "your-api-key-1234"`,
	`<input type="password" name="password" placeholder="password123example"/>`,
	`token, err := lexer.Next(); if token == "identifier" {`,
	`case "access_token", "refresh_token":`,
	`const tokenEndpoint = "/oauth2/token/v1"`,
	`keyPrefix: "kaiak.diagnostics"`,
	`secretName: "my-app-secrets"`,
	`import "crypto/rsa" // PRIVATE KEY handling`,
	`if !strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----") {`,
	`h1:6vA9y5XvUyWPlA1gnPz/8BVNuVYzMxlBz5vVyhwG1aE=`,
	`git commit 9fceb02d0ae598e95dc970b74767f19372d61af8`,
	`https://user@example.com/path and http://localhost:8080/x@y`,
	`postgres://app:${PASSWORD}@db/x`,
	`@Secured("ROLE_ADMIN") @Value("${jwt.secret}")`,
	`import { TokenService } from "./token.service";`,
	`uuid = "123e4567-e89b-12d3-a456-426614174000"`,
	`sk-learn task-list-item-with-a-long-name`,
	`Basic authentication is described below; bearer tokens too`,
	`key-value-store`, `class KeyStoreFactoryBean extends AbstractSecretKeyProvider`,
}

func TestInnocentTextStays(t *testing.T) {
	rules := New(Options{Environ: []string{"PATH=/usr/bin"}})
	for _, line := range innocent {
		if got := rules.Text(line); got != line {
			t.Errorf("%s\nbecomes\n%s", line, got)
		}
	}
}

func TestValueKeepsTheSchema(t *testing.T) {
	js := `{"input_tokens":12,"tokens_before":"123","token":"abc","nested":[{"password":"S3cr3t-pa55!","cost_usd":null,"note":"plain"}]}`
	var v any
	if err := json.Unmarshal([]byte(js), &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(New(Options{}).Value(v))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"input_tokens":12,"nested":[{"cost_usd":null,"note":"plain","password":"⟦REDACTED:named:1⟧"}],"token":"abc","tokens_before":"123"}`
	if string(out) != want {
		t.Errorf("got %s\nwant %s", out, want)
	}
}

// TestFalsePositivesOnRealCode counts what is hidden in Go's own sources, which
// hold no secrets besides test keys.
func TestFalsePositivesOnRealCode(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a million lines")
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("there is no go command")
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	if _, err := os.Stat(root); err != nil {
		t.Skip("GOROOT's sources are not here: ", err)
	}
	rules := New(Options{})
	lines, hidden := 0, 0
	var examples []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if lines >= 1_000_000 {
			return fs.SkipAll
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines += strings.Count(string(text), "\n")
		for _, f := range rules.find(string(text)) {
			secret := string(text[f.start:f.end])
			hidden += 1 + strings.Count(secret, "\n")
			if !strings.Contains(path, "crypto") {
				examples = append(examples, fmt.Sprintf("%s: %s %.60q", filepath.Base(path), f.kind, secret))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d lines are hidden (%.4f %%)", hidden, lines, 100*float64(hidden)/float64(lines))
	for _, e := range examples[:min(len(examples), 20)] {
		t.Log(e)
	}
	if lines < 1_000_000 || float64(hidden) > 0.005*float64(lines) {
		t.Errorf("%d of %d lines are hidden, at most 0.5 %% may be", hidden, lines)
	}
}

func FuzzText(f *testing.F) {
	for _, line := range innocent {
		f.Add(line)
	}
	rules := New(Options{Values: []string{"configured-secret"}})
	f.Fuzz(func(t *testing.T, s string) {
		out := rules.Text(s)
		if strings.Contains(out, "configured-secret") {
			t.Errorf("%q is not hidden", s)
		}
		if strings.Count(out, "\n") != strings.Count(s, "\n") {
			t.Errorf("lines change in %q", s)
		}
	})
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat(strings.Join(innocent, "\n")+"\n", 40)
	rules := New(Options{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		rules.Text(text)
	}
}
