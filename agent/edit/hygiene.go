package edit

import (
	"path"
	"regexp"
	"strings"
)

var mergeMarker = regexp.MustCompile(`(?m)^(?:<{7}|>{7}|\|{7})(?: |$)|^={7}$`)

// elision finds lines that stand for code somebody did not want to write.
var elision = regexp.MustCompile(`(?i)^\s*(?:(?://|#|--|/\*|\*|<!--|;|%|\{/\*)+\s*)(?:` +
	`\(?(?:\.\.\.|…).*|` +
	`.*(?:\.\.\.|…)\s*(?:\*/|-->)?\s*$|` +
	`\(?(?:the )?(?:rest of|remaining|remainder of|existing|other existing|previous|original|unchanged|same as (?:before|above|original))\b.*` +
	`\b(?:code|file|class|method|methods|function|functions|implementation|import|imports|content|logic|body|fields|unchanged|here|above|before|same|original)\b.*|` +
	`\(?(?:unchanged|omitted|snip|snipped|truncated)(?: for brevity)?[.)]*\s*(?:\*/|-->)?\s*$)`)

var bareDots = regexp.MustCompile(`^\s*(?:\.\.\.|…)\s*$`)

// elided returns the first line of text that leaves something out and is not in
// the old text. A bare ... is a statement in Python.
func elided(file, old, text string) (line string, found bool) {
	had := map[string]bool{}
	for line := range strings.SplitSeq(old, "\n") {
		had[strings.TrimSpace(line)] = true
	}
	ext := path.Ext(file)
	python := ext == ".py" || ext == ".pyi"
	for line := range strings.SplitSeq(text, "\n") {
		t := strings.TrimSpace(line)
		if had[t] {
			continue
		}
		if elision.MatchString(line) || !python && bareDots.MatchString(line) {
			return t, true
		}
	}
	return "", false
}

var gutter = regexp.MustCompile(`^\s*\d+\s?[│|:]\s?`)

// stripGutter takes line numbers off a text of which every line that is not
// blank carries one.
func stripGutter(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	some := false
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !gutter.MatchString(line) {
			return s, false
		}
		some = true
	}
	if !some {
		return s, false
	}
	for i, line := range lines {
		lines[i] = line[len(gutter.FindString(line)):]
	}
	return strings.Join(lines, "\n"), true
}
