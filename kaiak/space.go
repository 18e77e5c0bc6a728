package kaiak

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// A space is one workspace root that is open: its files, its settings, its
// rules, and the incidents that others reported in it. Clients and sessions
// share it; it lives as long as one of them needs it.
type space struct {
	service *Service
	ws      *workspace.Workspace
	uses    int // guarded by service.mu

	index *incidents.Index

	reporting sync.Mutex                      // guards reports; held while they are put into the index
	reports   map[string][]incidents.Incident // by analysis file: what it says

	loadingPending sync.Mutex // held while pending is read

	mu       sync.Mutex // guards what follows
	owners   map[string]*Client
	layers   map[*Client]settings // each client's settings
	order    []*Client            // in which they were given
	override settings             // by config/update
	conf     Config
	set      *rules.Set // nil until loaded
	loading  chan struct{}
	problems []incidents.Problem
	pending  map[string]map[string]bool // ids of proposals that may be pending, by path; nil until read
	hidden   map[string]bool            // ids in the baseline; nil until read
	awaited  []string                   // documents that have to be opened before what a dead process left is settled
	watching bool
	watcher  *incidents.Watcher
	stopped  bool
}

// openSpace returns the workspace of a directory, opened if need be. The caller
// gives it back with releaseSpace. An editor's file URI is accepted.
func (s *Service) openSpace(ctx context.Context, dir string, c *Client) (*space, error) {
	path, err := directory(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, workspaceError(path, err)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, Errorf(RequestFailed, "the server is ending")
	}
	if sp := s.spaces[real]; sp != nil {
		sp.uses++
		s.mu.Unlock()
		return sp, nil
	}
	s.mu.Unlock()

	ws, err := workspace.Open(path, workspace.Options{Store: s.store, Now: s.opts.Now})
	if err != nil {
		return nil, workspaceError(path, err)
	}
	sp := &space{service: s, ws: ws, uses: 1, owners: map[string]*Client{}, layers: map[*Client]settings{}, override: settings{},
		index: incidents.NewIndex(), reports: map[string][]incidents.Incident{}}
	if c != nil {
		if given := c.given(); len(given) > 0 {
			sp.layers[c], sp.order = given, []*Client{c}
		}
	}
	if err := sp.configure(ctx); err != nil {
		// A broken configuration must not lock the user out of the workspace
		// that holds it: it is reported, and the defaults hold.
		s.log.Warn("configuration is ignored", "workspace", path, "error", err)
		sp.conf = mergeSettings(sp.layersInOrder()...)
	}
	if len(sp.conf.Deny) > 0 {
		// What is denied is known only now that the settings are read.
		denying, err := workspace.Open(path, workspace.Options{Store: s.store, Now: s.opts.Now, Deny: sp.conf.Deny})
		if err != nil {
			return nil, errors.Join(Errorf(ConfigurationError, "deny: %w", err).With("member", "deny"), ws.Close())
		}
		if err := ws.Close(); err != nil {
			s.log.Warn("a workspace was not closed cleanly", "workspace", path, "error", err)
		}
		ws, sp.ws = denying, denying
	}
	if err := sp.recover(ctx); err != nil {
		return nil, errors.Join(err, ws.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.spaces[ws.RealDir()]; first != nil {
		first.uses++
		return first, ws.Close()
	}
	s.spaces[ws.RealDir()] = sp
	return sp, nil
}

// releaseSpace gives back what openSpace returned. The last one out closes it.
func (s *Service) releaseSpace(sp *space) {
	s.mu.Lock()
	sp.uses--
	last := sp.uses == 0
	if last && s.spaces[sp.ws.RealDir()] == sp {
		delete(s.spaces, sp.ws.RealDir())
	}
	s.mu.Unlock()
	if last {
		if err := sp.close(); err != nil {
			s.log.Warn("a workspace was not closed cleanly", "workspace", sp.ws.Dir(), "error", err)
		}
	}
}

func (sp *space) close() error {
	sp.mu.Lock()
	stopped := sp.stopped
	sp.stopped = true
	watcher := sp.watcher
	sp.mu.Unlock()
	if stopped {
		return nil
	}
	var err error
	if watcher != nil {
		err = watcher.Close()
	}
	return errors.Join(err, sp.ws.Close())
}

// directory turns what a client calls a workspace into an absolute path.
func directory(dir string) (string, error) {
	path := dir
	if strings.HasPrefix(strings.ToLower(dir), "file:") {
		u, err := url.Parse(dir)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return "", Errorf(InvalidParams, "the workspace %q is not a file URI of this machine", dir).With("member", "params.workspace_path")
		}
		path = filepath.FromSlash(u.Path)
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, `\`)
		}
	}
	if !filepath.IsAbs(path) {
		return "", Errorf(InvalidParams, "the workspace %q must be an absolute path or a file URI", dir).With("member", "params.workspace_path")
	}
	return filepath.Clean(path), nil
}

// workspaceError tells a directory that is not there, which is a mistake in the
// params, from one that may not be used.
func workspaceError(path string, err error) *Error {
	var p *workspace.PathError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &p) && (p.Kind == workspace.NotFound || p.Kind == workspace.NotRegular) {
		return Errorf(InvalidParams, "the workspace %s is not a directory that exists", path).With("member", "params.workspace_path")
	}
	return Errorf(WorkspaceAccessDenied, "the workspace %s cannot be used: %w", path, err)
}

// layersInOrder is every source of settings, the strongest last. mu is held, or
// the space is not shared yet.
func (sp *space) layersInOrder() []settings {
	var out []settings
	for _, c := range sp.order {
		out = append(out, sp.layers[c])
	}
	return append(out, sp.override)
}

// configure reads the workspace's own settings again and lays the clients' over
// them. On an error nothing changes.
func (sp *space) configure(ctx context.Context) error {
	project, err := readProjectConfig(sp.ws)
	if err != nil {
		return err
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	conf := mergeSettings(append([]settings{project}, sp.layersInOrder()...)...)
	if !conf.Trusted {
		// What a workspace says about the model counts only once it is trusted.
		delete(project, "model")
		delete(project, "engine")
		conf = mergeSettings(append([]settings{project}, sp.layersInOrder()...)...)
	}
	if !slices.Equal(sp.conf.AnalysisFiles, conf.AnalysisFiles) && sp.watching {
		defer sp.rewatch()
	}
	sp.conf = conf
	sp.set, sp.hidden = nil, nil
	return nil
}

// setLayer replaces one client's settings.
func (sp *space) setLayer(ctx context.Context, c *Client, given settings) error {
	sp.mu.Lock()
	if _, ok := sp.layers[c]; !ok {
		sp.order = append(sp.order, c)
	}
	sp.layers[c] = given
	sp.mu.Unlock()
	return sp.configure(ctx)
}

func (sp *space) dropLayer(c *Client) {
	sp.mu.Lock()
	delete(sp.layers, c)
	sp.order = slices.DeleteFunc(sp.order, func(o *Client) bool { return o == c })
	for path, owner := range sp.owners {
		if owner == c {
			delete(sp.owners, path)
		}
	}
	sp.mu.Unlock()
}

func (sp *space) config() Config {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	return sp.conf
}

// rules returns the workspace's rule set, loaded when it is first asked for and
// after every change of the settings. One caller loads, the others wait.
func (sp *space) rules(ctx context.Context) (*rules.Set, error) {
	for {
		sp.mu.Lock()
		if sp.set != nil {
			set := sp.set
			sp.mu.Unlock()
			return set, nil
		}
		if wait := sp.loading; wait != nil {
			sp.mu.Unlock()
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		done := make(chan struct{})
		sp.loading = done
		conf := sp.conf
		sp.mu.Unlock()

		set, problems, err := loadRules(ctx, sp.ws, conf)
		sp.mu.Lock()
		sp.loading = nil
		close(done)
		if err == nil && reflect.DeepEqual(conf, sp.conf) {
			sp.set, sp.problems = set, problems
		}
		sp.mu.Unlock()
		for _, problem := range problems {
			sp.service.log.Warn("a rule is ignored", "workspace", sp.ws.Dir(), "problem", problem.String())
		}
		if err != nil {
			return nil, err
		}
		return set, nil
	}
}

// fixer makes the agent for one request.
func (sp *space) fixer(ctx context.Context, model agent.ModelEngine) (*agent.Fixer, error) {
	set, err := sp.rules(ctx)
	if err != nil {
		return nil, err
	}
	past, err := sp.service.outcomes(ctx)
	if err != nil {
		return nil, err
	}
	opts := agent.Options{Rules: set, Model: model, Outcomes: past}
	if sp.config().Trusted {
		// A linter runs what the workspace configures for it.
		opts.Diagnostics = sp.service.opts.Diagnostics
	}
	return agent.New(opts), nil
}

// EditBuffer passes an edit to the client that has the document open.
func (sp *space) EditBuffer(ctx context.Context, path string, version int32, text []byte, edits []workspace.Edit) error {
	sp.mu.Lock()
	c := sp.owners[path]
	sp.mu.Unlock()
	if c == nil {
		return errors.New("no client has " + path + " open")
	}
	return c.front.EditBuffer(ctx, c.uriOf(sp, path), version, text, edits)
}

// uriOf returns the name by which a client has a file of a workspace open: two
// roots may hold the same path, and a root may have two names.
func (c *Client) uriOf(sp *space, rel string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.docs {
		if d.space == sp && d.rel == rel {
			return d.uri
		}
	}
	return rel
}
