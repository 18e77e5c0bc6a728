package incidents

import (
	"strconv"
	"strings"
)

// snipContext is how many lines a code snip shows on each side of its line.
const snipContext = 10

// parseSnip reads a code snip, lines of the form "%*d  text", into text by
// 1-based line number. Lines of another form are left out.
func parseSnip(snip string) map[int]string {
	if snip == "" {
		return nil
	}
	out := map[int]string{}
	for line := range strings.SplitSeq(snip, "\n") {
		digits, text, ok := strings.Cut(strings.TrimLeft(line, " "), "  ")
		if !ok { // an empty line loses its spaces in some writers
			digits, text = strings.TrimSpace(line), ""
		}
		if n, err := strconv.Atoi(digits); err == nil && n > 0 {
			out[n] = strings.TrimSuffix(text, "\r")
		}
	}
	return out
}

// snipAround returns the lines around a 1-based line, as a code snip has them.
func snipAround(l *lines, line int) map[int]string {
	out := map[int]string{}
	for n := max(line-snipContext, 1); n <= min(line+snipContext, l.Lines()); n++ {
		out[n] = l.line(n - 1)
	}
	return out
}

// formatSnip writes a code snip around a 1-based line.
func formatSnip(l *lines, line int) string {
	last := min(line+snipContext, l.Lines())
	width := len(strconv.Itoa(last))
	var b strings.Builder
	for n := max(line-snipContext, 1); n <= last; n++ {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		num := strconv.Itoa(n)
		b.WriteString(strings.Repeat(" ", width-len(num)))
		b.WriteString(num)
		b.WriteString("  ")
		b.WriteString(l.line(n - 1))
	}
	return b.String()
}

// anchor finds where the line that the analysis saw as number line is now: the
// line of the same text whose surroundings agree best with the snip, the
// nearest of equals. Blank lines are not searched for.
func anchor(l *lines, snip map[int]string, line int) (now int, found bool) {
	want := trimEnd(snip[line])
	score := func(n int) (agree int, all bool) {
		for at, text := range snip {
			if m := n + at - line; m >= 1 && m <= l.Lines() && l.trimmed(m-1) == trimEnd(text) {
				agree++
			}
		}
		return agree, agree == len(snip)
	}
	if line <= l.Lines() && l.trimmed(line-1) == want {
		if _, all := score(line); all || strings.TrimSpace(want) == "" {
			return line, true
		}
	}
	if strings.TrimSpace(want) == "" {
		return line, false
	}
	best, bestScore := 0, -1
	for _, i := range l.withText(want) {
		n := i + 1
		agree, _ := score(n)
		nearer := best == 0 || abs(n-line) < abs(best-line)
		if agree > bestScore || agree == bestScore && nearer {
			best, bestScore = n, agree
		}
	}
	return best, best > 0
}

func trimEnd(s string) string { return strings.TrimRight(s, " \t") }

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
