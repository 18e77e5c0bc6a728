package kaiak

import (
	"context"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
)

// IncidentListParams are the params of incident.list.
type IncidentListParams struct {
	SessionID     string           `json:"session_id,omitempty"`
	WorkspacePath string           `json:"workspace_path,omitempty" jsonschema:"description=Instead of session_id"`
	FilePath      string           `json:"file_path,omitempty"`
	RuleID        string           `json:"rule_id,omitempty"`
	Severity      string           `json:"severity,omitempty"`
	Source        string           `json:"source,omitempty"`
	Filter        incidents.Filter `json:"filter,omitzero" jsonschema:"description=Several values of each at once"`
	Cursor        string           `json:"cursor,omitempty"`
	Limit         int              `json:"limit,omitempty"`
}

// IncidentListResult is the result of incident.list.
type IncidentListResult struct {
	Incidents []incidents.Incident `json:"incidents"`
	Total     int                  `json:"total"` // that the filter selects
	Cursor    string               `json:"cursor,omitempty"`
	Counts    incidents.Counts     `json:"counts"` // of what the filter selects
}

// spaceOf returns the workspace that params name by a session or a path. The
// caller calls done when it is finished with it.
func (c *Client) spaceOf(ctx context.Context, sessionID, path string) (sp *space, done func(), err error) {
	if sessionID != "" {
		s, err := c.service.session(ctx, sessionID, true)
		if err != nil {
			return nil, nil, err
		}
		return s.space, func() {}, nil
	}
	if path == "" {
		if folders := c.folderSpaces(); len(folders) == 1 {
			return folders[0], func() {}, nil
		}
		return nil, nil, Errorf(InvalidParams, "params.session_id or params.workspace_path is missing").With("member", "params.workspace_path")
	}
	sp, err = c.service.openSpace(ctx, path, c)
	if err != nil {
		return nil, nil, err
	}
	return sp, func() { c.service.releaseSpace(sp) }, nil
}

func incidentList(ctx context.Context, c *Client, p IncidentListParams) (IncidentListResult, error) {
	limit, err := page(p.Limit, 500)
	if err != nil {
		return IncidentListResult{}, err
	}
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return IncidentListResult{}, err
	}
	defer done()
	f := p.Filter
	if p.FilePath != "" {
		path, err := sp.ws.Rel(p.FilePath)
		if err != nil {
			return IncidentListResult{}, Errorf(InvalidParams, "params.file_path cannot be used: %w", err).With("member", "params.file_path")
		}
		f.Paths = append(f.Paths, path)
	}
	if p.RuleID != "" {
		f.RuleIDs = append(f.RuleIDs, p.RuleID)
	}
	if p.Severity != "" {
		f.Severities = append(f.Severities, incidents.Severity(p.Severity))
	}
	if p.Source != "" {
		f.Sources = append(f.Sources, p.Source)
	}
	found, err := sp.index.Query(f, p.Cursor, limit)
	if err != nil {
		return IncidentListResult{}, Errorf(InvalidParams, "params: %w", err)
	}
	counts, err := sp.index.Count(f)
	return IncidentListResult{found.Incidents, found.Total, found.Next, counts}, err
}

// IncidentIngestParams are the params of incident.ingest: a file of the
// workspace, its content, or incidents.
type IncidentIngestParams struct {
	SessionID     string          `json:"session_id,omitempty"`
	WorkspacePath string          `json:"workspace_path,omitempty"`
	FilePath      string          `json:"file_path,omitempty" jsonschema:"description=An analysis file of the workspace"`
	Content       string          `json:"content,omitempty" jsonschema:"description=The content of an analysis file"`
	Name          string          `json:"name,omitempty" jsonschema:"description=What to call content in messages"`
	Incidents     []IncidentParam `json:"incidents,omitempty"`
}

// IncidentIngestResult is the result of incident.ingest.
type IncidentIngestResult struct {
	Format    string               `json:"format,omitempty"`
	Count     int                  `json:"count"`
	Incidents []incidents.Incident `json:"incidents"`
	Problems  []string             `json:"problems"` // records that were not read, and why
	Hidden    int                  `json:"hidden"`   // results that the input itself calls passed or suppressed
}

func incidentIngest(ctx context.Context, c *Client, p IncidentIngestParams) (IncidentIngestResult, error) {
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return IncidentIngestResult{}, err
	}
	defer done()
	result := IncidentIngestResult{Incidents: []incidents.Incident{}, Problems: []string{}}
	if len(p.Incidents) > 0 {
		list, err := sp.incidentsFrom(p.Incidents)
		if err != nil {
			return result, err
		}
		sp.ingest("kaiak/incident/ingest", list)
		result.Incidents, result.Count = list, len(list)
		return result, nil
	}
	name, text := p.Name, []byte(p.Content)
	switch {
	case p.FilePath != "":
		file, err := sp.ws.Read(p.FilePath)
		if err != nil {
			return result, Errorf(InvalidParams, "params.file_path cannot be read: %w", err).With("member", "params.file_path")
		}
		name, text = file.Path, file.Text
	case p.Content == "":
		return result, Errorf(InvalidParams, "give params.file_path, params.content or params.incidents").With("member", "params.file_path")
	}
	rep, err := sp.read(ctx, name, text)
	if err != nil {
		return result, Errorf(InvalidParams, "the analysis output cannot be read: %w", err)
	}
	sp.ingest(first(name, "kaiak/incident/ingest"), rep.Incidents)
	result.Format, result.Count, result.Hidden, result.Incidents = string(rep.Format), len(rep.Incidents), rep.Hidden, orEmpty(rep.Incidents)
	for _, problem := range rep.Problems {
		result.Problems = append(result.Problems, problem.String())
	}
	return result, nil
}

// ingest replaces what a report has said before. Several reports may speak
// about one file for the same tool; the index then has all of it.
func (sp *space) ingest(report string, list []incidents.Incident) {
	type key struct{ path, source string }
	sp.reporting.Lock()
	defer sp.reporting.Unlock()
	affected := map[key]bool{}
	for _, in := range append(slices.Clone(sp.reports[report]), list...) {
		affected[key{in.FilePath, foreignSource(in)}] = true
	}
	if len(list) == 0 {
		delete(sp.reports, report)
	} else {
		sp.reports[report] = list
	}
	united := map[key][]incidents.Incident{}
	for _, name := range sortedKeys(sp.reports) {
		for _, in := range sp.reports[name] {
			k := key{in.FilePath, foreignSource(in)}
			if affected[k] {
				united[k] = append(united[k], in)
			}
		}
	}
	paths := map[string]bool{}
	for k := range affected {
		sp.index.Replace(k.path, k.source, united[k])
		paths[k.path] = true
	}
	for _, path := range sortedKeys(paths) {
		sp.announce(path)
	}
}

// foreignSource is who an incident that was ingested is from; what our own
// output says came from another run.
func foreignSource(in incidents.Incident) string {
	if in.Source == "" || in.Source == ownSource {
		return "analysis"
	}
	return in.Source
}

// ownSource is the source of what the rules find here.
const ownSource = "kaiak"

// read converts analysis output, with the workspace's texts at hand.
func (sp *space) read(ctx context.Context, name string, text []byte) (*incidents.Report, error) {
	trees := map[string]*treesitter.Tree{}
	return incidents.Read(first(name, "params.content"), text, incidents.Options{
		Root: sp.ws.Dir(),
		Text: func(path string) ([]byte, bool) {
			file, err := sp.ws.Read(path)
			if err != nil {
				return nil, false
			}
			return file.Text, true
		},
		Declaration: func(path string, span incidents.Span) string {
			tree, ok := trees[path]
			if !ok {
				if lang := treesitter.ForPath(path); lang != nil {
					if file, err := sp.ws.Read(path); err == nil {
						tree, _ = treesitter.Parse(ctx, lang, file.Text) // no tree, no declaration
					}
				}
				trees[path] = tree
			}
			if tree == nil {
				return ""
			}
			enclosing, _ := treesitter.Enclosing(tree, span.Start)
			return enclosing.Qualified
		},
	})
}

// IncidentScanParams are the params of incident.scan.
type IncidentScanParams struct {
	SessionID     string   `json:"session_id,omitempty"`
	WorkspacePath string   `json:"workspace_path,omitempty"`
	Paths         []string `json:"paths,omitempty" jsonschema:"description=Files and folders; absent: the whole workspace"`
	RuleIDs       []string `json:"rule_ids,omitempty" jsonschema:"description=Only these rules"`
}

// IncidentScanResult is the result of incident.scan.
type IncidentScanResult struct {
	Incidents []incidents.Incident `json:"incidents"`
	Files     int                  `json:"files"`    // that have incidents
	Notes     []string             `json:"notes"`    // files that were skipped, and why
	Problems  []string             `json:"problems"` // rules that could not be loaded
}

func incidentScan(ctx context.Context, c *Client, p IncidentScanParams) (IncidentScanResult, error) {
	result := IncidentScanResult{Incidents: []incidents.Incident{}, Notes: []string{}, Problems: []string{}}
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return result, err
	}
	defer done()
	var paths []string
	for i, name := range p.Paths {
		rel, err := sp.ws.Rel(name)
		if err != nil {
			return result, Errorf(InvalidParams, "params.paths[%d] cannot be used: %w", i, err).With("member", "params.paths")
		}
		paths = append(paths, rel)
	}
	set, err := sp.rules(ctx)
	if err != nil {
		return result, err
	}
	progress := c.front.Progress(ctx, "Kaiak: scanning", func() {})
	if progress != nil {
		defer progress.End("done")
	}
	err = sp.scan(ctx, set, paths, func(f rules.FileResult) {
		if f.Skipped != nil {
			result.Notes = append(result.Notes, f.Skipped.Error())
		}
		if f.Err != nil {
			result.Notes = append(result.Notes, f.Path+": "+f.Err.Error())
		}
		list := sp.adjust(f.Matches)
		if len(p.RuleIDs) == 0 {
			list = sp.index.Replace(f.Path, ownSource, list)
		}
		if len(list) > 0 {
			result.Files++
		}
		for _, in := range list {
			if len(p.RuleIDs) == 0 || slices.Contains(p.RuleIDs, in.RuleID) {
				result.Incidents = append(result.Incidents, in)
			}
		}
		if progress != nil && len(list) > 0 && result.Files%64 == 0 {
			progress.Report(f.Path, -1)
		}
	})
	sp.mu.Lock()
	for _, problem := range sp.problems {
		result.Problems = append(result.Problems, problem.String())
	}
	sp.mu.Unlock()
	return result, err
}
