package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/check"
	"github.com/kaiak/kaiak/rules/konveyor"
	"github.com/kaiak/kaiak/workspace"
)

// foundSome is the exit code of a check that found incidents.
const foundSome = 1

type checkFlags struct {
	rules, off      []string
	format          string
	baseline        string
	sources, target []string
	selector        string
	verbose         bool
	noCache         bool
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Find incidents by rule",
		Long: `Check finds incidents by rule in the given files and folders (default: the
current folder), without what git ignores, binaries and files over 1 MB. What
.kaiak/config.yaml sets holds where no flag says otherwise.

It ends with 0 when it found none, with 1 when it found some, and with 2 when
it could not run.`,
		Example: `  kaiak check
  kaiak check src --rules .kaiak/rules --format sarif > kaiak.sarif
  kaiak check --rules rulesets/java --source java-ee --target quarkus --format konveyor`,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := runCheck(cmd.Context(), f, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err != nil {
				return exitError{code: couldNotRun, err: err}
			}
			if found {
				return exitError{code: foundSome}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.rules, "rules", nil, "`source` of rules: file, folder, builtin or builtin:PACK; repeatable (default: .kaiak/rules and the built-in packs that concern the project)")
	flags.StringArrayVar(&f.off, "off", nil, "`id` of a rule to switch off; repeatable")
	flags.StringVar(&f.format, "format", "text", "text, json, sarif or konveyor")
	flags.StringVar(&f.baseline, "baseline", "", "`file` of incidents not to report, as --format json wrote it")
	flags.StringArrayVar(&f.sources, "source", nil, "what is migrated from, for Konveyor's rules; repeatable")
	flags.StringArrayVar(&f.target, "target", nil, "what is migrated to, for Konveyor's rules; repeatable")
	flags.StringVar(&f.selector, "label-selector", "", "`expression` over the labels of Konveyor's rules")
	flags.BoolVar(&f.noCache, "no-cache", false, "read every file, also those that had nothing to tell last time")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say which files were not looked at")
	return cmd
}

func runCheck(ctx context.Context, f checkFlags, paths []string, out, log io.Writer) (found bool, err error) {
	write, err := checkWriter(f.format)
	if err != nil {
		return false, err
	}
	selector, err := selector(f)
	if err != nil {
		return false, err
	}
	root, under, err := check.Root(paths)
	if err != nil {
		return false, err
	}
	ws, conf, err := openProject(root)
	if err != nil {
		return false, err
	}
	defer ws.Close()
	cwd, err := os.Getwd()
	if err != nil {
		return false, err
	}
	opts := check.Options{Workspace: ws, Under: under, Sources: f.rules, Dir: cwd, Off: slices.Concat(f.off, conf.DisabledRules),
		Select: selector, Severity: severities(conf)}
	if len(f.rules) == 0 {
		opts.Sources, opts.Dir = conf.Rules, ws.RealDir()
	}
	if dir, err := os.UserCacheDir(); err == nil && !f.noCache {
		opts.CacheDir = filepath.Join(dir, "kaiak", "check")
	}
	if f.baseline != "" {
		opts.Hidden, err = check.ReadBaseline(f.baseline)
	} else {
		opts.Hidden, err = projectBaseline(ws, conf)
	}
	if err != nil {
		return false, err
	}
	bar := newProgress("checking", log)
	opts.Progress = func(path string) { bar.report(0, 0, path) }
	res, err := check.Run(ctx, opts)
	bar.end()
	if err != nil {
		return false, err
	}
	for _, p := range res.Problems {
		fmt.Fprintln(log, "kaiak: problem:", p)
	}
	if f.verbose {
		for _, n := range res.Notes {
			fmt.Fprintln(log, "kaiak: note:", n)
		}
	}
	buffered := bufio.NewWriterSize(out, 1<<16)
	if err := errors.Join(write(buffered, res, ws), buffered.Flush()); err != nil {
		return false, err
	}
	fmt.Fprintf(log, "kaiak: %s by %s; %d can be fixed by rule%s%s\n",
		count(len(res.Incidents), "incident"), count(res.Rules, "rule"), res.Fixable,
		also(res.Hidden, "hidden by the baseline"), also(len(res.Notes), "skipped (-v lists them)"))
	return len(res.Incidents) > 0, nil
}

func selector(f checkFlags) (konveyor.Selector, error) {
	s, err := konveyor.SelectorFor(f.sources, f.target)
	if err != nil || f.selector == "" {
		return s, err
	}
	expr, err := konveyor.ParseSelector(f.selector)
	if err != nil {
		return s, fmt.Errorf("--label-selector: %w", err)
	}
	return s.And(expr), nil
}

// checkWriter returns what writes a result in a format.
func checkWriter(format string) (func(io.Writer, *check.Result, *workspace.Workspace) error, error) {
	switch format {
	case "text":
		return func(w io.Writer, r *check.Result, _ *workspace.Workspace) error {
			return incidents.WriteText(w, r.Incidents)
		}, nil
	case "json":
		return func(w io.Writer, r *check.Result, _ *workspace.Workspace) error {
			return incidents.WriteNative(w, r.Incidents)
		}, nil
	case "sarif":
		return func(w io.Writer, r *check.Result, _ *workspace.Workspace) error {
			return incidents.WriteSARIF(w, r.Incidents, incidents.SARIFTool{Name: "kaiak", Version: version})
		}, nil
	case "konveyor":
		return func(w io.Writer, r *check.Result, ws *workspace.Workspace) error {
			text := func(path string) ([]byte, bool) {
				f, err := ws.ReadText(path)
				if err != nil {
					return nil, false
				}
				return f.Text, true
			}
			if r.Konveyor != nil {
				return r.Konveyor.WriteYAML(w, text)
			}
			return incidents.WriteKonveyor(w, r.Incidents, incidents.KonveyorOptions{Text: text})
		}, nil
	}
	return nil, fmt.Errorf("--format is text, json, sarif or konveyor, not %q", format)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func also(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d %s", n, what)
}
