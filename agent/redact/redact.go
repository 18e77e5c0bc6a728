package redact

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Options name secrets whose value is known.
type Options struct {
	Values  []string // hidden wherever they occur; shorter than 8 bytes are ignored
	Environ []string // "NAME=value", as os.Environ gives it: values of names that say secret
}

// Rules hide secrets. Call [New].
type Rules struct {
	exact []string // longest first
}

// minExact is the length in bytes below which a known value is too common a text
// to be hidden.
const minExact = 8

var secretName = regexp.MustCompile(`(?i)(?:_KEY|_TOKEN|_SECRET|PASSWORD|PASSWD|_PAT|_CREDENTIALS?)$|^(?:TOKEN|SECRET)$`)

// New returns rules that know the given values and every shape in [Detectors].
func New(opts Options) *Rules {
	values := slices.Clone(opts.Values)
	for _, pair := range opts.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if secretName.MatchString(name) && !strings.HasPrefix(value, "/") { // a path to a key is no key
			values = append(values, value)
		}
	}
	r := &Rules{}
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < minExact {
			continue
		}
		r.exact = append(r.exact, v)
		for _, other := range []string{base64.StdEncoding.EncodeToString([]byte(v)), url.QueryEscape(v)} {
			if other != v {
				r.exact = append(r.exact, other)
			}
		}
	}
	slices.SortFunc(r.exact, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	r.exact = slices.Compact(r.exact)
	return r
}

// Text returns s with its secrets hidden.
func (r *Rules) Text(s string) string { return r.Run().Text(s) }

// Value returns v, as encoding/json decodes it, with the secrets in its strings
// hidden. Names of members are kept.
func (r *Rules) Value(v any) any {
	run := r.Run()
	var walk func(any) any
	walk = func(v any) any {
		switch x := v.(type) {
		case string:
			return run.Text(x)
		case []any:
			out := make([]any, len(x))
			for i := range x {
				out[i] = walk(x[i])
			}
			return out
		case map[string]any:
			out := make(map[string]any, len(x))
			for _, k := range sortedKeys(x) {
				// The member's name is what tells a password from a text.
				if s, ok := x[k].(string); ok && secretMember(k, s) {
					out[k] = run.placeholder("named", s)
					continue
				}
				out[k] = walk(x[k])
			}
			return out
		}
		return v
	}
	return walk(v)
}

// Run starts a conversation. The numbers of its placeholders follow the order in
// which its secrets are first met. A run is not safe for concurrent use.
func (r *Rules) Run() *Run { return &Run{rules: r, numbers: map[string]int{}} }

// A Run hides secrets with stable placeholders.
type Run struct {
	rules   *Rules
	numbers map[string]int // of each secret
}

// open and shut enclose a placeholder.
const open, shut = "⟦REDACTED:", "⟧"

// HasPlaceholder reports whether s holds a placeholder or a part of one.
func HasPlaceholder(s string) bool {
	return strings.Contains(s, "⟦REDACTED") || strings.Contains(s, "REDACTED:") && strings.Contains(s, shut)
}

// Hidden returns how many secrets the run has met.
func (r *Run) Hidden() int { return len(r.numbers) }

func (r *Run) placeholder(kind, secret string) string {
	n, ok := r.numbers[secret]
	if !ok {
		n = len(r.numbers) + 1
		r.numbers[secret] = n
	}
	// Lines stay lines, so that line numbers stay right.
	return fmt.Sprintf("%s%s:%d%s", open, kind, n, shut) + strings.Repeat("\n", strings.Count(secret, "\n"))
}

// A found is a secret's place in a text.
type found struct {
	start, end int
	kind       string
}

// Text returns s with its secrets hidden.
func (r *Run) Text(s string) string {
	places := r.rules.find(s)
	if len(places) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, p := range places {
		b.WriteString(s[at:p.start])
		b.WriteString(r.placeholder(p.kind, s[p.start:p.end]))
		at = p.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// find returns the secrets of a text, in order and without overlap. Where two
// overlap, both are hidden, as one.
func (r *Rules) find(s string) []found {
	var all []found
	for _, v := range r.exact {
		for at := 0; ; {
			i := strings.Index(s[at:], v)
			if i < 0 {
				break
			}
			all = append(all, found{at + i, at + i + len(v), "configured"})
			at += i + len(v)
		}
	}
	lower := foldASCII(s)
	for i := range Detectors {
		all = Detectors[i].find(s, lower, all)
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	out := all[:1]
	for _, f := range all[1:] {
		last := &out[len(out)-1]
		if f.start < last.end {
			last.end = max(last.end, f.end)
			continue
		}
		out = append(out, f)
	}
	return slices.DeleteFunc(out, func(f found) bool { return strings.Contains(s[f.start:f.end], open) })
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// foldASCII makes ASCII letters lower case and keeps every offset as it is,
// which strings.ToLower does not.
func foldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
