package kaiak

import "context"

// A Limit is one bound of the contract. [Limits] is the one table of them: the
// code, the capability list and the documentation read it.
type Limit struct {
	Name  string // as in capabilities.experimental.kaiak.limits
	Value int
	Unit  string // "bytes", "incidents", "requests", "requests/minute", "files", "lines"
	Scope string // to what it applies
	Code  Code   // the answer to what is over it; zero: nothing is refused
	Doc   string // what happens at the limit
}

// The limits, by name.
var (
	LimitRequestBytes = Limit{"request_bytes", 10 << 20, "bytes", "one kaiak/* request", InvalidRequest,
		"A request whose JSON is longer is refused unread; the connection goes on."}
	LimitIncidents = Limit{"incidents_per_request", 1000, "incidents", "one request", InvalidParams,
		"Split the incidents over several requests."}
	LimitFileBytes = Limit{"file_bytes", 1 << 20, "bytes", "one file", ResourceExhausted,
		"A longer file is not fixed; in a scan it is skipped with a note."}
	LimitStreamBytes = Limit{"stream_message_bytes", 1 << 20, "bytes", "the params of one notification", Code{},
		"A longer text is split between characters over several messages; a longer file modification carries its edits instead of both texts."}
	LimitConcurrentFixes = Limit{"concurrent_fix_requests", 10, "requests", "one session", ResourceExhausted,
		"Wait for a request to complete, or cancel one."}
	LimitStatusPerMinute = Limit{"status_requests_per_minute", 100, "requests/minute", "one session", ResourceExhausted,
		"error.data.retry_after_ms says how long to wait."}
	LimitPageSize = Limit{"page_size", 1000, "records", "one answer of a list", InvalidParams,
		"Ask for the next page with the cursor."}
)

// Limits lists every limit, the contract's first.
var Limits = []Limit{
	LimitRequestBytes, LimitIncidents, LimitFileBytes, LimitStreamBytes,
	LimitConcurrentFixes, LimitStatusPerMinute, LimitPageSize,
}

// exceeded is the error for what is over l.
func (l Limit) exceeded(format string, args ...any) *Error {
	return Errorf(l.Code, format, args...).With("limit", l.Name).With("maximum", l.Value)
}

type requestSizeKey struct{}

// WithRequestSize tells [Client.Call] how long the whole message was, in
// bytes, where a front knows that; otherwise the params alone are measured.
func WithRequestSize(ctx context.Context, size int) context.Context {
	return context.WithValue(ctx, requestSizeKey{}, size)
}

func requestSize(ctx context.Context, params []byte) int {
	size, _ := ctx.Value(requestSizeKey{}).(int)
	return max(size, len(params))
}
