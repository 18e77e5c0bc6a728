package diagnose

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// asTool makes this test binary behave as a linter.
const asTool = "LC_KAIAK_TEST_TOOL" // LC_: it is among the variables that are passed on

func TestMain(m *testing.M) {
	if how := os.Getenv(asTool); how != "" {
		os.Exit(lint(how))
	}
	os.Exit(m.Run())
}

// lint reports every line with BAD in it, in one of several ways.
func lint(how string) int {
	switch how {
	case "env":
		fmt.Println("a.go:1:1: env " + strings.Join(os.Environ(), " "))
		return 1
	case "hang":
		select {} // the test ends it
	case "fail":
		fmt.Fprintln(os.Stderr, "no configuration found")
		return 3
	}
	var results []string
	code := 0 // as most linters: 1 when there is something to report
	_ = filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, _ := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, "BAD") {
				code = 1
				if how == "sarif" {
					results = append(results, fmt.Sprintf(`{"ruleId":"BAD1","message":{"text":"bad"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":%q},"region":{"startLine":%d}}}]}`, filepath.ToSlash(path), i+1))
				} else {
					fmt.Printf("%s:%d:1: warning: bad (BAD1)\n", path, i+1)
				}
			}
		}
		return nil
	})
	if how == "sarif" {
		fmt.Printf(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[%s]}]}`, strings.Join(results, ","))
	}
	return code
}

func testWorkspace(t *testing.T, files map[string]string) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func command(t *testing.T, how string) *Command {
	t.Helper()
	c, err := New([]string{os.Args[0]}, time.Minute, append(os.Environ(), asTool+"="+how, "MY_TOKEN=secret", "OPENAI_API_KEY=secret"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func edit(t *testing.T, ws *workspace.Workspace, path, old, text string) workspace.Change {
	t.Helper()
	f, err := ws.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(f.Text), old)
	edits := []workspace.Edit{{Start: at, End: at + len(old), New: text}}
	result, err := workspace.ApplyEdits(f.Text, edits)
	if err != nil {
		t.Fatal(err)
	}
	return workspace.Change{Path: path, Kind: workspace.EditFile, BaseSHA256: f.SHA256, Edits: edits, Text: result}
}

func names(list []incidents.Incident) string {
	var out []string
	for _, in := range list {
		out = append(out, fmt.Sprintf("%s:%d %s %s", in.FilePath, in.LineNumber, in.RuleID, in.Message))
	}
	return strings.Join(out, "; ")
}

func TestDiagnoseBeforeAndAfter(t *testing.T) {
	for _, how := range []string{"lines", "sarif"} {
		t.Run(how, func(t *testing.T) {
			ws := testWorkspace(t, map[string]string{
				"a.go": "package a\n// BAD\n", "sub/b.go": "x\n", ".gitignore": "deps/\n", "deps/d.txt": "in a dependency\n", ".env": "BAD=1\n",
			})
			if _, err := ws.OpenBuffer("sub/b.go", 1, []byte("// BAD in the editor\n"), "go"); err != nil {
				t.Fatal(err)
			}
			c := command(t, how)
			changes := []workspace.Change{edit(t, ws, "a.go", "// BAD\n", ""), {Path: "new/c.go", Kind: workspace.CreateFile, Text: []byte("x\n// BAD\n")}}
			before, after, err := c.Diagnose(context.Background(), ws, changes)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := names(before), "a.go:2 BAD1 bad; sub/b.go:1 BAD1 bad"; got != want {
				t.Errorf("before %q, want %q", got, want)
			}
			if got, want := names(after), "new/c.go:2 BAD1 bad; sub/b.go:1 BAD1 bad"; got != want {
				t.Errorf("after %q, want %q", got, want)
			}
			if text, _ := os.ReadFile(filepath.Join(ws.RealDir(), "a.go")); string(text) != "package a\n// BAD\n" {
				t.Error("the workspace was changed")
			}
			// As long as nothing changes, the state before is known.
			c.argv = append(c.argv, "-again")
			if again, _, err := c.Diagnose(context.Background(), ws, changes); err != nil || names(again) != names(before) {
				t.Errorf("again: %s, %v", names(again), err)
			}
			left, _ := filepath.Glob(filepath.Join(os.TempDir(), "kaiak-diagnose-*"))
			for _, dir := range left {
				if strings.Contains(dir, t.Name()) {
					t.Errorf("%s is left behind", dir)
				}
			}
		})
	}
}

func TestCommandSeesNoSecretsOfTheEnvironment(t *testing.T) {
	ws := testWorkspace(t, map[string]string{"a.go": "x\n"})
	before, _, err := command(t, "env").Diagnose(context.Background(), ws, []workspace.Change{edit(t, ws, "a.go", "x", "y")})
	if err != nil || len(before) != 1 {
		t.Fatalf("%v, %v", before, err)
	}
	if env := before[0].Message; strings.Contains(env, "secret") || !strings.Contains(env, "PATH=") {
		t.Errorf("the command sees %s", env)
	}
}

func TestCommandThatFails(t *testing.T) {
	ws := testWorkspace(t, map[string]string{"a.go": "x\n"})
	changes := []workspace.Change{edit(t, ws, "a.go", "x", "y")}
	if _, _, err := command(t, "fail").Diagnose(context.Background(), ws, changes); err == nil || !strings.Contains(err.Error(), "no configuration found") {
		t.Errorf("error = %v", err)
	}
	c := command(t, "hang")
	c.timeout = 100 * time.Millisecond // the command never ends by itself
	if _, _, err := c.Diagnose(context.Background(), ws, changes); err == nil || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("error = %v", err)
	}
	missing, err := New([]string{"kaiak-no-such-program"}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := missing.Diagnose(context.Background(), ws, changes); err == nil || !strings.Contains(err.Error(), "cannot be run") {
		t.Errorf("error = %v", err)
	}
	for _, argv := range [][]string{nil, {" "}, {"./lint.sh"}, {"node_modules/.bin/eslint"}} {
		if _, err := New(argv, 0, nil); err == nil {
			t.Errorf("%q is accepted", argv)
		}
	}
}

func TestReadLines(t *testing.T) {
	text := `# example.com/m
./a.go:3:2: undefined: x
vet: b.go:4:5: unreachable code
/home/u/app/src/C.java:7: error: cannot find symbol
src/d.ts(8,3): error TS2304: Cannot find name 'x'.
e.py:9:1: F401 'os' imported but unused
f.go:10:1: SA1019: ioutil is deprecated (staticcheck)
/elsewhere/g.go:1:1: outside
../h.go:1:1: outside
nonsense
`
	got := readLines([]byte(text), []string{"/home/u/app"}, "tool")
	want := "a.go:3 tool undefined: x; b.go:4 tool unreachable code; src/C.java:7 tool cannot find symbol; src/d.ts:8 TS2304 Cannot find name 'x'.; e.py:9 F401 'os' imported but unused; f.go:10 SA1019 ioutil is deprecated (staticcheck)"
	if names(got) != want {
		t.Errorf("got  %s\nwant %s", names(got), want)
	}
	if got[2].Severity != incidents.Error || got[0].Severity != incidents.Warning {
		t.Errorf("severities %s, %s", got[2].Severity, got[0].Severity)
	}
}

func FuzzReadLines(f *testing.F) {
	f.Add("a.go:3:2: x (Y)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, in := range readLines([]byte(text), []string{"/home/u/app"}, "tool") {
			if in.LineNumber <= 0 || !filepath.IsLocal(filepath.FromSlash(in.FilePath)) {
				t.Errorf("%q gives %+v", text, in)
			}
		}
	})
}
