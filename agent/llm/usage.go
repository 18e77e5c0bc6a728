package llm

// Usage counts the tokens of one turn in five disjoint counters.
type Usage struct {
	Input      int // read anew
	CacheRead  int
	CacheWrite int
	Output     int // visible text and calls
	Reasoning  int
	Estimated  bool // counted here, because the endpoint did not say
}

// Prompt returns all tokens that were sent.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Total returns all tokens.
func (u Usage) Total() int { return u.Prompt() + u.Output + u.Reasoning }

// Plus adds the counters.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite,
		u.Output + v.Output, u.Reasoning + v.Reasoning, u.Estimated || v.Estimated}
}

// usageOf separates the counters of a server, which contain each other. None
// becomes negative, whatever the server says.
func usageOf(w *wireUsage) Usage {
	cached := min(w.Cached, w.Prompt)
	written := min(w.CacheWrite, w.Prompt-cached)
	u := Usage{CacheRead: cached, CacheWrite: written, Input: w.Prompt - cached - written}
	u.Reasoning = w.Reasoning
	u.Output = w.Completion - w.Reasoning
	if u.Output < 0 { // counted beside the completion, not within it
		u.Output = w.Completion
	}
	return u
}
