package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/loop"
	"github.com/kaiak/kaiak/batch"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/check"
	"github.com/kaiak/kaiak/workspace"
)

// estimate prints what the model would be asked for by a batch with these
// options, and what that would cost. Nothing is sent and nothing is written.
func estimate(ctx context.Context, opts batch.Options, out io.Writer) error {
	ws, err := workspace.Open(opts.Workspace, workspace.Options{})
	if err != nil {
		return err
	}
	defer ws.Close()
	list, err := batchIncidents(ctx, ws, opts)
	if err != nil {
		return err
	}
	found := len(list)
	if len(opts.Engines) == 0 || slices.Contains(opts.Engines, string(agent.Recipe)) {
		if list, err = leftByRecipes(ctx, ws, opts, list); err != nil {
			return err
		}
	}
	pool, err := modelPool(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer pool.Close()
	client, err := pool.Client("", "")
	if err != nil {
		return err
	}
	est, err := loop.New(loop.Options{Model: client, Secrets: pool.Secrets()}).Estimate(ctx, ws, list, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %d of them left for the model, in %s\n", count(found, "incident"), est.Incidents, count(est.Files, "file"))
	if est.Skipped > 0 {
		fmt.Fprintf(out, "%s in files that cannot be read or are generated\n", count(est.Skipped, "more incident"))
	}
	fmt.Fprintf(out, "about %s, %d input tokens and %d output tokens\n", count(est.Requests, "request"), est.Input, est.Output)
	if est.CostUSD == nil {
		fmt.Fprintln(out, "cost: unknown, because the model's price is not known")
	} else {
		fmt.Fprintf(out, "cost: about $%.2f\n", *est.CostUSD)
	}
	return nil
}

// batchIncidents reads or finds the incidents of a batch, as the server would.
func batchIncidents(ctx context.Context, ws *workspace.Workspace, opts batch.Options) ([]incidents.Incident, error) {
	var list []incidents.Incident
	for _, name := range opts.Incidents {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rep, err := incidents.Read(filepath.Base(name), text, incidents.Options{Root: opts.Workspace, Prefixes: opts.Prefixes, Text: func(path string) ([]byte, bool) {
			f, err := ws.ReadText(path)
			if err != nil {
				return nil, false
			}
			return f.Text, true
		}})
		if err != nil {
			return nil, err
		}
		list = append(list, rep.Incidents...)
	}
	if len(opts.Rules) > 0 || len(opts.Incidents) == 0 {
		res, err := check.Run(ctx, check.Options{Workspace: ws, Sources: opts.Rules, Dir: opts.Workspace})
		if err != nil {
			return nil, err
		}
		list = append(list, res.Incidents...)
	}
	return list, nil
}

// leftByRecipes returns the incidents that no rule fixes.
func leftByRecipes(ctx context.Context, ws *workspace.Workspace, opts batch.Options, list []incidents.Incident) ([]incidents.Incident, error) {
	sources := opts.Rules
	if len(sources) == 0 {
		sources = []string{"builtin"}
	}
	set, _, err := rules.Load(ctx, sources, rules.LoadOptions{Dir: opts.Workspace, Workspace: ws})
	if err != nil {
		return nil, err
	}
	var left leftovers
	if err := agent.New(agent.Options{Rules: set}).Fix(ctx, agent.Task{Workspace: ws, Incidents: list}, &left); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(in incidents.Incident) bool { return !left.ids[in.ID] }), nil
}

// leftovers hears of the incidents that are not fixed.
type leftovers struct {
	mu  sync.Mutex // guards ids
	ids map[string]bool
}

func (l *leftovers) Progress(int, string, string) {}
func (l *leftovers) Candidate(agent.Candidate)    {}
func (l *leftovers) Leftover(x agent.Leftover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = map[string]bool{}
	}
	l.ids[x.IncidentID] = true
}

// errNoEstimate: there is nothing to estimate where no model is asked.
var errNoEstimate = errors.New("--estimate is about the model: add --engine model")
