package llm

import (
	"fmt"
	"time"
)

// A Kind is the class of an [Error]. Kinds is the one table of them.
type Kind string

// The kinds of error.
const (
	KindAuth          Kind = "auth"
	KindNotFound      Kind = "not_found"
	KindRejected      Kind = "rejected"
	KindRateLimited   Kind = "rate_limited"
	KindQuota         Kind = "quota"
	KindOverloaded    Kind = "overloaded"
	KindNetwork       Kind = "network"
	KindFirstByte     Kind = "first_byte_timeout"
	KindIdle          Kind = "idle_timeout"
	KindProgress      Kind = "progress_timeout"
	KindTotal         Kind = "total_timeout"
	KindTruncated     Kind = "truncated"
	KindEmpty         Kind = "empty_response"
	KindTooLarge      Kind = "response_too_large"
	KindBadResponse   Kind = "bad_response"
	KindServer        Kind = "server_error"
	KindOutput        Kind = "output_truncated"
	KindFilter        Kind = "content_filter"
	KindRefusal       Kind = "refusal"
	KindContext       Kind = "context_length"
	KindRedirect      Kind = "redirect_refused"
	KindCancelled     Kind = "cancelled"
	KindReplayMiss    Kind = "replay_miss"
	KindMisconfigured Kind = "misconfigured"
)

// KindInfo says what follows from an error of a kind.
type KindInfo struct {
	Kind    Kind
	Retries int    // further attempts of the same request
	Advice  string // what a person can do
}

// Kinds lists every kind.
var Kinds = []KindInfo{
	{KindAuth, 0, "check the key (OPENAI_API_KEY or the profile's key file) and what it may do"},
	{KindNotFound, 0, "check the base URL (it usually ends in /v1) and the model's name"},
	{KindRejected, 0, "the endpoint does not accept this request; see its message"},
	{KindRateLimited, 2, "wait, or lower the profile's concurrency"},
	{KindQuota, 0, "the account has no credit left; add some or use another profile"},
	{KindOverloaded, 2, "the endpoint is busy or still loads the model; try again later"},
	{KindNetwork, 2, "check that the endpoint runs and that proxy and CA settings are right"},
	{KindFirstByte, 1, "the endpoint did not begin to answer; raise the first-byte timeout if the model is slow to load"},
	{KindIdle, 1, "the endpoint stopped sending; raise the idle timeout if the model is slow"},
	{KindProgress, 0, "the endpoint keeps the line open without writing; raise the progress timeout if the model is slow"},
	{KindTotal, 0, "the reply took too long; raise the total timeout or ask for less at a time"},
	{KindTruncated, 1, "the reply ended in the middle; a proxy in between may cut long responses"},
	{KindEmpty, 0, "the endpoint answered nothing; its context window may be too small for the request"},
	{KindTooLarge, 0, "the endpoint sent more than a reply can be; check what it is"},
	{KindBadResponse, 1, "the endpoint does not speak the chat-completions protocol here; check the base URL (it usually ends in /v1)"},
	{KindServer, 1, "the endpoint reported a failure while it answered; see its message"},
	{KindOutput, 0, "the reply was longer than the output limit; raise max_output or ask for less at a time"},
	{KindFilter, 0, "the endpoint's content filter stopped the reply"},
	{KindRefusal, 0, "the model refused the request"},
	{KindContext, 0, "the request does not fit the model's context window; lower the context budget or use a larger model"},
	{KindRedirect, 0, "the endpoint redirects elsewhere, which is not followed; set the base URL to the final address"},
	{KindCancelled, 0, "the request was cancelled"},
	{KindReplayMiss, 0, "record the run again"},
	{KindMisconfigured, 0, "correct the profile"},
}

func (k Kind) info() KindInfo {
	for _, i := range Kinds {
		if i.Kind == k {
			return i
		}
	}
	return KindInfo{Kind: k}
}

// An Error is a failed turn: what happened, where, and what to do. It never
// holds the key.
type Error struct {
	Kind       Kind
	Host       string        // of the endpoint
	Status     int           // of HTTP, 0 when there was no response
	Message    string        // the endpoint's words, or ours
	Code       string        // error.code or error.type as the endpoint sent it
	Param      string        // error.param
	RetryAfter time.Duration // what the endpoint asked for, 0 when nothing
	Context    int           // context window in tokens, when the endpoint told it
	Prompt     int           // prompt size in tokens, when the endpoint told it
	Attempts   int           // how often the request was sent
	Err        error         // the cause

	noRetry, mustRetry bool // x-should-retry
}

func (e *Error) Error() string {
	s := "model endpoint " + e.Host + ": "
	if e.Status != 0 && e.Status != 200 {
		s += fmt.Sprintf("HTTP %d: ", e.Status)
	}
	if e.Message != "" {
		s += e.Message
	} else {
		s += string(e.Kind)
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf(" (it asks to wait %v)", e.RetryAfter)
	}
	if advice := e.Kind.info().Advice; advice != "" {
		s += "; " + advice
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
