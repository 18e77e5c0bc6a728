package realinput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kaiak is the binary under test, built by TestMain.
var kaiak string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kaiak-realinput-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	kaiak = filepath.Join(dir, "kaiak")
	build := exec.Command("go", "build", "-o", kaiak, "../../cmd/kaiak")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// An outcome is one row of the batch's report.
type outcome struct {
	IncidentID string `json:"incident_id"`
	RuleID     string `json:"rule_id"`
	FilePath   string `json:"file_path"`
	LineNumber int    `json:"line_number"`
	Verdict    string `json:"verdict"`
	Reason     string `json:"reason"`
}

// batch applies the rules to the tree and returns the report's rows.
func batch(t *testing.T, tree string, rules ...string) []outcome {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	args := []string{"batch", "--workspace", tree, "--apply", "--report", report}
	for _, r := range rules {
		args = append(args, "--rules", r)
	}
	cmd := exec.Command(kaiak, args...)
	cmd.Env = append(os.Environ(), "KAIAK_STATE_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("kaiak %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Incidents []outcome `json:"incidents"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("the report is not JSON: %v", err)
	}
	return r.Incidents
}

// check returns the incidents that kaiak check finds, as "rule file:line".
func check(t *testing.T, tree string, rules ...string) []string {
	t.Helper()
	args := []string{"check", "--format", "json"}
	for _, r := range rules {
		args = append(args, "--rules", r)
	}
	cmd := exec.Command(kaiak, append(args, tree)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("kaiak check: %v\n%s", err, stderr.Bytes())
	}
	var list []outcome
	if err := json.Unmarshal(stdout.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(list))
	for i, in := range list {
		out[i] = fmt.Sprintf("%s %s:%d", in.RuleID, in.FilePath, in.LineNumber)
	}
	return out
}

// copyTree copies the regular files that keep accepts and makes them writable.
func copyTree(t *testing.T, from, to string, keep func(rel string) bool) {
	t.Helper()
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		switch {
		case rel != "." && !keep(filepath.ToSlash(rel)):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// snapshot returns every file of the tree by its path.
func snapshot(t *testing.T, tree string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(tree, p)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unformatted lists the Go files that gofmt would change or cannot read.
func unformatted(files map[string]string) map[string]bool {
	out := map[string]bool{}
	for name, text := range files {
		if strings.HasSuffix(name, ".go") {
			formatted, err := format.Source([]byte(text))
			out[name] = err != nil || string(formatted) != text
		}
	}
	return out
}

// hold runs the rules over the tree twice and checks everything that the
// package promises but the build, which it leaves to builds.
func hold(t *testing.T, tree string, builds func() error, rules ...string) {
	t.Helper()
	before := snapshot(t, tree)
	found := check(t, tree, rules...)
	rows := batch(t, tree, rules...)
	if len(rows) != len(found) {
		t.Errorf("check finds %d incidents, the batch reports %d", len(found), len(rows))
	}

	fixed, refused := 0, map[string]bool{}
	for _, row := range rows {
		switch {
		case row.Verdict == "fixed":
			fixed++
		case row.Verdict == "skipped" || row.Verdict == "unfixed" || row.Verdict == "partial":
			if len(row.Reason) < 15 {
				t.Errorf("%s:%d: %s %s without a reason (%q)", row.FilePath, row.LineNumber, row.RuleID, row.Verdict, row.Reason)
			}
			refused[row.IncidentID] = true
		default:
			t.Errorf("%s:%d: %s is %s: %s", row.FilePath, row.LineNumber, row.RuleID, row.Verdict, row.Reason)
		}
	}
	t.Logf("%d incidents: %d fixed, %d refused", len(rows), fixed, len(refused))

	after := snapshot(t, tree)
	wasUnformatted := unformatted(before)
	for name, bad := range unformatted(after) {
		if bad && !wasUnformatted[name] {
			t.Errorf("%s is newly unformatted", name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was left behind", name)
		}
	}
	if err := builds(); err != nil {
		t.Errorf("the result does not build: %v", err)
	}

	for _, row := range batch(t, tree, rules...) {
		if row.Verdict == "fixed" {
			t.Errorf("the second run fixed %s:%d (%s)", row.FilePath, row.LineNumber, row.RuleID)
		}
	}
	if left := len(check(t, tree, rules...)); left != len(refused) {
		t.Errorf("%d incidents are left, %d were refused", left, len(refused))
	}
	for name, text := range snapshot(t, tree) {
		if text != after[name] {
			t.Errorf("the second run changed %s", name)
		}
	}
	if fixed == 0 && len(rows) > 0 {
		t.Logf("nothing was fixed here; the reasons are in the report")
	}
}
