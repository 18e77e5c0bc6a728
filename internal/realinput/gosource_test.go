package realinput

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// parts of Go's source tree that are copied: enough to meet every kind of code,
// little enough for a test.
var parts = []string{"archive", "compress", "container", "database", "encoding", "go", "html", "image", "io", "log", "mime", "net/http", "net/rpc", "sort", "testing", "text"}

// TestGoSourceTree runs the packs over Go's own source tree and builds the
// result through an overlay, so that the standard library itself is compiled
// from the changed files.
func TestGoSourceTree(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("there is no go command")
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, err := os.Stat(filepath.Join(src, "go.mod")); err != nil {
		t.Skip("this Go has no source tree")
	}
	tree := filepath.Join(t.TempDir(), "src")
	copyTree(t, src, tree, func(rel string) bool {
		for _, p := range parts {
			if rel == p || strings.HasPrefix(rel, p+"/") || strings.HasPrefix(p, rel+"/") {
				return true
			}
		}
		return rel == "go.mod"
	})
	original := snapshot(t, tree)
	hold(t, tree, func() error { return buildOverlay(t, src, tree, original) }, "builtin:go-any", "builtin:go-deprecated")
}

// buildOverlay compiles the packages of the files that changed, with those
// files in place of the ones in GOROOT.
func buildOverlay(t *testing.T, src, tree string, original map[string]string) error {
	replace := map[string]string{}
	packages := map[string]bool{}
	for name, text := range snapshot(t, tree) {
		if text == original[name] || strings.Contains(name, "testdata/") || !strings.HasSuffix(name, ".go") {
			continue
		}
		replace[filepath.Join(src, filepath.FromSlash(name))] = filepath.Join(tree, filepath.FromSlash(name))
		packages[filepath.ToSlash(filepath.Dir(name))] = true
	}
	if len(replace) == 0 {
		return nil
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return err
	}
	// vet type-checks test files too, which build does not look at.
	args := []string{"vet", "-atomic", "-overlay", file}
	for p := range packages {
		args = append(args, p)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	t.Logf("%d files of %d packages were compiled as they are now", len(replace), len(packages))
	return nil
}
