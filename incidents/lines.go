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

	ends   []string         // the lines without the white space at their end; made when first needed
	places map[string][]int // the 0-based lines with such a text, in order; made with ends
}

func newLines(text []byte) *lines {
	return &lines{text: text, Mapper: workspace.NewMapper(text, workspace.UTF16)}
}

// line returns the text of a 0-based line.
func (l *lines) line(n int) string {
	start, end := l.Line(n)
	return string(l.text[start:end])
}

// trimmed returns the text of a 0-based line without the white space at its end.
func (l *lines) trimmed(n int) string {
	l.index()
	return l.ends[n]
}

// withText returns the 0-based lines whose text is that, but for white space
// at the end.
func (l *lines) withText(text string) []int {
	l.index()
	return l.places[text]
}

func (l *lines) index() {
	if l.ends != nil {
		return
	}
	l.ends = make([]string, l.Lines())
	l.places = make(map[string][]int, l.Lines())
	for n := range l.ends {
		text := trimEnd(l.line(n))
		l.ends[n] = text
		l.places[text] = append(l.places[text], n)
	}
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
