// Package llm talks to OpenAI-compatible chat-completions endpoints: OpenAI,
// Azure, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter, Groq and the like.
//
// Make a [Profile] ([FromEnv], or a literal), then call [New] once per endpoint
// and keep the [Client]: it remembers which parameters the endpoint rejects, how
// much concurrency it bears and how large its context is. [Client.Chat] does one
// turn; [Client.Models] and [Client.Probe] answer what a doctor asks.
//
// The request is built from go-openai's types; the response stream is read by
// this package, because real servers send shapes that strict decoding loses
// silently. A reply that was cut short is an error, never a short success; a
// tool call whose arguments are not one JSON object is handed back as invalid,
// never as a call.
//
// The package sends to the profile's host and to nobody else, speaks plain http
// only to loopback, and never puts the key into an error or a log.
package llm
