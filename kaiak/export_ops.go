package kaiak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// SessionDiffParams are the params of session.diff.
type SessionDiffParams struct {
	SessionID string `json:"session_id"`
	Status    string `json:"status,omitempty" jsonschema:"description=applied (default)\\, or pending for what is proposed"`
}

// SessionDiffResult is the result of session.diff.
type SessionDiffResult struct {
	Diff  string   `json:"diff"` // unified, one proposal after the other
	Files []string `json:"files"`
}

func sessionDiff(ctx context.Context, c *Client, p SessionDiffParams) (SessionDiffResult, error) {
	if _, err := c.service.session(ctx, p.SessionID, true); err != nil {
		return SessionDiffResult{}, err
	}
	states := []string{ProposalApplied, ProposalAppliedUnsaved}
	switch p.Status {
	case "", "applied":
	case "pending":
		states = []string{ProposalPending}
	default:
		return SessionDiffResult{}, Errorf(InvalidParams, "params.status must be applied or pending, not %q", p.Status).With("member", "params.status")
	}
	return c.service.diff(ctx, p.SessionID, states)
}

// diff is the unified diff of a session's proposals in some states.
func (s *Service) diff(ctx context.Context, sessionID string, states []string) (SessionDiffResult, error) {
	list, err := s.proposals(ctx, store.Filter{SessionID: sessionID, States: states})
	if err != nil {
		return SessionDiffResult{}, err
	}
	result := SessionDiffResult{Files: []string{}}
	var b strings.Builder
	for _, p := range list {
		changes := p.data.Candidate.Changes
		if p.data.Applied != nil {
			changes = p.data.Applied.Changes
		}
		for _, ch := range changes {
			before, after, err := s.texts(ctx, ch)
			if err != nil {
				return result, err
			}
			b.WriteString(workspace.Diff(ch.Path, before, after))
			if !slices.Contains(result.Files, ch.Path) {
				result.Files = append(result.Files, ch.Path)
			}
		}
	}
	slices.Sort(result.Files)
	result.Diff = b.String()
	return result, nil
}

// texts returns a change's file before and after; nil where there is none.
func (s *Service) texts(ctx context.Context, ch workspace.Change) (before, after []byte, err error) {
	if ch.Kind == workspace.CreateFile {
		return nil, ch.Text, nil
	}
	if before, err = s.store.Blob(ctx, ch.BaseSHA256); err != nil || ch.Kind == workspace.DeleteFile {
		return before, nil, err
	}
	after, err = workspace.ApplyEdits(before, ch.Edits)
	return before, after, err
}

// SessionExportParams are the params of session.export.
type SessionExportParams struct {
	SessionID string `json:"session_id"`
	Format    string `json:"format" jsonschema:"enum=json,enum=jsonl,enum=patch,enum=markdown,enum=sarif,enum=html"`
}

// SessionExportResult is the result of session.export.
type SessionExportResult struct {
	Format    string `json:"format"`
	MediaType string `json:"media_type"`
	Content   string `json:"content"`
}

// exported is what an export is made of.
type exported struct {
	Session   SessionStatusResult `json:"session"`
	Incidents []IncidentRow       `json:"incidents"`
	Proposals []ProposalView      `json:"proposals"`
	Events    []StoredEvent       `json:"events"`
	Diff      string              `json:"diff"` // of what was applied
}

// exporters write an export in each format.
var exporters = map[string]struct {
	mediaType string
	write     func(ctx context.Context, s *Service, e exported) (string, error)
}{
	"json":     {"application/json", func(_ context.Context, _ *Service, e exported) (string, error) { return indentJSON(e) }},
	"jsonl":    {"application/x-ndjson", exportLines},
	"patch":    {"text/x-diff", func(_ context.Context, _ *Service, e exported) (string, error) { return e.Diff, nil }},
	"markdown": {"text/markdown", exportMarkdown},
	"sarif":    {"application/sarif+json", exportSARIF},
	"html":     {"text/html", exportHTML},
}

func sessionExport(ctx context.Context, c *Client, p SessionExportParams) (SessionExportResult, error) {
	format, ok := exporters[p.Format]
	if !ok {
		return SessionExportResult{}, Errorf(InvalidParams, "params.format must be one of %s, not %q", strings.Join(sortedKeys(exporters), ", "), p.Format).With("member", "params.format")
	}
	s, err := c.service.session(ctx, p.SessionID, true)
	if err != nil {
		return SessionExportResult{}, err
	}
	e := exported{Incidents: []IncidentRow{}, Proposals: []ProposalView{}, Events: []StoredEvent{}}
	if e.Session, err = s.view(ctx); err != nil {
		return SessionExportResult{}, err
	}
	rows, err := c.service.sessionRows(ctx, s.id)
	if err != nil {
		return SessionExportResult{}, err
	}
	e.Incidents = append(e.Incidents, rows...)
	list, err := c.service.proposals(ctx, store.Filter{SessionID: s.id})
	if err != nil {
		return SessionExportResult{}, err
	}
	for _, q := range list {
		e.Proposals = append(e.Proposals, c.service.proposalView(s.space, q))
	}
	events, err := c.service.store.Events(ctx, s.id, 0, "", 0)
	if err != nil {
		return SessionExportResult{}, err
	}
	for _, ev := range events {
		e.Events = append(e.Events, StoredEvent{ev.Method, ev.Data})
	}
	diff, err := c.service.diff(ctx, s.id, []string{ProposalApplied, ProposalAppliedUnsaved})
	if err != nil {
		return SessionExportResult{}, err
	}
	e.Diff = diff.Diff
	content, err := format.write(ctx, c.service, e)
	return SessionExportResult{p.Format, format.mediaType, content}, err
}

func indentJSON(v any) (string, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	return string(raw) + "\n", err
}

func exportLines(_ context.Context, _ *Service, e exported) (string, error) {
	var b strings.Builder
	for _, ev := range e.Events {
		b.Write(mustJSON(ev))
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// exportSARIF writes the incidents that are left, with their proposals' states.
func exportSARIF(ctx context.Context, s *Service, e exported) (string, error) {
	recs, _, err := s.store.List(ctx, store.Requests, store.Filter{SessionID: e.Session.SessionID})
	if err != nil {
		return "", err
	}
	state := map[string]IncidentRow{}
	for _, row := range e.Incidents {
		state[row.IncidentID] = row
	}
	seen := map[string]bool{}
	var list []incidents.Incident
	for _, rec := range recs {
		var d requestData
		if err := json.Unmarshal(rec.Data, &d); err != nil {
			return "", err
		}
		for _, in := range d.Incidents {
			if seen[in.ID] || state[in.ID].State == "fixed" {
				continue
			}
			seen[in.ID] = true
			list = append(list, in)
		}
	}
	var b bytes.Buffer
	err = incidents.WriteSARIF(&b, list, incidents.SARIFTool{Name: "kaiak", Version: s.opts.Version})
	return b.String(), err
}

// exportMarkdown writes a report. Nothing of the workspace can leave its place
// in it: texts stand in code spans or in a fence longer than any in them.
func exportMarkdown(_ context.Context, _ *Service, e exported) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s\n\n", codeSpan(first(e.Session.SessionName, e.Session.SessionID)))
	fmt.Fprintf(&b, "Workspace %s, status %s, %s.\n\n", codeSpan(e.Session.WorkspacePath), e.Session.Status, countOf(len(e.Incidents), "incident"))
	b.WriteString("| Incident | Rule | File | State | Why |\n|---|---|---|---|---|\n")
	for _, row := range e.Incidents {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", codeSpan(row.IncidentID), codeSpan(row.RuleID), codeSpan(fmt.Sprintf("%s:%d", row.FilePath, row.LineNumber)), row.State, codeSpan(row.Reason))
	}
	if e.Diff != "" {
		fence := "```"
		for strings.Contains(e.Diff, fence) {
			fence += "`"
		}
		fmt.Fprintf(&b, "\n## Applied\n\n%sdiff\n%s%s\n", fence, e.Diff, fence)
	}
	return b.String(), nil
}

// codeSpan writes text so that Markdown, and a table's columns, leave it alone.
func codeSpan(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(text, "|", "¦")
	tick := "`"
	for strings.Contains(text, tick) {
		tick += "`"
	}
	if len(tick) > 1 {
		return tick + " " + text + " " + tick
	}
	return tick + text + tick
}

var htmlReport = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Kaiak session</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:14px/1.5 sans-serif;margin:2em;max-width:70em}td,th{text-align:left;padding:.2em .8em;border-bottom:1px solid #ccc}pre{background:#f4f4f4;padding:1em;overflow:auto}</style>
</head><body>
<h1>Session {{.Session.SessionName}}</h1>
<p>{{.Session.WorkspacePath}}: {{.Session.Status}}</p>
<table><tr><th>Incident<th>Rule<th>File<th>State<th>Why</tr>
{{range .Incidents}}<tr><td>{{.IncidentID}}<td>{{.RuleID}}<td>{{.FilePath}}:{{.LineNumber}}<td>{{.State}}<td>{{.Reason}}</tr>
{{end}}</table>
{{if .Diff}}<h2>Applied</h2><pre>{{.Diff}}</pre>{{end}}
</body></html>
`))

func exportHTML(_ context.Context, _ *Service, e exported) (string, error) {
	var b strings.Builder
	err := htmlReport.Execute(&b, e)
	return b.String(), err
}
