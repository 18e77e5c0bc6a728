package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/kaiak"
)

// front is a server as the service sees it.
type front struct{ *server }

var _ kaiak.Front = front{}

// Notify queues a stream notification. It never blocks. A client that neither
// declared kaiak/* nor ever used it is not sent what it would warn about; the
// event is in the store all the same.
func (f front) Notify(method string, params any) {
	if f.speaks.Load() {
		f.conn.notify("", method, params)
	}
}

// IncidentsChanged has the diagnostics and lenses of a document renewed.
func (f front) IncidentsChanged(name string) {
	f.diags.news(name)
	if f.caps.lens && f.caps.lensRefresh {
		f.lenses.ask()
	}
}

// Ask shows a question by window/showMessageRequest to the user of a client
// that does not answer interactions itself.
func (f front) Ask(ctx context.Context, prompt string, actions []string) (string, bool) {
	if f.caps.interactive {
		return "", false
	}
	params := &protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: prompt}
	for _, a := range actions {
		params.Actions = append(params.Actions, protocol.MessageActionItem{Title: a})
	}
	var chosen *protocol.MessageActionItem
	if err := f.conn.request(ctx, "window/showMessageRequest", params, &chosen); err != nil {
		f.log.Debug("the user was not asked", "error", err)
		return "", false
	}
	if chosen == nil {
		return "", true // dismissed
	}
	return chosen.Title, true
}

// warn shows the user what is wrong with what they gave.
func (s *server) warn(err error) {
	s.log.Warn("shown to the user", "error", err)
	s.conn.notify("", "window/showMessage", &protocol.ShowMessageParams{
		Type: protocol.MessageTypeWarning, Message: "Kaiak: " + err.Error(),
	})
}
