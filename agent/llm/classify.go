package llm

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// longestWait is how long a Retry-After may be for the client to wait it out.
const longestWait = time.Minute

// statusKinds maps an HTTP status to the kind of error; anything else from 500
// on is overloaded, anything else from 400 on is rejected.
var statusKinds = map[int]Kind{
	401: KindAuth, 403: KindAuth, 404: KindNotFound,
	408: KindOverloaded, 409: KindOverloaded, 413: KindContext, 429: KindRateLimited,
}

// codeKinds maps words of error.code and error.type to the kind of error.
var codeKinds = map[string]Kind{
	"insufficient_quota":        KindQuota,
	"billing_hard_limit":        KindQuota,
	"context_length_exceeded":   KindContext,
	"exceed_context_size_error": KindContext,
	"rate_limit_exceeded":       KindRateLimited,
	"invalid_api_key":           KindAuth,
	"authentication_error":      KindAuth,
	"model_not_found":           KindNotFound,
	"content_filter":            KindFilter,
	"overloaded_error":          KindOverloaded,
	"429":                       KindRateLimited,
	"401":                       KindAuth,
	"502":                       KindOverloaded,
	"503":                       KindOverloaded,
}

// Servers that have no code for it say in words that the context is too small,
// and mostly how large it is.
var (
	contextMessage = regexp.MustCompile(`(?i)maximum context length|exceeds? the (?:available|maximum) context|prompt is too long|context[ _]length[ _]exceeded|\bn_ctx\b`)
	contextWindow  = regexp.MustCompile(`(?i)maximum context length (?:is|of) (\d+)|context (?:size|window|length)[^.]{0,40}?\((\d+)(?: tokens)?\)|n_ctx\D{0,3}(\d+)`)
)

// classify makes an error of what the endpoint said.
func classify(status int, h http.Header, w *wireError, now time.Time) *Error {
	e := &Error{Status: status, Message: clip(w.Message), Param: w.Param, Code: w.Code, Context: w.ContextSize, Prompt: w.PromptTokens}
	if e.Code == "" {
		e.Code = w.Type
	}
	switch kind, ok := statusKinds[status]; {
	case ok:
		e.Kind = kind
	case status >= 500:
		e.Kind = KindOverloaded
	case status >= 400:
		e.Kind = KindRejected
	default:
		e.Kind = KindServer
	}
	if kind, ok := codeKinds[w.Type]; ok {
		e.Kind = kind
	}
	if kind, ok := codeKinds[w.Code]; ok {
		e.Kind = kind
	}
	switch e.Kind {
	case KindRejected, KindOverloaded, KindServer:
		if contextMessage.MatchString(w.Message) {
			e.Kind = KindContext
		}
	}
	if e.Kind == KindContext && e.Context == 0 {
		for _, group := range contextWindow.FindStringSubmatch(w.Message) {
			if n, err := strconv.Atoi(group); err == nil {
				e.Context = n
			}
		}
	}
	e.RetryAfter = retryAfter(h, now)
	switch strings.ToLower(h.Get("X-Should-Retry")) {
	case "false":
		e.noRetry = true
	case "true":
		e.mustRetry = true
	}
	return e
}

// retryAfter reads how long the endpoint asks to wait; 0 when it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

// clip bounds what an endpoint can put into our error messages.
func clip(s string) string {
	const most = 2000
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\ufffd")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + " …"
	}
	return s
}
