package agent

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Rules is what the agent needs of a rule set; [*rules.Set] is one. A nil tree
// means that the callee parses where it has to.
type Rules interface {
	ForIncident(in incidents.Incident) []*rules.Rule
	Check(ctx context.Context, file *workspace.File, tree *treesitter.Tree) ([]rules.Match, error)
	Match(ctx context.Context, file *workspace.File, tree *treesitter.Tree, in incidents.Incident) ([]rules.Match, error)
	Rewrite(ctx context.Context, file *workspace.File, tree *treesitter.Tree, matches []rules.Match) (rules.Rewrite, error)
}

// Options say what a [Fixer] works with.
type Options struct {
	Rules       Rules       // required
	Model       ModelEngine // nil: there is none
	Diagnostics Diagnostics // nil: the rules are the only judge
	Outcomes    Outcomes    // nil: none are known
	Workers     int         // how many files at a time; 0: as many as there are processors
}

// A Fixer makes candidates. It keeps nothing between calls and is safe for
// concurrent use.
type Fixer struct {
	opts Options
}

// New returns a fixer.
func New(opts Options) *Fixer {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	return &Fixer{opts}
}

// fileJob is the incidents of one file, in the order of the file.
type fileJob struct {
	path      string
	incidents []incidents.Incident
}

// fileResult is what became of a job.
type fileResult struct {
	candidates []Candidate
	leftovers  []Leftover
}

// Fix makes candidates for the task's incidents: one per file, and one per
// multi-file fix that an incident's source offers. Every incident ends in a
// candidate or in a leftover. Files are worked on concurrently and told to l in
// the order of their paths, whatever the number of processors. The error is
// ctx's, or says that nothing at all could be done.
func (f *Fixer) Fix(ctx context.Context, task Task, l Listener) error {
	jobs := group(task.Incidents)
	l.Progress(0, "analyzing_incidents", plural(len(task.Incidents), "incident")+" in "+plural(len(jobs), "file"))
	results := newSequencer(len(jobs), func(i, done int, r fileResult) {
		for _, c := range r.candidates {
			l.Candidate(c)
		}
		for _, left := range r.leftovers {
			l.Leftover(left)
		}
		l.Progress(5+90*done/len(jobs), "generating_fixes", jobs[i].path)
	})
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(f.opts.Workers)
	for i, job := range jobs {
		g.Go(func() error {
			r, err := f.fixFile(gctx, task, job)
			if err != nil {
				return err
			}
			results.put(i, r)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	l.Progress(95, "completing", "all files have been looked at")
	return nil
}

// group sorts incidents into jobs by path; within one by place, then rule, then id.
func group(list []incidents.Incident) []fileJob {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b incidents.Incident) int {
		return cmp.Or(
			cmp.Compare(a.FilePath, b.FilePath), cmp.Compare(a.LineNumber, b.LineNumber),
			cmp.Compare(column(a), column(b)), cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.ID, b.ID))
	})
	var jobs []fileJob
	for _, in := range sorted {
		if n := len(jobs); n > 0 && jobs[n-1].path == in.FilePath {
			jobs[n-1].incidents = append(jobs[n-1].incidents, in)
			continue
		}
		jobs = append(jobs, fileJob{in.FilePath, []incidents.Incident{in}})
	}
	return jobs
}

func column(in incidents.Incident) int {
	if in.Range == nil {
		return 0
	}
	return in.Range.Start.Character
}

// A sequencer passes results on in the order of their indexes.
type sequencer[T any] struct {
	mu      sync.Mutex // guards what follows, and is held while emit runs
	waiting map[int]T
	next    int
	emit    func(index, done int, v T)
}

func newSequencer[T any](n int, emit func(index, done int, v T)) *sequencer[T] {
	return &sequencer[T]{waiting: make(map[int]T, n), emit: emit}
}

func (s *sequencer[T]) put(i int, v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[i] = v
	for {
		v, ok := s.waiting[s.next]
		if !ok {
			return
		}
		delete(s.waiting, s.next)
		s.next++
		s.emit(s.next-1, s.next, v)
	}
}
