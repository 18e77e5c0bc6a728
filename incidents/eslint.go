package incidents

import "fmt"

type eslintFile struct {
	FilePath string
	Source   *string
	messages []part
}

// eslintMessage is one message of ESLint's JSON formatter. Lines and columns
// are 1-based UTF-16; a fix's range is 0-based UTF-16 offsets into the file.
type eslintMessage struct {
	RuleID      *string     `json:"ruleId"`
	Severity    int         `json:"severity"`
	Fatal       bool        `json:"fatal"`
	Message     string      `json:"message"`
	Line        *int        `json:"line"`
	Column      *int        `json:"column"`
	EndLine     *int        `json:"endLine"`
	EndColumn   *int        `json:"endColumn"`
	Fix         *eslintFix  `json:"fix"`
	Suggestions []eslintFix `json:"suggestions"`
}

type eslintFix struct {
	Description string      `json:"desc"`
	Fix         *eslintEdit `json:"fix"`
	eslintEdit
}

type eslintEdit struct {
	Range []int  `json:"range"`
	Text  string `json:"text"`
}

// ReadESLint reads the report of ESLint's json formatter, which has the fixes
// that its SARIF formatter leaves out. A file's "source" stands in where the
// workspace has no text.
func ReadESLint(data []byte, opts Options) *Report {
	r := newReader(opts, ESLint)
	list, whole := elements(repair(data, recordShapes[ESLint]))
	if !whole {
		r.problem(fmt.Sprintf("byte %d", len(data)), "the report ends in the middle; what was readable before is kept")
	}
	for i, p := range list {
		where := fmt.Sprintf("[%d]", i)
		var f eslintFile
		parts, _ := members(p.data)
		for _, m := range parts {
			switch m.key {
			case "filePath":
				r.decode(m.data, &f.FilePath, where+".filePath")
			case "source":
				r.decode(m.data, &f.Source, where+".source")
			case "messages":
				f.messages, _ = elements(m.data)
			}
		}
		file, reason := r.relPath(f.FilePath)
		if reason != "" {
			r.problem(where, "%s", reason)
			continue
		}
		l := r.lines(file)
		if l == nil && f.Source != nil {
			l = newLines([]byte(*f.Source))
			r.texts[file] = l
		}
		for j, m := range f.messages {
			at := fmt.Sprintf("%s.messages[%d]", where, j)
			var msg eslintMessage
			if r.decode(m.data, &msg, at) {
				r.eslint(file, l, &msg, at)
			}
		}
	}
	return r.finish()
}

func (r *reader) eslint(file string, l *lines, msg *eslintMessage, where string) {
	in := Incident{
		RuleID:      "eslint",
		FilePath:    file,
		Severity:    Warning,
		Description: msg.Message,
		Message:     msg.Message,
		Source:      string(ESLint),
	}
	if msg.RuleID != nil && *msg.RuleID != "" {
		in.RuleID = *msg.RuleID
	} else if msg.Fatal {
		in.RuleID = "syntax"
	}
	if msg.Severity == 2 {
		in.Severity = Error
	}
	region := &sarifRegion{StartLine: msg.Line, StartColumn: msg.Column, EndLine: msg.EndLine, EndColumn: msg.EndColumn}
	if msg.Line != nil && *msg.Line < 1 {
		region.StartLine = nil // a message about the file
	}
	rng, err := region.rng(l, false)
	if err != nil {
		r.problem(where, "%s; the incident is read without its range", err)
	}
	if rng == nil && msg.Line != nil {
		in.LineNumber = max(*msg.Line, 0)
	}
	r.place(&in, rng)

	var alternatives []eslintFix
	if msg.Fix != nil {
		alternatives = append(alternatives, *msg.Fix)
	}
	for i, fix := range append(alternatives, msg.Suggestions...) {
		edit := fix.eslintEdit
		if fix.Fix != nil {
			edit = *fix.Fix
		}
		at := fmt.Sprintf("%s fix %d", where, i)
		if len(edit.Range) != 2 {
			r.problem(at, "its range is not [start, end]; the incident is read without this fix")
			continue
		}
		length := edit.Range[1] - edit.Range[0]
		place, err := (&sarifRegion{CharOffset: &edit.Range[0], CharLength: &length}).rng(l, false)
		if err != nil {
			r.problem(at, "%s; the incident is read without this fix", err)
			continue
		}
		in.Fixes = append(in.Fixes, Fix{Title: fix.Description, Edits: []FixEdit{{file, *place, edit.Text}}})
	}
	r.add(in)
}
