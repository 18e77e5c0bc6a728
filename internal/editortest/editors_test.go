package editortest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/internal/wirecheck"
	"github.com/kaiak/kaiak/kaiak"
)

// The programs under test, built by TestMain.
var kaiakBin, recordBin, modelBin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kaiak-editors-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	kaiakBin, recordBin, modelBin = filepath.Join(dir, "kaiak"), filepath.Join(dir, "wirerecord"), filepath.Join(dir, "modelserver")
	code := 1
	if build("../../cmd/kaiak", kaiakBin) && build("../wirerecord", recordBin) && build("../modelserver/cmd", modelBin) {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(pkg, out string) bool {
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Stderr = os.Stderr
	return cmd.Run() == nil
}

// editor returns the program that an environment variable names, or skips.
func editor(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s names no editor (.ci/tools installs them)", variable)
	}
	return path
}

// workspace is a fresh copy of the extension's fixtures.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../editors/vscode/test/fixtures")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// drive runs an editor's script in a workspace and judges what the server said.
func drive(t *testing.T, name string, args ...string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "wire.jsonl")
	cmd := exec.Command(name, args...)
	cmd.Dir = workspace(t)
	cmd.Env = append(os.Environ(),
		"KAIAK_SERVER="+strings.Join([]string{recordBin, log, kaiakBin, "serve"}, " "),
		"KAIAK_STATE_DIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if !strings.Contains(string(out), " passed, 0 failed") {
		t.Error("the script did not come to its end")
	}
	judge(t, log)
}

// judge reads a recording and reports every fault of the server in it.
func judge(t *testing.T, log string) {
	t.Helper()
	f, err := os.Open(log)
	if err != nil {
		t.Errorf("there is no recording: %v", err)
		return
	}
	defer f.Close()
	model, err := wirecheck.LoadMetamodel()
	if err != nil {
		t.Fatal(err)
	}
	faults, messages, err := wirecheck.CheckLog(f, wirecheck.Options{Metamodel: model, Results: results(t)})
	if err != nil {
		t.Fatalf("%s: %v", log, err)
	}
	for _, fault := range faults {
		t.Errorf("on the wire, %s: %s", filepath.Base(log), fault)
	}
	if messages < 3 {
		t.Errorf("%d messages of the server were recorded; the recorder was not in its way", messages)
	}
}

// results maps kaiak/* methods to their results, by the operation table.
func results(t *testing.T) map[string]reflect.Type {
	t.Helper()
	svc, err := kaiak.New(t.Context(), kaiak.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	out := map[string]reflect.Type{}
	for _, op := range svc.Operations() {
		out[op.Method] = op.Result
	}
	return out
}

func script(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(filepath.Join("../../editors", path))
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func TestNeovimBare(t *testing.T) {
	for _, variable := range []string{"KAIAK_NVIM_OLD", "KAIAK_NVIM"} {
		t.Run(variable, func(t *testing.T) {
			drive(t, editor(t, variable), "--headless", "-u", "NONE", "-i", "NONE", "-n", "Quick.java", "-c", "luafile "+script(t, "neovim/test/bare.lua"))
		})
	}
}

func TestNeovimPlugin(t *testing.T) {
	drive(t, editor(t, "KAIAK_NVIM"), "--headless", "-u", "NONE", "-i", "NONE", "-n", "Review.java", "-c", "luafile "+script(t, "neovim/test/plugin.lua"))
}

func TestEmacs(t *testing.T) {
	emacs := editor(t, "KAIAK_EMACS")
	drive(t, emacs, "-Q", "--batch", "-L", os.Getenv("KAIAK_EGLOT"), "-l", script(t, "emacs/test/drive.el"), "Quick.java")
}
