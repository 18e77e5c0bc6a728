package incidents

import (
	"unicode/utf8"

	"github.com/kaiak/kaiak/workspace"
)

// lines is a text by line; positions are the wire's, in UTF-16 code units.
type lines struct {
	text []byte
	*workspace.Mapper
	points *workspace.Mapper // counts code points; made when first needed
}

func newLines(text []byte) *lines {
	return &lines{text: text, Mapper: workspace.NewMapper(text, workspace.UTF16)}
}

// line returns the text of a 0-based line.
func (l *lines) line(n int) string {
	start, end := l.Line(n)
	return string(l.text[start:end])
}

// fromCodePoints turns a position whose column counts code points into one of the wire.
func (l *lines) fromCodePoints(p Position) Position {
	if l.points == nil {
		l.points = workspace.NewMapper(l.text, workspace.UTF32)
	}
	return l.Position(l.points.Offset(p))
}

// snippet returns the text of a span, bounded to [maxSnippet].
func (l *lines) snippet(s Span) string {
	end := min(s.End, len(l.text))
	if end <= s.Start {
		return ""
	}
	if end-s.Start > maxSnippet {
		end = s.Start + maxSnippet
		for end > s.Start && !utf8.RuneStart(l.text[end]) {
			end--
		}
	}
	return string(l.text[s.Start:end])
}

// unitsToBytes returns how many bytes of text hold the first n units: UTF-16
// code units or code points, line breaks included. The middle of a surrogate
// pair is before it.
func unitsToBytes(text []byte, n int, codePoints bool) int {
	at := 0
	for n > 0 && at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		width := 1
		if r > 0xffff && !codePoints {
			width = 2
		}
		if width > n {
			break
		}
		n -= width
		at += size
	}
	return at
}

// pos makes a position of a 0-based line and column.
func pos(line, character int) Position { return Position{Line: line, Character: character} }
