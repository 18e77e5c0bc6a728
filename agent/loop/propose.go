package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/edit"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/prompt"
	"github.com/kaiak/kaiak/agent/redact"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// noFix is how a model says that it cannot.
const noFix = "NO_FIX:"

// propose implements tool.Proposer.
func (c *conversation) propose(ctx context.Context, args json.RawMessage) (answer string, accepted bool) {
	p, err := edit.ParseCall(args)
	if err != nil {
		c.malformed(err.Error())
		return "Error: " + err.Error(), false
	}
	return c.consider(ctx, p)
}

// prose acts on a reply without calls: text blocks, a refusal, or nothing usable.
func (c *conversation) prose(ctx context.Context, text string) []llm.Message {
	if i := strings.Index(text, noFix); i >= 0 && !strings.Contains(text, "<<<<<<<") {
		why, _, _ := strings.Cut(strings.TrimSpace(text[i+len(noFix):]), "\n")
		c.stop(agent.Unfixed, Declined, "the model says that it cannot fix it: %s", clip(prompt.Neutral(why), 500))
		return nil
	}
	p, err := edit.ParseBlocks(text, c.file.Path)
	if errors.Is(err, edit.ErrNoBlocks) && c.text {
		p, err = edit.ParseWhole(text, c.file.Path)
	}
	if err != nil {
		c.malformed(err.Error())
		how := "Call propose_edits with all edits"
		if c.text {
			how = "Answer with SEARCH/REPLACE blocks as described"
		}
		return []llm.Message{llm.User(fmt.Sprintf("There is no proposal in your answer (%v). %s, or answer with one line: %s and the reason.", err, how, noFix))}
	}
	answer, accepted := c.consider(ctx, p)
	if accepted {
		return nil
	}
	return []llm.Message{llm.User(answer)}
}

// consider resolves and validates a proposal. The answer is for the model.
func (c *conversation) consider(ctx context.Context, p edit.Proposal) (answer string, accepted bool) {
	lim := c.engine.opts.Limits
	res, err := edit.Resolve(p, edit.Options{
		Files:      map[string]edit.Base{c.file.Path: {File: c.file, Regions: c.prompt.Regions}},
		Occurrence: c.ambiguous,
		Whole:      c.applies >= lim.Apply,
		Protected:  func(s string) bool { return redact.HasPlaceholder(s) || prompt.HasShown(s) },
	})
	var rejection *edit.Rejection
	switch {
	case errors.As(err, &rejection):
		if !rejection.Stale() { // the text changed under it: not its fault
			c.applies++
		}
		for _, f := range rejection.Failures {
			c.ambiguous = c.ambiguous || f.Kind == edit.Ambiguous
		}
		c.audit("rejection", "apply", err.Error())
		if c.applies > lim.Apply {
			c.stop(agent.Unfixed, Unusable, "the model's edits do not apply: %s", first(rejection.Failures))
		}
		return c.hide.Text(err.Error()), false
	case err != nil:
		return "Error: " + err.Error(), false
	}
	out := res.Files[0]
	if c.track.text(out.Text) {
		c.stop(agent.Unfixed, Looping, "the model proposed the same text twice, although it was told what is wrong with it")
		return "This is the same proposal as before.", false
	}
	flaws := cheats(ctx, c.file, out.Text)
	if len(flaws) == 0 {
		var candidate agent.Candidate
		candidate, flaws, err = c.job.Inspect(ctx, c.draft(p, res))
		if err != nil {
			if ctx.Err() == nil {
				c.stop(agent.Failed, Unusable, "the proposal could not be checked: %v", err)
			}
			return "the proposal could not be checked", false
		}
		if len(flaws) == 0 {
			c.candidate, c.outcome, c.edits = &candidate, out.Text, out.Edits
			c.audit("proposal", candidate.Evidence.Tier, workspace.Diff(c.file.Path, c.file.Text, out.Text))
			return "The proposal passed all checks and is shown to the user.", true
		}
	}
	c.repair++
	c.audit("rejection", "validate", tell(flaws))
	if stuck := c.track.attempt(flaws); stuck || c.repair > lim.Repairs {
		kind, why := Unusable, fmt.Sprintf("after %d attempts", c.repair)
		if stuck {
			kind, why = Looping, "and the attempts get no better"
		}
		c.stop(agent.Unfixed, kind, "what the model proposed does not pass the checks (%s): %s", why, clip(tell(flaws), 600))
	}
	return c.hide.Text(fmt.Sprintf("Your changes have NOT been applied; the file is as it was (base_sha256 %s). The result would have had these problems:\n%s\nSend one corrected proposal with ALL edits, against the file as it was shown.", c.file.SHA256[:12], tell(flaws))), false
}

func tell(flaws []agent.Flaw) string {
	var b strings.Builder
	for _, f := range flaws {
		fmt.Fprintf(&b, "- %s", f.Path)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		fmt.Fprintf(&b, ": %s\n", f.Message)
	}
	return strings.TrimRight(b.String(), "\n")
}

func first(failures []edit.Failure) string {
	if len(failures) == 0 {
		return "no reason is known"
	}
	message, _, _ := strings.Cut(failures[0].Message, "\n")
	return message
}

func clip(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + " …"
	}
	return s
}

// draft makes the agent's draft of a resolved proposal.
func (c *conversation) draft(p edit.Proposal, res edit.Result) agent.Draft {
	out := res.Files[0]
	d := agent.Draft{
		Engine: agent.Model, Incidents: c.batch, Category: category(c.batch),
		Description: clip(prompt.Neutral(strings.Join(strings.Fields(p.Summary), " ")), 200),
		Files:       []agent.DraftFile{{Kind: workspace.EditFile, Path: out.Path, Base: c.file, Edits: out.Edits}},
		Relaxed:     res.Relaxed(), OutOfRegion: out.OutOfRegion, Truncated: c.truncated, Repairs: c.repair,
		Hunks: c.hunks(out),
	}
	if d.Description == "" {
		d.Description = fmt.Sprintf("Fix %d incidents in %s", len(c.batch), c.file.Path)
	}
	return d
}

// category is the farthest that any of the incidents says of itself.
func category(list []incidents.Incident) agent.Category {
	var out agent.Category
	order := []agent.Category{agent.Mechanical, agent.Local, agent.CrossFile}
	for _, in := range list {
		c := agent.Category(in.Category)
		if !slices.Contains(order, c) {
			c = agent.Local
		}
		if slices.Index(order, c) > slices.Index(order, out) {
			out = c
		}
	}
	return out
}

// hunks groups edits that belong together: those of one region of the prompt, or
// where there are none those that lie close. Each incident belongs to the hunk
// that is nearest to it; a hunk of none is upkeep that the others need.
func (c *conversation) hunks(out edit.FileResult) []rules.Hunk {
	type group struct {
		region int
		edits  []workspace.Edit
		ids    []string
		rule   string
	}
	var groups []*group
	for _, e := range out.Edits {
		region := slices.IndexFunc(c.prompt.Regions, func(s edit.Span) bool { return s.Start <= e.Start && e.End <= s.End })
		if n := len(groups); n > 0 {
			last := groups[n-1]
			between := c.file.Text[last.edits[len(last.edits)-1].End:e.Start]
			if region >= 0 && region == last.region || region < 0 && last.region < 0 && strings.Count(string(between), "\n") < 5 {
				last.edits = append(last.edits, e)
				continue
			}
		}
		groups = append(groups, &group{region: region, edits: []workspace.Edit{e}})
	}
	for _, in := range c.batch {
		nearest := slices.MinFunc(groups, func(a, b *group) int {
			return cmp.Compare(distance(a.edits, in.Span), distance(b.edits, in.Span))
		})
		nearest.ids = append(nearest.ids, in.ID)
		nearest.rule = in.RuleID
	}
	var hunks []rules.Hunk
	for _, g := range groups {
		ids := g.ids
		if ids == nil {
			ids = []string{}
		}
		hunks = append(hunks, rules.Hunk{Path: out.Path, Edits: g.edits, IncidentIDs: ids, RuleID: g.rule})
	}
	return hunks
}

// distance returns how far an incident is from some edits, in bytes.
func distance(edits []workspace.Edit, at incidents.Span) int {
	best := -1
	for _, e := range edits {
		d := 0
		switch {
		case at.Start > e.End:
			d = at.Start - e.End
		case e.Start > at.End:
			d = e.Start - at.End
		}
		if best < 0 || d < best {
			best = d
		}
	}
	return best
}
