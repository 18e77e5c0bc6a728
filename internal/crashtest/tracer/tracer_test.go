package tracer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// script changes a folder by several processes, one call after another.
const script = `echo a > a && mv a b && mkdir d && echo c > d/c && rm b`

// want is what the folder holds before each of the script's mutating calls, and
// at the end. A file that a redirection has only created is there already.
var want = []string{"a=", "a=a", "b=a", "b=a d/c=", "b=a d/c=c", "d/c=c"}

func content(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	for _, name := range []string{"a", "b", "d/c"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			all = append(all, name+"="+strings.TrimSpace(string(text)))
		}
	}
	return strings.Join(all, " ")
}

func traced(t *testing.T, p Plan) (dir string, code int, r *Report) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p.Under = []string{filepath.Join(dir, "in")}
	p.Report = filepath.Join(dir, "report")
	if err := os.Mkdir(p.Under[0], 0o755); err != nil {
		t.Fatal(err)
	}
	cmd, err := p.Command("sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = p.Under[0]
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	r, err = p.ReadReport()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p.Under[0], cmd.ProcessState.ExitCode(), r
}

// The calls of all processes are counted in order, and each kill and each
// failure comes before its call has had an effect.
func TestEveryCall(t *testing.T) {
	if err := Supported(); err != nil {
		t.Skip(err)
	}
	dir, code, all := traced(t, Plan{})
	var names []string
	for _, c := range all.Calls {
		names = append(names, strings.TrimSuffix(strings.TrimSuffix(c.Name, "2"), "at"))
	}
	if want := []string{"write", "rename", "mkdir", "write", "unlink"}; code != 0 || !slices.Equal(names, want) {
		t.Fatalf("exit %d, calls %v, want %v", code, all.Calls, want)
	}
	if got := content(t, dir); got != want[len(want)-1] {
		t.Errorf("uninterrupted: %s", got)
	}
	for i := range all.Calls {
		for _, p := range []Plan{{Action: Kill, At: i + 1}, {Action: Fail, At: i + 1, Errno: int(syscall.ENOSPC)}} {
			dir, code, r := traced(t, p)
			hit, ok := r.Hit()
			if !ok || hit.Name != all.Calls[i].Name || code == 0 {
				t.Errorf("%s at %d: exit %d, hit %+v", p.Action, p.At, code, hit)
			}
			if got := content(t, dir); got != want[i] {
				t.Errorf("%s at %d (%s): %q, want %q", p.Action, p.At, hit.Name, got, want[i])
			}
		}
	}
}
