package incidents

import (
	"encoding/json"
	"fmt"
	"io"
)

// ReadNative reads incidents with the contract's field names: an array, as
// `kaiak check --format json` writes it, or an object whose "incidents" is one.
func ReadNative(data []byte, opts Options) *Report {
	r := newReader(opts, Native)
	prefix := ""
	if firstByte(data) == '{' {
		top, _ := members(data)
		data = nil
		for _, m := range top {
			if m.key == "incidents" {
				data, prefix = m.data, "incidents"
			}
		}
	}
	list, whole := elements(repair(data, recordShapes[Native]))
	if !whole {
		r.problem(fmt.Sprintf("byte %d", len(data)), "the list of incidents ends in the middle or its brackets do not match; what was readable before is kept")
	}
	for i, p := range list {
		where := fmt.Sprintf("%s[%d]", prefix, i)
		var in Incident
		if !r.decode(p.data, &in, where) {
			continue
		}
		file, reason := r.relPath(in.FilePath)
		if in.FilePath == "" {
			file, reason = r.rel(in.URI)
		}
		switch {
		case reason != "":
			r.problem(where, "%s", reason)
			continue
		case in.RuleID == "":
			r.problem(where, "it has no rule_id")
			continue
		case in.LineNumber < 0:
			r.problem(where, "line_number is %d; lines count from 1, and 0 is the whole file", in.LineNumber)
			continue
		case in.Range != nil && !in.Range.valid():
			r.problem(where, "its range runs backwards or is negative; the incident is read without it")
			in.Range = nil
		}
		in.FilePath, in.URI = file, ""
		switch in.Severity {
		case Error, Warning, Info, Hint:
		case "":
			in.Severity = Warning
		default:
			r.problem(where, "severity %q is not one of error, warning, info and hint; warning is taken", in.Severity)
			in.Severity = Warning
		}
		// The snippet that the incident was found with is part of its identity.
		snippet := in.Snippet
		r.place(&in, in.Range)
		if snippet != "" {
			in.Snippet = snippet
		}
		r.add(in)
	}
	return r.finish()
}

func (g *Range) valid() bool {
	return g.Start.Line >= 0 && g.Start.Character >= 0 && comparePositions(g.Start, g.End) <= 0 && g.End.Character >= 0
}

// WriteNative writes incidents as one JSON array with the contract's field names.
func WriteNative(w io.Writer, list []Incident) error {
	if list == nil {
		list = []Incident{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(list)
}
