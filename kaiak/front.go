package kaiak

import (
	"context"

	"github.com/kaiak/kaiak/workspace"
)

// A Front is one connected client as the service sees it. A front translates,
// it never decides.
type Front interface {
	// Notify queues one stream notification, e.g. "kaiak/stream/progress". It
	// never blocks on the client; params marshals to the contract's JSON. The
	// event is in the store before Notify is called.
	Notify(method string, params any)

	// Buffers changes documents that this client has open.
	workspace.Buffers

	// Ask shows a question to a user whose client does not know kaiak/*
	// (LSP: window/showMessageRequest) and returns the chosen action, "" when
	// dismissed. ok is false when this client cannot be asked that way or
	// answers interactions itself.
	Ask(ctx context.Context, prompt string, actions []string) (action string, ok bool)

	// IncidentsChanged says that the incidents of an open document are no
	// longer what [Client.Incidents] last returned: publish them again, or ask
	// the client to pull. It never blocks.
	IncidentsChanged(uri string)

	// Progress begins a progress the user can see and cancel (LSP: work-done
	// progress). cancel is called at most once, from any goroutine.
	Progress(ctx context.Context, title string, cancel func()) Progress
}

// Progress is one running progress of a [Front]. End is called exactly once.
type Progress interface {
	Report(message string, percentage int)
	End(message string)
}
