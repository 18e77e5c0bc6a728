package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/check"
	"github.com/kaiak/kaiak/rules/ruletest"
)

func newRules() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List, show, write, lint and test rules",
	}
	cmd.AddCommand(newRulesList(), newRulesShow(), newRulesNew(), newRulesLint(), newRulesTest(), newRulesCoverage())
	return cmd
}

func newRulesList() *cobra.Command {
	return &cobra.Command{
		Use:   "list [SOURCE…]",
		Short: "List rules (default: the built-in packs)",
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				packs, err := rules.Packs()
				if err != nil {
					return err
				}
				for _, p := range packs {
					fmt.Fprintf(out, "%s:%s  %s\n    %s\n", rules.Builtin, p.ID, p.Title, p.Description)
					args = append(args, rules.Builtin+":"+p.ID)
				}
				fmt.Fprintln(out)
			}
			set, problems, err := rules.Load(cmd.Context(), args, rules.LoadOptions{})
			if err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintln(cmd.ErrOrStderr(), "kaiak: problem:", p)
			}
			for _, r := range set.Rules() {
				fix := "finds"
				if r.Fixable() {
					fix = "fixes"
				}
				fmt.Fprintf(out, "%-40s %-12s %s\n", r.ID, r.Language, fix)
			}
			return nil
		},
	}
}

func newRulesLint() *cobra.Command {
	return &cobra.Command{
		Use:   "lint SOURCE…",
		Short: "Say what is wrong with rules, one line each",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cwd, err := os.Getwd()
			if err != nil {
				return err
			}
			problems, n, err := check.Lint(cmd.Context(), args, cwd)
			if err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintln(cmd.OutOrStdout(), p)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "kaiak: %s can run, %s\n", count(n, "rule"), count(len(problems), "problem"))
			if len(problems) > 0 {
				return exitError{code: foundSome}
			}
			return nil
		},
	}
}

func newRulesTest() *cobra.Command {
	var opts ruletest.Options
	var filter string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "test DIR…",
		Short: "Run the tests of rules: Konveyor's *.test.yaml and ast-grep's, with snapshots",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cwd, err := os.Getwd()
			if err != nil {
				return err
			}
			if filter != "" {
				if opts.Filter, err = regexp.Compile(filter); err != nil {
					return fmt.Errorf("--filter: %w", err)
				}
			}
			report, err := check.Test(cmd.Context(), args, cwd, opts)
			if err != nil {
				return exitError{code: couldNotRun, err: err}
			}
			if err := report.Write(cmd.OutOrStdout(), verbose); err != nil {
				return err
			}
			if !report.OK() {
				return exitError{code: foundSome}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.Update, "update", "U", false, "write snapshots of what comes out")
	flags.BoolVar(&opts.SkipSnapshots, "skip-snapshots", false, "test only whether rules find something")
	flags.BoolVar(&opts.IncludeOff, "include-off", false, "test rules that are switched off, too")
	flags.StringVar(&filter, "filter", "", "`regexp` of ids of ast-grep rules to test")
	flags.BoolVarP(&verbose, "verbose", "v", false, "list the test cases that passed, too")
	return cmd
}

func newRulesCoverage() *cobra.Command {
	var rulesets, fixers []string
	var all bool
	cmd := &cobra.Command{
		Use:   "coverage --rules DIR",
		Short: "Say which of Konveyor's rules have a fix by rule",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = append(rulesets, args...)
			if len(args) == 0 {
				return errors.New("name the folder of the rulesets: kaiak rules coverage --rules DIR")
			}
			cwd, err := os.Getwd()
			if err != nil {
				return err
			}
			c, problems, err := check.Coverage(cmd.Context(), args, fixers, cwd)
			if err != nil {
				return exitError{code: couldNotRun, err: err}
			}
			for _, p := range problems {
				fmt.Fprintln(cmd.ErrOrStderr(), "kaiak: problem:", p)
			}
			return c.Write(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().StringArrayVar(&rulesets, "rules", nil, "`folder` of rulesets to look at; repeatable")
	cmd.Flags().StringArrayVar(&fixers, "fixers", nil, "`source` of the rules that fix; repeatable (default: every built-in pack)")
	cmd.Flags().BoolVar(&all, "all", false, "list rulesets without a fix, too")
	return cmd
}
