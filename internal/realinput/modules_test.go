package realinput

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// modules are dependencies of this project whose packages build from the
// module cache alone, chosen for their use of interface{} and io/ioutil.
var modules = []string{
	"github.com/sashabaranov/go-openai",
	"github.com/spf13/pflag",
	"github.com/spf13/cobra",
	"github.com/goccy/go-yaml",
	"github.com/antchfx/xpath",
	"github.com/cbroglie/mustache",
	"github.com/buger/jsonparser",
	"github.com/google/go-cmp",
}

// moduleDir returns where a module lies in the module cache, "" when it is not there.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// goBuild builds every package below dir without reaching for the network.
func goBuild(dir string, args ...string) error {
	cmd := exec.Command("go", append(append([]string{"build"}, args...), "./...")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func TestModules(t *testing.T) {
	for _, module := range modules {
		t.Run(filepath.Base(module), func(t *testing.T) {
			from := moduleDir(t, module)
			if from == "" {
				t.Skipf("%s is not in the module cache", module)
			}
			tree := filepath.Join(t.TempDir(), "tree")
			copyTree(t, from, tree, func(string) bool { return true })
			if _, err := os.Stat(filepath.Join(tree, "go.mod")); err != nil {
				t.Skipf("%s has no go.mod", module)
			}
			builds := func() error { return goBuild(tree) }
			if err := builds(); err != nil {
				// Its own dependencies are not all in the cache: the rest is still held.
				t.Logf("does not build before the change, so not after: %v", err)
				builds = func() error { return nil }
			}
			hold(t, tree, builds, "builtin:go-any", "builtin:go-deprecated")
		})
	}
}
