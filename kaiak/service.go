package kaiak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// Options says how a [Service] is to run.
type Options struct {
	StateDir string       // the durable state lives here; "" means the user's state folder
	Version  string       // of the server, as it reports itself
	Log      *slog.Logger // nil discards
	// Model makes the model engine for a workspace's settings. nil: there is
	// none, and a request for it is a -32006.
	Model ModelFactory
	Tools []ToolInfo // that the model engine offers to its model, for tool.list
	// Diagnostics judges every fix besides the rules, in workspaces that the user
	// trusts; nil: the rules are the only judge.
	Diagnostics agent.Diagnostics
	// EditTimeout is how long an editor may take to carry out an edit; 0 means 10 s.
	EditTimeout time.Duration
	// Now is the clock; nil is time.Now. Tests set it.
	Now func() time.Time
}

// A ModelFactory makes the model engine for one request. The error says for
// people what is missing: an endpoint, a key, a model's name.
type ModelFactory func(ctx context.Context, settings ModelSettings) (agent.ModelEngine, error)

// ModelSettings is what a request's session and workspace say about the model.
type ModelSettings struct {
	Provider  string
	Model     string
	Profile   string // name of a profile in the user's own configuration
	MaxTurns  int
	MaxTokens int     // that the request may use; 0: any number
	MaxCost   float64 // in US dollars; 0: any amount
	Workspace string  // absolute directory
	// Hints returns accepted fixes of a rule, for the prompt, the newest first;
	// nil where the user wants none.
	Hints   func(ruleID string) []string
	Trusted bool // false: nothing of the workspace's own files may name endpoints or commands
}

// A Service is one running engine: the state on disk, the sessions in it, and
// the workspaces that its clients have open. It is safe for concurrent use.
type Service struct {
	opts  Options
	log   *slog.Logger
	store *store.Store
	table *table

	presence *presence
	since    time.Time

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // every goroutine of the service

	clock  sync.Mutex // guards latest
	latest time.Time

	mu        sync.Mutex // guards what follows
	clients   map[*Client]struct{}
	spaces    map[string]*space       // by real directory
	sessions  map[string]*session     // the ones that are loaded
	incidents map[string]*incidentSet // of requests, by id
	closed    bool
}

// New opens the durable state and takes up what an earlier process left
// behind. ctx bounds only the opening; [Service.Close] ends the service.
func New(ctx context.Context, opts Options) (*Service, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	st, err := store.Open(opts.StateDir)
	if err != nil {
		return nil, err
	}
	here, err := newPresence(st.Dir())
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	s := &Service{
		opts: opts, log: opts.Log, store: st, presence: here, table: operations, since: opts.Now(),
		clients: map[*Client]struct{}{}, spaces: map[string]*space{}, sessions: map[string]*session{}, incidents: map[string]*incidentSet{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.recover(ctx); err != nil {
		return nil, errors.Join(err, here.close(), st.Close())
	}
	s.run(s.purge)
	return s, nil
}

// purge forgets what was kept for undo longer than it has to be.
func (s *Service) purge() {
	n, err := workspace.Purge(s.ctx, s.store, s.opts.Now().Add(-workspace.DefaultKeep), workspace.DefaultKeepBytes)
	if err != nil && s.ctx.Err() == nil {
		s.log.Warn("the journal cannot be purged", "error", err)
	} else if n > 0 {
		s.log.Info("old changes can no longer be undone", "sets", n)
	}
}

// Close ends every goroutine of the service and waits for them. Requests that
// run are interrupted and can be resumed; pending proposals stay pending.
func (s *Service) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	clients := make([]*Client, 0, len(s.clients))
	for c := range s.clients {
		clients = append(clients, c)
	}
	s.mu.Unlock()
	s.cancel()
	for _, c := range clients {
		c.Close()
	}
	s.wg.Wait()
	s.mu.Lock()
	spaces := s.spaces
	s.spaces = map[string]*space{}
	s.mu.Unlock()
	var errs []error
	for _, sp := range spaces {
		errs = append(errs, sp.close())
	}
	return errors.Join(append(errs, s.presence.close(), s.store.Close())...)
}

// run starts a goroutine of the service. It reports false when the service is
// closing, and f is not run.
func (s *Service) run(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Go(func() {
		defer s.survive()
		f()
	})
	return true
}

// survive reports a panic of a background goroutine instead of ending the server.
func (s *Service) survive() {
	if r := recover(); r != nil {
		s.log.Error("background work failed unexpectedly", "panic", fmt.Sprint(r), "stack", stack())
	}
}

// now returns the time as it is stored and sent: UTC, to the microsecond. No two
// calls get the same, so that records which are ordered by it keep the order in
// which they were made.
func (s *Service) now() time.Time {
	t := s.opts.Now().UTC().Truncate(time.Microsecond)
	s.clock.Lock()
	defer s.clock.Unlock()
	if !t.After(s.latest) {
		t = s.latest.Add(time.Microsecond)
	}
	s.latest = t
	return t
}

// newID returns a new identifier with a prefix ("req-", "" for sessions).
func newID(prefix string) string { return prefix + uuid.NewString() }
