package redact

import (
	"math"
	"regexp"
	"strings"
)

// A Detector finds one kind of secret.
type Detector struct {
	Kind string
	// Needles are texts of which one occurs in every such secret, so that most
	// texts need no regular expression. Lower case when Fold is set.
	Needles []string
	Fold    bool // compare Needles without case
	// Pattern's first group, or all of it when it has none, is the secret.
	Pattern *regexp.Regexp
	Accept  func(secret string) bool // nil: every match counts
	Lines   bool                     // the secret may extend over several lines
}

// find appends the secrets of s to a list; lower is s in lower case. The
// expression runs only on lines that hold a needle: it costs a hundred times as
// much as looking for one.
func (d *Detector) find(s, lower string, to []found) []found {
	hay := s
	if d.Fold {
		hay = lower
	}
	done := 0 // up to here the text was searched
	for at := 0; at < len(hay); {
		i := d.needle(hay[at:])
		if i < 0 {
			break
		}
		from, end := 0, len(s)
		if !d.Lines {
			from = strings.LastIndexByte(hay[:at+i], '\n') + 1
			if n := strings.IndexByte(hay[at+i:], '\n'); n >= 0 {
				end = at + i + n
			}
		}
		from = max(from, done)
		to = d.match(s, from, end, to)
		at, done = end, end
	}
	return to
}

// needle returns the first place of any needle, or -1.
func (d *Detector) needle(hay string) int {
	first := -1
	for _, needle := range d.Needles {
		if first >= 0 {
			hay = hay[:min(first+len(needle), len(hay))]
		}
		if i := strings.Index(hay, needle); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

func (d *Detector) match(s string, from, end int, to []found) []found {
	for _, m := range d.Pattern.FindAllStringSubmatchIndex(s[from:end], -1) {
		a, b := m[0]+from, m[1]+from
		if len(m) > 2 && m[2] >= 0 {
			a, b = m[2]+from, m[3]+from
		}
		if d.Accept == nil || d.Accept(s[a:b]) {
			to = append(to, found{a, b, d.Kind})
		}
	}
	return to
}

// prefixed makes a detector of a token that begins with one of some prefixes.
func prefixed(kind, rest string, prefixes ...string) Detector {
	quoted := make([]string, len(prefixes))
	for i, p := range prefixes {
		quoted[i] = regexp.QuoteMeta(p)
	}
	return Detector{Kind: kind, Needles: prefixes,
		Pattern: regexp.MustCompile(`(?:^|[^A-Za-z0-9_])((?:` + strings.Join(quoted, "|") + `)` + rest + `)`)}
}

// near makes a detector of a token without a shape of its own, which is told by
// a word before it in the same line.
func near(kind, token string, words ...string) Detector {
	return Detector{Kind: kind, Needles: words, Fold: true,
		Pattern: regexp.MustCompile(`(?i:` + strings.Join(words, "|") + `)[^\n]{0,40}?[\s"'=:>]+(` + token + `)(?:$|[^A-Za-z0-9+/=_-])`),
		Accept:  mixed}
}

// Detectors is the one table of the kinds of secret that are known.
var Detectors = []Detector{
	{Kind: "private-key", Needles: []string{"PRIVATE KEY"}, Pattern: regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-[^-]|--[^-]|---[^-]|----[^-])*(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)?`), Lines: true, Accept: func(s string) bool { return len(s) > 100 }},
	{Kind: "putty-key", Needles: []string{"PuTTY-User-Key-File"}, Pattern: regexp.MustCompile(`PuTTY-User-Key-File-\d:(?s:.*?)Private-MAC: [0-9a-f]+`), Lines: true},
	prefixed("age-key", `1[0-9A-Z]{58}`, "AGE-SECRET-KEY-"),

	prefixed("aws-access-key", `[A-Z0-9]{16}\b`, "AKIA", "ASIA", "ABIA", "ACCA"),
	near("aws-secret-key", `[A-Za-z0-9/+]{40}`, "aws_secret", "aws-secret", "awssecret", "secretaccesskey", "secret_access_key"),
	prefixed("alibaba-key", `[A-Za-z0-9]{20}\b`, "LTAI"),
	{Kind: "azure-storage-key", Needles: []string{"AccountKey="}, Pattern: regexp.MustCompile(`AccountKey=([A-Za-z0-9+/]{86}==)`)},
	{Kind: "azure-client-secret", Needles: []string{"8Q~", "7Q~"}, Pattern: regexp.MustCompile(`(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34})`)},
	{Kind: "azure-sas", Needles: []string{"sig="}, Pattern: regexp.MustCompile(`[?&]sig=([A-Za-z0-9%+/]{40,}(?:%3D|=)?)`)},
	prefixed("google-api-key", `[A-Za-z0-9_-]{35}`, "AIza"),
	prefixed("google-oauth-secret", `[A-Za-z0-9_-]{28}`, "GOCSPX-"),
	prefixed("google-access-token", `[A-Za-z0-9_-]{30,}`, "ya29."),
	prefixed("digitalocean-token", `[a-f0-9]{64}`, "dop_v1_", "doo_v1_", "dor_v1_"),
	prefixed("heroku-key", `[A-Za-z0-9_-]{36,}`, "HRKU-"),
	prefixed("cloudflare-origin-key", `[a-f0-9]{24}-[a-f0-9]{146}`, "v1.0-"),
	prefixed("yandex-key", `[A-Za-z0-9_-]{35,}`, "AQVN"),
	prefixed("scalingo-token", `[A-Za-z0-9_-]{48}`, "tk-us-"),

	prefixed("github-token", `[A-Za-z0-9]{36,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	prefixed("github-fine-grained-token", `[A-Za-z0-9_]{60,}`, "github_pat_"),
	prefixed("gitlab-token", `[A-Za-z0-9_-]{20,}`, "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"),
	prefixed("gitlab-runner-token", `[A-Za-z0-9_-]{20}`, "GR1348941"),
	prefixed("bitbucket-password", `[A-Za-z0-9]{32}`, "ATBB"),
	prefixed("atlassian-token", `[A-Za-z0-9_=-]{60,}`, "ATATT3x"),

	prefixed("openai-key", `[A-Za-z0-9_-]{20,}`, "sk-proj-", "sk-svcacct-", "sk-admin-"),
	prefixed("anthropic-key", `[A-Za-z0-9_-]{20,}`, "sk-ant-"),
	prefixed("openrouter-key", `[a-f0-9]{32,}`, "sk-or-v1-"),
	{Kind: "sk-key", Needles: []string{"sk-"}, Pattern: regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])(sk-[A-Za-z0-9]{20,})`), Accept: mixed},
	prefixed("groq-key", `[A-Za-z0-9]{40,}`, "gsk_"),
	prefixed("huggingface-token", `[A-Za-z0-9]{30,}`, "hf_", "api_org_"),
	prefixed("replicate-token", `[A-Za-z0-9]{37}`, "r8_"),
	prefixed("perplexity-key", `[A-Za-z0-9]{40,}`, "pplx-"),
	prefixed("xai-key", `[A-Za-z0-9]{60,}`, "xai-"),

	prefixed("slack-token", `[A-Za-z0-9-]{20,}`, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-"),
	{Kind: "slack-webhook", Needles: []string{"hooks.slack.com/"}, Pattern: regexp.MustCompile(`hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9+/]{40,})`)},
	{Kind: "discord-webhook", Needles: []string{"/api/webhooks/"}, Pattern: regexp.MustCompile(`discord(?:app)?\.com/api/webhooks/(\d{15,}/[A-Za-z0-9_-]{60,})`)},
	{Kind: "discord-token", Needles: []string{"discord", "bot "}, Fold: true, Pattern: regexp.MustCompile(`\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})`)},
	{Kind: "teams-webhook", Needles: []string{".webhook.office.com/"}, Pattern: regexp.MustCompile(`\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})`)},
	{Kind: "telegram-token", Needles: []string{":AA"}, Pattern: regexp.MustCompile(`\b(\d{8,10}:AA[A-Za-z0-9_-]{32,34})`)},

	prefixed("stripe-key", `[A-Za-z0-9]{16,}`, "sk_live_", "sk_test_", "rk_live_", "rk_test_"),
	prefixed("stripe-webhook-secret", `[A-Za-z0-9]{32,}`, "whsec_"),
	prefixed("square-token", `[A-Za-z0-9_-]{22,}`, "sq0atp-", "sq0csp-", "sq0idb-"),
	prefixed("shopify-token", `[a-fA-F0-9]{32}`, "shpat_", "shpca_", "shppa_", "shpss_"),
	prefixed("shippo-token", `[a-f0-9]{40}`, "shippo_live_", "shippo_test_"),
	prefixed("easypost-key", `[A-Za-z0-9]{54}`, "EZAK", "EZTK"),
	{Kind: "paypal-token", Needles: []string{"access_token$"}, Pattern: regexp.MustCompile(`(access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32})`)},

	{Kind: "sendgrid-key", Needles: []string{"SG."}, Pattern: regexp.MustCompile(`\b(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})`)},
	{Kind: "mailchimp-key", Needles: []string{"-us"}, Pattern: regexp.MustCompile(`\b([0-9a-f]{32}-us\d{1,2})\b`)},
	{Kind: "mailgun-key", Needles: []string{"key-"}, Pattern: regexp.MustCompile(`\b(key-[0-9a-f]{32})\b`)},
	prefixed("brevo-key", `[a-f0-9]{64}-[A-Za-z0-9]{16}`, "xkeysib-"),
	{Kind: "twilio-key", Needles: []string{"SK"}, Pattern: regexp.MustCompile(`\b(SK[0-9a-f]{32})\b`)},

	prefixed("npm-token", `[A-Za-z0-9]{36}`, "npm_"),
	prefixed("pypi-token", `[A-Za-z0-9_-]{50,}`, "pypi-AgE"),
	prefixed("rubygems-key", `[a-f0-9]{48}`, "rubygems_"),
	prefixed("docker-token", `[A-Za-z0-9_-]{27,}`, "dckr_pat_", "dckr_oat_"),
	prefixed("nuget-key", `[a-z0-9]{43}\b`, "oy2"),
	prefixed("crates-token", `[A-Za-z0-9]{32}\b`, "cio"),
	prefixed("clojars-token", `[a-z0-9]{60}`, "CLOJARS_"),
	prefixed("artifactory-key", `[A-Za-z0-9]{60,}`, "AKCp"),

	prefixed("vault-token", `[A-Za-z0-9_-]{24,}`, "hvs.", "hvb.", "hvr."),
	{Kind: "terraform-token", Needles: []string{".atlasv1."}, Pattern: regexp.MustCompile(`\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})`)},
	prefixed("pulumi-token", `[a-f0-9]{40}`, "pul-"),
	prefixed("databricks-token", `[a-f0-9]{32}(?:-\d)?`, "dapi"),
	prefixed("doppler-token", `[a-zA-Z0-9]{40,}`, "dp.pt.", "dp.st.", "dp.ct."),
	prefixed("planetscale-token", `[A-Za-z0-9_.-]{32,}`, "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
	prefixed("supabase-token", `[a-f0-9]{40}`, "sbp_"),
	prefixed("prefect-key", `[A-Za-z0-9]{36}`, "pnu_"),

	prefixed("grafana-token", `[A-Za-z0-9_+/=-]{32,}`, "glc_", "glsa_"),
	prefixed("newrelic-key", `[A-Z0-9]{27}`, "NRAK-", "NRII-"),
	prefixed("sentry-token", `[A-Za-z0-9_=+/-]{60,}`, "sntrys_", "sntryu_"),
	prefixed("dynatrace-token", `[A-Z0-9]{24}\.[A-Z0-9]{64}`, "dt0c01."),
	near("datadog-key", `[a-f0-9]{32}(?:[a-f0-9]{8})?`, "datadog", "dd_api_key", "dd_app_key"),
	prefixed("linear-key", `[A-Za-z0-9]{40}`, "lin_api_"),
	prefixed("notion-token", `[A-Za-z0-9]{40,}`, "ntn_", "secret_"),
	prefixed("figma-token", `[A-Za-z0-9_-]{40,}`, "figd_"),
	{Kind: "airtable-token", Needles: []string{"pat"}, Pattern: regexp.MustCompile(`\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})\b`)},
	prefixed("postman-key", `[a-f0-9]{24}-[a-f0-9]{34}`, "PMAK-"),
	prefixed("typeform-token", `[A-Za-z0-9_.=-]{40,}`, "tfp_"),
	prefixed("readme-key", `[a-z0-9]{70}`, "rdme_"),
	prefixed("adafruit-key", `[A-Za-z0-9]{28}\b`, "aio_"),
	prefixed("dropbox-token", `[A-Za-z0-9_=-]{130,}`, "sl."),
	{Kind: "okta-token", Needles: []string{"SSWS "}, Pattern: regexp.MustCompile(`SSWS (00[A-Za-z0-9_-]{40})`)},
	{Kind: "facebook-token", Needles: []string{"EAA"}, Pattern: regexp.MustCompile(`\b(EAA[A-Za-z0-9]{80,})`)},
	{Kind: "twitter-bearer", Needles: []string{"AAAAAAAAAA"}, Pattern: regexp.MustCompile(`\b(A{20,24}[A-Za-z0-9%]{60,})`), Accept: mixed},

	{Kind: "jwt", Needles: []string{"eyJ"}, Pattern: regexp.MustCompile(`\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})`)},
	{Kind: "url-password", Needles: []string{"://"}, Pattern: regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/?#@"'<>$\{]{1,100}:([^\s/?#@"'<>$\{]{3,200})@[A-Za-z0-9\[]`), Accept: notExample},
	{Kind: "authorization", Needles: []string{"bearer ", "basic "}, Fold: true, Pattern: regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9_.~+/=-]{16,})`), Accept: mixed},
	{Kind: "connection-password", Needles: []string{"password=", "pwd="}, Fold: true, Pattern: regexp.MustCompile(`(?i);\s*(?:password|pwd)=([^;"'\s]{4,})`), Accept: notExample},
	{Kind: "assigned", Needles: []string{"pass", "pwd", "secret", "key", "token", "credential"}, Fold: true, Pattern: assigned, Accept: looksSecret},
}

// assigned finds a quoted value that is given to a name which says secret:
// password = "…", "api_key": "…", <add key="Secret" value="…"/>; also where all of
// that stands in a JSON string, so that the quotes are escaped.
var assigned = regexp.MustCompile(`(?i)(?:` + secretWords + `)(?:\\?["'\]]){0,2}\s*(?::=|=>|=|:|,|value=)\s*(?:value=)?\\?["'` + "`" + `]([^"'` + "`" + `\s]{8,256}?)\\?["'` + "`" + `]`)

const secretWords = `passw(?:or)?d|passphrase|\bpwd|secret(?:[_-]?(?:key|access[_-]?key|token))?|api[_-]?key|access[_-]?key|auth[_-]?key|encryption[_-]?key|signing[_-]?key|private[_-]?key|(?:auth|access|refresh|bearer|session|api|bot|csrf)?[_-]?token|credential|client[_-]?secret`

var secretMemberName = regexp.MustCompile(`(?i)(?:^|[_.-])(?:` + secretWords + `)$|(?:Password|Secret|Token|ApiKey)$`)

// secretMember reports whether a member of an object is a secret by its name and
// its value.
func secretMember(name, value string) bool {
	return secretMemberName.MatchString(name) && len(value) >= minExact && looksSecret(value)
}

// ordinary finds values that are names, paths, references and examples.
var ordinary = regexp.MustCompile(`(?i)^(?:[$%{<#@/.\\]|https?:|file:|urn:|null|none|true|false|undefined)|[(){}<>]|` +
	`example|changeme|change_me|placeholder|your[_-]|dummy|sample|redacted|x{4,}|\*{3,}|\.{3}`)

// wordy finds values made of words: an identifier, a property name, a media type.
var wordy = regexp.MustCompile(`^[A-Za-z]{1,24}(?:[_.:/ -]?[A-Za-z]{1,24})*[_.:/-]?\d{0,2}$`)

// looksSecret reports whether a value that a telling name is given is random
// enough to be one.
func looksSecret(s string) bool {
	if ordinary.MatchString(s) {
		return false
	}
	if wordy.MatchString(s) && entropy(s) < 4.2 {
		return false
	}
	return mixed(s) || strings.ContainsAny(s, "!@#$%^&*?") && entropy(s) >= 2.5
}

// mixed reports whether a token has letters and digits and is random enough.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }) >= 0 && entropy(s) >= 2.8
}

func notExample(s string) bool {
	return !ordinary.MatchString(s) && s != "password" && s != "pass" && s != "pwd" && s != "secret"
}

// entropy returns Shannon's entropy of the bytes of s, in bits per byte.
func entropy(s string) float64 {
	var n [256]int
	for i := range len(s) {
		n[s[i]]++
	}
	h := 0.0
	for _, c := range n {
		if c > 0 {
			p := float64(c) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
