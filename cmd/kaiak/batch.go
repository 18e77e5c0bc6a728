package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/batch"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/store"
)

func newBatch() *cobra.Command {
	var opts batch.Options
	var approve, report, resume string
	var prefixes []string
	var verbose, estimateOnly bool
	cmd := &cobra.Command{
		Use:   "batch --workspace DIR (--incidents FILE | --rules SOURCE)…",
		Short: "Fix many incidents without an editor",
		Long: `Batch fixes incidents from analysis files (SARIF, Konveyor, golangci-lint,
ESLint, kaiak check --format json) or found by rule. Without --apply it is a dry
run: the diff goes to stdout and nothing is written.

It starts "kaiak serve" and drives it as any client could. It ends with 0 when
every incident is fixed (in a dry run: has a fix that the policy approves), with
1 when some are not, with 2 when it could not run, and with 3 when it was
interrupted or ran out of budget; --resume then continues it.`,
		Example: `  kaiak batch --workspace . --rules builtin
  kaiak batch --workspace . --incidents report.sarif --apply --report kaiak.json
  kaiak batch --workspace . --resume`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if opts.Workspace, err = filepath.Abs(opts.Workspace); err != nil {
				return err
			}
			if opts.Approve, err = batch.ParsePolicy(approve); err != nil {
				return err
			}
			for _, p := range prefixes {
				from, to, ok := strings.Cut(p, "=")
				if !ok {
					return fmt.Errorf("--prefix %q is not FROM=TO", p)
				}
				opts.Prefixes = append(opts.Prefixes, incidents.Prefix{From: from, To: to})
			}
			if estimateOnly {
				if !slices.Contains(opts.Engines, string(agent.Model)) {
					return errNoEstimate
				}
				return estimate(cmd.Context(), opts, cmd.OutOrStdout())
			}
			opts.Resume, opts.ResumeID = cmd.Flags().Changed("resume"), strings.TrimPrefix(resume, newest)
			opts.Scan = opts.Scan || len(opts.Rules) == 0 && len(opts.Incidents) == 0 && !opts.Resume
			if opts.StateDir == "" {
				if opts.StateDir, err = store.DefaultDir(); err != nil {
					return err
				}
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			opts.Server = []string{self, "serve", "--stdio", "--state-dir", opts.StateDir}
			opts.Version, opts.Out, opts.Log = version, cmd.OutOrStdout(), cmd.ErrOrStderr()
			bar := newProgress("fixing", cmd.ErrOrStderr())
			opts.Progress = bar.report
			rep, err := batch.Run(cmd.Context(), opts)
			bar.end()
			return endBatch(cmd.ErrOrStderr(), rep, err, report, verbose)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.Workspace, "workspace", ".", "`folder` to work in")
	flags.StringArrayVar(&opts.Incidents, "incidents", nil, "`file` of incidents; repeatable")
	flags.StringArrayVar(&opts.Rules, "rules", nil, "`source` of rules to find incidents by: file, folder, builtin or builtin:PACK; repeatable (default without --incidents: the workspace's own and the packs that concern it)")
	flags.StringArrayVar(&opts.Engines, "engine", nil, "recipe or model, in the order to try; repeatable (default recipe)")
	flags.StringArrayVar(&prefixes, "prefix", nil, "`FROM=TO`: where an analysis saw the workspace's files; repeatable")
	flags.BoolVar(&opts.Trust, "trust", false, "trust the workspace: follow its model settings, and run your diagnostics command in it")
	flags.BoolVar(&opts.Apply, "apply", false, "write what the policy approves")
	flags.StringVar(&approve, "approve", string(batch.Recipes), "what is approved without a person: recipes, validated or none")
	flags.StringVar(&report, "report", "", "`file` for the report, JSON with a row per incident")
	flags.StringVar(&resume, "resume", "", "continue a run that was interrupted: the newest of the workspace, or the one with this `id`")
	flags.Lookup("resume").NoOptDefVal = newest
	flags.StringVar(&opts.StateDir, "state-dir", "", "`folder` of the durable state (default: KAIAK_STATE_DIR, else the user's state folder)")
	flags.BoolVar(&estimateOnly, "estimate", false, "print the tokens and the cost that the model would take, and do nothing")
	flags.BoolVarP(&verbose, "verbose", "v", false, "say why each incident is not fixed")
	return cmd
}

// newest is what --resume without a value stands for.
const newest = "newest"

// endBatch writes the report and says what the run came to.
func endBatch(log io.Writer, rep *batch.Report, err error, file string, verbose bool) error {
	if rep != nil {
		if file != "" {
			err = errors.Join(err, writeReport(rep, file))
		}
		for _, p := range rep.Problems {
			fmt.Fprintln(log, "kaiak: problem:", p)
		}
		if verbose {
			for _, row := range rep.Incidents {
				if row.Reason != "" {
					fmt.Fprintf(log, "%s:%d: %s: %s [%s]\n", row.FilePath, row.LineNumber, row.Verdict, row.Reason, row.RuleID)
				}
			}
		}
		fmt.Fprintln(log, "kaiak:", rep.Summary())
	}
	switch {
	case errors.Is(err, batch.ErrPaused):
		return exitError{code: batch.ExitPaused, err: err}
	case err != nil:
		return exitError{code: batch.ExitCouldNotRun, err: err}
	case rep.ExitCode() != 0:
		return exitError{code: rep.ExitCode()}
	}
	return nil
}

func writeReport(rep *batch.Report, file string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return rep.Write(f)
}
