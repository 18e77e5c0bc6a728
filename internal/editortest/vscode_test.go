package editortest

import (
	"archive/zip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// extension returns the extension's folder and a function that runs node in it,
// or skips where there is no node or the extension's modules are missing.
func extension(t *testing.T) (dir string, node func(args ...string)) {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	dir = script(t, "vscode")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Skip("editors/vscode has no node_modules; run npm ci there")
	}
	return dir, func(args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "KAIAK_BIN="+kaiakBin, "KAIAK_WIRERECORD="+recordBin, "KAIAK_MODELSERVER="+modelBin)
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("node %s: %v", args[0], err)
		}
	}
}

// TestVSCode runs the extension in VS Code. Every server that it starts leaves
// a recording: one is killed, and there is one for each of the three windows.
func TestVSCode(t *testing.T) {
	editor(t, "KAIAK_VSCODE")
	_, node := extension(t)
	node("node_modules/typescript/bin/tsc", "--noEmit")
	node("esbuild.mjs")
	node("test/run.mjs")
	logs, err := filepath.Glob("../../build/wire/vscode-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(logs) < 4 {
		t.Errorf("there are %d recordings, want one of each server: %v", len(logs), logs)
	}
	for _, log := range logs {
		judge(t, log)
	}
}

// TestPackage packs the extension and looks at what is in it.
func TestPackage(t *testing.T) {
	dir, node := extension(t)
	if os.Getenv("KAIAK_VSCE") == "" {
		t.Skip("KAIAK_VSCE names no vsce (.ci/tools installs it)")
	}
	file := filepath.Join(t.TempDir(), "kaiak.vsix")
	node("package.mjs", file)
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var got []string
	modes := map[string]os.FileMode{}
	for _, f := range archive.File {
		got = append(got, f.Name)
		modes[f.Name] = f.Mode()
	}
	slices.Sort(got)
	server := "kaiak"
	if runtime.GOOS == "windows" {
		server += ".exe"
	}
	want := []string{"[Content_Types].xml", "extension.vsixmanifest"}
	for _, name := range []string{"LICENSE.txt", "dist/extension.js", "package.json", "readme.md", "server/" + server} {
		want = append(want, path.Join("extension", name))
	}
	media, err := os.ReadDir(filepath.Join(dir, "media"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range media {
		want = append(want, path.Join("extension/media", m.Name()))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the package holds\n%q\nwant\n%q", got, want)
	}
	if mode := modes["extension/server/"+server]; mode&0o100 == 0 {
		t.Errorf("the server in the package has mode %v and cannot be run", mode)
	}
}
