package redact

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	lower = "abcdefghijklmnopqrstuvwxyz0123456789"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hexa  = "0123456789abcdef"
	digit = "0123456789"
)

// some returns n random characters. Samples are made, not written down, so that
// no scanner takes this file for a leak.
func some(rng *rand.Rand, n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[rng.IntN(len(from))]
	}
	return string(b)
}

// samples makes secrets of every kind. A second string, if any, is the text around
// the secret that tells what it is; %s stands for the secret.
func samples(rng *rand.Rand) map[string][][2]string {
	s := func(n int, from string) string { return some(rng, n, from) }
	pem := func(what string) string {
		return "-----BEGIN " + what + "PRIVATE KEY-----\n" + s(64, alnum) + "\n" + s(64, alnum) + "\n-----END " + what + "PRIVATE KEY-----"
	}
	plain := func(list ...string) (out [][2]string) {
		for _, v := range list {
			out = append(out, [2]string{v, ""})
		}
		return out
	}
	in := func(secret, around string) [][2]string { return [][2]string{{secret, around}} }
	return map[string][][2]string{
		"private-key": plain(pem(""), pem("RSA "), pem("EC "), pem("OPENSSH "), pem("ENCRYPTED ")),
		"putty-key":   plain("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n" + s(64, alnum) + "\nPrivate-MAC: " + s(64, hexa)),
		"age-key":     plain("AGE-SECRET-KEY-1" + s(58, upper)),

		"aws-access-key": plain("AKIA"+s(16, upper), "ASIA"+s(16, upper)), "aws-secret-key": in(s(36, alnum)+"/+a1", "aws_secret_access_key = %s"),
		"alibaba-key": plain("LTAI" + s(20, alnum)), "azure-storage-key": in(s(86, alnum)+"==", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s;"),
		"azure-client-secret": plain(s(3, alnum) + "8Q~" + s(34, alnum)), "azure-sas": in(s(43, alnum)+"%3D", "https://a.blob.core.windows.net/c?sv=2020&sig=%s"),
		"google-api-key": plain("AIza" + s(35, alnum)), "google-oauth-secret": plain("GOCSPX-" + s(28, alnum)), "google-access-token": plain("ya29." + s(60, alnum)),
		"digitalocean-token": plain("dop_v1_" + s(64, hexa)), "heroku-key": plain("HRKU-" + s(60, alnum)), "cloudflare-origin-key": plain("v1.0-" + s(24, hexa) + "-" + s(146, hexa)),
		"yandex-key": plain("AQVN" + s(36, alnum)), "scalingo-token": plain("tk-us-" + s(48, alnum)),
		"github-token": plain("ghp_"+s(36, alnum), "gho_"+s(36, alnum), "ghu_"+s(36, alnum), "ghs_"+s(36, alnum), "ghr_"+s(36, alnum)), "github-fine-grained-token": plain("github_pat_" + s(22, alnum) + "_" + s(59, alnum)),
		"gitlab-token": plain("glpat-"+s(20, alnum), "gldt-"+s(20, alnum)), "gitlab-runner-token": plain("GR1348941" + s(20, alnum)), "bitbucket-password": plain("ATBB" + s(32, alnum)), "atlassian-token": plain("ATATT3x" + s(180, alnum)),
		"openai-key": plain("sk-proj-"+s(48, alnum), "sk-svcacct-"+s(48, alnum)), "anthropic-key": plain("sk-ant-" + "api03-" + s(90, alnum)), "openrouter-key": plain("sk-or-v1-" + s(64, hexa)), "sk-key": plain("sk-" + s(47, alnum) + "1"),
		"groq-key": plain("gsk_" + s(52, alnum)), "huggingface-token": plain("hf_" + s(34, alnum)), "replicate-token": plain("r8_" + s(37, alnum)), "perplexity-key": plain("pplx-" + s(48, alnum)), "xai-key": plain("xai-" + s(80, alnum)),
		"slack-token": plain("xoxb-"+s(12, digit)+"-"+s(24, alnum), "xoxp-"+s(40, alnum), "xapp-1-"+s(40, alnum)), "slack-webhook": in("T"+s(8, upper)+"/B"+s(8, upper)+"/"+s(24, alnum), "https://hooks.slack.com/services/%s"),
		"discord-webhook": in(s(18, digit)+"/"+s(68, alnum), "https://discord.com/api/webhooks/%s"), "discord-token": in("M"+s(23, alnum)+"."+s(6, alnum)+"."+s(27, alnum), "discord: %s"),
		"teams-webhook": in(s(36, hexa)+"@"+s(36, hexa)+"/IncomingWebhook/"+s(32, hexa), "https://x.webhook.office.com/webhookb2/%s"), "telegram-token": plain(s(9, digit) + ":AA" + s(33, alnum)),
		"stripe-key": plain("sk_live_"+s(24, alnum), "rk_test_"+s(24, alnum)), "stripe-webhook-secret": plain("whsec_" + s(32, alnum)), "square-token": plain("sq0atp-"+s(22, alnum), "sq0csp-"+s(43, alnum)),
		"shopify-token": plain("shpat_" + s(32, hexa)), "shippo-token": plain("shippo_live_" + s(40, hexa)), "easypost-key": plain("EZAK" + s(54, alnum)), "paypal-token": plain("access_token$production$" + s(16, lower) + "$" + s(32, hexa)),
		"sendgrid-key": plain("SG." + s(22, alnum) + "." + s(43, alnum)), "mailchimp-key": plain(s(32, hexa) + "-us12"), "mailgun-key": plain("key-" + s(32, hexa)), "brevo-key": plain("xkeysib-" + s(64, hexa) + "-" + s(16, alnum)), "twilio-key": plain("SK" + s(32, hexa)),
		"npm-token": plain("npm_" + s(36, alnum)), "pypi-token": plain("pypi-AgE" + s(100, alnum)), "rubygems-key": plain("rubygems_" + s(48, hexa)), "docker-token": plain("dckr_pat_" + s(27, alnum)), "nuget-key": plain("oy2" + s(43, lower)), "crates-token": plain("cio" + s(32, alnum)), "clojars-token": plain("CLOJARS_" + s(60, lower)), "artifactory-key": plain("AKCp" + s(69, alnum)),
		"vault-token": plain("hvs."+s(90, alnum), "hvb."+s(90, alnum)), "terraform-token": plain(s(14, alnum) + ".atlasv1." + s(67, alnum)), "pulumi-token": plain("pul-" + s(40, hexa)), "databricks-token": plain("dapi" + s(32, hexa)), "doppler-token": plain("dp.pt." + s(43, alnum)),
		"planetscale-token": plain("pscale_tkn_" + s(43, alnum)), "supabase-token": plain("sbp_" + s(40, hexa)), "prefect-key": plain("pnu_" + s(36, alnum)),
		"grafana-token": plain("glc_"+s(40, alnum), "glsa_"+s(32, alnum)+"_"+s(8, hexa)), "newrelic-key": plain("NRAK-" + s(27, upper)), "sentry-token": plain("sntrys_" + s(90, alnum)), "dynatrace-token": plain("dt0c01." + s(24, upper) + "." + s(64, upper)), "datadog-key": in(s(31, hexa)+"a", "DD_API_KEY=%s"),
		"linear-key": plain("lin_api_" + s(40, alnum)), "notion-token": plain("ntn_" + s(46, alnum)), "figma-token": plain("figd_" + s(40, alnum)), "airtable-token": plain("pat" + s(14, alnum) + "." + s(64, hexa)), "postman-key": plain("PMAK-" + s(24, hexa) + "-" + s(34, hexa)), "typeform-token": plain("tfp_" + s(44, alnum)), "readme-key": plain("rdme_" + s(70, lower)), "adafruit-key": plain("aio_" + s(28, alnum)), "dropbox-token": plain("sl." + s(136, alnum)),
		"okta-token": in("00"+s(40, alnum), "Authorization: SSWS %s"), "facebook-token": plain("EAA" + s(120, alnum)), "twitter-bearer": plain(strings.Repeat("A", 22) + s(80, alnum)),
		"jwt":          plain("eyJ" + s(30, alnum) + ".eyJ" + s(80, alnum) + "." + s(43, alnum)),
		"url-password": in("pw"+s(10, alnum), "postgres://app:%s@db.internal:5432/x"), "authorization": append(in(s(40, alnum), "Authorization: Bearer %s"), in(s(30, alnum)+"==", "authorization: basic %s")...),
		"connection-password": in("Pa5s"+s(6, alnum), "Server=x;User Id=sa;Password=%s;"), "assigned": append(append(in("Tr0ub4dor&"+s(4, digit), `password = "%s"`), in(s(24, alnum)+"1", `"clientSecret": "%s"`)...), in(s(30, alnum)+"7", `apiKey: '%s'`)...),
	}
}

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
			list := samples(rand.New(rand.NewPCG(seed, 3)))[d.Kind]
			if len(list) == 0 {
				t.Fatalf("kind %s has no sample", d.Kind)
			}
			for _, sample := range list {
				for _, c := range contexts {
					secret, text := sample[0], sample[0]
					if sample[1] != "" {
						text = strings.ReplaceAll(sample[1], "%s", secret)
					}
					in := strings.ReplaceAll(c, "%s", text)
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
	root := filepath.Join(runtime.GOROOT(), "src")
	if _, err := os.Stat(root); err != nil {
		t.Skip("GOROOT's sources are not here: ", err)
	}
	rules := New(Options{})
	lines, hidden := 0, 0
	var examples []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
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
