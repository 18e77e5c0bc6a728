package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kaiak/kaiak/treesitter"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the grammars' versions",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				grammars := map[string]string{}
				for _, l := range treesitter.All() {
					grammars[l.Name] = l.Version()
				}
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(map[string]any{"version": version, "commit": commit, "go": runtime.Version(), "grammars": grammars})
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "kaiak %s (commit %s, %s, %s/%s)\n\ngrammars\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, l := range treesitter.All() {
				fmt.Fprintf(out, "  %-12s %s\n", l.Name, l.Version())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}
