package agent

import (
	"context"
	"encoding/json"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// A ModelEngine makes candidates for incidents that no recipe fixed. It is
// called once per file, for several files at a time, and must be safe for that.
type ModelEngine interface {
	// Fix works off one job. Every incident of the job ends either in a
	// candidate that job.Inspect passed or in a leftover. Fix returns when ctx
	// is done, with ctx's error; any other error means that the engine cannot
	// work at all (no endpoint, no key), and is reported once.
	Fix(ctx context.Context, job ModelJob) ([]Candidate, []Leftover, error)
}

// A ModelJob is the incidents of one file that are left for the model.
type ModelJob struct {
	Workspace *workspace.Workspace
	// File is the text to work on: the file as it will be once the recipes'
	// candidate for it is applied. Drafts are against this text.
	File      *workspace.File
	Incidents []incidents.Incident // in the order of the file; Span is valid for File.Text
	Leftovers []Leftover           // why the recipes did not fix them, in the same order
	Context   map[string]any       // the contract's migration_context
	Comment   string               // what the user asked for beyond that (refine); untrusted no more than the user is

	// Inspect validates a draft on an overlay. Flaws are what a repair has to
	// deal with; without flaws the candidate may be returned.
	Inspect func(ctx context.Context, d Draft) (Candidate, []Flaw, error)
	// Stream tells what the model does as it does it.
	Stream ModelListener
}

// A ModelListener hears of the model's work. Calls for one job come in order;
// several jobs may call at once.
type ModelListener interface {
	// Response is text of the model's answer; partial says that more follows.
	Response(text string, partial bool)
	// Thinking is text of its reasoning.
	Thinking(text string)
	// ToolCall reports a tool: operation is "start", "update", "complete",
	// "failed" or "denied". result is nil at the start.
	ToolCall(id, tool, operation string, parameters json.RawMessage, result *ToolResult)
	// Usage reports the tokens and the cost of one turn.
	Usage(Usage)
	// Error reports a failure that the work survives (recoverable) or not.
	Error(code, message, details string, recoverable bool)
	// Ask puts a question to the user and waits for the answer, ctx's end or
	// the expiry; answered is false when there is none.
	Ask(ctx context.Context, q Question) (answer string, answered bool)
}

// A ModelAuditor is a [ModelListener] that also keeps a record of everything that
// goes to a model and comes from it. An engine asks for it by a type assertion.
type ModelAuditor interface {
	Audit(ModelRecord)
}

// A ModelRecord is one record of what went to a model or came from it. Its text
// has its secrets hidden.
type ModelRecord struct {
	Kind   string `json:"kind"` // "request", "response", "tool_call", "proposal" or "rejection"
	Path   string `json:"path"` // of the file that is worked on
	Turn   int    `json:"turn"`
	Name   string `json:"name,omitempty"` // of the tool, the model, or the check that rejected
	SHA256 string `json:"sha256"`         // of Text
	Text   string `json:"text"`           // of a request: what is new since the one before it
}

// A ToolResult is what a tool returned, as the contract's tool_call shows it.
type ToolResult struct {
	Success    bool   `json:"success"`
	Data       string `json:"data,omitempty"`
	ArtifactID string `json:"artifact_id,omitempty"` // names the full output, where Data was cut
	Full       string `json:"-"`                     // that output, for whoever keeps artifacts
}

// Usage is the tokens of one turn. Cost is nil when the price is not known.
type Usage struct {
	Model     string   `json:"model"`
	Input     int      `json:"input_tokens"`
	Output    int      `json:"output_tokens"`
	CacheRead int      `json:"cache_read_tokens"`
	Reasoning int      `json:"reasoning_tokens"`
	Estimated bool     `json:"estimated"`
	CostUSD   *float64 `json:"cost_usd"`
	// Context is what the turn leaves in the model's context window, nil when the
	// engine does not count it.
	Context *ContextSnapshot `json:"-"`
}

// A Question is what a model asks its user.
type Question struct {
	Kind    string // "choice", "input" or "confirmation"
	Prompt  string
	Choices []string // Kind "choice"
}
