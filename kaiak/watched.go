package kaiak

import "context"

// FilesChanged says that the client saw files change on disk (created, written
// or deleted), given as file URIs. It comes beside the service's own watcher
// and may repeat what that has seen; ctx is the connection's.
func (c *Client) FilesChanged(ctx context.Context, uris []string) {}
