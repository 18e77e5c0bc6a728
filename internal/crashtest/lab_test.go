package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kaiak/kaiak/batch"
	"github.com/kaiak/kaiak/internal/crashtest/tracer"
	"github.com/kaiak/kaiak/store"
)

func TestMain(m *testing.M) {
	tracer.Main()
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// full says that much is enumerated instead of sampled, every that everything is.
var (
	full  = os.Getenv("KAIAK_RELIABILITY") == "full"
	every = os.Getenv("KAIAK_RELIABILITY") == "every"
)

// patience is how long something may take that has to happen. It is no
// measurement: a test fails by it only when nothing happens any more.
const patience = time.Minute

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// seeded returns a source of randomness that KAIAK_SEED repeats.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("KAIAK_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("KAIAK_SEED=%d repeats this run", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// built is the folder of the program, once it is built.
var built string

// buildProgram builds the program once.
var buildProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kaiak-crashtest-")
	if err != nil {
		return "", err
	}
	built = dir
	exe := filepath.Join(dir, "kaiak")
	out, err := exec.Command("go", "build", "-o", exe, "../../cmd/kaiak").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return exe, nil
})

func program(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program; not with -short")
	}
	exe, err := buildProgram()
	check(t, err)
	return exe
}

func needTracer(t testing.TB) {
	t.Helper()
	if err := tracer.Supported(); err != nil {
		t.Skipf("no process is killed at its system calls: %v; see docs/reliability.md", err)
	}
}

// A lab is the folders of one experiment.
type lab struct {
	t         testing.TB // whose failures these are
	exe       string
	project   *project
	dir       string // of everything; without symbolic links
	workspace string
	state     string
	analysis  string
	report    string
}

// newLab prepares a project that nothing has been done to.
func newLab(t testing.TB) *lab {
	t.Helper()
	exe := program(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	l := &lab{t: t, exe: exe, project: newProject(), dir: dir, workspace: filepath.Join(dir, "ws"), state: filepath.Join(dir, "state"),
		analysis: filepath.Join(dir, "analysis.json"), report: filepath.Join(dir, "report.json")}
	check(t, os.Mkdir(l.workspace, 0o755))
	l.project.write(t, l)
	return l
}

// first is the command line of the batch.
func (l *lab) first() []string {
	return []string{l.exe, "batch", "--workspace", l.workspace, "--state-dir", l.state, "--rules", "rules", "--incidents", l.analysis, "--apply", "--report", l.report}
}

// resume is the command line that goes on with it.
func (l *lab) resume() []string {
	return []string{l.exe, "batch", "--workspace", l.workspace, "--state-dir", l.state, "--resume", "--report", l.report}
}

// run runs a command line to its end and returns its exit code and what it said.
func (l *lab) run(cmd *exec.Cmd) (code int, said string) {
	l.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	check(l.t, cmd.Start())
	end := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() < 0 {
		l.t.Fatalf("it does not end: %s\n%s", cmd, out.String())
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// plain runs a command line that nobody interferes with.
func (l *lab) plain(argv []string) (code int, said string) {
	l.t.Helper()
	return l.run(exec.Command(argv[0], argv[1:]...))
}

// traced runs a command line under a plan, to which it adds the lab's folders.
func (l *lab) traced(p tracer.Plan, argv []string) (code int, said string, r *tracer.Report) {
	l.t.Helper()
	p.Under = []string{l.workspace, l.state}
	p.Report = filepath.Join(l.dir, "trace.json")
	cmd, err := p.Command(argv...)
	check(l.t, err)
	code, said = l.run(cmd)
	r, err = p.ReadReport()
	if err != nil {
		l.t.Fatalf("the tracer wrote no report: %v\n%s", err, said)
	}
	return code, said, r
}

func (l *lab) tree() map[string]string {
	l.t.Helper()
	out := map[string]string{}
	check(l.t, filepath.WalkDir(l.workspace, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(l.workspace, p)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return out
}

// readReport reads what the batch reported last, if it has.
func (l *lab) readReport() (rep batch.Report, ok bool) {
	l.t.Helper()
	text, err := os.ReadFile(l.report)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return rep, false
	}
	check(l.t, err)
	check(l.t, json.Unmarshal(text, &rep))
	return rep, true
}

// settle finishes what was broken off, as its user would: it resumes the batch,
// and where there is none to resume (it had not begun, it had just ended, or it
// ended with incidents that could not be fixed) it starts one for what is left.
// It returns what went wrong on the way when there is no end.
func (l *lab) settle() (wrong []string) {
	l.t.Helper()
	for range 4 {
		code, said := l.plain(l.resume())
		if strings.Contains(said, "nothing to resume") {
			// Also when all is done: opening the workspace settles what the one
			// that died could not record.
			l.project.writeAnalysis(l.t, l, l.tree())
			code, said = l.plain(l.first())
		}
		if code <= batch.ExitLeft && maps.Equal(l.tree(), l.project.final) {
			return nil
		}
		wrong = append(wrong, fmt.Sprintf("exit %d: %s", code, said))
	}
	return append([]string{"it does not come to its end"}, wrong...)
}

// age makes every temporary file of the state so old that it is nobody's.
func (l *lab) age() {
	l.t.Helper()
	left, err := filepath.Glob(filepath.Join(l.state, "batch", ".tmp-*"))
	check(l.t, err)
	for _, name := range left {
		old := time.Now().Add(-time.Hour)
		check(l.t, os.Chtimes(name, old, old))
	}
}

// finished checks a lab whose batch has come to its end, whatever happened on
// the way.
func (l *lab) finished() (wrong []string) {
	l.t.Helper()
	tree := l.tree()
	wrong = l.project.allOrNothing(tree, false)
	if !maps.Equal(tree, l.project.final) {
		for _, path := range slices.Sorted(maps.Keys(l.project.final)) {
			if tree[path] != l.project.final[path] {
				wrong = append(wrong, fmt.Sprintf("%s is not as an uninterrupted run leaves it: %q", path, tree[path]))
				break
			}
		}
	}
	left, err := os.ReadDir(filepath.Join(l.state, "batch"))
	check(l.t, err)
	for _, e := range left {
		wrong = append(wrong, "left over: "+e.Name()+" in the state")
	}
	return append(wrong, l.onceEach()...)
}

// onceEach checks the state: every proposal was applied once and by one audit
// record, the audit log is whole, every session's events are numbered without
// gaps, and every request that is over has one terminal event.
func (l *lab) onceEach() (wrong []string) {
	l.t.Helper()
	ctx := context.Background()
	st, err := store.Open(l.state)
	check(l.t, err)
	defer st.Close()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }

	audit, err := st.VerifyAudit(ctx, nil)
	check(l.t, err)
	if !audit.OK {
		say("the audit log is broken: %+v", audit)
	}
	applied := map[string]int{} // audit records, by proposal
	for after := int64(0); ; {
		page, err := st.AuditRecords(ctx, after, 1000)
		check(l.t, err)
		if len(page) == 0 {
			break
		}
		for _, rec := range page {
			after = rec.Sequence
			var data struct {
				Proposal string `json:"proposal_id"`
				Status   string `json:"status"`
			}
			check(l.t, json.Unmarshal(rec.Data, &data))
			if rec.Kind == "apply" || rec.Kind == "recovered" && data.Status == "applied" {
				applied[data.Proposal]++
			}
		}
	}
	journal, _, err := st.List(ctx, store.Journal, store.Filter{})
	check(l.t, err)
	for _, rec := range journal {
		if rec.State != "applied" {
			say("the journal has a set in the state %s", rec.State)
		}
	}
	proposals, _, err := st.List(ctx, store.Proposals, store.Filter{})
	check(l.t, err)
	incident := map[string]string{} // → the proposal that fixed it
	states := map[string]int{}
	for _, rec := range proposals {
		states[rec.State]++
		if want := map[bool]int{true: 1}[rec.State == "applied"]; applied[rec.ID] != want {
			say("proposal %s is %s and was applied %d times", rec.ID, rec.State, applied[rec.ID])
		}
		if rec.State != "applied" {
			continue
		}
		var data struct {
			Candidate struct {
				IncidentIDs []string `json:"incident_ids"`
			} `json:"candidate"`
		}
		check(l.t, json.Unmarshal(rec.Data, &data))
		if len(data.Candidate.IncidentIDs) == 0 {
			say("proposal %s names no incidents", rec.ID)
		}
		for _, id := range data.Candidate.IncidentIDs {
			if first, twice := incident[id]; twice {
				say("incident %s was fixed by the proposals %s and %s", id, first, rec.ID)
			}
			incident[id] = rec.ID
		}
	}
	if len(journal) != states["applied"] {
		say("the journal has %d sets, and %d proposals are applied", len(journal), states["applied"])
	}

	sessions, _, err := st.List(ctx, store.Sessions, store.Filter{})
	check(l.t, err)
	ends := map[string]int{}
	for _, ses := range sessions {
		events, err := st.Events(ctx, ses.ID, 0, "", 0)
		check(l.t, err)
		for i, e := range events {
			if e.Sequence != int64(i+1) {
				say("session %s: event %d has the sequence %d", ses.ID, i+1, e.Sequence)
				break
			}
			if bytes.Contains(e.Data, []byte(`"event":"request_completed"`)) {
				ends[e.RequestID]++
			}
		}
		if last, err := st.LastSequence(ctx, ses.ID); err != nil || last != int64(len(events)) {
			say("session %s has %d events and its last sequence is %d (%v)", ses.ID, len(events), last, err)
		}
	}
	requests, _, err := st.List(ctx, store.Requests, store.Filter{})
	check(l.t, err)
	for _, r := range requests {
		over := !slices.Contains([]string{"processing", "interrupted"}, r.State)
		if want := map[bool]int{true: 1}[over]; ends[r.ID] != want {
			say("request %s is %s and has %d terminal events", r.ID, r.State, ends[r.ID])
		}
	}
	return wrong
}

// wrongIn fails the test with what is wrong, if anything.
func wrongIn(t testing.TB, what string, wrong []string) {
	t.Helper()
	if len(wrong) > 0 {
		t.Errorf("%s:\n%s", what, strings.Join(wrong[:min(8, len(wrong))], "\n"))
	}
}
