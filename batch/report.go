package batch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kaiak/kaiak/incidents"
)

// Verdict is what became of an incident.
type Verdict string

// The verdicts.
const (
	Fixed     Verdict = "fixed"
	Partial   Verdict = "partial"
	Unfixed   Verdict = "unfixed"
	Regressed Verdict = "regressed"
	Skipped   Verdict = "skipped"
	Failed    Verdict = "failed"
)

// verdicts lists them in the order of a summary.
var verdicts = []Verdict{Fixed, Partial, Unfixed, Regressed, Skipped, Failed}

// A Report is what a run came to.
type Report struct {
	BatchID    string    `json:"batch_id"`
	SessionID  string    `json:"session_id"`
	Workspace  string    `json:"workspace"`
	Mode       string    `json:"mode"` // "dry-run" or "apply"
	Approve    Policy    `json:"approve"`
	StartedAt  time.Time `json:"started_at"` // of the run that was resumed, where one was
	FinishedAt time.Time `json:"finished_at"`
	Complete   bool      `json:"complete"` // false: paused; --resume continues it

	Totals    Totals   `json:"totals"`
	Incidents []Row    `json:"incidents"` // in the order of file, line, rule and id
	Problems  []string `json:"problems"`  // records of the input that could not be read, rules that could not be loaded
	Notes     []string `json:"notes"`     // files that were skipped
}

// Totals counts rows by verdict.
type Totals struct {
	Incidents int             `json:"incidents"`
	Proposed  int             `json:"proposed"` // have a proposal, applied or not
	Verdicts  map[Verdict]int `json:"verdicts"`
	Files     int             `json:"files"` // that were changed; in a dry run: would be
}

// A Row is one incident of the report.
type Row struct {
	IncidentID string    `json:"incident_id"`
	RuleID     string    `json:"rule_id"`
	FilePath   string    `json:"file_path"`
	LineNumber int       `json:"line_number"` // 1-based, where it was found; 0: the whole file
	Verdict    Verdict   `json:"verdict"`
	Reason     string    `json:"reason,omitempty"` // why it is not fixed
	Engine     string    `json:"engine,omitempty"` // "recipe" or "model"
	ProposalID string    `json:"proposal_id,omitempty"`
	Confidence float64   `json:"confidence,omitempty"`
	Evidence   *Evidence `json:"evidence,omitempty"`
	Files      []string  `json:"files"` // of the proposal

	approved bool // the policy approves its proposal
}

// The exit codes of `kaiak batch`.
const (
	ExitFixed       = 0 // every incident is fixed; in a dry run: has a fix that the policy approves
	ExitLeft        = 1 // some are not
	ExitCouldNotRun = 2 // the run could not begin or broke off
	ExitPaused      = 3 // interrupted or out of budget; --resume continues it
)

// ExitCode returns the exit code for a report without an error.
func (r *Report) ExitCode() int {
	if !r.Complete {
		return ExitPaused
	}
	for i := range r.Incidents {
		if row := &r.Incidents[i]; row.Verdict != Fixed && !(r.Mode == modeDryRun && row.approved) {
			return ExitLeft
		}
	}
	return ExitFixed
}

const (
	modeDryRun = "dry-run"
	modeApply  = "apply"
)

// Write writes the report as JSON.
func (r *Report) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Summary is the report in one line, for people.
func (r *Report) Summary() string {
	if r.Totals.Incidents == 0 {
		return "no incidents"
	}
	text := fmt.Sprintf("%s: ", plural(r.Totals.Incidents, "incident"))
	if r.Mode == modeDryRun {
		text += fmt.Sprintf("%d with a fix in %s, nothing was written", r.Totals.Proposed, plural(r.Totals.Files, "file"))
		if rest := r.Totals.Incidents - r.Totals.Proposed; rest > 0 {
			text += fmt.Sprintf("; %d without", rest)
		}
		return text
	}
	first := true
	for _, v := range verdicts {
		if n := r.Totals.Verdicts[v]; n > 0 {
			if !first {
				text += ", "
			}
			text += fmt.Sprintf("%d %s", n, v)
			first = false
		}
	}
	return text + fmt.Sprintf("; %s changed", plural(r.Totals.Files, "file"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// row makes the report's row of an incident from where the server says it
// stands and from its proposal, if there is one.
func (b *run) row(in *incidents.Incident, at incidentRow, q *proposal) Row {
	row := Row{
		IncidentID: in.ID, RuleID: in.RuleID, FilePath: in.FilePath, LineNumber: in.LineNumber,
		Engine: at.Engine, ProposalID: at.ProposalID, Reason: at.Reason, Files: []string{},
	}
	if q != nil {
		row.Evidence, row.Confidence, row.Files = &q.Evidence, q.Confidence, q.FilePaths
		row.approved, _ = b.record.Approve.approves(q)
	}
	switch v := Verdict(at.State); {
	case slices.Contains(verdicts, v):
		row.Verdict = v
	case at.State == "proposed" && !b.record.Apply:
		row.Verdict, row.Reason = Unfixed, "dry run: a fix is proposed and was not applied"
	case at.State == "proposed":
		row.Verdict = Skipped
		if why, ok := b.refused[at.ProposalID]; ok {
			row.Verdict, row.Reason = why.verdict, why.reason
		} else if q != nil {
			_, row.Reason = b.record.Approve.approves(q)
		}
	default:
		row.Verdict = Skipped
		if row.Reason == "" {
			row.Reason = "the run ended before this incident's turn"
		}
	}
	return row
}

func (r *Report) finish() {
	slices.SortFunc(r.Incidents, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.FilePath, b.FilePath), cmp.Compare(a.LineNumber, b.LineNumber),
			cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.IncidentID, b.IncidentID))
	})
	files := map[string]bool{}
	r.Totals = Totals{Incidents: len(r.Incidents), Verdicts: map[Verdict]int{}}
	for _, v := range verdicts {
		r.Totals.Verdicts[v] = 0
	}
	for _, row := range r.Incidents {
		r.Totals.Verdicts[row.Verdict]++
		if row.ProposalID != "" {
			r.Totals.Proposed++
		}
		changed := row.Verdict == Fixed || row.Verdict == Partial || row.Verdict == Regressed
		if changed || r.Mode == modeDryRun && row.ProposalID != "" {
			for _, f := range row.Files {
				files[f] = true
			}
		}
	}
	r.Totals.Files = len(files)
	r.FinishedAt = time.Now().UTC()
}
