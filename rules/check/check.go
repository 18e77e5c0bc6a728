package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/konveyor"
	"github.com/kaiak/kaiak/workspace"
)

// Options say what is checked, and with which rules.
type Options struct {
	Workspace *workspace.Workspace
	Under     []string // files and folders, relative to the root; empty: all

	// Sources are rule sources as in [rules.Load]; a folder or file of Konveyor
	// rules is known by its content. Empty: [DefaultSources]. Relative ones are
	// relative to Dir.
	Sources []string
	Dir     string
	Off     []string          // ids of rules that are switched off
	Select  konveyor.Selector // which of Konveyor's rules run

	Severity map[string]incidents.Severity // by rule id, in place of the rule's own

	CacheDir string            // where a check remembers files that had nothing to tell; "": nowhere
	Hidden   map[string]bool   // ids of incidents that are not reported: a baseline
	Progress func(path string) // called for files that have something to tell, in order; may be nil
}

// A Result is what a check found.
type Result struct {
	Incidents []incidents.Incident // by file, place and rule
	Rules     int                  // that ran
	Fixable   int                  // of the incidents, those that a rule has a fix for
	Hidden    int                  // incidents that the baseline hides
	Problems  []incidents.Problem  // rules that could not be loaded, files that could not be checked
	Notes     []string             // files that were not looked at, and why
	Konveyor  *konveyor.Result     // nil when no ruleset ran
}

// Run checks a workspace. The error is for sources that cannot be read at all,
// for a workspace that cannot be walked, and for ctx.
func Run(ctx context.Context, opts Options) (*Result, error) {
	sources := opts.Sources
	if len(sources) == 0 {
		sources = DefaultSources(opts.Workspace)
	}
	patterns, rulesets, err := split(sources, opts.Dir)
	if err != nil {
		return nil, err
	}
	res := &Result{}
	if len(patterns) > 0 {
		if err := res.runPatterns(ctx, patterns, opts); err != nil {
			return nil, err
		}
	}
	if len(rulesets) > 0 {
		if err := res.runRulesets(ctx, rulesets, opts); err != nil {
			return nil, err
		}
	}
	res.Incidents = slices.DeleteFunc(res.Incidents, func(in incidents.Incident) bool {
		if opts.Hidden[in.ID] {
			res.Hidden++
			return true
		}
		return false
	})
	for i := range res.Incidents {
		in := &res.Incidents[i]
		in.Severity = cmp.Or(opts.Severity[in.RuleID], in.Severity)
	}
	slices.SortStableFunc(res.Incidents, func(a, b incidents.Incident) int {
		return cmp.Or(cmp.Compare(a.FilePath, b.FilePath), cmp.Compare(a.LineNumber, b.LineNumber),
			cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.ID, b.ID))
	})
	return res, nil
}

func (res *Result) runPatterns(ctx context.Context, sources []string, opts Options) error {
	set, problems, err := rules.Load(ctx, sources, rules.LoadOptions{Dir: opts.Dir, Workspace: opts.Workspace, Off: opts.Off})
	if err != nil {
		return err
	}
	res.Problems = append(res.Problems, problems...)
	res.Rules += len(set.Rules())
	scan := rules.ScanOptions{Under: opts.Under}
	if opts.CacheDir != "" {
		scan.Cache = rules.NewCache(opts.CacheDir)
	}
	return set.Scan(ctx, opts.Workspace, scan, func(r rules.FileResult) error {
		if opts.Progress != nil {
			opts.Progress(r.Path)
		}
		if r.Skipped != nil {
			res.Notes = append(res.Notes, r.Skipped.Error())
		}
		if r.Err != nil {
			res.Problems = append(res.Problems, incidents.Problem{Source: r.Path, Where: "file", Reason: r.Err.Error()})
		}
		for _, m := range r.Matches {
			res.Incidents = append(res.Incidents, m.Incident)
			if len(m.Fixes) > 0 && !opts.Hidden[m.Incident.ID] {
				res.Fixable++
			}
		}
		return nil
	})
}

func (res *Result) runRulesets(ctx context.Context, paths []string, opts Options) error {
	set, problems := konveyor.Load(paths...)
	res.Problems = append(res.Problems, problems...)
	set = set.Select(opts.Select)
	res.Rules += len(set.Rules())
	found, err := set.Run(ctx, konveyor.FromWorkspace(opts.Workspace), konveyor.RunOptions{})
	if err != nil {
		return fmt.Errorf("Konveyor's rules: %w", err)
	}
	res.Konveyor = found
	for _, note := range found.Notes {
		res.Notes = append(res.Notes, note.String())
	}
	for _, in := range found.Incidents {
		if under(in.FilePath, opts.Under) {
			res.Incidents = append(res.Incidents, in)
		}
	}
	return nil
}
