package prompt

import (
	"fmt"
	"strings"

	"github.com/kaiak/kaiak/agent/llm"
)

// DefaultBudget is how many tokens a prompt may have.
const DefaultBudget = 12_000

// A Slot is one part of a prompt.
type Slot struct {
	Name    string
	Tokens  int // by [llm.RoughTokens]
	Dropped int // entries that did not fit
}

// The shares of the budget, in percent, of the slots that grow with the code.
const (
	targetShare  = 45
	symbolShare  = 20
	callerShare  = 10
	historyShare = 10 // kept free for what the conversation adds
)

// Limits in tokens of the slots that do not.
const (
	ruleTokens     = 1000
	incidentTokens = 1500
	contextTokens  = 600
	hintTokens     = 600
)

// fit joins entries as long as they fit into a number of tokens, and says how
// many do not.
func fit(entries []string, tokens int) (text string, dropped int) {
	var b strings.Builder
	for i, e := range entries {
		if llm.RoughTokens(b.Len()+len(e)) > tokens {
			return b.String(), len(entries) - i
		}
		b.WriteString(e)
	}
	return b.String(), 0
}

// clip bounds a text of one entry.
func clip(s string, most int) string {
	s = strings.TrimRight(s, " \t\r\n")
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + " …"
	}
	return s
}

// neutral shows characters that hide, reorder or control text as what they are.
// Line feeds and tabs stay.
func neutral(s string) string {
	if !strings.ContainsFunc(s, sly) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if sly(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Neutral is neutral for what tools return.
func Neutral(s string) string { return neutral(s) }

// HasShown reports whether a text holds a character in the form in which neutral
// shows it: it must not be written into a file.
func HasShown(s string) bool { return strings.Contains(s, "⟨U+") }

func sly(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f: // control
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2064, r >= 0x2066 && r <= 0x206f: // zero width, direction
		return true
	case r == 0xfeff, r == 0x00ad, r == 0x061c, r == 0x180e, r >= 0xe0000 && r <= 0xe0fff: // marks, tags, variation selectors
		return true
	}
	return false
}
