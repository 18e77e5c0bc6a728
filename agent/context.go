package agent

// A ContextSnapshot is how a model's context window is used after a turn. It
// always adds up:
//
//	total_tokens     = system + tool + history + memory
//	remaining_tokens = context_size - total (below 0 where the window is exceeded)
//	total_messages   = 1 + history + memory
//
// and the tokens of Messages add up to system + history + memory.
type ContextSnapshot struct {
	ContextSize     int            `json:"context_size"` // of the whole window
	SystemTokens    int            `json:"system_tokens"`
	ToolTokens      int            `json:"tool_tokens"`    // of the definitions of the tools
	HistoryTokens   int            `json:"history_tokens"` // of messages from earlier runs
	MemoryTokens    int            `json:"memory_tokens"`  // of the messages of this run
	TotalTokens     int            `json:"total_tokens"`
	RemainingTokens int            `json:"remaining_tokens"`
	HistoryMessages int            `json:"history_messages"`
	MemoryMessages  int            `json:"memory_messages"`
	TotalMessages   int            `json:"total_messages"` // with the system message
	HistoryBudget   int            `json:"history_budget"` // tokens that history may take
	Messages        []MessageStats `json:"messages"`       // the system message, history, memory
}

// MessageStats is the size of one message.
type MessageStats struct {
	Role   string        `json:"role"` // "system", "user", "assistant" or "tool"
	Tokens int           `json:"tokens"`
	Source MessageSource `json:"source"`
}

// A MessageSource says where a message of a model's context comes from.
type MessageSource string

const (
	FromSystem  MessageSource = "system"
	FromHistory MessageSource = "history" // an earlier run of the session
	FromMemory  MessageSource = "memory"  // the run that the snapshot is of
)

// NewContextSnapshot adds up a context of size tokens: a system message, the
// definitions of the tools, and the messages of the run. No run is told the
// messages of the one before it, so nothing is history.
func NewContextSnapshot(size, system, tools int, run []MessageStats) ContextSnapshot {
	s := ContextSnapshot{ContextSize: size, SystemTokens: system, ToolTokens: tools, MemoryMessages: len(run), TotalMessages: 1 + len(run),
		Messages: []MessageStats{{Role: "system", Tokens: system, Source: FromSystem}}}
	for _, m := range run {
		m.Source = FromMemory
		s.MemoryTokens += m.Tokens
		s.Messages = append(s.Messages, m)
	}
	s.TotalTokens = system + tools + s.MemoryTokens
	s.RemainingTokens = size - s.TotalTokens
	return s
}
