package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/kaiak/kaiak/agent/llm"
)

func newDoctor() *cobra.Command {
	var profile, model string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the model's endpoint and say what to do",
		Long: `Doctor asks the model's endpoint for its models and for one tool call, and says
whether it answers, which model it serves, whether that calls tools, and how
large its context window is. Nothing of yours is sent.

The endpoint is that of OPENAI_BASE_URL and OPENAI_API_KEY, or a profile of
models.yaml in the user's configuration folder. Rules need no model.

It ends with 0 when the model can be used, with 1 when something is in the way.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pool, err := modelPool(slog.New(slog.DiscardHandler))
			if err != nil {
				return exitError{code: couldNotRun, err: err}
			}
			defer pool.Close()
			client, err := pool.Client(profile, model)
			if err != nil {
				return exitError{code: foundSome, err: err}
			}
			if !writeFindings(cmd.OutOrStdout(), client.Probe(cmd.Context())) {
				return exitError{code: foundSome}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "`name` of the model profile (default: the environment's, else the first)")
	cmd.Flags().StringVar(&model, "model", "", "`name` of the model at the endpoint")
	return cmd
}

// writeFindings prints a report and returns whether all is well.
func writeFindings(out io.Writer, r llm.Report) bool {
	well := true
	for _, f := range r.Findings {
		mark := "ok"
		if !f.OK {
			mark, well = "problem", false
		}
		fmt.Fprintf(out, "%-8s %-9s %s\n", mark, f.Check, f.Detail)
	}
	return well
}
