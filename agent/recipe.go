package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// fixFile works off one job: recipes first, the model with what they leave.
func (f *Fixer) fixFile(ctx context.Context, task Task, job fileJob) (fileResult, error) {
	if err := ctx.Err(); err != nil {
		return fileResult{}, err
	}
	file, err := task.Workspace.Read(job.path)
	if err != nil {
		return leaveAll(job.incidents, Skipped, rules.RefusedUnsafe, err.Error()), nil
	}
	if err := workspace.CheckEditable(file.Path, file.Text); err != nil {
		return leaveAll(job.incidents, Skipped, rules.RefusedEncoding, err.Error()), nil
	}
	if class := task.Workspace.Classify(file.Path); class.Class == workspace.ReadOnlyFile || class.Class == workspace.Denied {
		return leaveAll(job.incidents, Skipped, rules.RefusedUnsafe, fmt.Sprintf("%s is not changed: %s", file.Path, class.Why)), nil
	}
	var result fileResult
	left := leaveAll(job.incidents, Skipped, rules.RefusedNoFix, "no recipe was asked for").leftovers
	if task.uses(Recipe) {
		r := &recipe{fixer: f, ctx: ctx, task: task, file: file, job: job}
		if result, err = r.run(); err != nil {
			return fileResult{}, err
		}
		left = result.leftovers
	}
	if f.opts.Model != nil && task.uses(Model) && len(left) > 0 {
		return f.askModel(ctx, task, file, job, result.candidates, left)
	}
	return fileResult{result.candidates, left}, nil
}

func (t Task) uses(e EngineName) bool {
	if len(t.Engines) == 0 {
		return e == Recipe
	}
	return slices.Contains(t.Engines, e)
}

func leaveAll(list []incidents.Incident, v Verdict, kind rules.RefusalKind, reason string) fileResult {
	var r fileResult
	for _, in := range list {
		r.leftovers = append(r.leftovers, Leftover{in.ID, v, kind, reason})
	}
	return r
}

// A part is the smallest thing that a recipe's candidate can be made with or
// without: a rule's match, or a fix that an incident's source offers.
type part struct {
	match   *rules.Match
	offered *rules.Hunk
	ids     []string // the incidents that it fixes
}

// recipe is the recipes' work on one file.
type recipe struct {
	fixer *Fixer
	ctx   context.Context
	task  Task
	file  *workspace.File
	tree  *treesitter.Tree
	job   fileJob

	leftovers   map[string]Leftover // by incident
	inspections int
}

// maxInspections bounds how often a candidate is taken apart to find the part
// that does not pass.
const maxInspections = 200

func (r *recipe) run() (fileResult, error) {
	r.leftovers = map[string]Leftover{}
	if lang := treesitter.ForPath(r.file.Path); lang != nil {
		tree, err := treesitter.Parse(r.ctx, lang, r.file.Text)
		if err != nil {
			if r.ctx.Err() != nil {
				return fileResult{}, r.ctx.Err()
			}
			return leaveAll(r.job.incidents, Skipped, rules.RefusedUnsafe, err.Error()), nil
		}
		r.tree = tree
	}
	parts, sets, err := r.collect()
	if err != nil {
		return fileResult{}, err
	}
	var result fileResult
	if len(parts) > 0 {
		_, c, err := r.keep(nil, parts)
		if err != nil {
			return fileResult{}, err
		}
		if c != nil {
			result.candidates = append(result.candidates, *c)
		}
	}
	for _, d := range sets {
		c, flaws, err := r.fixer.Inspect(r.ctx, r.task.Workspace, d)
		if err != nil {
			return fileResult{}, err
		}
		if len(flaws) > 0 {
			r.leave(d.Incidents[0].ID, Unfixed, kindOf(flaws), errorsOf(flaws))
			continue
		}
		result.candidates = append(result.candidates, c)
	}
	r.account(&result)
	return result, nil
}

// account adds the leftovers, in the order of the file, and sees to it that no
// incident is lost.
func (r *recipe) account(result *fileResult) {
	fixed := map[string]bool{}
	for _, c := range result.candidates {
		for _, id := range c.IncidentIDs {
			fixed[id] = true
		}
	}
	for _, in := range r.job.incidents {
		if fixed[in.ID] {
			continue
		}
		left, ok := r.leftovers[in.ID]
		if !ok {
			left = Leftover{in.ID, Unfixed, rules.RefusedUnsafe, "the rule's fix for it does not touch it"}
		}
		result.leftovers = append(result.leftovers, left)
	}
}

func (r *recipe) leave(id string, v Verdict, kind rules.RefusalKind, reason string) {
	if _, ok := r.leftovers[id]; !ok {
		r.leftovers[id] = Leftover{id, v, kind, reason}
	}
}

// collect finds what can be done about each incident: the parts of this file's
// candidate, and the drafts that span several files.
func (r *recipe) collect() (parts []part, sets []Draft, err error) {
	same := map[string]int{} // fix → index in parts: two sources may report one place
	add := func(key string, p part) {
		if i, ok := same[key]; ok {
			parts[i].ids = append(parts[i].ids, p.ids...)
			return
		}
		same[key] = len(parts)
		parts = append(parts, p)
	}
	mapper := workspace.NewMapper(r.file.Text, workspace.UTF16)
	for _, in := range r.job.incidents {
		bound := r.fixer.opts.Rules.ForIncident(in)
		matches, err := r.fixer.opts.Rules.Match(r.ctx, r.file, r.tree, in)
		if err != nil {
			return nil, nil, err
		}
		found := false
		for _, m := range matches {
			if r.task.Alternate >= len(m.Fixes) {
				continue
			}
			found = true
			m.Incident.ID = in.ID
			m.Fixes = append([]rules.Fix{m.Fixes[r.task.Alternate]}, slices.Delete(slices.Clone(m.Fixes), r.task.Alternate, r.task.Alternate+1)...)
			add(fmt.Sprint(m.Fixes[0].Edits), part{match: &m, ids: []string{in.ID}})
		}
		switch {
		case found:
		case r.task.Alternate < len(in.Fixes):
			r.offer(in, mapper, add, &sets)
		case len(bound) == 0:
			r.leave(in.ID, Skipped, rules.RefusedNoFix, fmt.Sprintf("no rule has a fix for %s", cmp.Or(in.RuleID, "an incident without a rule")))
		case len(matches) == 0:
			r.leave(in.ID, Skipped, rules.RefusedNoFix, fmt.Sprintf("rule %s no longer matches here", bound[0].ID))
		case r.task.Alternate > 0:
			r.leave(in.ID, Skipped, rules.RefusedNoFix, fmt.Sprintf("rule %s has no alternative %d", bound[0].ID, r.task.Alternate))
		default:
			r.leave(in.ID, Skipped, rules.RefusedNoFix, noFix(bound[0]))
		}
	}
	return parts, sets, nil
}

// noFix says that a rule only finds, and in its own words why.
func noFix(rule *rules.Rule) string {
	reason := fmt.Sprintf("rule %s finds it but has no fix", rule.ID)
	if rule.Note != "" {
		reason += ": " + strings.TrimSpace(rule.Note)
	}
	return reason
}

// offer takes up the fix that an incident's source offers: a part where it
// stays in this file, a draft of its own where it does not.
func (r *recipe) offer(in incidents.Incident, mapper *workspace.Mapper, add func(string, part), sets *[]Draft) {
	fix := in.Fixes[r.task.Alternate]
	byPath := map[string][]workspace.Edit{}
	bases := map[string]*workspace.File{r.file.Path: r.file}
	mappers := map[string]*workspace.Mapper{r.file.Path: mapper}
	for _, e := range fix.Edits {
		path, err := r.task.Workspace.Rel(cmp.Or(e.FilePath, r.file.Path))
		if err == nil && bases[path] == nil {
			if bases[path], err = r.task.Workspace.Read(path); err == nil {
				mappers[path] = workspace.NewMapper(bases[path].Text, workspace.UTF16)
			}
		}
		if err != nil {
			r.leave(in.ID, Skipped, rules.RefusedUnsafe, "its source's fix cannot be used: "+err.Error())
			return
		}
		m := mappers[path]
		byPath[path] = append(byPath[path], workspace.Edit{
			Start: m.Offset(e.Range.Start), End: m.Offset(e.Range.End), New: e.NewText})
	}
	if len(byPath) == 0 {
		r.leave(in.ID, Skipped, rules.RefusedNoFix, "its source's fix has no edits")
		return
	}
	hunk := func(path string) rules.Hunk {
		return rules.Hunk{Path: path, Edits: byPath[path], IncidentIDs: []string{in.ID}, RuleID: in.RuleID}
	}
	if len(byPath) == 1 && byPath[r.file.Path] != nil {
		h := hunk(r.file.Path)
		add(fmt.Sprint(h.Edits), part{offered: &h, ids: []string{in.ID}})
		return
	}
	d := Draft{Engine: Recipe, Incidents: []incidents.Incident{in}, RuleIDs: []string{in.RuleID}, Description: cmp.Or(fix.Title, describe([]incidents.Incident{in}, r.file.Path)), Category: CrossFile}
	paths := make([]string, 0, len(byPath))
	for p := range byPath {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		d.Files = append(d.Files, DraftFile{Kind: workspace.EditFile, Path: p, Base: bases[p], Edits: byPath[p]})
		d.Hunks = append(d.Hunks, hunk(p))
	}
	*sets = append(*sets, d)
}

// keep returns the parts that pass the gate together with those of accepted,
// which do already, and their candidate. What does not pass is halved until the
// part that is to blame is found; it becomes a leftover.
func (r *recipe) keep(accepted, parts []part) ([]part, *Candidate, error) {
	all := slices.Concat(accepted, parts)
	c, flaws, err := r.inspect(all)
	switch {
	case err != nil:
		return nil, nil, err
	case len(flaws) == 0:
		return all, c, nil
	case len(parts) == 1 || r.inspections >= maxInspections:
		for _, p := range parts {
			for _, id := range p.ids {
				r.leave(id, Unfixed, kindOf(flaws), errorsOf(flaws))
			}
		}
		if len(accepted) == 0 {
			return nil, nil, nil
		}
		c, _, err := r.inspect(accepted)
		return accepted, c, err
	}
	half := len(parts) / 2
	kept, _, err := r.keep(accepted, parts[:half])
	if err != nil {
		return nil, nil, err
	}
	return r.keep(kept, parts[half:])
}

// inspect makes a candidate of parts. It is nil, without a flaw, where the
// rules refuse all of them.
func (r *recipe) inspect(parts []part) (*Candidate, []Flaw, error) {
	r.inspections++
	d, err := r.draft(parts)
	if err != nil || len(d.Hunks) == 0 {
		return nil, nil, err
	}
	c, flaws, err := r.fixer.Inspect(r.ctx, r.task.Workspace, d)
	if err != nil || len(flaws) > 0 {
		return nil, flaws, err
	}
	return &c, nil, nil
}

// draft lets the rules rewrite the file for parts, and adds the fixes that
// sources offer where they do not overlap.
func (r *recipe) draft(parts []part) (Draft, error) {
	var matches []rules.Match
	also := map[string][]string{} // further incidents of a match
	category := Mechanical
	for _, p := range parts {
		if p.match != nil {
			matches = append(matches, *p.match)
			also[p.ids[0]] = p.ids[1:]
			category = wider(category, categoryOf(p.match.Rule.Category))
		} else {
			category = wider(category, Local)
		}
	}
	var hunks []rules.Hunk
	if len(matches) > 0 {
		rw, err := r.fixer.opts.Rules.Rewrite(r.ctx, r.file, r.tree, matches)
		if err != nil {
			return Draft{}, err
		}
		for _, no := range rw.Refused {
			for _, id := range append([]string{no.IncidentID}, also[no.IncidentID]...) {
				r.leave(id, Skipped, no.Kind, no.Detail)
			}
		}
		for _, h := range rw.Hunks {
			ids := slices.Clone(h.IncidentIDs)
			for _, id := range h.IncidentIDs {
				for _, other := range also[id] {
					if !slices.Contains(ids, other) {
						ids = append(ids, other)
					}
				}
			}
			h.IncidentIDs = ids
			hunks = append(hunks, h)
		}
	}
	for _, p := range parts {
		if p.offered == nil {
			continue
		}
		if i := slices.IndexFunc(hunks, func(h rules.Hunk) bool { return overlap(h.Edits, p.offered.Edits) }); i >= 0 {
			for _, id := range p.ids {
				r.leave(id, Skipped, rules.RefusedOverlap, fmt.Sprintf("the fix of its source overlaps that of rule %s; fix it again after that one is applied", hunks[i].RuleID))
			}
			continue
		}
		h := *p.offered
		h.IncidentIDs = slices.Clone(p.ids)
		hunks = append(hunks, h)
	}
	slices.SortStableFunc(hunks, func(a, b rules.Hunk) int { return cmp.Compare(first(a.Edits), first(b.Edits)) })
	return r.assemble(hunks, category), nil
}

// assemble makes the draft of this file from its hunks.
func (r *recipe) assemble(hunks []rules.Hunk, category Category) Draft {
	d := Draft{Engine: Recipe, Category: category, Hunks: hunks}
	claimed := map[string]bool{}
	var edits []workspace.Edit
	for _, h := range hunks {
		edits = append(edits, h.Edits...)
		for _, id := range h.IncidentIDs {
			claimed[id] = true
		}
		if h.RuleID != "" && !slices.Contains(d.RuleIDs, h.RuleID) {
			d.RuleIDs = append(d.RuleIDs, h.RuleID)
		}
	}
	for _, in := range r.job.incidents {
		if claimed[in.ID] {
			d.Incidents = append(d.Incidents, in)
		}
	}
	d.Description = describe(d.Incidents, r.file.Path)
	d.Files = []DraftFile{{Kind: workspace.EditFile, Path: r.file.Path, Base: r.file, Edits: edits}}
	return d
}

func first(edits []workspace.Edit) int {
	at := 0
	for i, e := range edits {
		if i == 0 || e.Start < at {
			at = e.Start
		}
	}
	return at
}

// overlap reports whether an edit of a and one of b cannot both be applied.
// Two insertions at one place could, in either order, so neither is safe.
func overlap(a, b []workspace.Edit) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Start < y.End && y.Start < x.End || x.Start == y.Start {
				return true
			}
		}
	}
	return false
}

func wider(a, b Category) Category {
	order := []Category{Mechanical, Local, CrossFile}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// kindOf names the first flaw's check as a refusal.
func kindOf(flaws []Flaw) rules.RefusalKind {
	switch flaws[0].Check {
	case CheckParse:
		return rules.RefusedParse
	case CheckRule:
		return rules.RefusedStillMatches
	}
	return rules.RefusedUnsafe
}

// describe says in one line what a candidate for these incidents does.
func describe(list []incidents.Incident, path string) string {
	if len(list) == 0 {
		return "Change " + path
	}
	if len(list) == 1 {
		text, _, _ := strings.Cut(cmp.Or(list[0].Message, list[0].Description, list[0].RuleID), "\n")
		return text
	}
	var ids []string
	for _, in := range list {
		if !slices.Contains(ids, in.RuleID) {
			ids = append(ids, in.RuleID)
		}
	}
	if len(ids) == 1 {
		return fmt.Sprintf("Fix %s of %s in %s", plural(len(list), "incident"), ids[0], path)
	}
	return fmt.Sprintf("Fix %s of %s in %s", plural(len(list), "incident"), plural(len(ids), "rule"), path)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// askModel gives the model what the recipes left of a file.
func (f *Fixer) askModel(ctx context.Context, task Task, file *workspace.File, job fileJob, done []Candidate, left []Leftover) (fileResult, error) {
	var r fileResult
	r.candidates = done
	next, edits, err := applied(file, done)
	if err != nil {
		return fileResult{}, err
	}
	mj := ModelJob{Workspace: task.Workspace, File: next, Context: task.Context, Comment: task.Comment, Stream: task.Stream,
		Inspect: func(ctx context.Context, d Draft) (Candidate, []Flaw, error) {
			return f.Inspect(ctx, task.Workspace, d)
		}}
	byID := map[string]Leftover{}
	for _, l := range left {
		byID[l.IncidentID] = l
	}
	for _, in := range Relocate(job.incidents, file.Text, next.Text, edits) {
		l, ok := byID[in.ID]
		switch {
		case !ok:
		case l.Kind == rules.RefusedGenerated || l.Kind == rules.RefusedEncoding:
			r.leftovers = append(r.leftovers, l) // not to be edited by anybody
		default:
			mj.Incidents = append(mj.Incidents, in)
			mj.Leftovers = append(mj.Leftovers, l)
		}
	}
	if len(mj.Incidents) == 0 {
		return r, nil
	}
	candidates, more, err := f.opts.Model.Fix(ctx, mj)
	if err != nil {
		if ctx.Err() != nil {
			return fileResult{}, ctx.Err()
		}
		for _, in := range mj.Incidents {
			r.leftovers = append(r.leftovers, Leftover{in.ID, Failed, rules.RefusedNoFix, "the model could not be used: " + err.Error()})
		}
		return r, nil
	}
	r.candidates = append(slices.Clone(r.candidates), candidates...)
	r.leftovers = append(r.leftovers, more...)
	said := map[string]bool{}
	for _, c := range candidates {
		for _, id := range c.IncidentIDs {
			said[id] = true
		}
	}
	for _, l := range more {
		said[l.IncidentID] = true
	}
	for _, in := range mj.Incidents {
		if !said[in.ID] {
			r.leftovers = append(r.leftovers, Leftover{in.ID, Unfixed, rules.RefusedNoFix, "the model proposed nothing for it"})
		}
	}
	return r, nil
}
