package konveyor

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// unpack writes an archive to a directory of the machine: rule tests are found
// by paths.
func unpack(t *testing.T, name string) string {
	t.Helper()
	data, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := txtar.FS(data)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, whole); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRunTests runs the suites of testdata/suite; "want" is the report.
func TestRunTests(t *testing.T) {
	names, err := filepath.Glob("testdata/suite/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			dir := unpack(t, name)
			report, err := RunTests(context.Background(), dir)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := report.Write(&b, true); err != nil {
				t.Fatal(err)
			}
			data, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			a := &archive{name: name, data: data}
			a.want(t, "want", strings.ReplaceAll(b.String(), filepath.ToSlash(dir)+"/", ""))
			if want := report.Failed == 0 && len(report.Broken) == 0; report.OK() != want {
				t.Errorf("OK is %v", report.OK())
			}
			if n := report.Passed + report.Failed + report.Skipped; n != len(report.Results) {
				t.Errorf("%d outcomes of %d test cases", n, len(report.Results))
			}
		})
	}
}

func TestRunTestsPaths(t *testing.T) {
	if _, err := RunTests(context.Background(), "no/such/folder"); err == nil {
		t.Error("a missing folder gives no error")
	}
	dir := unpack(t, "testdata/suite/outcomes.txtar")
	if _, err := RunTests(context.Background(), filepath.Join(dir, "rules.yaml")); err == nil {
		t.Error("a file that is no test gives no error")
	}
	report, err := RunTests(context.Background(), filepath.Join(dir, "rules.test.yaml"))
	if err != nil || len(report.Results) == 0 {
		t.Errorf("one file: %v, %v", report, err)
	}
}

// TestPublishedTests runs the published test files. Their inputs are usually
// not beside them; then every case is skipped, and still counted.
func TestPublishedTests(t *testing.T) {
	report, err := RunTests(context.Background(), rulesets(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Results) < 2600 || len(report.Broken) > 0 {
		t.Errorf("got %d test cases and %d broken files, want at least 2600 and none", len(report.Results), len(report.Broken))
	}
	t.Logf("%d passed, %d failed, %d skipped", report.Passed, report.Failed, report.Skipped)
}

func TestCoverage(t *testing.T) {
	set, _ := LoadFS(readArchive(t, "testdata/run/logic.txtar").rules, ".")
	c := NewCoverage(set, []string{"chain*", "ignore", "and-both", "not-there"})
	want := []string{"and-both", "chain", "chain-by-file", "chain-empty", "chain-java", "chain-java-content", "ignore"}
	if diff := cmp.Diff(want, c.Fixed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(c.Fixed)+len(c.Unfixed) != len(set.Rules()) {
		t.Errorf("%d and %d are not %d rules", len(c.Fixed), len(c.Unfixed), len(set.Rules()))
	}
	var b bytes.Buffer
	if err := c.Write(&b, false); err != nil || !strings.HasSuffix(b.String(), "7 of 23 rules have an offline fix\n") {
		t.Errorf("%v: %s", err, b.String())
	}
}
