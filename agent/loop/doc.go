// Package loop is the model engine: it converses with a model until there is a
// validated candidate for a batch of incidents of one file, or a reason why not.
//
// Make one [Engine] per request by [New] (or by a [Pool], which shares endpoints
// between requests) and hand it to the agent. [Engine.Fix] cuts a job into
// batches; each batch is one conversation: prompt, tool calls, a proposal, its
// validation, at most a few repairs. What may change is fixed before the first
// call: the job's file and nothing else.
//
// Limits are checked before a call, never after: turns, tokens, money. Repeated
// and oscillating behaviour ends a conversation. The engine writes nothing and
// runs nothing; text that the model read cannot make it do either.
package loop
