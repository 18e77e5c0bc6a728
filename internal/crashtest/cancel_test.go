package crashtest

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/kaiak/kaiak/lsp/client"
)

// A fix of 192 incidents is cancelled at random phases: before its first event,
// and after any number of them, some while its proposals are being applied.
// Nothing is written once the cancelling is answered. How long that took is
// logged, for docs/reliability.md.
func TestCancelAtAnyPhase(t *testing.T) {
	cancels := 30
	if full {
		cancels = 200
	}
	rnd := seeded(t)
	var took []time.Duration
	var count tally
	l := newLab(t)
	p := l.connect()
	for i := range cancels {
		session := p.session()
		list := p.scan(session)
		if len(list) < perFile*ruled/2 { // others before it have fixed the rest
			p.kill()
			l = newLab(t)
			p = l.connect()
			session = p.session()
			list = p.scan(session)
		}
		approval := "defer"
		if i%3 == 2 {
			approval = "ask"
		}
		request := p.generate(session, approval, list)
		last := int64(0)
		for after := rnd.IntN(60); after > 0; after-- {
			e := p.await("the next event", func(e event) bool { return e.RequestID == request && e.Sequence > last })
			last = e.Sequence
			if e.InteractionID != "" { // approved without waiting: cancelling meets the apply
				p.respond(e.InteractionID)
			}
			if e.Content.Event == "request_completed" {
				break
			}
		}
		begun := time.Now()
		_, err := try[any](p, "kaiak/fix/cancel", m{"request_id": request})
		took = append(took, time.Since(begun))
		tree := l.tree()
		var refused *client.Error
		switch {
		case err == nil:
			count.add("cancelled, asked with " + approval)
		case errors.As(err, &refused) && refused.Code == -32008: // of the contract: it is completed already
			count.add("over already")
		default:
			t.Fatal(err)
		}
		wrongIn(t, "when cancelling is answered", l.project.allOrNothing(tree, false))

		// What comes to the stream later would come before the answers to these.
		events := call[struct {
			Last int64 `json:"last_sequence"`
		}](p, "kaiak/session/events", m{"session_id": session, "request_id": request})
		call[any](p, "kaiak/session/terminate", m{"session_id": session})
		if !maps.Equal(tree, l.tree()) {
			t.Error("a file was written after cancelling was answered")
		}
		again := call[struct {
			Events []struct {
				Sequence  int64  `json:"sequence"`
				RequestID string `json:"request_id"`
			} `json:"events"`
		}](p, "kaiak/session/events", m{"session_id": session, "request_id": request, "after_sequence": events.Last})
		if len(again.Events) > 0 {
			t.Errorf("the request went on after cancelling was answered: %+v", again.Events)
		}
	}
	p.kill()
	wrongIn(t, "at the end", l.onceEach())
	slices.Sort(took)
	t.Logf("%d cancels (%v): the answer took %v at the median, %v at p99, %v at most", cancels, &count,
		took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
