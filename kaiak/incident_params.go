package kaiak

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// incidentsFrom turns the incidents of a request into the model's: known ids
// are filled in, paths are made relative and confined, and what is missing or
// wrong is a -32602 that names it.
func (sp *space) incidentsFrom(list []IncidentParam) ([]incidents.Incident, error) {
	if len(list) == 0 {
		return nil, Errorf(InvalidParams, "params.incidents is empty: name at least one incident").With("member", "params.incidents")
	}
	if len(list) > LimitIncidents.Value {
		return nil, LimitIncidents.exceeded("params.incidents has %d incidents, at most %d are allowed in one request: split it", len(list), LimitIncidents.Value).With("member", "params.incidents")
	}
	out := make([]incidents.Incident, 0, len(list))
	seen := map[string]int{}
	for i, p := range list {
		at := fmt.Sprintf("params.incidents[%d]", i)
		in, err := sp.incidentFrom(at, p)
		if err != nil {
			return nil, err
		}
		if j, twice := seen[in.ID]; twice && in.ID != "" {
			return nil, Errorf(InvalidParams, "%s.id %q stands for params.incidents[%d] already", at, in.ID, j).With("member", at+".id")
		}
		seen[in.ID] = i
		out = append(out, in)
	}
	incidents.AssignIDs(out, nil)
	return out, nil
}

func (sp *space) incidentFrom(at string, p IncidentParam) (incidents.Incident, error) {
	bad := func(member, format string, args ...any) (incidents.Incident, error) {
		return incidents.Incident{}, Errorf(InvalidParams, "%s.%s %s", at, member, fmt.Sprintf(format, args...)).With("member", at+"."+member)
	}
	name := first(p.FilePath, p.URI)
	if name == "" {
		in, ok := sp.index.Get(p.ID)
		switch {
		case ok:
			return in, nil
		case p.ID != "":
			return bad("id", "%q is not an incident this server knows; give its file_path as well", p.ID)
		}
		return bad("file_path", "is missing (or uri)")
	}
	path, err := sp.ws.Rel(name)
	if err != nil {
		return bad("file_path", "cannot be used: %v", err)
	}
	if p.LineNumber < 0 {
		return bad("line_number", "must be 1 or more, not %d", p.LineNumber)
	}
	if p.Severity != "" && !validSeverity(p.Severity) {
		return bad("severity", "must be error, warning, info or hint, not %q", p.Severity)
	}
	in := incidents.Incident{ID: p.ID, RuleID: p.RuleID, FilePath: path, LineNumber: p.LineNumber, Severity: incidents.Severity(first(p.Severity, "warning")),
		Description: p.Description, Message: p.Message, Category: p.Category, Metadata: p.Metadata, URI: sp.ws.URI(path), Range: p.Range, Source: p.Source, Effort: p.Effort,
		Labels: p.Labels, Snippet: p.Snippet, Fixes: p.Fixes}
	if in.Range != nil && in.LineNumber == 0 {
		in.LineNumber = in.Range.Start.Line + 1
	}
	// A client rarely sends back all that it was told: the fixes and the
	// snippet of an incident we know are worth keeping.
	if known, ok := sp.index.Get(p.ID); ok && known.FilePath == path {
		in.Snippet = first(in.Snippet, known.Snippet)
		if len(in.Fixes) == 0 {
			in.Fixes = known.Fixes
		}
		in.Range = firstRange(in.Range, known.Range)
		in.Source = first(in.Source, known.Source)
		in.RuleID = first(in.RuleID, known.RuleID)
	}
	return in, nil
}

func firstRange(a, b *incidents.Range) *incidents.Range {
	if a != nil {
		return a
	}
	return b
}

func validSeverity(s string) bool {
	return slices.Contains([]incidents.Severity{incidents.Error, incidents.Warning, incidents.Info, incidents.Hint}, incidents.Severity(s))
}

// checkSizes refuses incidents that all lie in files which are too large to be
// fixed. Where only some do, the others are fixed and those are left over.
func (sp *space) checkSizes(list []incidents.Incident) error {
	large := ""
	seen := map[string]bool{}
	for _, in := range list {
		if seen[in.FilePath] {
			continue
		}
		seen[in.FilePath] = true
		file, err := sp.ws.Read(in.FilePath)
		var p *workspace.PathError
		if tooLarge := err == nil && len(file.Text) > LimitFileBytes.Value || errors.As(err, &p) && p.Kind == workspace.TooLarge; !tooLarge {
			return nil
		}
		large = first(large, in.FilePath)
	}
	if large == "" {
		return nil
	}
	return LimitFileBytes.exceeded("%s is larger than %d bytes, the most that is fixed in one file", large, LimitFileBytes.Value).With("path", large)
}
