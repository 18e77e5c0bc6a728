package incidents

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// locate gives in the place of its first physical location. Further ones go
// to its metadata.
func (s *sarifReader) locate(in *Incident, locations []sarifLocation, where string) bool {
	placed := false
	var others []any
	for i, loc := range locations {
		if loc.Physical == nil {
			continue
		}
		at := fmt.Sprintf("%s.locations[%d]", where, i)
		file, reason := s.file(loc.Physical.Artifact)
		if reason != "" {
			s.problem(at, "%s", reason)
			continue
		}
		rng, err := loc.Physical.Region.rng(s.lines(file), s.run.points)
		if err != nil {
			s.problem(at, "%s; the incident is read without its range", err)
			rng = nil
		}
		if placed {
			other := map[string]any{"file_path": file}
			if rng != nil {
				other["line_number"] = rng.Start.Line + 1
			}
			others = append(others, other)
			continue
		}
		placed = true
		in.FilePath = file
		region := loc.Physical.Region
		if region != nil && region.StartColumn == nil && region.EndLine == nil && region.EndColumn == nil && region.StartLine != nil {
			rng = nil // the tool knows the line and no more
		}
		if rng == nil && region != nil && region.StartLine != nil && *region.StartLine > 0 {
			in.LineNumber = *region.StartLine
		}
		s.place(in, rng)
		if in.Snippet == "" && region != nil && region.Snippet != nil && region.Snippet.Text != nil {
			in.Snippet = newLines([]byte(*region.Snippet.Text)).snippet(Span{0, len(*region.Snippet.Text)})
		}
	}
	if others != nil {
		setMeta(in, MetaLocations, others)
	}
	if !placed && !slices.ContainsFunc(locations, func(l sarifLocation) bool { return l.Physical != nil }) {
		s.problem(where, "it has no location in a file")
	}
	return placed
}

// sourceRoots are names that tools use for the root of the analysed sources.
var sourceRoots = []string{"SRCROOT", "ROOTPATH", "PROJECTROOT", "REPOROOT", "WORKSPACE"}

// file resolves an artifact location to a path of the workspace. The base that
// a relative URI names may be missing from the file, or be a directory of the
// machine that ran the analysis: the source root is then the workspace.
func (s *sarifReader) file(loc sarifArtifactLocation) (rel, reason string) {
	if loc.URI == "" && loc.Index != nil {
		if *loc.Index < 0 || *loc.Index >= len(s.run.artifacts) {
			return "", fmt.Sprintf("artifact %d does not exist", *loc.Index)
		}
		loc = s.run.artifacts[*loc.Index]
	}
	if loc.URI == "" {
		return "", "it names no file"
	}
	p, reason := uriPath(loc.URI)
	if reason != "" {
		return "", reason
	}
	if strings.HasPrefix(p, "/") {
		return s.relPath(p)
	}
	base, reason := s.base(loc.Base)
	if reason != "" {
		return "", reason
	}
	rel, reason = s.relPath(path.Join(base, p))
	if reason == "" || !strings.HasPrefix(base, "/") {
		return rel, reason
	}
	alone, outside := s.relPath(p)
	if outside == "" && (isSourceRoot(loc.Base) || s.lines(alone) != nil) {
		return alone, ""
	}
	return "", reason
}

// base resolves a uriBaseId through originalUriBaseIds to a directory: "" for
// the source root, a relative or an absolute path.
func (s *sarifReader) base(id string) (dir, reason string) {
	var seen []string
	for id != "" {
		if slices.Contains(seen, id) {
			return "", fmt.Sprintf("originalUriBaseIds.%s leads back to itself", id)
		}
		seen = append(seen, id)
		loc, ok := s.run.bases[id]
		if !ok {
			break // not given: the source root, as several tools mean it
		}
		p, reason := uriPath(loc.URI)
		if reason != "" {
			return "", reason
		}
		dir = path.Join(p, dir)
		if strings.HasPrefix(p, "/") {
			break
		}
		id = loc.Base
	}
	return dir, ""
}

func isSourceRoot(id string) bool {
	return slices.Contains(sourceRoots, strings.ToUpper(strings.Trim(id, "%$(){}")))
}

// fixes reads the alternatives of a result. One that cannot be carried out
// costs only itself.
func (s *sarifReader) fixes(data []byte, rule *sarifRule, where string) []Fix {
	list, _ := elements(data)
	var out []Fix
	for i, e := range list {
		at := fmt.Sprintf("%s.fixes[%d]", where, i)
		var raw sarifFix
		if !s.decode(e.data, &raw, at) {
			continue
		}
		edits, reason := s.fixEdits(raw.Changes)
		if reason != "" {
			s.problem(at, "%s; the incident is read without this fix", reason)
			continue
		}
		out = append(out, Fix{Title: s.message(&raw.Description, rule), Edits: edits})
	}
	return out
}

func (s *sarifReader) fixEdits(changes []sarifChange) (edits []FixEdit, reason string) {
	for _, c := range changes {
		file, reason := s.file(c.Artifact)
		if reason != "" {
			return nil, reason
		}
		for _, rep := range c.Replacements {
			if rep.Deleted == nil {
				return nil, "a replacement has no deletedRegion"
			}
			l := s.lines(file)
			rng, err := rep.Deleted.rng(l, s.run.points)
			switch {
			case err != nil:
				return nil, err.Error()
			case rng == nil:
				return nil, "a deletedRegion has no position"
			case l != nil && rng.End.Line >= l.Lines():
				return nil, "it changes lines after the end of the file; the analysis is older than the file"
			}
			text, reason := rep.Inserted.content()
			if reason != "" {
				return nil, reason
			}
			edits = append(edits, FixEdit{FilePath: file, Range: *rng, NewText: text})
		}
	}
	if len(edits) == 0 {
		return nil, "it changes nothing"
	}
	return edits, overlapping(edits)
}

func (c *sarifContent) content() (text, reason string) {
	switch {
	case c == nil:
		return "", ""
	case c.Text != nil:
		return *c.Text, ""
	case c.Binary != nil:
		raw, err := base64.StdEncoding.DecodeString(*c.Binary)
		if err != nil || !utf8.Valid(raw) {
			return "", "it inserts binary content that is not UTF-8 text"
		}
		return string(raw), ""
	}
	return "", ""
}

// overlapping says which edits of one fix overlap, "" when none do.
func overlapping(edits []FixEdit) string {
	order := slices.Clone(edits)
	slices.SortStableFunc(order, func(a, b FixEdit) int {
		if c := strings.Compare(a.FilePath, b.FilePath); c != 0 {
			return c
		}
		return comparePositions(a.Range.Start, b.Range.Start)
	})
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if a.FilePath == b.FilePath && comparePositions(b.Range.Start, a.Range.End) < 0 {
			return fmt.Sprintf("two of its replacements overlap in %s, line %d", b.FilePath, b.Range.Start.Line+1)
		}
	}
	return ""
}

func comparePositions(a, b Position) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Character - b.Character
}
