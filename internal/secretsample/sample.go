// Package secretsample makes secrets for tests: random texts of the shapes that
// real ones have. They are made and not written down, so that no scanner takes
// this repository for a leak.
package secretsample

import (
	"math/rand/v2"
	"strings"
)

// A Sample is a secret in a text that tells what it is.
type Sample struct{ Secret, Text string }

const (
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	lower = "abcdefghijklmnopqrstuvwxyz0123456789"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hexa  = "0123456789abcdef"
	digit = "0123456789"
)

// some returns n random characters.
func some(rng *rand.Rand, n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[rng.IntN(len(from))]
	}
	return string(b)
}

// ByKind makes secrets of every kind that package redact knows.
func ByKind(rng *rand.Rand) map[string][]Sample {
	s := func(n int, from string) string { return some(rng, n, from) }
	pem := func(what string) string {
		return "-----BEGIN " + what + "PRIVATE KEY-----\n" + s(64, alnum) + "\n" + s(64, alnum) + "\n-----END " + what + "PRIVATE KEY-----"
	}
	plain := func(list ...string) (out []Sample) {
		for _, v := range list {
			out = append(out, Sample{v, v})
		}
		return out
	}
	in := func(secret, around string) []Sample {
		return []Sample{{secret, strings.ReplaceAll(around, "%s", secret)}}
	}
	return map[string][]Sample{
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
