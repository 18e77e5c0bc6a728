package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/check"
)

func newRulesShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID [SOURCE…]",
		Short: "Show a rule (default: of the workspace and of all built-in packs)",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, sources := args[0], args[1:]
			if len(sources) == 0 {
				if info, err := os.Stat(filepath.FromSlash(check.OwnRules)); err == nil && info.IsDir() {
					sources = append(sources, check.OwnRules)
				}
				packs, err := rules.Packs()
				if err != nil {
					return err
				}
				for _, p := range packs {
					sources = append(sources, rules.Builtin+":"+p.ID)
				}
			}
			set, _, err := rules.Load(cmd.Context(), sources, rules.LoadOptions{})
			if err != nil {
				return err
			}
			found := false
			for _, r := range set.Rules() {
				if r.ID == id {
					found = true
					showRule(cmd.OutOrStdout(), r)
				}
			}
			if !found {
				return fmt.Errorf("there is no rule %q; kaiak rules list names them", id)
			}
			return nil
		},
	}
}

func showRule(w io.Writer, r *rules.Rule) {
	fmt.Fprintf(w, "# %s\n", r.Source)
	if r.Pack != "" {
		fmt.Fprintf(w, "# of the built-in pack %s: --rules %s:%s\n", r.Pack, rules.Builtin, r.Pack)
	}
	if len(r.FixesIDs) > 0 {
		fmt.Fprintf(w, "# also fixes what other tools report as %s\n", strings.Join(r.FixesIDs, ", "))
	}
	if r.Category != "" {
		fmt.Fprintf(w, "# category: %s\n", r.Category)
	}
	if r.Safety != "" {
		fmt.Fprintf(w, "# safety: %s\n", r.Safety)
	}
	fmt.Fprint(w, r.Text)
}

func newRulesNew() *cobra.Command {
	var dir, language string
	cmd := &cobra.Command{
		Use:   "new ID --language LANGUAGE",
		Short: "Write a rule to start from, and its test",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rule, test, err := rules.Skeleton(args[0], language)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				return err
			}
			defer root.Close()
			for name, text := range map[string]string{args[0] + ".yml": rule, args[0] + "-test.yml": test} {
				if err := writeNew(root, name, text); err != nil {
					return err
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s and its test are written; run kaiak rules test --skip-snapshots %s\n", filepath.Join(dir, args[0]+".yml"), dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", filepath.FromSlash(check.OwnRules), "`folder` to write to")
	cmd.Flags().StringVarP(&language, "language", "l", "", "`language` of the code that the rule is for")
	if err := cmd.MarkFlagRequired("language"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// writeNew writes a file that is not there yet.
func writeNew(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; choose another id, or delete it", name)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
