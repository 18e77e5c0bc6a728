package agent

import (
	"cmp"
	"errors"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// applied returns file as the candidates leave it, and the edits that do so.
// Only the first candidate of a file's recipes is of this file alone.
func applied(file *workspace.File, done []Candidate) (*workspace.File, []workspace.Edit, error) {
	for _, c := range done {
		if len(c.Changes) != 1 || c.Changes[0].BaseSHA256 != file.SHA256 {
			continue
		}
		text, err := workspace.ApplyEdits(file.Text, c.Changes[0].Edits)
		if err != nil {
			return nil, nil, errors.Join(errors.New("a candidate that passed cannot be applied"), err)
		}
		next := *file
		next.Text, next.SHA256 = text, workspace.SHA256(text)
		return &next, c.Changes[0].Edits, nil
	}
	return file, nil, nil
}

// Relocate moves incidents with the edits: their range, line and span are then
// those of the text after.
func Relocate(list []incidents.Incident, before, after []byte, edits []workspace.Edit) []incidents.Incident {
	from, to := workspace.NewMapper(before, workspace.UTF16), workspace.NewMapper(after, workspace.UTF16)
	out := slices.Clone(list)
	for i := range out {
		in := &out[i]
		start, end := spanOf(*in, from)
		start, end = shift(start, edits, false), shift(end, edits, true)
		in.Span = incidents.Span{Start: start, End: max(start, end)}
		if in.Range != nil {
			in.Range = &incidents.Range{Start: to.Position(in.Span.Start), End: to.Position(in.Span.End)}
		}
		if in.LineNumber > 0 {
			in.LineNumber = to.Position(in.Span.Start).Line + 1
		}
	}
	return out
}

// spanOf returns the bytes of an incident: its range, else its line, else the
// whole text.
func spanOf(in incidents.Incident, m *workspace.Mapper) (start, end int) {
	switch {
	case in.Range != nil:
		return m.Offset(in.Range.Start), m.Offset(in.Range.End)
	case in.LineNumber > 0 && in.LineNumber <= m.Lines():
		return m.Line(in.LineNumber - 1)
	}
	_, end = m.Line(m.Lines() - 1)
	return 0, end
}

// shift moves an offset past the edits before it. Inside an edit it goes to the
// edit's start, or to its end when atEnd.
func shift(offset int, edits []workspace.Edit, atEnd bool) int {
	delta := 0
	for _, e := range slices.SortedStableFunc(slices.Values(edits), func(a, b workspace.Edit) int { return cmp.Compare(a.Start, b.Start) }) {
		switch {
		case e.End <= offset && (e.Start < offset || !atEnd):
			delta += len(e.New) - (e.End - e.Start)
		case e.Start < offset:
			if atEnd {
				return e.Start + delta + len(e.New)
			}
			return e.Start + delta
		}
	}
	return offset + delta
}
