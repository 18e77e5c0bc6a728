package agent

import (
	"testing"
	"testing/quick"
)

func TestContextSnapshotAddsUp(t *testing.T) {
	roles := []string{"user", "assistant", "tool"}
	adds := func(size, system, tools uint16, run []uint16) bool {
		var list []MessageStats
		for i, n := range run {
			list = append(list, MessageStats{Role: roles[i%3], Tokens: int(n)})
		}
		s := NewContextSnapshot(int(size), int(system), int(tools), list)
		sum, count := 0, map[MessageSource]int{}
		for _, m := range s.Messages {
			sum += m.Tokens
			count[m.Source]++
		}
		return s.ContextSize == int(size) && s.SystemTokens == int(system) && s.ToolTokens == int(tools) &&
			s.TotalTokens == s.SystemTokens+s.ToolTokens+s.HistoryTokens+s.MemoryTokens &&
			s.RemainingTokens == s.ContextSize-s.TotalTokens &&
			sum == s.SystemTokens+s.HistoryTokens+s.MemoryTokens &&
			s.TotalMessages == 1+s.HistoryMessages+s.MemoryMessages && len(s.Messages) == s.TotalMessages &&
			count[FromSystem] == 1 && count[FromHistory] == s.HistoryMessages && count[FromMemory] == s.MemoryMessages &&
			s.MemoryMessages == len(run)
	}
	if err := quick.Check(adds, nil); err != nil {
		t.Error(err)
	}
}
