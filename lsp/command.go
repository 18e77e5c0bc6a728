package lsp

import (
	"context"
	"encoding/json"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/kaiak"
)

// applyActionCommand carries out an action that carries its edit, for clients
// that can only run commands. Its argument is the action's data.
const applyActionCommand = "kaiak.applyAction"

// executeCommand runs a command of the service. The client may cancel it, by
// $/cancelRequest or by the progress it shows.
func (s *server) executeCommand(ctx context.Context, p *protocol.ExecuteCommandParams) (any, error) {
	args := make([]json.RawMessage, 0, len(p.Arguments))
	for _, a := range p.Arguments {
		args = append(args, json.RawMessage(a))
	}
	if p.Command == applyActionCommand {
		return nil, s.applyAction(ctx, args)
	}
	if strings.HasPrefix(p.Command, "kaiak/") {
		s.speaks.Store(true)
	}
	if p.WorkDoneToken != nil {
		ctx = withToken(ctx, p.WorkDoneToken)
	}
	return s.client.Command(ctx, p.Command, args)
}

// applyAction resolves an action and has the client apply its edit.
func (s *server) applyAction(ctx context.Context, args []json.RawMessage) error {
	if len(args) != 1 {
		return kaiak.Errorf(kaiak.InvalidParams, "%s takes one argument, the data of the action", applyActionCommand)
	}
	data, err := actionData(args[0])
	if err != nil {
		return err
	}
	edit, reason, err := s.resolved(ctx, data)
	if err != nil {
		return err
	}
	if reason != "" {
		return kaiak.Errorf(kaiak.ContentModified, "the action cannot be applied: %s", reason)
	}
	return s.applyEdit(ctx, "", edit)
}
