package kaiak

import (
	"context"
	"encoding/json"

	"github.com/kaiak/kaiak/workspace"
)

// ClientInfo says who connects.
type ClientInfo struct {
	Name    string // for the log and for lock owners
	Version string
	// Interactive: the client renders kaiak/stream/user_interaction itself and
	// answers by kaiak/interaction/respond. Otherwise it is asked through
	// [Front.Ask].
	Interactive bool
}

// A Client is one connection of a [Front]. Text synchronisation ([Client.DidOpen]
// and its siblings) must be called in the order of the wire; everything else
// may be called concurrently.
type Client struct {
	service *Service
	front   Front
	info    ClientInfo
}

// Connect registers a front. Events of the sessions that this client creates
// or resumes go to front until [Client.Close].
func (s *Service) Connect(front Front, info ClientInfo) *Client {
	return &Client{service: s, front: front, info: info}
}

// Close ends the connection: its documents are no longer open, its requests
// are cancelled, what it was asked stays pending in the store. It waits for
// the goroutines that work for this client.
func (c *Client) Close() {}

// Call runs one operation by the name of its method ("kaiak/session/create" or
// an alias). The result marshals to the contract's JSON. Every error is an
// [*Error]. Calls may run concurrently; ctx cancels this one.
func (c *Client) Call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return nil, Errorf(MethodNotFound, "there is no method %q", method)
}

// SetFolders opens and closes workspace folders, given as absolute directories
// or file URIs. A folder that cannot be opened is reported, the others are opened.
func (c *Client) SetFolders(ctx context.Context, added, removed []string) error { return nil }

// Configure replaces the settings that this client gave (initializationOptions,
// workspace/configuration). A key that does not exist or has the wrong type is
// a -32014 that names it, and nothing changes.
func (c *Client) Configure(ctx context.Context, settings json.RawMessage) error { return nil }

// DidOpen says that a document is open in the client: from now on its buffer
// is the truth. uri is a file URI or an absolute path. Documents outside of
// every folder, and other schemes, are accepted and have no incidents.
func (c *Client) DidOpen(uri, languageID string, version int32, text string) error { return nil }

// DidChange applies edits one after another, each in bytes against the buffer
// as the edit before it left it.
func (c *Client) DidChange(uri string, version int32, edits []workspace.Edit) error { return nil }

// DidSave says that the client wrote the document to disk; text is its content
// where the client sends it.
func (c *Client) DidSave(uri string, text *string) error { return nil }

// DidClose says that the document is no longer open.
func (c *Client) DidClose(uri string) error { return nil }

// Document returns the open document's present content.
func (c *Client) Document(uri string) (*workspace.File, bool) { return nil, false }
