package agent

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/kaiak/kaiak/workspace"
)

// suppression finds comments that silence a checker instead of satisfying it.
var suppression = regexp.MustCompile(`//\s*nolint|@SuppressWarnings|#\s*type:\s*ignore|#\s*noqa|eslint-disable|@ts-ignore|@ts-nocheck|#pragma\s+warning\s+disable|ast-grep-ignore|kaiak-ignore`)

// conflictMarker finds what a merge leaves behind.
var conflictMarker = regexp.MustCompile(`(?m)^(<{7} |>{7} |={7}$)`)

// checkHygiene is V5: nothing that nobody asked for. What would hide a problem
// instead of fixing it is a flaw; what is merely untidy lowers the confidence.
func checkHygiene(d Draft, overlays []overlay, checks map[string]Check) []Flaw {
	checks[CheckHygiene] = HygieneOK
	var flaws []Flaw
	for _, o := range overlays {
		if o.file.Kind == workspace.DeleteFile {
			continue
		}
		before, after := o.before.Text, o.after.Text
		add := func(format string, args ...any) {
			flaws = append(flaws, Flaw{Check: CheckHygiene, Path: o.file.Path, Message: fmt.Sprintf(format, args...)})
		}
		// A rule may say that a suppression is the fix; a model may not.
		if d.Engine == Model && len(suppression.FindAll(after, -1)) > len(suppression.FindAll(before, -1)) {
			add("the fix adds a comment that suppresses the check instead of satisfying it")
		}
		if len(conflictMarker.FindAll(after, -1)) > len(conflictMarker.FindAll(before, -1)) {
			add("the fix adds a merge conflict marker")
		}
		if untidy(before, after) {
			checks[CheckHygiene] = HygieneFlag
		}
	}
	return flaws
}

// untidy reports whether the result brings in white space at line ends, another
// kind of line ending, or loses or adds the newline at the end of the file.
func untidy(before, after []byte) bool {
	if len(before) == 0 {
		return false
	}
	if trailing(after) > trailing(before) {
		return true
	}
	lf, crlf := endings(before)
	lf2, crlf2 := endings(after)
	if crlf == 0 && crlf2 > 0 || lf == 0 && crlf > 0 && lf2 > 0 {
		return true
	}
	return bytes.HasSuffix(before, []byte("\n")) != bytes.HasSuffix(after, []byte("\n"))
}

func endings(text []byte) (lf, crlf int) {
	crlf = bytes.Count(text, []byte("\r\n"))
	return bytes.Count(text, []byte("\n")) - crlf, crlf
}

// trailing counts the lines that end in blanks.
func trailing(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 && (line[len(line)-1] == ' ' || line[len(line)-1] == '\t') {
			n++
		}
	}
	return n
}
