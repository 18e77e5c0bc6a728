package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kaiak/kaiak/incidents"
)

func incident(id, rule, file string, line int) incidents.Incident {
	return incidents.Incident{ID: id, RuleID: rule, FilePath: file, LineNumber: line, Severity: incidents.Warning}
}

// rows renders a report's rows as "id verdict: reason".
func rows(rep *Report) []string {
	var out []string
	for _, r := range rep.Incidents {
		text := r.IncidentID + " " + string(r.Verdict)
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		out = append(out, text)
	}
	return out
}

func TestDryRunShowsDiffsAndLeavesNothing(t *testing.T) {
	opts, state := testOptions(t, incident("b", "truncated", "b.txt", 2), incident("a", "fix", "a.txt", 1), incident("c", "skip", "c.txt", 3))
	var out bytes.Buffer
	opts.Out = &out
	rep, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	want := "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n--- a/b.txt\n+++ b/b.txt\n@@ -2 +2 @@\n-old\n+new\n"
	if out.String() != want {
		t.Errorf("diff\n%s\nwant\n%s", out.String(), want)
	}
	const dry = "unfixed: dry run: a fix is proposed and was not applied"
	if diff := cmp.Diff([]string{"a " + dry, "b " + dry, "c skipped: no rule has a fix for it"}, rows(rep)); diff != "" {
		t.Error(diff)
	}
	if rep.ExitCode() != ExitLeft || rep.Totals.Proposed != 2 || rep.Totals.Files != 2 || !strings.Contains(rep.Summary(), "nothing was written") {
		t.Errorf("exit %d, totals %+v, summary %q", rep.ExitCode(), rep.Totals, rep.Summary())
	}
	s := readState(t, state)
	if len(s.Applies) > 0 || !s.Deleted || !slices.Contains(s.Calls, "exit") {
		t.Errorf("applies %v, session deleted %v, calls %v", s.Applies, s.Deleted, s.Calls)
	}
	if left, _ := filepath.Glob(filepath.Join(opts.StateDir, "batch", "*")); len(left) > 0 {
		t.Errorf("a finished run leaves %v", left)
	}
}

func TestApplyByPolicy(t *testing.T) {
	list := []incidents.Incident{
		incident("1", "fix", "a.txt", 1), incident("2", "partial", "b.txt", 1), incident("3", "model-L1", "c.txt", 1), incident("4", "model-L2", "d.txt", 1),
		incident("5", "stale", "e.txt", 1), incident("6", "broken", "f.txt", 1), incident("7", "busy", "g.txt", 1), incident("8", "skip", "h.txt", 1),
	}
	const recipesOnly = ": the policy recipes approves what rules make, and a model made this one"
	for policy, want := range map[Policy][]string{
		Recipes: {"1 fixed", "2 partial", "3 skipped" + recipesOnly, "4 skipped" + recipesOnly, "5 unfixed: the file changed", "6 failed: no space left on device", "7 fixed", "8 skipped: no rule has a fix for it"},
		Validated: {"1 fixed", "2 partial", "3 fixed", "4 skipped: the policy validated approves a model's fix that passed every check, and this one has the tier L2",
			"5 unfixed: the file changed", "6 failed: no space left on device", "7 fixed", "8 skipped: no rule has a fix for it"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			opts, state := testOptions(t, list...)
			opts.Apply, opts.Approve = true, policy
			rep, err := Run(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, rows(rep)); diff != "" {
				t.Error(diff)
			}
			if s := readState(t, state); s.Applies["prop-7"] != 2 || s.Applies["prop-1"] != 1 || !s.Ended || s.Deleted {
				t.Errorf("applies %v, ended %v, deleted %v", s.Applies, s.Ended, s.Deleted)
			}
			if rep.ExitCode() != ExitLeft || rep.Totals.Verdicts[Failed] != 1 {
				t.Errorf("exit %d, totals %+v", rep.ExitCode(), rep.Totals)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		opts, state := testOptions(t, list...)
		opts.Apply, opts.Approve = true, None
		rep, err := Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if s := readState(t, state); len(s.Applies) > 0 {
			t.Errorf("applies %v", s.Applies)
		}
		if rep.Totals.Verdicts[Skipped] != len(list) || rep.Totals.Files != 0 {
			t.Errorf("totals %+v", rep.Totals)
		}
	})
}

func TestScanAndFilesTogether(t *testing.T) {
	opts, state := testOptions(t, incident("1", "fix", "a.txt", 1), incident("scan-1", "fix", "scanned.txt", 1))
	opts.Rules = []string{"rules", "builtin:go"}
	opts.Apply = true
	var steps []int
	opts.Progress = func(done, all int, doing string) { steps = append(steps, done) }
	rep, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 fixed", "scan-1 fixed"}, rows(rep)); diff != "" {
		t.Error(diff)
	}
	if rep.ExitCode() != ExitFixed || !slices.Equal(rep.Problems, []string{"rule.yml:3: no"}) || !slices.Equal(rep.Notes, []string{"big.bin: skipped"}) {
		t.Errorf("exit %d, problems %v, notes %v", rep.ExitCode(), rep.Problems, rep.Notes)
	}
	if s := readState(t, state); !bytes.Contains(s.Init, []byte(`"rules":["rules","builtin:go"]`)) {
		t.Errorf("initialize had %s", s.Init)
	}
	if !slices.IsSorted(steps) || steps[len(steps)-1] != 2 {
		t.Errorf("progress %v", steps)
	}
}

// A run whose server dies in the middle is continued: what was applied is not
// applied again, and the report is that of a run in one go.
func TestResume(t *testing.T) {
	list := []incidents.Incident{incident("1", "fix", "a.txt", 1), incident("2", "die", "b.txt", 1), incident("3", "fix", "c.txt", 1), incident("4", "truncated", "d.txt", 1)}
	opts, state := testOptions(t, list...)
	opts.Apply = true
	rep, err := Run(t.Context(), opts)
	if err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Fatalf("a run whose server died: %v, %+v", err, rep)
	}
	if rep == nil || rep.Complete || rep.ExitCode() != ExitPaused || len(rep.Incidents) != 4 {
		t.Errorf("its report: %+v", rep)
	}

	opts.Resume, opts.Incidents, opts.Apply = true, nil, false // what was asked is in the record
	rep, err = Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 fixed", "2 fixed", "3 fixed", "4 fixed"}, rows(rep)); diff != "" || rep.Mode != modeApply {
		t.Error(diff, rep.Mode)
	}
	s := readState(t, state)
	if want := map[string]int{"prop-1": 1, "prop-2": 2, "prop-3": 1, "prop-4": 1}; !cmp.Equal(want, s.Applies) {
		t.Errorf("applies %v, want %v: 2 died on the way and was not applied", s.Applies, want)
	}
	if len(s.Requests) != 1 || s.Sessions != 1 {
		t.Errorf("%d requests in %d sessions, want 1 in 1", len(s.Requests), s.Sessions)
	}
	if _, err := Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
		t.Errorf("resuming a finished run: %v", err)
	}
}

func TestInterruptedRunIsPaused(t *testing.T) {
	opts, state := testOptions(t, incident("1", "fix", "a.txt", 1))
	opts.Apply = true
	ctx, cancel := context.WithCancel(t.Context())
	opts.Progress = func(done, all int, doing string) { cancel() }
	rep, err := Run(ctx, opts)
	if !errors.Is(err, ErrPaused) {
		t.Fatalf("an interrupted run: %v, %+v", err, rep)
	}
	if s := readState(t, state); len(s.Applies) > 0 || !slices.Contains(s.Calls, "exit") {
		t.Errorf("applies %v; calls %v, want the server ended properly", s.Applies, s.Calls)
	}
	opts.Resume, opts.Progress = true, nil
	if rep, err := Run(t.Context(), opts); err != nil || rep.ExitCode() != ExitFixed {
		t.Errorf("resumed: %v, %+v", err, rep)
	}
}

func TestBudget(t *testing.T) {
	opts, _ := testOptions(t, incident("1", "fix", "a.txt", 1), incident("2", "pending", "b.txt", 1))
	opts.Apply = true
	rep, err := Run(t.Context(), opts)
	if !errors.Is(err, ErrPaused) || rep == nil || rep.ExitCode() != ExitPaused {
		t.Fatalf("a run out of budget: %v, %+v", err, rep)
	}
	if diff := cmp.Diff([]string{"1 fixed", "2 skipped: the run ended before this incident's turn"}, rows(rep)); diff != "" {
		t.Error(diff)
	}
}

func TestCannotRun(t *testing.T) {
	good, _ := testOptions(t, incident("1", "fix", "a.txt", 1))
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"nothing to do":      {func(o *Options) { o.Incidents = nil }, "nothing to do"},
		"relative workspace": {func(o *Options) { o.Workspace = "ws" }, "not an absolute path"},
		"missing workspace":  {func(o *Options) { o.Workspace += "/missing" }, "missing"},
		"no such server":     {func(o *Options) { o.Server = []string{"/nonexistent/kaiak"} }, "cannot be started"},
		"no such input":      {func(o *Options) { o.Incidents = []string{"/nonexistent.sarif"} }, "nonexistent.sarif"},
		"unknown resume":     {func(o *Options) { o.Resume, o.ResumeID = true, "batch-x" }, "batch-x"},
	} {
		opts := good
		tt.change(&opts)
		if rep, err := Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %+v; want an error with %q", name, err, rep, tt.want)
		}
	}
	if _, err := ParsePolicy("all"); err == nil {
		t.Error("ParsePolicy(all): no error")
	}
}

func TestNoIncidents(t *testing.T) {
	opts, _ := testOptions(t)
	file := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(file, []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	opts.Incidents = []string{file}
	rep, err := Run(t.Context(), opts)
	if err != nil || rep.ExitCode() != ExitFixed || rep.Summary() != "no incidents" {
		t.Fatal(err, rep)
	}
	var b bytes.Buffer
	if err := rep.Write(&b); err != nil || !strings.Contains(b.String(), `"incidents": []`) {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestChunks(t *testing.T) {
	var list []incidents.Incident
	for f, n := range []int{3, 4, 9, 1, 2} {
		for i := range n {
			list = append(list, incident(fmt.Sprintf("%d-%d", f, i), "r", fmt.Sprint(f), i))
		}
	}
	got, err := chunks(list, 5, 6, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	n := 0
	for _, c := range got {
		sizes = append(sizes, len(c))
		for _, in := range c {
			if in.ID != list[n].ID {
				t.Fatalf("incident %d is %s", n, in.ID)
			}
			n++
		}
	}
	// 3 | 4 | 9 is over the limit and cut in 6 and 3, where 1 still fits | 2
	if want := []int{3, 4, 6, 4, 2}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %v, want %v", sizes, want)
	}
	raw, _ := json.Marshal(list[0])
	small, err := chunks(list, 1000, 1000, 2*len(raw)+10)
	if err != nil || len(small) < len(list)/2 {
		t.Errorf("%d chunks of two incidents' bytes, %v", len(small), err)
	}
	if one, err := chunks(list[:1], 1000, 1000, 1); err != nil || len(one) != 1 {
		t.Errorf("an incident that is too long alone: %v, %v", one, err)
	}
}

func readReport(t *testing.T, raw []byte) *Report {
	t.Helper()
	var rep Report
	if err := json.Unmarshal(raw, &rep); err != nil {
		t.Fatal(err)
	}
	return &rep
}
