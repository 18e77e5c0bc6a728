package edit

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/kaiak/kaiak/workspace"
)

// A view is a text with LF line ends, and the way back to the original bytes.
type view struct {
	raw  []byte
	text []byte
	crs  []int // offsets in text of the \n that were \r\n
	rows []int // offsets in text where lines begin
}

func newView(raw []byte) *view {
	v := &view{raw: raw, text: raw}
	if bytes.Contains(raw, []byte("\r\n")) {
		v.text = make([]byte, 0, len(raw))
		for i, c := range raw {
			if c == '\r' && i+1 < len(raw) && raw[i+1] == '\n' {
				v.crs = append(v.crs, len(v.text))
				continue
			}
			v.text = append(v.text, c)
		}
	}
	v.rows = []int{0}
	for i, c := range v.text {
		if c == '\n' && i+1 < len(v.text) {
			v.rows = append(v.rows, i+1)
		}
	}
	return v
}

// offset maps an offset of text to one of raw; a line end begins at its \r.
func (v *view) offset(i int) int { return i + sort.SearchInts(v.crs, i) }

// line returns the 1-based line of an offset.
func (v *view) line(offset int) int {
	i, found := slices.BinarySearch(v.rows, offset)
	if found {
		return i + 1
	}
	return i
}

// lines returns the lines of text without their ends.
func (v *view) lines() []string {
	return strings.Split(strings.TrimSuffix(string(v.text), "\n"), "\n")
}

// edits returns the smallest edits of the original bytes that bring a hit about.
// Lines that stay keep their line ends; new ones get that of the neighbours.
func (v *view) edits(h hit) []workspace.Edit {
	eol := v.eol(h.start)
	var out []workspace.Edit
	for _, e := range workspace.EditsBetween(v.text[h.start:h.end], []byte(h.text)) {
		text := e.New
		if eol == "\r\n" {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		out = append(out, workspace.Edit{Start: v.offset(h.start + e.Start), End: v.offset(h.start + e.End), New: text})
	}
	return out
}

// eol returns the line end used at an offset: that of the line before it, or of
// the line it is in.
func (v *view) eol(offset int) string {
	if len(v.crs) == 0 {
		return "\n"
	}
	at := bytes.LastIndexByte(v.text[:offset], '\n')
	if at < 0 {
		at = bytes.IndexByte(v.text, '\n')
	}
	if i := sort.SearchInts(v.crs, at); i < len(v.crs) && v.crs[i] == at {
		return "\r\n"
	}
	return "\n"
}

// exact returns every place of old, overlapping ones too.
func (v *view) exact(old string) []hit {
	var out []hit
	for at := 0; at <= len(v.text)-len(old); {
		i := bytes.Index(v.text[at:], []byte(old))
		if i < 0 {
			break
		}
		out = append(out, hit{start: at + i, end: at + i + len(old)})
		at += i + 1
	}
	return out
}

// nearest describes the place that is most like old, for an error message.
func (v *view) nearest(old string) string {
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	have := v.lines()
	at := map[string][]int{}
	for i, line := range have {
		if t := strings.TrimSpace(line); t != "" {
			at[t] = append(at[t], i)
		}
	}
	score := map[int]int{} // by first line of the window
	best, bestAt := 0, -1
	for j, line := range want {
		for _, i := range at[strings.TrimSpace(line)] {
			score[i-j]++
			if n := score[i-j]; n > best || n == best && i-j < bestAt {
				best, bestAt = n, i-j
			}
		}
	}
	if best == 0 || 3*best < len(want) {
		return "; read the file again"
	}
	const most = 30
	from, to := max(bestAt, 0), min(bestAt+len(want), len(have))
	cut := ""
	if to-from > most {
		to, cut = from+most, "\n…"
	}
	return fmt.Sprintf("; did you mean line %d?\n%s%s", from+1, strings.Join(have[from:to], "\n"), cut)
}

func lf(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
