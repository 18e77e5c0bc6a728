package llm

import (
	"slices"
	"strings"
)

// truncationRatio is the share of the estimated prompt below which an endpoint
// must have dropped a part of it.
const truncationRatio = 0.7

// finish makes the response of what was read, or says why it is none.
func (c *Client) finish(r Request, model string, rd *reading) (*Response, *Error) {
	rd.put(rd.think.end())
	answer, reasoning := rd.answer.String(), rd.reasoning.String()
	if reasoning == "" {
		answer, reasoning = cutUnopened(answer)
	}
	out := &Response{Reasoning: reasoning, Finish: rd.finish, Model: rd.model}
	if out.Model == "" {
		out.Model = model
	}
	switch {
	case !rd.sawFinish && !rd.sawDone:
		return nil, &Error{Kind: KindTruncated, Message: "the reply ended without its end mark"}
	case rd.finish == "content_filter":
		return nil, &Error{Kind: KindFilter}
	case rd.finish == "error":
		return nil, &Error{Kind: KindServer, Message: "the endpoint gave up in the middle of its reply"}
	case rd.acc.refusal.Len() > 0:
		return nil, &Error{Kind: KindRefusal, Message: clip(c.clean(rd.acc.refusal.String()))}
	case !rd.sawFinish:
		out.Warnings = append(out.Warnings, WarnNoFinish)
	}
	if c.profile.TextToolCalls && len(rd.acc.slots) == 0 {
		if calls, rest := textCalls(answer); len(calls) > 0 {
			answer = rest
			for _, call := range calls {
				rd.acc.addCall(call)
			}
			out.Warnings = append(out.Warnings, WarnTextCalls)
		}
	}
	reject := ""
	if rd.finish == "length" {
		reject = "the output limit cut the reply off, so that the call may be incomplete; send a smaller one"
	}
	out.Calls = rd.acc.calls(reject)
	if len(out.Calls) > 0 && slices.ContainsFunc(out.Calls, func(call Call) bool { return sameJSON(answer, string(call.Arguments)) }) {
		answer = "" // some servers repeat the arguments as text
	}
	out.Text = answer
	switch {
	case rd.finish == "length" && len(out.Calls) == 0:
		return nil, &Error{Kind: KindOutput, Message: "the reply reached the output limit"}
	case rd.finish == "tool_calls" && len(out.Calls) == 0 && strings.TrimSpace(answer) != "":
		out.Warnings = append(out.Warnings, WarnNoCalls)
	case len(out.Calls) == 0 && strings.TrimSpace(answer) == "" && !rd.sawDelta:
		return nil, &Error{Kind: KindEmpty, Message: "the reply is empty"}
	}
	out.Message = rd.acc.message(answer, reasoning, out.Calls)
	c.account(r, rd, out)
	return out, nil
}

// account fills in usage and cost, and notices when the endpoint read much less
// than it was sent.
func (c *Client) account(r Request, rd *reading, out *Response) {
	if rd.usage != nil {
		out.Usage = usageOf(rd.usage)
		if estimate := EstimateRequest(r); rd.usage.Prompt > 0 && estimate > 500 && float64(rd.usage.Prompt) < truncationRatio*float64(estimate) {
			out.Warnings = append(out.Warnings, WarnSilentTruncation)
		}
	} else {
		out.Usage = Usage{Input: EstimateRequest(r), Output: CountTokens(out.Text), Reasoning: CountTokens(out.Reasoning), Estimated: true}
		for _, call := range out.Calls {
			out.Usage.Output += CountTokens(call.Name) + CountTokens(string(call.Arguments))
		}
	}
	out.Cost = c.prices.Cost(out.Model, out.Usage)
}

func sameJSON(a, b string) bool {
	strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
	a = strip(a)
	return a != "" && a != "{}" && a == strip(b)
}

// cutUnopened separates reasoning whose opening tag the chat template wrote, so
// that only its end came. Code that quotes the tags is left alone.
func cutUnopened(answer string) (rest, reasoning string) {
	before, after, found := strings.Cut(answer, closeThink)
	if !found || strings.Contains(before, openThink) || strings.Contains(before, "```") || strings.Contains(after, closeThink) {
		return answer, ""
	}
	return strings.TrimLeft(after, "\r\n"), before
}
