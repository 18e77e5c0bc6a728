package workspace

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Diff returns the unified diff that turns old into new, with three lines of
// context and git's labels; "" when they are equal. A nil old or new is a file
// that is not there.
func Diff(path string, old, new []byte) string {
	from, to := "a/"+path, "b/"+path
	if old == nil {
		from = "/dev/null"
	}
	if new == nil {
		to = "/dev/null"
	}
	return udiff.Unified(from, to, string(old), string(new))
}

// EditsBetween returns edits that turn old into new and touch as little as
// possible: lines are compared first, then each changed line is narrowed to the
// tokens that differ. Bytes that both texts share, line ends and byte order
// mark among them, are left alone. The edits are in order and do not overlap.
func EditsBetween(old, new []byte) []Edit {
	if bytes.Equal(old, new) {
		return nil
	}
	var edits []Edit
	for _, d := range udiff.Lines(string(old), string(new)) {
		edits = narrow(edits, old, d.Start, d.End, d.New)
	}
	return edits
}

// narrow appends the difference between old[start:end] and text. A block that
// keeps its number of lines is narrowed line by line.
func narrow(edits []Edit, old []byte, start, end int, text string) []Edit {
	was := string(old[start:end])
	if strings.Count(was, "\n") == strings.Count(text, "\n") {
		for was != "" || text != "" {
			a, b := firstLine(was), firstLine(text)
			edits = trim(edits, start, a, b)
			was, text = was[len(a):], text[len(b):]
			start += len(a)
		}
		return edits
	}
	return trim(edits, start, was, text)
}

// firstLine returns s up to and including its first \n.
func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// trim appends the edit from a, which is at start, to b without what they share
// at both ends, cut at token boundaries.
func trim(edits []Edit, start int, a, b string) []Edit {
	if a == b {
		return edits
	}
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	for pre > 0 && (inToken(a, pre) || inToken(b, pre)) {
		pre--
	}
	suf := 0
	for suf < len(a)-pre && suf < len(b)-pre && a[len(a)-1-suf] == b[len(b)-1-suf] {
		suf++
	}
	for suf > 0 && (inToken(a, len(a)-suf) || inToken(b, len(b)-suf)) {
		suf--
	}
	return append(edits, Edit{start + pre, start + len(a) - suf, b[pre : len(b)-suf]})
}

// inToken reports whether cutting s at i would part a word, a character or \r\n.
func inToken(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return false
	}
	if !utf8.RuneStart(s[i]) || s[i-1] == '\r' && s[i] == '\n' {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return wordRune(before) && wordRune(after)
}

func wordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
