// Command kaiak finds what a migration has to change, fixes it by rule or by a
// model, and writes nothing that nobody approved. It is the language server
// (kaiak serve), the checker (kaiak check) and the batch (kaiak batch) in one
// binary. This package holds flags and wiring only.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version and commit are set by the linker (see the Makefile).
var (
	version = "dev"
	commit  = "unknown"
)

// exitError ends the process with a code and, when Err is nil, silently: the
// command has said what there is to say.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// couldNotRun is the exit code of every command that did not get to do its work.
const couldNotRun = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var exit exitError
	if errors.As(err, &exit) {
		if exit.err != nil {
			fmt.Fprintln(os.Stderr, "kaiak:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(os.Stderr, "kaiak:", err)
	return couldNotRun
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "kaiak",
		Short:         "Find, review and fix what a migration has to change",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	root.AddCommand(newServe(), newCheck(), newBatch(), newDoctor(), newRules(), newVersion())
	return root
}
