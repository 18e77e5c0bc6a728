package konveyor

import (
	"bytes"
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"github.com/kaiak/kaiak/rules/internal/literal"
)

// backtrackLimit is how long the engine that can look around may work on one
// file. Its time grows without bound on unlucky input.
const backtrackLimit = 2 * time.Second

// A textPattern is a compiled pattern of builtin.filecontent: plain text where
// the pattern holds no metacharacter (or is no expression at all), else RE2
// with (?m), else, for look-around and back-references, a backtracking engine.
type textPattern struct {
	literal bool
	plain   []byte
	re      *regexp.Regexp
	back    *regexp2.Regexp
	outline *regexp.Regexp // of back: the pattern without look-around; nil: none
	need    [][]string     // see package literal
}

func compileText(pattern string) (*textPattern, error) {
	if len(pattern) > 1<<16 {
		return nil, fmt.Errorf("%d bytes, at most %d", len(pattern), 1<<16)
	}
	if regexp.QuoteMeta(pattern) == pattern {
		return plainText(pattern), nil
	}
	if re, err := regexp.Compile("(?m)" + pattern); err == nil {
		return &textPattern{re: re, need: literal.FromRegexp("(?m)" + pattern)}, nil
	}
	back, err := regexp2.Compile(pattern, regexp2.Multiline)
	if err != nil {
		return plainText(pattern), nil
	}
	back.MatchTimeout = backtrackLimit
	t := &textPattern{back: back}
	stripped := "(?m)" + literal.StripLookaround(pattern)
	if re, err := regexp.Compile(stripped); err == nil {
		t.outline, t.need = re, literal.FromRegexp(stripped)
	}
	return t, nil
}

func plainText(pattern string) *textPattern {
	return &textPattern{literal: true, plain: []byte(pattern), need: [][]string{{pattern}}}
}

// find calls yield with the bytes [start, end) of every match that is not
// empty, in order, until yield returns false. The error is that of a search
// that took too long; matches before it have been yielded.
func (t *textPattern) find(text []byte, yield func(start, end int) bool) error {
	switch {
	case t.literal:
		for at := 0; ; {
			i := bytes.Index(text[at:], t.plain)
			if i < 0 {
				return nil
			}
			start := at + i
			at = start + len(t.plain)
			if !yield(start, at) {
				return nil
			}
		}
	case t.re != nil:
		return t.findRE2(text, yield)
	}
	return t.findBack(text, yield)
}

// maxMatches bounds the matches in one file; a pattern that matches more often
// says nothing anybody could act on.
const maxMatches = 10000

func (t *textPattern) findRE2(text []byte, yield func(start, end int) bool) error {
	for _, m := range t.re.FindAllIndex(text, maxMatches) {
		if m[0] < m[1] && !yield(m[0], m[1]) {
			break
		}
	}
	return nil
}

func (t *textPattern) findBack(text []byte, yield func(start, end int) bool) error {
	if t.outline != nil && !t.outline.Match(text) {
		return nil
	}
	runes := []rune(string(text))
	m, err := t.back.FindRunesMatch(runes)
	runeAt, byteAt := 0, 0
	offset := func(r int) int {
		for ; runeAt < r; runeAt++ {
			_, size := utf8.DecodeRune(text[byteAt:])
			byteAt += size
		}
		return byteAt
	}
	for m != nil && err == nil {
		if m.Length > 0 {
			start := offset(m.Index)
			end := offset(m.Index + m.Length)
			if !yield(start, end) {
				return nil
			}
		}
		m, err = t.back.FindNextMatch(m)
	}
	return err
}
