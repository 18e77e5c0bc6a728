package lsp

import (
	"context"
	"encoding/json"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/kaiak"
)

// section is the name of our settings in the client's.
const section = "kaiak"

// settings are what the client gave, from both places it can give them:
// initializationOptions, and workspace/configuration, whose keys win.
type settings struct {
	mu      sync.Mutex // guards the fields below
	options protocol.LSPAny
	pulled  json.RawMessage
}

// merged returns the settings as one object.
func (c *settings) merged() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]any{}
	for _, raw := range []json.RawMessage{json.RawMessage(c.options), c.pulled} {
		var given map[string]any
		if json.Unmarshal(raw, &given) != nil {
			continue
		}
		if inner, ok := given[section].(map[string]any); ok {
			given = inner // {"kaiak": {…}} says the same
		}
		overlay(all, given)
	}
	delete(all, "interactive") // ours: see speaksKaiak
	raw, err := json.Marshal(all)
	if err != nil {
		return noParams // cannot be: it was JSON
	}
	return raw
}

// overlay sets the members of from in into. A null stands for "not set", as
// editors send it for a setting without a value.
func overlay(into, from map[string]any) {
	for key, value := range from {
		object, isObject := value.(map[string]any)
		switch {
		case value == nil:
		case isObject:
			inner, ok := into[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				into[key] = inner
			}
			overlay(inner, object)
		default:
			into[key] = value
		}
	}
}

// configure gives the settings to the service. What is wrong with them is shown
// to the user, and the former ones stay.
func (s *server) configure(ctx context.Context) {
	if err := s.client.Configure(ctx, s.settings.merged()); err != nil {
		s.warn(err)
	}
}

// pullSettings asks the client for its settings, where it has them.
func (s *server) pullSettings(ctx context.Context) {
	if !s.caps.configuration {
		return
	}
	var answer []json.RawMessage
	params := &protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: ptr(section)}}}
	if err := s.conn.request(ctx, "workspace/configuration", params, &answer); err != nil {
		s.log.Warn("the client's settings are not known", "error", err)
		return
	}
	if len(answer) != 1 {
		s.warn(kaiak.Errorf(kaiak.ConfigurationError, "the editor answered %d settings for 1 that was asked for", len(answer)))
		return
	}
	s.settings.mu.Lock()
	s.settings.pulled = answer[0]
	s.settings.mu.Unlock()
	s.configure(ctx)
}

// didChangeConfiguration takes up new settings: by asking for them where the
// client can be asked, else from the notification.
func (s *server) didChangeConfiguration(_ context.Context, p *protocol.DidChangeConfigurationParams) error {
	s.background.add(func(ctx context.Context) {
		if s.caps.configuration {
			s.pullSettings(ctx)
			return
		}
		s.settings.mu.Lock()
		s.settings.pulled = json.RawMessage(p.Settings)
		s.settings.mu.Unlock()
		s.configure(ctx)
	})
	return nil
}
