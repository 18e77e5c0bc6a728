package llm

import "strings"

// A thinkSplitter separates <think>…</think> at the beginning of the content from
// the answer, however the stream cuts the tags. A tag later in the text is text:
// it may well be code that the answer quotes.
type thinkSplitter struct {
	state   int // one of the think constants
	pending string
}

const (
	thinkMaybe = iota // nothing but white space and perhaps a part of the tag so far
	thinkInside
	thinkOver
)

const openThink, closeThink = "<think>", "</think>"

// add returns what s adds to the answer and to the reasoning.
func (t *thinkSplitter) add(s string) (answer, reasoning string) {
	if t.state == thinkOver {
		return s, ""
	}
	s = t.pending + s
	t.pending = ""
	if t.state == thinkMaybe {
		trimmed := strings.TrimLeft(s, " \t\r\n")
		switch {
		case strings.HasPrefix(trimmed, openThink):
			t.state, s = thinkInside, trimmed[len(openThink):]
		case strings.HasPrefix(openThink, trimmed):
			t.pending = s
			return "", ""
		default:
			t.state = thinkOver
			return s, ""
		}
	}
	if before, after, found := strings.Cut(s, closeThink); found {
		t.state = thinkOver
		return strings.TrimLeft(after, "\r\n"), before
	}
	keep := partial(s, closeThink)
	t.pending = s[len(s)-keep:]
	return "", s[:len(s)-keep]
}

// end returns what was held back. Reasoning that nobody closed stays reasoning.
func (t *thinkSplitter) end() (answer, reasoning string) {
	s := t.pending
	t.pending = ""
	if t.state == thinkInside {
		return "", s
	}
	return s, ""
}

// partial returns the length of the longest suffix of s that begins tag.
func partial(s, tag string) int {
	for n := min(len(tag)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
