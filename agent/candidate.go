package agent

import (
	"context"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// EngineName says what made a candidate.
type EngineName string

// The engines.
const (
	Recipe EngineName = "recipe"
	Model  EngineName = "model"
)

// A Candidate is a validated fix: changes to one or more files that belong
// together, the hunks in which they can be accepted, and the evidence for them.
type Candidate struct {
	IncidentIDs []string           `json:"incident_ids"`
	Engine      EngineName         `json:"engine"`
	RuleIDs     []string           `json:"rule_ids"`
	Category    Category           `json:"category"`    // of the widest rule in it
	Description string             `json:"description"` // one line, what will change
	Changes     []workspace.Change `json:"changes"`
	Hunks       []rules.Hunk       `json:"hunks"`
	Confidence  float64            `json:"confidence"` // see Evidence
	Evidence    Evidence           `json:"evidence"`
}

// Evidence explains Confidence: the checks that were made, and how often fixes
// like this one were kept.
type Evidence struct {
	Scheme string           `json:"scheme"` // "kaiak-conf/1"
	Tier   string           `json:"tier"`   // "R1" … "L3"
	Checks map[string]Check `json:"checks"`
	Prior  float64          `json:"prior"`
	N      int              `json:"n"` // outcomes observed for this engine, rule and tier
	K      int              `json:"k"` // of those, kept unchanged
}

// Check is the outcome of one check: "ok", "gone", "exact", "unchecked", …
type Check string

// A Verdict is what became of an incident.
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

// A Leftover is an incident for which there is no candidate, and why.
type Leftover struct {
	IncidentID string            `json:"incident_id"`
	Verdict    Verdict           `json:"verdict"` // Skipped, Unfixed or Failed
	Kind       rules.RefusalKind `json:"kind"`
	Reason     string            `json:"reason"`
}

// A Task is what a request asks of the agent.
type Task struct {
	Workspace *workspace.Workspace
	Incidents []incidents.Incident
	Context   map[string]any // the contract's migration_context
	Engines   []EngineName   // in order; empty: Recipe only
	Alternate int            // which of the alternatives a rule offers; 0: its first choice
	Comment   string         // what the user asks for beside that, for the model
	Stream    ModelListener  // hears of the model's work; needed where Engines has Model
}

// A Listener hears of the agent's work as it happens. Calls come one at a time,
// in order, from the goroutine of [Fixer.Fix]'s caller or its workers; a
// listener that blocks holds up the work.
type Listener interface {
	Progress(percentage int, phase, description string)
	Candidate(Candidate)
	Leftover(Leftover)
}

// Diagnostics answers what a language server, a linter or the rules say about
// an overlay: the files of changes as they would be, all others as they are.
// Text of every change is the whole result, because its base may be the result of
// another candidate. A front that has such a source gives it to the agent; nil
// means the rules are the only judge.
type Diagnostics interface {
	Diagnose(ctx context.Context, ws *workspace.Workspace, changes []workspace.Change) (before, after []incidents.Incident, err error)
}
