package workspace

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// PositionEncoding says in what units the columns of the wire are counted.
type PositionEncoding string

// The encodings that LSP knows; UTF-16 is the one that every client speaks.
const (
	UTF16 PositionEncoding = "utf-16"
	UTF8  PositionEncoding = "utf-8"
	UTF32 PositionEncoding = "utf-32"
)

// A Position is a place in a text as the wire has it: a 0-based line, and a
// 0-based column in units of a [PositionEncoding].
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Mapper converts between the bytes of one text and positions. Lines end with
// \n, \r\n or a \r alone, as LSP has it. A byte that is not valid UTF-8 counts
// as one unit in every encoding. A Mapper is immutable.
type Mapper struct {
	text  []byte
	enc   PositionEncoding
	lines []int // offset of each line's first byte; lines[0] is 0
}

// NewMapper indexes the lines of text, which must not change afterwards. An
// encoding that is none of the three is taken for UTF-16.
func NewMapper(text []byte, enc PositionEncoding) *Mapper {
	return &Mapper{text, enc, lineStarts(text)}
}

func lineStarts(text []byte) []int {
	starts := make([]int, 1, 1+bytes.Count(text, []byte{'\n'}))
	if bytes.IndexByte(text, '\r') < 0 {
		for at := 0; ; {
			i := bytes.IndexByte(text[at:], '\n')
			if i < 0 {
				return starts
			}
			at += i + 1
			starts = append(starts, at)
		}
	}
	for i, c := range text {
		if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Lines returns how many lines the text has: at least one, and one more than it
// has line ends.
func (m *Mapper) Lines() int { return len(m.lines) }

// Line returns the bytes [start, end) of a 0-based line without its line end.
// A line that is out of range is empty, at the nearest end of the text.
func (m *Mapper) Line(line int) (start, end int) {
	if line < 0 {
		return 0, 0
	}
	if line >= len(m.lines) {
		return len(m.text), len(m.text)
	}
	start, end = m.lines[line], len(m.text)
	if line+1 < len(m.lines) {
		end = m.lines[line+1]
		if end > start && m.text[end-1] == '\n' {
			end--
		}
		if end > start && m.text[end-1] == '\r' {
			end--
		}
	}
	return start, end
}

// Offset returns the byte offset of p. A column beyond the end of its line is
// the line's end, a line beyond the last is the end of the text, a negative
// number is 0, and a column in the middle of a character is that character's
// beginning.
func (m *Mapper) Offset(p Position) int {
	if p.Line < 0 {
		return 0
	}
	start, end := m.Line(p.Line)
	if p.Character <= 0 {
		return start
	}
	if m.enc == UTF8 {
		return m.runeStart(start, min(start+min(p.Character, len(m.text)), end))
	}
	at := start
	for units := 0; at < end; {
		c := m.text[at]
		if c < utf8.RuneSelf {
			if units++; units > p.Character {
				break
			}
			at++
			continue
		}
		r, n := utf8.DecodeRune(m.text[at:end])
		if units += m.units(r); units > p.Character {
			break
		}
		at += n
	}
	return at
}

// Position returns the position of a byte offset. An offset that is out of
// range is the nearest end of the text; one inside a line end is the line's
// end; one inside a character is that character's beginning.
func (m *Mapper) Position(offset int) Position {
	offset = max(0, min(offset, len(m.text)))
	line := sort.Search(len(m.lines), func(i int) bool { return m.lines[i] > offset }) - 1
	start, end := m.Line(line)
	offset = m.runeStart(start, min(offset, end))
	if m.enc == UTF8 {
		return Position{line, offset - start}
	}
	units := 0
	for at := start; at < offset; {
		if m.text[at] < utf8.RuneSelf {
			units++
			at++
			continue
		}
		r, n := utf8.DecodeRune(m.text[at:end])
		units += m.units(r)
		at += n
	}
	return Position{line, units}
}

// units returns the columns of a character in UTF-16 or UTF-32.
func (m *Mapper) units(r rune) int {
	if m.enc != UTF32 && r > 0xffff {
		return 2
	}
	return 1
}

// runeStart moves offset back to the beginning of the character it is in, which
// is not before lineStart.
func (m *Mapper) runeStart(lineStart, offset int) int {
	if offset >= len(m.text) || utf8.RuneStart(m.text[offset]) {
		return offset
	}
	for back := 1; back < utf8.UTFMax && offset-back >= lineStart; back++ {
		if !utf8.RuneStart(m.text[offset-back]) {
			continue
		}
		if _, n := utf8.DecodeRune(m.text[offset-back:]); n > back {
			return offset - back
		}
		break
	}
	return offset // a stray continuation byte is a character of its own
}
