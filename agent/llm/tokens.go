package llm

import (
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// encoding loads the tokenizer once: it takes a fraction of a second and some
// megabytes, and is not needed by who only uses rules.
var encoding = sync.OnceValue(func() tokenizer.Codec {
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil
	}
	return enc
})

// CountTokens estimates how many tokens a text is, without the network. It
// counts as OpenAI's models do; others differ by a third or so.
func CountTokens(text string) int {
	const exact = 256 << 10 // beyond this the count is extrapolated
	part := text
	if len(part) > exact {
		part = part[:exact]
	}
	n := len(part) / 4
	if enc := encoding(); enc != nil {
		if got, err := enc.Count(part); err == nil {
			n = got
		}
	}
	if len(part) < len(text) {
		n = int(float64(n) * float64(len(text)) / float64(len(part)))
	}
	return n
}

// RoughTokens bounds the tokens of source code from above, in no time:
// one token for 3.2 bytes, rounded up. Budgets use it, because it is the same
// for every endpoint and every run.
func RoughTokens(bytes int) int { return (bytes*10 + 31) / 32 }

// EstimateRequest estimates the prompt tokens of a request.
func EstimateRequest(r Request) int {
	n := 3
	for _, m := range r.Messages {
		n += 4 + CountTokens(m.Content)
		for _, c := range m.ToolCalls {
			n += 8 + CountTokens(c.Function.Name) + CountTokens(c.Function.Arguments)
		}
	}
	for _, t := range r.Tools {
		if t.Function != nil {
			n += 8 + CountTokens(t.Function.Name) + CountTokens(t.Function.Description) + CountTokens(string(mustJSON(t.Function.Parameters)))
		}
	}
	return n
}
