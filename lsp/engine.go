package lsp

import (
	"context"
	"encoding/json"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/workspace"
)

// An engine is what the front needs of [kaiak.Service].
type engine interface {
	Connect(front kaiak.Front, info kaiak.ClientInfo) client
	Capabilities() map[string]any
}

// A client is what the front needs of [kaiak.Client], which documents it.
type client interface {
	Close()
	Call(ctx context.Context, method string, params json.RawMessage) (any, error)
	Command(ctx context.Context, name string, args []json.RawMessage) (any, error)
	Commands() []string

	SetFolders(ctx context.Context, added, removed []string) error
	Configure(ctx context.Context, settings json.RawMessage) error
	FilesChanged(ctx context.Context, uris []string)

	DidOpen(uri, languageID string, version int32, text string) error
	DidChange(uri string, version int32, edits []workspace.Edit) error
	DidSave(uri string, text *string) error
	DidClose(uri string) error

	Incidents(ctx context.Context, uri string) (kaiak.Incidents, error)
	Actions(ctx context.Context, uri string, span incidents.Span, given []incidents.Incident) ([]kaiak.Action, error)
	Resolve(ctx context.Context, data kaiak.ActionData) (kaiak.Resolved, error)
}

// service is a [kaiak.Service] as an engine.
type service struct{ *kaiak.Service }

func (s service) Connect(front kaiak.Front, info kaiak.ClientInfo) client {
	return s.Service.Connect(front, info)
}
