package incidents

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Diagnostic is an LSP diagnostic as far as incidents know it; a front
// converts its protocol's type.
type Diagnostic struct {
	Range    Range
	Severity int    // 1 error … 4 hint; 0: not given
	Code     string // a number is written in decimal
	CodeHref string
	Source   string
	Message  string
	Tags     []int // 1 unnecessary, 2 deprecated
	Data     json.RawMessage
}

// Diagnostic tags.
const (
	TagUnnecessary = 1
	TagDeprecated  = 2
)

// diagnosticData is what our own diagnostics carry in data.
type diagnosticData struct {
	IncidentID string `json:"incident_id"`
	RuleID     string `json:"rule_id,omitempty"`
}

// FromDiagnostics turns the diagnostics of one document into incidents, each
// with its id: the one that a diagnostic of ours brings back in its data, else
// the identity in text. text is the document at the version that the
// diagnostics are for. A diagnostic whose range is not in text is a problem.
func FromDiagnostics(path string, text []byte, list []Diagnostic, declaration func(*Incident) string) ([]Incident, []Problem) {
	l := newLines(text)
	out := make([]Incident, 0, len(list))
	var problems []Problem
	for i, d := range list {
		in, err := fromDiagnostic(path, l, d)
		if err != nil {
			problems = append(problems, Problem{path, fmt.Sprintf("diagnostics[%d]", i), err.Error()})
			continue
		}
		out = append(out, in)
	}
	AssignIDs(out, declaration)
	return out, problems
}

func fromDiagnostic(path string, l *lines, d Diagnostic) (Incident, error) {
	if !d.Range.valid() {
		return Incident{}, errors.New("its range runs backwards or is negative")
	}
	if d.Range.Start.Line >= l.Lines() {
		return Incident{}, fmt.Errorf("it starts on line %d of %d: it belongs to another version of the document", d.Range.Start.Line+1, l.Lines())
	}
	in := Incident{
		RuleID:      firstOf(d.Code, d.Source, "diagnostic"),
		FilePath:    path,
		LineNumber:  d.Range.Start.Line + 1,
		Severity:    severityOfLSP(d.Severity),
		Description: firstLine(d.Message),
		Message:     d.Message,
		Source:      d.Source,
		Span:        Span{l.Offset(d.Range.Start), l.Offset(d.Range.End)},
	}
	in.Range = &Range{l.Position(in.Span.Start), l.Position(in.Span.End)}
	in.Snippet = l.snippet(in.Span)
	if in.Snippet == "" { // an empty range says nothing of the text it is about
		in.Snippet = l.line(in.LineNumber - 1)
	}
	if d.CodeHref != "" {
		in.Links = []Link{{URL: d.CodeHref}}
	}
	for _, tag := range d.Tags {
		switch tag {
		case TagUnnecessary:
			in.Labels = append(in.Labels, labelUnnecessary)
		case TagDeprecated:
			in.Labels = append(in.Labels, labelDeprecated)
		}
	}
	var data diagnosticData
	if json.Unmarshal(d.Data, &data) == nil && data.IncidentID != "" {
		in.ID = data.IncidentID
	}
	return in, nil
}

// Labels that stand for diagnostic tags.
const (
	labelDeprecated  = "deprecated"
	labelUnnecessary = "unnecessary"
)

// ToDiagnostic turns an incident into a diagnostic. One without a range covers
// its line, one without a line the start of the file; a character beyond the
// line's end means its end, as in LSP.
func ToDiagnostic(in Incident) Diagnostic {
	d := Diagnostic{
		Severity: lspSeverity(in.Severity),
		Code:     in.RuleID,
		Source:   firstOf(in.Source, "kaiak"),
		Message:  firstOf(in.Message, in.Description, in.RuleID),
	}
	switch {
	case in.Range != nil:
		d.Range = *in.Range
	case in.LineNumber > 0:
		d.Range = Range{pos(in.LineNumber-1, 0), pos(in.LineNumber-1, endOfLine)}
	}
	if len(in.Links) > 0 {
		d.CodeHref = in.Links[0].URL
	}
	for _, label := range in.Labels {
		switch label {
		case labelUnnecessary:
			d.Tags = append(d.Tags, TagUnnecessary)
		case labelDeprecated:
			d.Tags = append(d.Tags, TagDeprecated)
		}
	}
	// The members are strings: this cannot fail.
	d.Data, _ = json.Marshal(diagnosticData{in.ID, in.RuleID})
	return d
}

func severityOfLSP(n int) Severity {
	switch n {
	case 1:
		return Error
	case 3:
		return Info
	case 4:
		return Hint
	}
	return Warning
}

func lspSeverity(s Severity) int {
	switch s {
	case Error:
		return 1
	case Info:
		return 3
	case Hint:
		return 4
	}
	return 2
}
