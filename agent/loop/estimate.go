package loop

import (
	"context"

	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/prompt"
	"github.com/kaiak/kaiak/agent/tool"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// An Estimate is what fixing some incidents may take. Nothing was sent for it.
type Estimate struct {
	Files     int
	Incidents int
	Requests  int // one conversation of typically two turns per batch
	Input     int // tokens
	Output    int
	// CostUSD is nil when the model's price is not known.
	CostUSD *float64
	Skipped int // incidents in files that cannot be read or are generated
}

// Guesses for an average conversation: it looks something up once, and its
// proposal is about as long as a third of what it was shown.
const (
	turnsPerBatch   = 2
	outputPerPrompt = 3
)

// Estimate adds up the prompts that the engine would send for incidents, with
// guesses for what comes back.
func (e *Engine) Estimate(ctx context.Context, ws *workspace.Workspace, list []incidents.Incident, migration map[string]any) (Estimate, error) {
	var est Estimate
	byFile := map[string][]incidents.Incident{}
	var order []string
	for _, in := range list {
		if byFile[in.FilePath] == nil {
			order = append(order, in.FilePath)
		}
		byFile[in.FilePath] = append(byFile[in.FilePath], in)
	}
	fixed := llm.EstimateRequest(llm.Request{Tools: tool.NewBox(tool.Env{Workspace: ws}).Definitions()})
	for _, path := range order {
		f, err := ws.ReadText(path)
		if err != nil || !e.opts.Generated && rules.IsGenerated(f.Text) {
			est.Skipped += len(byFile[path])
			continue
		}
		est.Files++
		est.Incidents += len(byFile[path])
		var tree *treesitter.Tree
		if lang := treesitter.ForPath(path); lang != nil {
			if tree, err = treesitter.Parse(ctx, lang, f.Text); err != nil {
				return est, err
			}
		}
		for _, batch := range batches(byFile[path], e.opts.Limits.Batch) {
			p, err := prompt.Build(prompt.Request{File: f, Tree: tree, Incidents: batch, Context: migration, Budget: e.opts.Limits.Prompt, Text: e.opts.TextEdits, Hide: e.opts.Secrets.Text})
			if err != nil {
				return est, err
			}
			n := fixed + llm.CountTokens(p.System) + llm.CountTokens(p.User)
			est.Requests += turnsPerBatch
			est.Input += turnsPerBatch * n
			est.Output += min(n/outputPerPrompt, e.opts.Limits.Output)
		}
	}
	est.CostUSD = e.opts.Model.Cost(llm.Usage{Input: est.Input, Output: est.Output})
	return est, nil
}
