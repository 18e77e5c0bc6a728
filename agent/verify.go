package agent

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// An Applied is one file of a change that was applied, for [Fixer.Verify].
type Applied struct {
	Path  string
	Kind  workspace.ChangeKind
	Base  []byte           // the text before; nil for a new file
	Edits []workspace.Edit // what was applied to Base: the accepted hunks' edits
	Hunks []rules.Hunk     // the accepted hunks of this file
}

// An Outcome is the verdict on one incident after its change was applied.
type Outcome struct {
	IncidentID string  `json:"incident_id"`
	Verdict    Verdict `json:"verdict"`
	Reason     string  `json:"reason,omitempty"` // where the verdict is not Fixed
}

// Verify looks at the files as they are now and says of each incident what
// became of it. Fixed means that the incident's rule was run again and does not
// match where the change was made; where no rule can tell, the verdict is
// Partial, never Fixed.
func (f *Fixer) Verify(ctx context.Context, ws *workspace.Workspace, list []incidents.Incident, changes []Applied) ([]Outcome, error) {
	states := map[string]*fileState{}
	for _, c := range changes {
		s, err := f.look(ctx, ws, c)
		if err != nil {
			return nil, err
		}
		states[c.Path] = s
	}
	var out []Outcome
	for _, in := range list {
		v, reason := f.verdict(in, states)
		out = append(out, Outcome{in.ID, v, reason})
	}
	return out, nil
}

// A fileState is what a changed file looks like now.
type fileState struct {
	change  Applied
	problem Verdict // "" when the file is as it should be
	reason  string
	exact   bool // the text is exactly base + edits, so the regions are known
	matches []rules.Match
	was     map[string]int // matches of each rule in the base
}

func (f *Fixer) look(ctx context.Context, ws *workspace.Workspace, c Applied) (*fileState, error) {
	s := &fileState{change: c}
	now, err := ws.Read(c.Path)
	switch {
	case c.Kind == workspace.DeleteFile && errors.Is(err, fs.ErrNotExist):
		s.exact = true
		return s, nil
	case err != nil:
		s.problem, s.reason = Failed, err.Error()
		return s, nil
	}
	want, err := workspace.ApplyEdits(c.Base, c.Edits)
	s.exact = err == nil && c.Kind == workspace.EditFile && string(want) == string(now.Text)
	var trees [2]*treesitter.Tree
	if lang := treesitter.ForPath(c.Path); lang != nil {
		for i, text := range [][]byte{c.Base, now.Text} {
			if trees[i], err = treesitter.Parse(ctx, lang, text); err != nil {
				return nil, err
			}
		}
		if more := treesitter.NewErrors(trees[0], trees[1]); len(more) > 0 && len(c.Base) > 0 {
			s.problem, s.reason = Regressed, "the file has a new syntax error: "+more[0].String()
			return s, nil
		}
	}
	if s.matches, err = f.check(ctx, now, trees[1]); err != nil {
		return nil, err
	}
	before, err := f.check(ctx, &workspace.File{Path: c.Path, Text: c.Base, SHA256: workspace.SHA256(c.Base)}, trees[0])
	if err != nil {
		return nil, err
	}
	s.was = countRules(before)
	return s, nil
}

func (f *Fixer) verdict(in incidents.Incident, states map[string]*fileState) (Verdict, string) {
	s := states[in.FilePath]
	if s == nil {
		return Skipped, "its file was not changed"
	}
	if s.problem != "" {
		return s.problem, s.reason
	}
	claimed := false
	for _, h := range s.change.Hunks {
		claimed = claimed || slices.Contains(h.IncidentIDs, in.ID)
	}
	if !claimed {
		return Unfixed, "its part of the change was not accepted"
	}
	bound := f.opts.Rules.ForIncident(in)
	if len(bound) == 0 {
		return Partial, "its change was applied, but no rule of ours can re-check " + cmp.Or(in.RuleID, "it")
	}
	has := countRules(s.matches)
	for _, r := range bound {
		switch {
		case has[r.ID] == 0:
		case s.exact && !s.touches(in.ID, r.ID):
		case s.exact:
			return Unfixed, "rule " + r.ID + " still matches where the change was made"
		case has[r.ID] >= s.was[r.ID]:
			return Unfixed, "the file was changed further, and rule " + r.ID + " matches as often as before"
		default:
			return Partial, "the file was changed further, so it is not known which match of rule " + r.ID + " is gone"
		}
	}
	return Fixed, ""
}

// touches reports whether a match of the rule touches what the hunks of the
// incident wrote.
func (s *fileState) touches(incidentID, ruleID string) bool {
	for _, h := range s.change.Hunks {
		if !slices.Contains(h.IncidentIDs, incidentID) {
			continue
		}
		for _, e := range h.Edits {
			start := e.Start
			for _, x := range s.change.Edits {
				if x.End <= e.Start && x.Start < e.Start {
					start += len(x.New) - (x.End - x.Start)
				}
			}
			end := start + len(e.New)
			for _, m := range s.matches {
				if m.Incident.RuleID == ruleID && m.Incident.Span.Start < max(end, start+1) && start < m.Incident.Span.End {
					return true
				}
			}
		}
	}
	return false
}
