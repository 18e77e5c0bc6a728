package crashtest

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kaiak/kaiak/batch"
	"github.com/kaiak/kaiak/internal/crashtest/tracer"
)

// How many calls are taken at random beside those that are always.
const (
	sample     = 12
	fullSample = 200
)

// uninterrupted runs the batch once and returns its mutating calls.
func uninterrupted(t *testing.T) []tracer.Call {
	t.Helper()
	l := newLab(t)
	code, said, trace := l.traced(tracer.Plan{}, l.first())
	rep, ok := l.readReport()
	if code != batch.ExitLeft || !ok || rep.Totals.Verdicts[batch.Fixed] != ruled*perFile || rep.Totals.Verdicts[batch.Partial] != sets {
		t.Fatalf("an uninterrupted run ends with %d: %s", code, said) // what no rule can check again is "partial"
	}
	wrongIn(t, "an uninterrupted run", l.finished())
	if t.Failed() {
		t.FailNow()
	}
	return trace.Calls
}

// inner reports whether a call is one in the middle of a row of writes to the
// same file: of a transaction's pages, that is, which count only once the last
// of them is there. They are four fifths of all calls.
func inner(calls []tracer.Call, i int) bool {
	alike := func(j int) bool {
		return j >= 0 && j < len(calls) && calls[j].Name == calls[i].Name && calls[j].Path == calls[i].Path
	}
	return calls[i].Name == "pwrite64" && alike(i-1) && alike(i+1)
}

// points are the calls at which something happens: the first, the last, those of
// the batch itself, and a sample; in full size all but the inner ones, of which
// there is a sample then.
func points(t *testing.T, calls []tracer.Call) []int {
	t.Helper()
	at := []int{1, len(calls)}
	size := sample
	if full {
		size = fullSample
	}
	for i, c := range calls {
		if every || full && !inner(calls, i) || c.Process == 1 {
			at = append(at, i+1)
		}
	}
	rnd := seeded(t)
	for range size {
		at = append(at, 1+rnd.IntN(len(calls)))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// each runs f for every item, a few at once.
func each[T any](t *testing.T, items []T, name func(T) string, f func(t *testing.T, item T)) {
	t.Helper()
	places := make(chan struct{}, 2*runtime.GOMAXPROCS(0)) // they mostly wait for the disk
	t.Run("at", func(t *testing.T) {
		for _, item := range items {
			t.Run(name(item), func(t *testing.T) {
				t.Parallel()
				places <- struct{}{}
				defer func() { <-places }()
				f(t, item)
			})
		}
	})
}

// A tally counts what experiments came to.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[what]++
}

func (c *tally) String() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(c.count)) {
		parts = append(parts, fmt.Sprintf("%d %s", c.count[what], what))
	}
	return strings.Join(parts, ", ")
}

// A batch of 200 incidents and its server are killed at every one of their
// changes to the disk: whichever of the two is about to make it dies. What is
// left is resumed.
func TestBatchKilledAtEverySystemCall(t *testing.T) {
	needTracer(t)
	calls := uninterrupted(t)
	var count tally
	at := points(t, calls)
	each(t, at, func(n int) string { return fmt.Sprint(n) }, func(t *testing.T, n int) {
		l := newLab(t)
		code, said, trace := l.traced(tracer.Plan{Action: tracer.Kill, At: n}, l.first())
		hit, ok := trace.Hit()
		if !ok {
			count.add("came to the end first") // the last few calls depend on timing
			wrongIn(t, fmt.Sprintf("a run of %d calls", len(trace.Calls)), l.finished())
			return
		}
		victim := "server"
		if strings.HasSuffix(hit.Program, " batch") {
			victim = "batch"
		}
		count.add("times the " + victim + " was killed")
		wrongIn(t, fmt.Sprintf("after the %s was killed at %s %s", victim, hit.Name, hit.Path), l.project.allOrNothing(l.tree(), true))
		if victim == "server" && (code != batch.ExitCouldNotRun && !maps.Equal(l.tree(), l.project.final) || strings.Contains(said, "goroutine ")) {
			t.Errorf("the batch of a killed server ends with %d: %s", code, said)
		}
		l.age()
		wrongIn(t, fmt.Sprintf("resuming after the %s was killed at %s %s", victim, hit.Name, hit.Path), l.settle())
		wrongIn(t, fmt.Sprintf("at the end, after the %s was killed at %s %s", victim, hit.Name, hit.Path), l.finished())
	})
	t.Logf("%d mutating system calls of batch and server, %d points: %v", len(calls), len(at), &count)
}

// A fault is one that a system call has.
type fault struct {
	at     int
	errno  syscall.Errno
	always bool
}

// kinds of faults, which the calls have in turn: a disk that is full for a
// moment, one that is broken, a permission that is missing, a disk that stays full.
var kinds = []fault{{errno: syscall.ENOSPC}, {errno: syscall.EIO}, {errno: syscall.EACCES}, {errno: syscall.ENOSPC, always: true}}

// Every change to the disk fails, once or, as on a full disk, from then on.
// When the fault is gone, what was left undone is done.
func TestBatchFailsAtEverySystemCall(t *testing.T) {
	needTracer(t)
	calls := uninterrupted(t)
	var count tally
	var list []fault
	for i, at := range points(t, calls) {
		f := kinds[i%len(kinds)]
		f.at = at
		list = append(list, f)
	}
	each(t, list, func(f fault) string {
		return fmt.Sprintf("%d %v %v", f.at, f.errno, map[bool]string{true: "for good"}[f.always])
	}, func(t *testing.T, f fault) {
		l := newLab(t)
		code, said, trace := l.traced(tracer.Plan{Action: tracer.Fail, At: f.at, Errno: int(f.errno), Always: f.always}, l.first())
		hit, ok := trace.Hit()
		if !ok {
			count.add("came to the end first")
			return
		}
		what := fmt.Sprintf("%v at %s %s", f.errno, hit.Name, hit.Path)
		if strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") || code < 0 || code > batch.ExitPaused {
			t.Errorf("%s: the batch ends with %d: %s", what, code, said)
		}
		count.add(fmt.Sprintf("with %v", f.errno))
		wrongIn(t, what, l.project.allOrNothing(l.tree(), true))
		if maps.Equal(l.tree(), l.project.final) {
			count.add("without consequence")
		} else {
			count.add("told and finished later")
			if code == batch.ExitFixed {
				t.Errorf("%s: the batch says that all is done: %s", what, said)
			}
		}
		l.age()
		wrongIn(t, "resuming after "+what, l.settle())
		wrongIn(t, "at the end, after "+what, l.finished())
	})
	t.Logf("%d mutating system calls of batch and server, %d faults: %v", len(calls), len(list), &count)
}
