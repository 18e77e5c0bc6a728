package diagnose

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/kaiak/kaiak/incidents"
)

// reported is a line as compilers and linters write it: path:line:column: message,
// or path(line,column): message.
var reported = regexp.MustCompile(`^\s*(?:[a-z]+: )?(\S[^:(]*?)(?::(\d+)(?::\d+)?:|\((\d+)(?:,\d+)?\):)\s+(.+)$`)

var (
	severityWord = regexp.MustCompile(`(?i)^(?:fatal )?(error|warning|note|info|hint)\b[: ]\s*`)
	codeBefore   = regexp.MustCompile(`^\[?([A-Z]{1,6}\d{2,6})\]?[: ]\s*`)
	codeAfter    = regexp.MustCompile(`\s*[(\[]([A-Za-z][\w./@-]{2,60})[)\]]\s*$`)
)

// readLines reads diagnostics from text. What lies outside of the roots is left
// out; a line that is none is passed over.
func readLines(text []byte, roots []string, tool string) []incidents.Incident {
	var out []incidents.Incident
	for line := range strings.Lines(string(text)) {
		m := reported.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		path, ok := relative(m[1], roots)
		n, err := strconv.Atoi(m[2] + m[3])
		if !ok || err != nil || n <= 0 {
			continue
		}
		in := incidents.Incident{FilePath: path, LineNumber: n, Severity: incidents.Warning, RuleID: tool, Source: tool, Message: m[4]}
		if s := severityWord.FindStringSubmatch(in.Message); s != nil {
			in.Message = in.Message[len(s[0]):]
			switch strings.ToLower(s[1]) {
			case "error":
				in.Severity = incidents.Error
			case "note", "info":
				in.Severity = incidents.Info
			case "hint":
				in.Severity = incidents.Hint
			}
		}
		if s := codeBefore.FindStringSubmatch(in.Message); s != nil {
			in.RuleID, in.Message = s[1], in.Message[len(s[0]):]
		} else if s := codeAfter.FindStringSubmatchIndex(in.Message); s != nil {
			in.RuleID, in.Message = in.Message[s[2]:s[3]], in.Message[:s[0]]
		}
		out = append(out, in)
	}
	return out
}

// relative returns a path of the workspace, slash-separated.
func relative(path string, roots []string) (string, bool) {
	if filepath.IsAbs(path) {
		for _, root := range roots {
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), true
			}
		}
		return "", false
	}
	path = filepath.Clean(path)
	return filepath.ToSlash(path), filepath.IsLocal(path)
}
