package incidents

import (
	"errors"
	"math"
)

// endOfLine is a column past the end of any line; positions are clamped to the
// line where its text is known.
const endOfLine = math.MaxInt32

// rng turns a region into a range of the wire. l is the file's present text,
// nil where it is not known: offsets and code points then cannot be counted.
// A region without any position is the whole file: (nil, nil).
func (g *sarifRegion) rng(l *lines, codePoints bool) (*Range, error) {
	switch {
	case g == nil:
		return nil, nil
	case g.StartLine != nil:
		return g.lineRange(l, codePoints)
	case g.CharOffset != nil:
		if l == nil {
			return nil, errors.New("the region counts characters (charOffset), and the file's text is not known")
		}
		start := unitsToBytes(l.text, *g.CharOffset, codePoints)
		end := start + unitsToBytes(l.text[start:], deref(g.CharLength), codePoints)
		return offsetRange(l, *g.CharOffset, deref(g.CharLength), start, end)
	case g.ByteOffset != nil:
		if l == nil {
			return nil, errors.New("the region counts bytes (byteOffset), and the file's text is not known")
		}
		start, length := *g.ByteOffset, deref(g.ByteLength)
		if start > len(l.text) || length > len(l.text)-max(start, 0) {
			return nil, errors.New("the region ends after the file; the analysis is older than the file")
		}
		return offsetRange(l, start, length, start, start+length)
	}
	return nil, nil
}

func offsetRange(l *lines, offset, length, start, end int) (*Range, error) {
	if offset < 0 || length < 0 {
		return nil, errors.New("the region has a negative offset or length")
	}
	return &Range{l.Position(start), l.Position(end)}, nil
}

func (g *sarifRegion) lineRange(l *lines, codePoints bool) (*Range, error) {
	startLine, startColumn := *g.StartLine, 1
	if g.StartColumn != nil {
		startColumn = *g.StartColumn
	}
	endLine := startLine
	if g.EndLine != nil {
		endLine = *g.EndLine
	}
	if startLine < 1 || startColumn < 1 || endLine < startLine {
		return nil, errors.New("the region's lines and columns are 1-based and must not run backwards")
	}
	rng := &Range{pos(startLine-1, startColumn-1), pos(endLine-1, endOfLine)}
	if g.EndColumn != nil {
		if *g.EndColumn < 1 || endLine == startLine && *g.EndColumn < startColumn {
			return nil, errors.New("the region ends before it starts")
		}
		rng.End.Character = *g.EndColumn - 1
	}
	if codePoints {
		if l == nil {
			return nil, errors.New("columns count code points, and the file's text is not known")
		}
		if rng.End.Line < l.Lines() {
			rng.Start, rng.End = l.fromCodePoints(rng.Start), l.fromCodePoints(rng.End)
		}
	} else if l != nil && rng.End.Line < l.Lines() {
		rng.Start, rng.End = l.Position(l.Offset(rng.Start)), l.Position(l.Offset(rng.End)) // clamped
	}
	return rng, nil
}

func deref(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}
