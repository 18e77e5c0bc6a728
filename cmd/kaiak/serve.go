package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/lsp"
)

func newServe() *cobra.Command {
	var stdio bool
	var socket, stateDir, logLevel string
	var clientPID int
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve editors and other clients over stdio or a unix socket",
		Long: `Serve speaks the Language Server Protocol and the kaiak/* methods of
docs/protocol.md: to one client over stdin and stdout, or to several over a unix
socket that only its user may open. Logs go to stderr.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stdio && socket != "" {
				return errors.New("--stdio and --socket exclude each other; choose one")
			}
			var level slog.Level
			if err := level.UnmarshalText([]byte(logLevel)); err != nil {
				return errors.New("--log must be debug, info, warn or error")
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
			return serve(cmd.Context(), log, stateDir, socket, clientPID)
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "serve stdin and stdout (the default)")
	cmd.Flags().StringVar(&socket, "socket", "", "serve a unix socket at this `path`, mode 0600")
	cmd.Flags().StringVar(&stateDir, "state-dir", "", "`folder` of the durable state (default: KAIAK_STATE_DIR, else the user's state folder)")
	cmd.Flags().StringVar(&logLevel, "log", "warn", "least `level` that is logged: debug, info, warn, error")
	cmd.Flags().IntVar(&clientPID, "clientProcessId", 0, "end when the process with this `id` ends")
	return cmd
}

func serve(ctx context.Context, log *slog.Logger, stateDir, socket string, clientPID int) error {
	diagnostics, err := userDiagnostics()
	if err != nil {
		return err
	}
	model, closeModel := modelFactory(log)
	defer closeModel()
	svc, err := kaiak.New(ctx, kaiak.Options{StateDir: stateDir, Version: version, Log: log, Model: model, Tools: modelTools(), Diagnostics: diagnostics})
	if err != nil {
		return err
	}
	opts := lsp.Options{Version: version, Log: log, ClientPID: clientPID}
	if socket != "" {
		err = lsp.ListenAndServe(ctx, svc, socket, opts)
	} else {
		err = lsp.Serve(ctx, svc, os.Stdin, os.Stdout, opts)
	}
	err = errors.Join(err, svc.Close())
	if errors.Is(err, lsp.ErrNoShutdown) {
		return exitError{code: 1} // as the protocol asks; nothing is wrong with the server
	}
	return err
}
