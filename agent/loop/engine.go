package loop

import (
	"context"
	"fmt"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/redact"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// A Model does one turn; [*llm.Client] is one.
type Model interface {
	Chat(ctx context.Context, r llm.Request, sink func(llm.Delta)) (*llm.Response, error)
	ContextWindow() int        // tokens, 0 unknown
	Cost(u llm.Usage) *float64 // US dollars, nil unknown
}

// Limits bound the work. A zero field means its default.
type Limits struct {
	Turns   int // per batch; 8
	Prompt  int // tokens of one request; 12,000
	Output  int // tokens of one reply; 4,096
	Batch   int // incidents of one conversation; 12
	Format  int // replies that are no proposal; 2
	Apply   int // proposals that do not apply; 2
	Repairs int // proposals that fail validation; 2
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{{&l.Turns, 8}, {&l.Prompt, 12_000}, {&l.Output, 4096}, {&l.Batch, 12}, {&l.Format, 2}, {&l.Apply, 2}, {&l.Repairs, 2}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return l
}

// Options are what an engine works with.
type Options struct {
	Model   Model
	Secrets *redact.Rules // nil: known shapes only
	Limits  Limits
	Ledger  *Ledger // what has been spent and may be; nil: DefaultTokens
	// Consent says why nothing may be sent, nil when the user has chosen the model
	// for this workspace. A nil func means that the caller has seen to it.
	Consent   func() error
	Hints     func(ruleID string) []string // accepted fixes of a rule; nil: none
	TextEdits bool                         // ask for text blocks: the model calls no tools
	Session   *llm.Limiter                 // how many conversations run at a time; nil: any number
	Generated bool                         // also change files that say they are generated
}

// The reasons of leftovers, beside those of package rules.
const (
	BudgetExceeded rules.RefusalKind = "budget_exceeded" // a limit was reached; another run goes on
	Declined       rules.RefusalKind = "model_declined"  // the model says that it cannot
	Unusable       rules.RefusalKind = "no_valid_fix"    // nothing it proposed passed
	Looping        rules.RefusalKind = "loop"            // it repeats itself
	EndpointFailed rules.RefusalKind = "endpoint_failed"
)

// An Engine is an [agent.ModelEngine]. It is safe for concurrent use.
type Engine struct {
	opts Options
}

// New returns an engine.
func New(opts Options) *Engine {
	opts.Limits = opts.Limits.withDefaults()
	if opts.Secrets == nil {
		opts.Secrets = redact.New(redact.Options{})
	}
	if opts.Ledger == nil {
		opts.Ledger = NewLedger(DefaultTokens, 0)
	}
	return &Engine{opts}
}

// fatal are the failures with which the endpoint cannot be used at all.
var fatal = map[llm.Kind]bool{
	llm.KindAuth: true, llm.KindNotFound: true, llm.KindQuota: true, llm.KindMisconfigured: true,
	llm.KindReplayMiss: true, llm.KindRedirect: true,
}

// Fix implements [agent.ModelEngine].
func (e *Engine) Fix(ctx context.Context, job agent.ModelJob) ([]agent.Candidate, []agent.Leftover, error) {
	if e.opts.Consent != nil {
		if err := e.opts.Consent(); err != nil {
			return nil, nil, err
		}
	}
	if e.opts.Session != nil {
		release, err := e.opts.Session.Acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		defer release()
	}
	if job.Stream == nil {
		job.Stream = silent{}
	}
	if !e.opts.Generated && rules.IsGenerated(job.File.Text) {
		return nil, leave(job.Incidents, agent.Skipped, rules.RefusedGenerated, "the file says that it is generated"), nil
	}
	reasons := map[string]string{}
	for _, l := range job.Leftovers {
		if l.Kind != rules.RefusedNoFix {
			reasons[l.IncidentID] = l.Reason
		}
	}
	var candidates []agent.Candidate
	var leftovers []agent.Leftover
	file, queue := job.File, batches(job.Incidents, e.opts.Limits.Batch)
	for len(queue) > 0 {
		batch := queue[0]
		queue = queue[1:]
		c, err := e.converse(ctx, job, file, batch, reasons)
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if len(candidates) == 0 {
				return nil, nil, err
			}
			// What is done stays done; the rest says why it is not.
			for _, b := range append([][]incidents.Incident{batch}, queue...) {
				leftovers = append(leftovers, leave(b, agent.Failed, EndpointFailed, "%v", err)...)
			}
			return candidates, leftovers, nil
		}
		switch {
		case c.tooLong && len(batch) > 1: // the reply did not fit: ask for less
			half := len(batch) / 2
			queue = append([][]incidents.Incident{batch[:half], batch[half:]}, queue...)
		case c.candidate != nil:
			candidates = append(candidates, *c.candidate)
			next, edits := c.result()
			for i := range queue { // what follows starts from what this batch leaves
				queue[i] = agent.Relocate(queue[i], file.Text, next.Text, edits)
			}
			file = next
		default:
			leftovers = append(leftovers, c.leftovers...)
		}
	}
	return candidates, leftovers, nil
}

// batches cuts incidents into runs of at most n.
func batches(list []incidents.Incident, n int) [][]incidents.Incident {
	var out [][]incidents.Incident
	for len(list) > n {
		out = append(out, list[:n])
		list = list[n:]
	}
	if len(list) > 0 {
		out = append(out, list)
	}
	return out
}

func leave(list []incidents.Incident, v agent.Verdict, kind rules.RefusalKind, format string, args ...any) []agent.Leftover {
	var out []agent.Leftover
	for _, in := range list {
		out = append(out, agent.Leftover{IncidentID: in.ID, Verdict: v, Kind: kind, Reason: fmt.Sprintf(format, args...)})
	}
	return out
}

// result returns the file as the candidate leaves it, and how it got there.
func (c *conversation) result() (*workspace.File, []workspace.Edit) {
	next := *c.file
	next.Text, next.SHA256 = c.outcome, workspace.SHA256(c.outcome)
	return &next, c.edits
}
