// Package tool holds the tools that a model may call while it works on one file:
// read_file, search, outline, symbol, propose_edits, ask_user and
// retrieve_output. Each is a name.go beside a name.md, which is what the model
// reads about it.
//
// Make a [Box] per conversation by [NewBox], offer [Box.Definitions], and run
// every call by [Box.Run]. Schemas are strict outwards and tolerant inwards. An
// unknown tool, bad arguments and a tool that fails are results that the model
// reads, never errors of ours. Every output has a hard limit in bytes; what does
// not fit is kept as an artifact that retrieve_output pages through.
//
// Tools read through the confined workspace only. None writes, runs anything or
// reaches the network: propose_edits hands its proposal to the conversation.
package tool
