package lsp

import (
	"errors"
	"io"
	"sync"
	"time"
)

// outboxLimit is how many bytes may wait for a client that does not read. Past
// it the connection ends: whoever leaves 64 MiB unread is gone or stopped, and
// nothing is lost with the connection, because every event is in the store
// before it is sent and kaiak/session/events replays it.
const outboxLimit = 64 << 20

// flushTimeout is how long a connection that ends waits for its last frames to
// be read.
const flushTimeout = time.Second

// errStalled ends a connection whose client stopped reading.
var errStalled = errors.New("the client does not read: 64 MiB of messages are waiting for it")

// errClosed is the answer to sending on a connection that has ended.
var errClosed = errors.New("the connection has ended")

// An outbox is the queue between everything that sends and the one goroutine
// that writes. Sending never blocks. A frame that was queued under a key is
// replaced by a later one with the same key while it still waits: of a
// document's diagnostics and a progress's reports only the newest is of use.
type outbox struct {
	out io.Writer

	mu    sync.Mutex // guards the fields below
	queue []parcel
	keyed map[string]int // key → index in queue
	size  int            // bytes waiting
	err   error          // why nothing more is accepted
	wake  chan struct{}  // capacity 1: there is something to do
	idle  chan struct{}  // closed when err is set and nothing waits

	limit int
}

type parcel struct {
	key  string
	body []byte
}

func newOutbox(out io.Writer) *outbox {
	return &outbox{
		out:   out,
		keyed: map[string]int{},
		wake:  make(chan struct{}, 1),
		idle:  make(chan struct{}),
		limit: outboxLimit,
	}
}

// send queues one body. With a key it replaces the frame that waits under it.
func (o *outbox) send(key string, body []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if at, ok := o.keyed[key]; ok && key != "" {
		o.size += len(body) - len(o.queue[at].body)
		o.queue[at].body = body
		return nil
	}
	if o.size+len(body) > o.limit && o.size > 0 {
		o.err = errStalled
		o.queue, o.keyed, o.size = nil, nil, 0
		o.signal()
		return o.err
	}
	if key != "" {
		o.keyed[key] = len(o.queue)
	}
	o.queue = append(o.queue, parcel{key, body})
	o.size += len(body)
	o.signal()
	return nil
}

// signal must be called with mu held.
func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes what is sent until [outbox.close] or a failure, and returns the
// failure. A client that stopped reading holds run inside Write; closing the
// stream frees it.
func (o *outbox) run() error {
	var frames []byte
	for {
		batch, err := o.take()
		if len(batch) == 0 && err != nil {
			close(o.idle)
			if errors.Is(err, errClosed) {
				return nil
			}
			return err
		}
		if len(batch) == 0 {
			<-o.wake
			continue
		}
		frames = frames[:0]
		for _, p := range batch {
			frames = appendFrame(frames, p.body)
		}
		_, err = o.out.Write(frames)
		if cap(frames) > 1<<20 {
			frames = nil // one large message need not hold its size for ever
		}
		o.written(batch, err)
	}
}

// take returns what waits, or why nothing more will come.
func (o *outbox) take() ([]parcel, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch := o.queue
	o.queue = nil
	clear(o.keyed)
	return batch, o.err
}

// written takes note of what became of a batch.
func (o *outbox) written(batch []parcel, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range batch {
		o.size -= len(p.body)
	}
	if err != nil {
		o.err = err
		o.queue, o.keyed = nil, nil
	}
}

// close accepts nothing more and waits a moment for what was sent to be written.
func (o *outbox) close() {
	o.mu.Lock()
	if o.err == nil {
		o.err = errClosed
	}
	o.signal()
	o.mu.Unlock()
	timer := time.NewTimer(flushTimeout)
	defer timer.Stop()
	select {
	case <-o.idle:
	case <-timer.C:
	}
}
