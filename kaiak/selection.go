package kaiak

import (
	"context"
	"slices"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// selection is what of a proposal an approval accepts, and the bytes it binds.
type selection struct {
	answers bool                  // it answers a question of a request, and goes with it
	hunks   []int                 // nil: all of them
	edited  map[string]string     // by path: the text as the user changed it
	bound   map[string]boundBytes // by path: what the user saw, where the client says so
}

type boundBytes struct{ base, proposed string }

// accept returns the set that an approval applies and the hunks in it.
func (s *Service) accept(ctx context.Context, sp *space, p *proposal, sel selection) (workspace.Set, []rules.Hunk, error) {
	c := p.data.Candidate
	set := workspace.Set{ID: p.data.SetID, Changes: slices.Clone(c.Changes)}
	for path, b := range sel.bound {
		i := slices.IndexFunc(c.Changes, func(ch workspace.Change) bool { return path == "" || ch.Path == path })
		if i < 0 {
			return set, nil, Errorf(InvalidParams, "proposal %q does not change %s", p.id, path).With("proposal_id", p.id)
		}
		if b.base != "" && b.base != c.Changes[i].BaseSHA256 || b.proposed != "" && b.proposed != c.Changes[i].ProposedSHA256 {
			return set, nil, p.stale("the approval names other bytes of " + c.Changes[i].Path + " than the proposal has")
		}
	}
	hunks := c.Hunks
	if sel.hunks != nil {
		var err error
		if set.Changes, hunks, err = s.part(ctx, sp, p, sel.hunks); err != nil {
			return set, nil, err
		}
	}
	for path, text := range sel.edited {
		i := slices.IndexFunc(set.Changes, func(ch workspace.Change) bool { return ch.Path == path && ch.Kind != workspace.DeleteFile })
		if i < 0 {
			return set, nil, Errorf(InvalidParams, "proposal %q does not change %s", p.id, path).With("proposal_id", p.id)
		}
		ch := &set.Changes[i]
		ch.ProposedSHA256 = workspace.SHA256([]byte(text))
		if ch.Kind == workspace.CreateFile {
			ch.Text = []byte(text)
			continue
		}
		base, err := s.store.Blob(ctx, ch.BaseSHA256)
		if err != nil {
			return set, nil, err
		}
		ch.Edits = workspace.EditsBetween(base, []byte(text))
	}
	return set, hunks, nil
}

// part makes the changes of some hunks of a proposal. Where the file has upkeep
// that belongs to several hunks (imports), the rules make it anew for those
// that are accepted.
func (s *Service) part(ctx context.Context, sp *space, p *proposal, indexes []int) ([]workspace.Change, []rules.Hunk, error) {
	c := p.data.Candidate
	chosen := map[int]bool{}
	for _, i := range indexes {
		if i < 0 || i >= len(c.Hunks) {
			return nil, nil, Errorf(ResponseInvalid, "proposal %q has the hunks 0 to %d, there is no %d", p.id, len(c.Hunks)-1, i).With("proposal_id", p.id)
		}
		chosen[i] = true
	}
	var hunks []rules.Hunk
	var ids []string
	upkeep := false
	for i, h := range c.Hunks {
		switch {
		case len(h.IncidentIDs) == 0:
			upkeep = true
		case chosen[i]:
			hunks = append(hunks, h)
			ids = append(ids, h.IncidentIDs...)
		}
	}
	if len(hunks) == 0 {
		return nil, nil, Errorf(ResponseInvalid, "no hunk of proposal %q is accepted that fixes an incident; reject it instead", p.id).With("proposal_id", p.id)
	}
	if upkeep && len(ids) < len(c.IncidentIDs) {
		list, err := s.incidentsOf(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		made, err := s.remake(ctx, sp, p, slices.DeleteFunc(list, func(in incidents.Incident) bool { return !slices.Contains(ids, in.ID) }))
		if err != nil {
			return nil, nil, err
		}
		return made.Changes, made.Hunks, nil
	}
	if upkeep {
		return c.Changes, c.Hunks, nil
	}
	var changes []workspace.Change
	for _, ch := range c.Changes {
		var edits []workspace.Edit
		for _, h := range hunks {
			if h.Path == ch.Path {
				edits = append(edits, h.Edits...)
			}
		}
		if len(edits) == 0 {
			continue
		}
		base, err := s.store.Blob(ctx, ch.BaseSHA256)
		if err != nil {
			return nil, nil, err
		}
		text, err := workspace.ApplyEdits(base, edits)
		if err != nil {
			return nil, nil, Errorf(ResponseInvalid, "these hunks of proposal %q cannot be applied without the others: %w", p.id, err)
		}
		changes = append(changes, workspace.Change{Path: ch.Path, Kind: ch.Kind, BaseSHA256: ch.BaseSHA256, ProposedSHA256: workspace.SHA256(text), Edits: edits})
	}
	return changes, hunks, nil
}

// remake has the rules fix some of a proposal's incidents again.
func (s *Service) remake(ctx context.Context, sp *space, p *proposal, list []incidents.Incident) (agent.Candidate, error) {
	_, data, err := s.requestRecord(ctx, p.requestID)
	if err != nil {
		return agent.Candidate{}, err
	}
	fixer, err := sp.fixer(ctx, nil)
	if err != nil {
		return agent.Candidate{}, err
	}
	var got collector
	if err := fixer.Fix(ctx, agent.Task{Workspace: sp.ws, Incidents: list, Alternate: data.Alternate}, &got); err != nil {
		return agent.Candidate{}, err
	}
	if len(got.candidates) != 1 || len(got.leftovers) > 0 {
		return agent.Candidate{}, Errorf(ResponseInvalid, "these hunks of proposal %q cannot be applied without the others", p.id).With("proposal_id", p.id)
	}
	return got.candidates[0], nil
}

// A collector is an [agent.Listener] that keeps what it hears.
type collector struct {
	candidates []agent.Candidate
	leftovers  []agent.Leftover
}

func (*collector) Progress(int, string, string) {}

func (c *collector) Candidate(a agent.Candidate) { c.candidates = append(c.candidates, a) }

func (c *collector) Leftover(l agent.Leftover) { c.leftovers = append(c.leftovers, l) }
