package batch

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// built is the folder of the program, once it is built.
var built string

// kaiak builds the program once.
var kaiak = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kaiak-e2e-")
	if err != nil {
		return "", err
	}
	built = dir
	exe := filepath.Join(dir, "kaiak")
	out, err := exec.Command("go", "build", "-o", exe, "../cmd/kaiak").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return exe, nil
})

func binary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program; not with -short")
	}
	exe, err := kaiak()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// removeBinary removes what [kaiak] built, if it did.
func removeBinary() {
	if built != "" {
		_ = os.RemoveAll(built)
	}
}

// Each archive of testdata/e2e is a workspace ("ws/…"), further inputs, and one
// command line of `kaiak batch` per line of its comment, with {dir} for where
// the archive is unpacked. What each prints and leaves behind is under "want".
func TestEndToEnd(t *testing.T) {
	exe := binary(t)
	files, err := filepath.Glob("testdata/e2e/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives in testdata/e2e", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := unpack(t, ar)
			before := tree(t, filepath.Join(dir, "ws"))
			var got strings.Builder
			for line := range strings.Lines(string(ar.Comment)) {
				args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ kaiak batch ")
				if !ok {
					continue
				}
				fmt.Fprintf(&got, "$ kaiak batch %s\n%s", args, runBatch(t, exe, dir, args))
				after := tree(t, filepath.Join(dir, "ws"))
				fmt.Fprint(&got, changes(before, after))
				before = after
			}
			i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
			if *update {
				if i < 0 {
					ar.Files = append(ar.Files, txtar.File{Name: "want"})
					i = len(ar.Files) - 1
				}
				ar.Files[i].Data = []byte(got.String())
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if i < 0 {
				t.Fatal("no want in the archive; run with -update")
			}
			if diff := cmp.Diff(string(ar.Files[i].Data), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func unpack(t *testing.T, ar *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		if f.Name == "want" {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, bytes.ReplaceAll(f.Data, []byte("{dir}"), []byte(dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runBatch runs one command line and renders what it printed and reported.
func runBatch(t *testing.T, exe, dir, args string) string {
	t.Helper()
	report := filepath.Join(dir, "report.json")
	fields := append([]string{"batch", "--workspace", filepath.Join(dir, "ws"), "--report", report}, strings.Fields(strings.ReplaceAll(args, "{dir}", dir))...)
	cmd := exec.Command(exe, fields...)
	cmd.Env = append(os.Environ(), "KAIAK_STATE_DIR="+filepath.Join(dir, "state"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(stdout.String())
	b.WriteString(strings.ReplaceAll(stderr.String(), dir, "{dir}"))
	if raw, err := os.ReadFile(report); err == nil {
		rep := readReport(t, raw)
		for _, row := range rep.Incidents {
			fmt.Fprintf(&b, "%s:%d %s %s", row.FilePath, row.LineNumber, row.RuleID, row.Verdict)
			if row.Reason != "" {
				fmt.Fprintf(&b, ": %s", row.Reason)
			}
			if row.Evidence != nil {
				fmt.Fprintf(&b, " (%s, %s, in %s)", row.Engine, row.Evidence.Tier, strings.Join(row.Files, " "))
			}
			b.WriteByte('\n')
		}
		if err := os.Remove(report); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&b, "exit %d\n", cmd.ProcessState.ExitCode())
	return b.String()
}

// tree reads the files below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// changes renders what is different between two trees.
func changes(before, after map[string]string) string {
	var names []string
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		was, there := before[name]
		is, left := after[name]
		switch {
		case !there:
			fmt.Fprintf(&b, "created %s\n%s", name, is)
		case !left:
			fmt.Fprintf(&b, "removed %s\n", name)
		case was != is:
			fmt.Fprintf(&b, "changed %s\n%s", name, is)
		}
	}
	return b.String()
}

// manyFiles is a project with files*perFile places to change, and what it is
// like when they are.
func manyFiles(files, perFile int) (ar *txtar.Archive, want map[string]string) {
	rule := "id: equal\nlanguage: javascript\nseverity: warning\nmessage: use assert.equal\nrule:\n  pattern: assertEqual($A, $B)\nfix: assert.equal($A, $B)\n"
	ar = &txtar.Archive{Files: []txtar.File{{Name: "ws/rules/r.yml", Data: []byte(rule)}}}
	want = map[string]string{"rules/r.yml": rule}
	for f := range files {
		var text strings.Builder
		for i := range perFile {
			fmt.Fprintf(&text, "assertEqual(run(%d), %d);\n", i, f)
		}
		name := fmt.Sprintf("case%03d.js", f)
		ar.Files = append(ar.Files, txtar.File{Name: "ws/" + name, Data: []byte(text.String())})
		want[name] = strings.ReplaceAll(text.String(), "assertEqual", "assert.equal")
	}
	return ar, want
}

// The program itself is killed while it applies: its server ends, too, and
// --resume does the rest.
func TestKilledFromOutside(t *testing.T) {
	exe := binary(t)
	ar, want := manyFiles(150, 4)
	dir := unpack(t, ar)
	ws := filepath.Join(dir, "ws")
	cmd := exec.Command(exe, "batch", "--workspace", ws, "--rules", "rules", "--apply")
	cmd.Env = append(os.Environ(), "KAIAK_STATE_DIR="+filepath.Join(dir, "state"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "a first file is changed", func() bool {
		text, err := os.ReadFile(filepath.Join(ws, "case000.js"))
		return err == nil && bytes.Contains(text, []byte("assert.equal"))
	})
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		t.Skip("needs Linux's list of a process's children:", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	for _, pid := range strings.Fields(string(children)) {
		await(t, "the server ends with its client", func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			return errors.Is(err, fs.ErrNotExist) || bytes.Contains(stat, []byte(") Z ")) // nobody may have waited for it yet
		})
	}
	out := runBatch(t, exe, dir, "--resume")
	if !strings.HasSuffix(out, "exit 0\n") || !strings.Contains(out, "600 incidents: 600 fixed") {
		t.Errorf("resuming: %.2000s", out)
	}
	if diff := cmp.Diff(want, tree(t, ws)); diff != "" {
		t.Errorf("the workspace (-want +got):\n%s", diff)
	}
}

// await waits until cond holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it does not come to that: %s", what)
		}
	}
}

// The server of a run is killed while it applies, again and again; resuming
// ends in the result of a run in one go, with nothing applied twice.
func TestKilledAndResumed(t *testing.T) {
	exe := binary(t)
	const files, perFile = 60, 8
	ar, want := manyFiles(files, perFile)
	dir := unpack(t, ar)
	pid := filepath.Join(dir, "pid")
	opts := Options{
		Server:    []string{"sh", "-c", `echo $$ > "$0"; exec "$@"`, pid, exe, "serve", "--stdio", "--state-dir", filepath.Join(dir, "state")},
		Workspace: filepath.Join(dir, "ws"), StateDir: filepath.Join(dir, "state"), Log: os.Stderr,
		Rules: []string{"rules"}, Apply: true,
	}
	var rep *Report
	for round := 0; ; round++ {
		killed := false
		opts.Resume = round > 0
		opts.Progress = func(done, all int, doing string) {
			if killed || doing != "applying" || done < (round+1)*all/4 {
				return
			}
			killed = true
			raw, err := os.ReadFile(pid)
			if err != nil {
				t.Error(err)
				return
			}
			n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
			if err != nil {
				t.Error(err)
				return
			}
			_ = syscall.Kill(n, syscall.SIGKILL) // it may have ended by itself
		}
		if round == 3 {
			opts.Progress = nil
		}
		var err error
		if rep, err = Run(t.Context(), opts); round == 3 {
			if err != nil {
				t.Fatal("a run that nobody kills:", err)
			}
			break
		}
		if err == nil || !strings.Contains(err.Error(), "--resume") {
			t.Fatalf("round %d: %v; want an error that can be resumed", round, err)
		}
	}
	if diff := cmp.Diff(want, tree(t, opts.Workspace)); diff != "" {
		t.Errorf("the workspace (-want +got):\n%s", diff)
	}
	if rep.Totals.Verdicts[Fixed] != files*perFile || !rep.Complete || rep.ExitCode() != ExitFixed {
		t.Errorf("totals %+v", rep.Totals)
	}
	for _, row := range rep.Incidents {
		if row.Verdict != Fixed {
			t.Errorf("%s:%d %s: %s", row.FilePath, row.LineNumber, row.Verdict, row.Reason)
			break
		}
	}
}
