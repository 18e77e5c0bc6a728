package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/lsp/client"
)

// Options say what a run does.
type Options struct {
	Server    []string // command that serves stdin and stdout: {"kaiak", "serve", "--stdio", …}
	Workspace string   // absolute path
	StateDir  string   // where unfinished runs are remembered; the server's own state folder

	Incidents []string                          // analysis files of any format that [incidents.Read] knows
	Prefixes  []incidents.Prefix                // where an analysis saw the workspace's files
	Rules     []string                          // rule sources to find incidents by; empty: none, unless Scan
	Scan      bool                              // find incidents by rule, with the workspace's own rule settings where Rules is empty
	Engines   []string                          // "recipe", "model", in the order to try; empty: recipe only
	Context   map[string]any                    // the contract's migration_context
	Trust     bool                              // the user trusts the workspace: its model settings count, and the user's diagnostics command runs in it
	Apply     bool                              // false: a dry run
	Approve   Policy                            // "" is Recipes
	Resume    bool                              // continue a run that was killed or paused, with what it was asked
	ResumeID  string                            // which one; "" is the newest of the workspace
	Version   string                            // of this program, for the server's log
	Out       io.Writer                         // unified diffs of a dry run
	Log       io.Writer                         // the server's log
	Progress  func(done, all int, doing string) // called as the run goes on; nil: nobody looks
}

// ErrPaused says that a run ended before its work and can be continued.
var ErrPaused = errors.New("paused")

// endTimeout is how long the server may take to end. It has nothing to do then
// but close its files.
const endTimeout = 20 * time.Second

// Run runs a batch. The report is there as far as the run came, also with an
// error; [ErrPaused] (wrapped) says that the rest can be done by resuming.
func Run(ctx context.Context, opts Options) (rep *Report, err error) {
	if opts.Approve == "" {
		opts.Approve = Recipes
	}
	if len(opts.Engines) == 0 {
		opts.Engines = []string{recipe}
	}
	if !filepath.IsAbs(opts.Workspace) {
		return nil, fmt.Errorf("the workspace %q is not an absolute path", opts.Workspace)
	}
	opts.Workspace = filepath.Clean(opts.Workspace)
	if real, err := filepath.EvalSymlinks(opts.Workspace); err == nil && real != opts.Workspace {
		opts.Prefixes = append([]incidents.Prefix{{From: real}}, opts.Prefixes...)
	}
	b := &run{opts: &opts, stream: newStream(), refused: map[string]refusal{}}
	if opts.Resume {
		if b.record, err = findRecord(opts.StateDir, opts.Workspace, opts.ResumeID); err != nil {
			return nil, err
		}
	} else {
		if len(opts.Incidents) == 0 && len(opts.Rules) == 0 && !opts.Scan {
			return nil, errors.New("nothing to do: name analysis files or rules")
		}
		b.record = newRecord(&opts)
	}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if e := b.client.Shutdown(end); e != nil && err == nil {
			err = fmt.Errorf("the run is done, but the server did not end well: %w", e)
		}
	}()
	return b.do(ctx)
}

// A run is one run of a batch.
type run struct {
	opts    *Options
	record  *record
	client  *client.Client
	stream  *stream
	refused map[string]refusal // proposals that were approved and could not be applied
}

type refusal struct {
	verdict Verdict
	reason  string
}

func (b *run) start(ctx context.Context) error {
	if len(b.opts.Server) == 0 {
		return errors.New("there is no server to start")
	}
	command := exec.Command(b.opts.Server[0], b.opts.Server[1:]...)
	command.Dir = b.opts.Workspace
	command.Stderr = b.opts.Log
	settings := map[string]any{}
	if len(b.record.Rules) > 0 {
		settings["rules"] = b.record.Rules
	}
	if b.opts.Trust {
		settings["trusted"] = true
	}
	var err error
	b.client, err = client.Start(ctx, command, client.Options{
		Name: "kaiak-batch", Version: b.opts.Version, Root: b.opts.Workspace, Initialization: settings,
		OnNotification: b.stream.hear,
	})
	return err
}

func (b *run) do(ctx context.Context) (*Report, error) {
	if err := b.session(ctx); err != nil {
		return nil, b.why(ctx, err)
	}
	rep := &Report{
		BatchID: b.record.ID, SessionID: b.record.SessionID, Workspace: b.record.Workspace, Mode: modeDryRun, Approve: b.record.Approve,
		StartedAt: b.record.StartedAt, Incidents: []Row{}, Problems: b.record.Problems, Notes: b.record.Notes,
	}
	if b.record.Apply {
		rep.Mode = modeApply
	}
	target := chunkTarget
	if !slices.Equal(b.record.Engines, []string{recipe}) {
		target = chunkLimit // a model's work is ordered by what depends on what, within a request
	}
	list, err := chunks(b.record.Incidents, target, chunkLimit, chunkBytes)
	if err != nil {
		return nil, err
	}
	done := 0
	for n, chunk := range list {
		rows, err := b.chunk(ctx, n, chunk, done)
		rep.Incidents = append(rep.Incidents, rows...)
		done += len(chunk)
		if err != nil {
			for _, rest := range append([][]incidents.Incident{chunk[len(rows):]}, list[n+1:]...) {
				for i := range rest {
					rep.Incidents = append(rep.Incidents, b.row(&rest[i], incidentRow{}, nil))
				}
			}
			rep.finish()
			return rep, b.why(ctx, err)
		}
		b.progress(done, "")
	}
	rep.Complete = true
	rep.finish()
	return rep, b.close(ctx)
}

// why makes the error of a run that broke off: paused when the user stopped it
// or the budget is used up, and either way what can be done.
func (b *run) why(ctx context.Context, err error) error {
	switch {
	case b.record.SessionID == "":
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: batch %s was interrupted; --resume continues it", ErrPaused, b.record.ID)
	}
	return fmt.Errorf("%w; --resume continues batch %s", err, b.record.ID)
}

// session opens the run's session and finds its incidents, or opens the
// session of the run that is resumed.
func (b *run) session(ctx context.Context) error {
	if b.record.SessionID != "" {
		_, err := call[struct{}](ctx, b, methodResume, sessionResult{b.record.SessionID})
		return err
	}
	found, err := b.readInputs(b.opts.Incidents)
	if err != nil {
		return err
	}
	params := createParams{WorkspacePath: b.opts.Workspace, SessionName: b.record.ID}
	params.Configuration.Timeout = 1 // nobody is there to answer a question: let it expire at once
	params.Configuration.Approval = approvalDefer
	session, err := call[sessionResult](ctx, b, methodCreate, params)
	if err != nil {
		return err
	}
	if len(b.opts.Rules) > 0 || b.opts.Scan {
		b.progress(0, "looking for incidents")
		scan, err := call[scanResult](ctx, b, methodScan, session)
		if err != nil {
			return err
		}
		found = append(found, scan.Incidents...)
		b.record.Problems = append(b.record.Problems, scan.Problems...)
		b.record.Notes = append(b.record.Notes, scan.Notes...)
	}
	b.record.Incidents = order(found)
	b.record.SessionID = session.SessionID
	return b.record.save()
}

// recipe is the engine that fixes by rule.
const recipe = "recipe"

// approvalDefer has the server leave proposals pending instead of asking.
const approvalDefer = "defer"

// close ends the session and forgets the run. What a dry run proposed goes with
// its session: the next one makes it again.
func (b *run) close(ctx context.Context) error {
	method := methodEnd
	if !b.record.Apply {
		method = methodDelete
	}
	if _, err := call[struct{}](ctx, b, method, sessionResult{b.record.SessionID}); err != nil {
		return err
	}
	return b.record.remove()
}

func (b *run) progress(done int, doing string) {
	if b.opts.Progress != nil {
		b.opts.Progress(done, len(b.record.Incidents), doing)
	}
}

// call sends a request. What the server calls worth another try (another
// process holds the workspace for a moment, a rate is exceeded) is tried again.
func call[R any](ctx context.Context, b *run, method string, params any) (R, error) {
	wait := 100 * time.Millisecond
	for try := 1; ; try++ {
		result, err := client.Call[R](ctx, b.client, method, params)
		var again *client.Error
		if err == nil || try == 6 || !errors.As(err, &again) || !again.Retryable {
			return result, err
		}
		select {
		case <-time.After(wait):
			wait *= 2
		case <-ctx.Done():
			return result, context.Cause(ctx)
		}
	}
}
