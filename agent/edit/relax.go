package edit

import (
	"strings"
)

// relaxed looks for old by whole lines, at the first level of relaxation that
// finds it at all, and says what comes in its place there.
func (v *view) relaxed(old, text string) ([]hit, Level) {
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	for len(want) > 1 && strings.TrimSpace(want[0]) == "" { // a blank line in front says nothing
		want = want[1:]
		text = strings.TrimPrefix(text, "\n")
	}
	have := v.lines()
	for _, level := range []Level{TrailingBlanks, IndentShift, Punctuation} {
		var out []hit
		for i := 0; i+len(want) <= len(have); i++ {
			shift, ok := sameLines(level, have[i:i+len(want)], want)
			if !ok {
				continue
			}
			start := v.rows[i]
			end := start + len(strings.Join(have[i:i+len(want)], "\n"))
			replacement := adapt(text, want, have[i:i+len(want)], shift)
			if strings.HasSuffix(old, "\n") && end < len(v.text) {
				end++
			} else if strings.HasSuffix(old, "\n") {
				replacement = strings.TrimSuffix(replacement, "\n")
			}
			out = append(out, hit{start: start, end: end, text: replacement})
		}
		if len(out) > 0 {
			return out, level
		}
	}
	return nil, ""
}

// sameLines compares lines at a level and returns how to shift indentation.
func sameLines(level Level, have, want []string) (shift, bool) {
	switch level {
	case TrailingBlanks:
		return shift{}, all(have, want, func(a, b string) bool { return trimEnd(a) == trimEnd(b) })
	case Punctuation:
		return shift{}, all(have, want, func(a, b string) bool { return fold(trimEnd(a)) == fold(trimEnd(b)) })
	}
	if !all(have, want, func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }) {
		return shift{}, false
	}
	for _, s := range shifts(have, want) {
		if all(have, want, func(a, b string) bool { return strings.TrimSpace(a) == "" || trimEnd(a) == trimEnd(s.apply(b)) }) {
			return s, true
		}
	}
	return shift{}, false
}

func all(a, b []string, same func(a, b string) bool) bool {
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func trimEnd(s string) string { return strings.TrimRight(s, " \t") }

// A shift moves indentation by the same amount everywhere.
type shift struct {
	add, drop string // a prefix to add or to drop
	from, to  string // one unit of indentation to exchange for another; both or none
	levels    int    // after the exchange, units to add or drop
}

// apply shifts one line; a blank line stays.
func (s shift) apply(line string) string {
	body := strings.TrimLeft(line, " \t")
	if body == "" {
		return line
	}
	indent := line[:len(line)-len(body)]
	if s.from != "" {
		n := strings.Count(indent, s.from)
		if strings.Repeat(s.from, n) != indent {
			return line
		}
		return strings.Repeat(s.to, max(n+s.levels, 0)) + body
	}
	return s.add + strings.TrimPrefix(indent, s.drop) + body
}

// shifts returns the shifts that make the first line fit.
func shifts(have, want []string) []shift {
	for i := range want {
		body := strings.TrimLeft(want[i], " \t")
		if body == "" {
			continue
		}
		w := want[i][:len(want[i])-len(body)]
		h := have[i][:len(have[i])-len(strings.TrimLeft(have[i], " \t"))]
		var out []shift
		if rest, ok := strings.CutSuffix(h, w); ok {
			out = append(out, shift{add: rest})
		}
		if rest, ok := strings.CutSuffix(w, h); ok {
			out = append(out, shift{drop: rest})
		}
		for _, unit := range []string{"  ", "    ", "        "} {
			for _, s := range []shift{{from: unit, to: "\t"}, {from: "\t", to: unit}} {
				s.levels = strings.Count(h, s.to) - strings.Count(w, s.from)
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// adapt makes the new text fit where the old text was found: a line that the
// edit keeps becomes the file's own line again, the others are shifted.
func adapt(text string, want, have []string, s shift) string {
	kept := map[string]string{}
	unsure := map[string]bool{}
	for i, line := range want {
		if other, ok := kept[line]; ok && other != have[i] {
			unsure[line] = true
		}
		kept[line] = have[i]
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if own, ok := kept[line]; ok && !unsure[line] && line != "" {
			lines[i] = own
		} else {
			lines[i] = s.apply(line)
		}
	}
	return strings.Join(lines, "\n")
}

// fold replaces typographic punctuation by what a keyboard has.
func fold(s string) string { return punctuation.Replace(s) }

var punctuation = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u2032", "'",
	"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`, "\u2033", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2009", " ", "\u202f", " ", "\u3000", " ",
	"\u2026", "...",
)
