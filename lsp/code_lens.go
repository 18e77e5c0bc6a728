package lsp

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/incidents"
)

// codeLens shows what can be done about pending proposals above the code they
// are about.
func (s *server) codeLens(ctx context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	lenses := []protocol.CodeLens{}
	doc := s.docs.get(string(p.TextDocument.URI))
	if doc == nil {
		return lenses, nil
	}
	actions, err := s.client.Actions(ctx, doc.uri, incidents.Span{Start: 0, End: len(doc.text)}, nil)
	if err != nil {
		return nil, err
	}
	found, err := s.client.Incidents(ctx, doc.uri)
	if err != nil {
		return nil, err
	}
	places := map[string]protocol.Range{}
	for i, d := range s.lspDiagnostics(doc, found) {
		places[found.List[i].ID] = d.Range
	}
	for _, a := range actions {
		if a.Data.ProposalID == "" || a.Command == "" || a.Disabled != "" || len(a.IncidentIDs) == 0 {
			continue
		}
		place, ok := places[a.IncidentIDs[0]]
		if !ok {
			continue
		}
		data, err := json.Marshal(a.Data)
		if err != nil {
			return nil, err
		}
		lenses = append(lenses, protocol.CodeLens{
			Range:   place,
			Command: protocol.Command{Title: a.Title, Command: a.Command, Arguments: []protocol.LSPAny{data}},
		})
	}
	return lenses, nil
}
