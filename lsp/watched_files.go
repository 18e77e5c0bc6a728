package lsp

import (
	"context"

	"go.lsp.dev/protocol"
)

// register asks the client for notifications that it only sends on request.
func (s *server) register(ctx context.Context) {
	var list []protocol.Registration
	if s.caps.watchSettings {
		list = append(list, protocol.Registration{
			ID: "kaiak-settings", Method: "workspace/didChangeConfiguration",
			RegisterOptions: protocol.LSPAny(`{"section":"` + section + `"}`),
		})
	}
	if s.caps.watchFiles {
		options, err := protocol.Marshal(&protocol.DidChangeWatchedFilesRegistrationOptions{
			Watchers: []protocol.FileSystemWatcher{{GlobPattern: protocol.Pattern("**/*")}},
		})
		if err != nil {
			s.log.Error("the watchers cannot be encoded", "error", err)
			return
		}
		list = append(list, protocol.Registration{
			ID: "kaiak-files", Method: "workspace/didChangeWatchedFiles", RegisterOptions: protocol.LSPAny(options),
		})
	}
	if len(list) == 0 {
		return
	}
	if err := s.conn.request(ctx, "client/registerCapability", &protocol.RegistrationParams{Registrations: list}, nil); err != nil {
		s.log.Warn("the client did not register what it offered", "error", err)
	}
}

// didChangeWatchedFiles tells the service which files changed on disk.
func (s *server) didChangeWatchedFiles(_ context.Context, p *protocol.DidChangeWatchedFilesParams) error {
	names := make([]string, 0, len(p.Changes))
	for _, c := range p.Changes {
		names = append(names, string(c.URI))
	}
	s.background.add(func(ctx context.Context) { s.client.FilesChanged(ctx, names) })
	return nil
}
