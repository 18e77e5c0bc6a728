package incidents

import "fmt"

// golangciIssue is one issue of golangci-lint's JSON report. Unlike its SARIF
// it has end positions and fixes.
type golangciIssue struct {
	FromLinter  string   `json:"FromLinter"`
	Text        string   `json:"Text"`
	Severity    string   `json:"Severity"`
	SourceLines []string `json:"SourceLines"`
	Pos         struct {
		Filename string `json:"Filename"`
		Line     int    `json:"Line"`
		Column   int    `json:"Column"` // 1-based, bytes; 0: the whole line
	} `json:"Pos"`
	LineRange *struct {
		From int `json:"From"`
		To   int `json:"To"`
	} `json:"LineRange"`
	SuggestedFixes []struct {
		Message   string `json:"Message"`
		TextEdits []struct {
			Pos     int    `json:"Pos"` // 0-based bytes
			End     int    `json:"End"`
			NewText []byte `json:"NewText"` // base64 on the wire
		} `json:"TextEdits"`
	} `json:"SuggestedFixes"`
}

// ReadGolangciLint reads golangci-lint's JSON report. The rule is the code that
// the text starts with ("SA1019: …"), else the linter's name.
func ReadGolangciLint(data []byte, opts Options) *Report {
	r := newReader(opts, GolangciLint)
	top, whole := members(repair(data, recordShapes[GolangciLint]))
	if !whole {
		r.problem(fmt.Sprintf("byte %d", len(data)), "the report ends in the middle; what was readable before is kept")
	}
	for _, m := range top {
		if m.key != "Issues" {
			continue
		}
		list, _ := elements(m.data)
		for i, p := range list {
			where := fmt.Sprintf("Issues[%d]", i)
			var issue golangciIssue
			if r.decode(p.data, &issue, where) {
				r.golangci(&issue, where)
			}
		}
	}
	return r.finish()
}

func (r *reader) golangci(issue *golangciIssue, where string) {
	file, reason := r.relPath(issue.Pos.Filename)
	if reason != "" {
		r.problem(where, "%s", reason)
		return
	}
	in := Incident{
		RuleID:      issue.FromLinter,
		FilePath:    file,
		LineNumber:  max(issue.Pos.Line, 0),
		Severity:    severityNamed(issue.Severity),
		Description: issue.Text,
		Message:     issue.Text,
		Category:    issue.FromLinter,
		Source:      string(GolangciLint),
	}
	if code := leadingCode(issue.Text); code != "" {
		in.RuleID = code
	}
	if in.RuleID == "" {
		r.problem(where, "it names no linter")
		return
	}
	l := r.lines(file)
	var rng *Range
	if l != nil && issue.Pos.Column > 0 && in.LineNumber > 0 && in.LineNumber <= l.Lines() {
		start, end := l.Line(in.LineNumber - 1)
		rng = &Range{l.Position(min(start+issue.Pos.Column-1, end)), l.Position(end)}
	}
	r.place(&in, rng)
	if in.Snippet == "" && len(issue.SourceLines) > 0 {
		in.Snippet = issue.SourceLines[0]
	}
	for i, fix := range issue.SuggestedFixes {
		at := fmt.Sprintf("%s.SuggestedFixes[%d]", where, i)
		if l == nil {
			r.problem(at, "its edits count bytes, and the file's text is not known; the incident is read without this fix")
			continue
		}
		out := Fix{Title: fix.Message}
		for _, e := range fix.TextEdits {
			end := max(e.End, e.Pos) // analyzers may leave the end of an insertion 0
			if e.Pos < 0 || end > len(l.text) {
				out.Edits = nil
				break
			}
			out.Edits = append(out.Edits, FixEdit{file, Range{l.Position(e.Pos), l.Position(end)}, string(e.NewText)})
		}
		if len(out.Edits) == 0 {
			r.problem(at, "its edits are not in the file; the incident is read without this fix")
			continue
		}
		if reason := overlapping(out.Edits); reason != "" {
			r.problem(at, "%s; the incident is read without this fix", reason)
			continue
		}
		in.Fixes = append(in.Fixes, out)
	}
	r.add(in)
}

// leadingCode returns the "SA1019" of "SA1019: package io/ioutil is …".
func leadingCode(text string) string {
	for i := range len(text) {
		c := text[i]
		upper, digit := c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
		switch {
		case c == ':' && i > 2 && text[i-1] >= '0' && text[i-1] <= '9':
			return text[:i]
		case !upper && !digit, i == 0 && digit:
			return ""
		}
	}
	return ""
}

func severityNamed(name string) Severity {
	switch name {
	case "error":
		return Error
	case "info", "information", "note":
		return Info
	case "hint", "low":
		return Hint
	}
	return Warning
}
