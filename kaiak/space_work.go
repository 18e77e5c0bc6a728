package kaiak

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// rulesFolder is where a workspace keeps rules of its own.
const rulesFolder = ".kaiak/rules"

// loadRules compiles the rules that the settings name; by default the
// workspace's own and the built-in packs that concern it.
func loadRules(ctx context.Context, ws *workspace.Workspace, conf Config) (*rules.Set, []incidents.Problem, error) {
	sources := conf.Rules
	if len(sources) == 0 {
		err := ws.Walk(ctx, workspace.WalkOptions{Under: []string{rulesFolder}}, func(workspace.Entry) error { return errFound })
		if errors.Is(err, errFound) {
			sources = []string{rulesFolder}
		} else if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		sources = append(slices.Clone(sources), rules.Builtin)
	}
	set, problems, err := rules.Load(ctx, sources, rules.LoadOptions{Dir: ws.RealDir(), Workspace: ws, Off: conf.DisabledRules, Generated: conf.Generated})
	if err != nil && ctx.Err() == nil {
		return nil, nil, Errorf(ConfigurationError, "the rules cannot be loaded: %w", err).With("member", "rules")
	}
	return set, problems, err
}

// errFound ends a walk at the first file.
var errFound = errors.New("found")

// applySet changes files; documents that are open are changed by their client.
func (sp *space) applySet(ctx context.Context, set workspace.Set) (workspace.Result, error) {
	return sp.ws.Apply(ctx, set, sp.applyOptions())
}

func (sp *space) applyOptions() workspace.ApplyOptions {
	return workspace.ApplyOptions{Buffers: sp, BufferTimeout: sp.service.opts.EditTimeout}
}

// scan runs rules over files, in the order of their paths.
func (sp *space) scan(ctx context.Context, set *rules.Set, under []string, each func(rules.FileResult)) error {
	return set.Scan(ctx, sp.ws, rules.ScanOptions{Under: under}, func(f rules.FileResult) error {
		each(f)
		return nil
	})
}

// adjust turns matches into incidents as the settings want them: severities
// overridden, what the baseline has left out.
func (sp *space) adjust(matches []rules.Match) []incidents.Incident {
	conf := sp.config()
	hidden := sp.baseline(conf)
	list := make([]incidents.Incident, 0, len(matches))
	for _, m := range matches {
		in := m.Incident
		if hidden[in.ID] {
			continue
		}
		if s, ok := conf.Severity[in.RuleID]; ok {
			in.Severity = incidents.Severity(s)
		}
		in.URI = sp.ws.URI(in.FilePath)
		list = append(list, in)
	}
	return list
}

// baseline returns the ids of incidents that are not to be shown.
func (sp *space) baseline(conf Config) map[string]bool {
	if conf.Baseline == "" {
		return nil
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.hidden != nil {
		return sp.hidden
	}
	sp.hidden = map[string]bool{}
	file, err := sp.ws.Read(conf.Baseline)
	if err != nil {
		sp.service.log.Warn("the baseline cannot be read, so every incident is shown", "error", err)
		return sp.hidden
	}
	for _, in := range incidents.ReadNative(file.Text, incidents.Options{Name: file.Path, Root: sp.ws.Dir()}).Incidents {
		sp.hidden[in.ID] = true
	}
	return sp.hidden
}

// announce tells every client that has the document open that its incidents
// are others now.
func (sp *space) announce(rel string) {
	sp.service.mu.Lock()
	clients := make([]*Client, 0, len(sp.service.clients))
	for c := range sp.service.clients {
		clients = append(clients, c)
	}
	sp.service.mu.Unlock()
	for _, c := range clients {
		c.mu.Lock()
		var uris []string
		for _, d := range c.docs {
			if d.space == sp && (rel == "" || d.rel == rel) {
				uris = append(uris, d.uri)
			}
		}
		c.mu.Unlock()
		slices.Sort(uris)
		for _, uri := range uris {
			c.front.IncidentsChanged(uri)
		}
	}
}

// announceAll is announce for every open document of the workspace.
func (sp *space) announceAll() { sp.announce("") }

// proposalsChanged is called when a proposal for these files was made or decided.
func (sp *space) proposalsChanged(changes []workspace.Change) {
	for _, c := range changes {
		sp.announce(c.Path)
	}
}

// filesChanged is called when files were written by us: what is known about
// them is looked up again when it is next asked for.
func (sp *space) filesChanged(changes []workspace.Change) {
	for _, c := range changes {
		if _, open := sp.ws.Buffer(c.Path); !open {
			sp.index.Replace(c.Path, ownSource, nil)
		}
		sp.announce(c.Path)
	}
}

// watch begins to watch the workspace's analysis files, rules and
// configuration, once.
func (sp *space) watch() {
	sp.mu.Lock()
	started := sp.watching || sp.stopped
	sp.watching = true
	sp.mu.Unlock()
	if started {
		return
	}
	w, err := incidents.NewWatcher(incidents.WatchOptions{Root: sp.ws.RealDir(), Match: sp.watched, Enter: sp.entered})
	if err != nil {
		sp.service.log.Warn("the workspace is not watched", "workspace", sp.ws.Dir(), "error", err)
		return
	}
	sp.mu.Lock()
	sp.watcher = w
	stopped := sp.stopped
	sp.mu.Unlock()
	if stopped { // closed in the same moment
		_ = w.Close()
		return
	}
	sp.service.run(func() {
		// The service's end waits for this goroutine, and closes the space only then.
		defer context.AfterFunc(sp.service.ctx, func() { _ = w.Close() })()
		for batch := range w.Events() {
			for _, e := range batch {
				sp.fileEvent(sp.service.ctx, e.Path, e.SHA256 == "")
			}
		}
	})
}

// rewatch watches anew when other files mean something now.
func (sp *space) rewatch() {
	sp.service.run(func() {
		sp.mu.Lock()
		w := sp.watcher
		if w != nil {
			sp.watching, sp.watcher = false, nil
		}
		sp.mu.Unlock()
		if w == nil {
			return
		}
		if err := w.Close(); err != nil {
			sp.service.log.Warn("a watcher was not closed cleanly", "error", err)
		}
		sp.watch()
	})
}

// watched reports whether a change of the file means something.
func (sp *space) watched(rel string) bool {
	if rel == configFile || strings.HasPrefix(rel, rulesFolder+"/") {
		return true
	}
	return sp.isAnalysis(rel)
}

// entered reports whether a folder may hold such a file.
func (sp *space) entered(rel string) bool {
	switch path.Base(rel) {
	case ".git", ".hg", ".svn", "node_modules":
		return false
	}
	if rel == "." || rel == ".kaiak" || strings.HasPrefix(rel, ".kaiak/") || strings.HasPrefix(rulesFolder, rel+"/") {
		return true
	}
	// A folder is entered for a glob that can still match below it.
	for _, pattern := range sp.config().AnalysisFiles {
		if prefix, _ := doublestar.SplitPattern(pattern); prefix == "." || strings.HasPrefix(prefix+"/", rel+"/") || strings.HasPrefix(rel+"/", prefix+"/") {
			return true
		}
	}
	return false
}

func (sp *space) isAnalysis(rel string) bool {
	for _, pattern := range sp.config().AnalysisFiles {
		if ok, err := doublestar.Match(pattern, rel); ok && err == nil {
			return true
		}
	}
	return false
}

// fileEvent takes up a change on disk of a file that means something.
func (sp *space) fileEvent(ctx context.Context, rel string, gone bool) {
	switch {
	case rel == configFile:
		if err := sp.configure(ctx); err != nil {
			sp.service.log.Warn("the configuration is ignored", "workspace", sp.ws.Dir(), "error", err)
			return
		}
		sp.announceAll()
	case strings.HasPrefix(rel, rulesFolder+"/"):
		sp.mu.Lock()
		sp.set = nil
		sp.mu.Unlock()
		sp.announceAll()
	case gone:
		sp.ingest(rel, nil)
	case sp.isAnalysis(rel):
		file, err := sp.ws.Read(rel)
		if errors.Is(err, fs.ErrNotExist) {
			sp.ingest(rel, nil)
			return
		}
		if err == nil {
			var rep *incidents.Report
			if rep, err = sp.read(ctx, rel, file.Text); err == nil {
				sp.ingest(rel, rep.Incidents)
				for _, problem := range rep.Problems {
					sp.service.log.Warn("a record of an analysis file is ignored", "problem", problem.String())
				}
			}
		}
		if err != nil {
			sp.service.log.Warn("an analysis file is ignored", "file", rel, "error", err)
		}
	}
}

// FilesChanged says that files changed on disk, given as file URIs (LSP:
// workspace/didChangeWatchedFiles). What a client reports twice is looked at twice.
func (c *Client) FilesChanged(ctx context.Context, uris []string) {
	for _, uri := range uris {
		for _, sp := range c.folderSpaces() {
			rel, err := sp.ws.Rel(uri)
			if err != nil {
				continue
			}
			if sp.watched(rel) {
				_, err := sp.ws.Read(rel)
				sp.fileEvent(ctx, rel, errors.Is(err, fs.ErrNotExist))
			}
			break
		}
	}
}

// wireRange converts a range of bytes to the wire's.
func wireRange(m *workspace.Mapper, start, end int) incidents.Range {
	return incidents.Range{Start: m.Position(start), End: m.Position(end)}
}
