package workspace

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestMapper(t *testing.T) {
	const text = "ab\r\ncd\ref\n\n\ufeffé𐐷x\xff\xc3\r"
	type place struct{ line, char int }
	for _, test := range []struct {
		enc    PositionEncoding
		at     int
		want   place
		offset int // that want maps back to
	}{
		{UTF16, 0, place{0, 0}, 0},
		{UTF16, 2, place{0, 2}, 2},
		{UTF16, 3, place{0, 2}, 2}, // between \r and \n
		{UTF16, 4, place{1, 0}, 4},
		{UTF16, 7, place{2, 0}, 7},
		{UTF16, 10, place{3, 0}, 10},
		{UTF16, 11, place{4, 0}, 11},
		{UTF16, 14, place{4, 1}, 14},
		{UTF16, 15, place{4, 1}, 14}, // inside é
		{UTF16, 16, place{4, 2}, 16},
		{UTF16, 18, place{4, 2}, 16}, // inside 𐐷
		{UTF16, 20, place{4, 4}, 20},
		{UTF16, 21, place{4, 5}, 21},
		{UTF16, 22, place{4, 6}, 22},
		{UTF16, 23, place{4, 7}, 23},
		{UTF16, 24, place{5, 0}, 24},
		{UTF16, 99, place{5, 0}, 24},
		{UTF16, -1, place{0, 0}, 0},
		{UTF32, 20, place{4, 3}, 20},
		{UTF32, 22, place{4, 5}, 22},
		{UTF8, 20, place{4, 9}, 20},
		{UTF8, 15, place{4, 3}, 14},
		{UTF8, 22, place{4, 11}, 22},
	} {
		m := NewMapper([]byte(text), test.enc)
		got := m.Position(test.at)
		if got != (Position{test.want.line, test.want.char}) {
			t.Errorf("%s: Position(%d) = %v, want %v", test.enc, test.at, got, test.want)
		}
		if back := m.Offset(got); back != test.offset {
			t.Errorf("%s: Offset(%v) = %d, want %d", test.enc, got, back, test.offset)
		}
	}
	m := NewMapper([]byte(text), UTF16)
	if m.Lines() != 6 {
		t.Errorf("%d lines, want 6", m.Lines())
	}
	for _, test := range []struct {
		p    Position
		want int
	}{
		{Position{0, 99}, 2}, {Position{1, 3}, 6}, {Position{4, 3}, 16}, // between the surrogates of 𐐷
		{Position{9, 0}, 24}, {Position{-1, 5}, 0}, {Position{2, -5}, 7}, {Position{4, 1 << 40}, 23},
	} {
		if got := m.Offset(test.p); got != test.want {
			t.Errorf("Offset(%v) = %d, want %d", test.p, got, test.want)
		}
	}
}

// FuzzMapper compares with a slow and plain counting of the same.
func FuzzMapper(f *testing.F) {
	f.Add("ab\r\ncd\ref\n\n\ufeffé𐐷x\xff\xc3\r", 5, 2, 3)
	f.Add("\xf0\x9f\x98", 1, 0, 1)
	f.Add("\r\r\n\n\r", 2, 1, 0)
	f.Fuzz(func(t *testing.T, text string, offset, line, char int) {
		if len(text) > 1000 {
			t.Skip("the plain counting is quadratic")
		}
		for _, enc := range []PositionEncoding{UTF8, UTF16, UTF32} {
			m := NewMapper([]byte(text), enc)
			wantLine, wantChar := 0, 0
			for i := 0; i <= len(text); {
				r, n := utf8.DecodeRuneInString(text[i:])
				if r == '\n' && i > 0 && text[i-1] == '\r' {
					i++
					wantLine, wantChar = wantLine+1, 0
					continue
				}
				if got := m.Position(i); got != (Position{wantLine, wantChar}) {
					t.Fatalf("%s: Position(%d) = %v, want %d:%d", enc, i, got, wantLine, wantChar)
				}
				if got := m.Offset(Position{wantLine, wantChar}); got != i {
					t.Fatalf("%s: Offset(%d:%d) = %d, want %d", enc, wantLine, wantChar, got, i)
				}
				if i == len(text) {
					break
				}
				i += n
				switch {
				case r == '\n', r == '\r' && !strings.HasPrefix(text[i:], "\n"):
					wantLine, wantChar = wantLine+1, 0
				case r == '\r':
				case enc == UTF8:
					wantChar += n
				case enc == UTF16:
					wantChar += utf16.RuneLen(r)
				default:
					wantChar++
				}
			}
			if m.Lines() != wantLine+1 {
				t.Fatalf("%d lines, want %d", m.Lines(), wantLine+1)
			}
			// Anything else lands in the text, on a place that maps to itself.
			at := m.Offset(Position{line, char})
			if at < 0 || at > len(text) || m.Offset(m.Position(at)) != at {
				t.Fatalf("%s: Offset(%d:%d) = %d, which maps to %v", enc, line, char, at, m.Position(at))
			}
			if p := m.Position(offset); m.Position(m.Offset(p)) != p {
				t.Fatalf("%s: Position(%d) = %v, which maps to %d", enc, offset, p, m.Offset(p))
			}
		}
	})
}

func BenchmarkMapper(b *testing.B) {
	text := []byte(strings.Repeat("\tfmt.Println(\"hello, world\", x, y)\n", 10_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m := NewMapper(text, UTF16)
		if m.Offset(m.Position(len(text)/2)) != len(text)/2 {
			b.Fatal("wrong")
		}
	}
}
