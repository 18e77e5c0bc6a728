package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/internal/modelserver"
)

// asKaiak makes this test binary behave as kaiak: a batch starts the server by
// running itself.
const asKaiak = "KAIAK_TEST_AS_KAIAK"

func TestMain(m *testing.M) {
	if os.Getenv(asKaiak) != "" {
		os.Exit(run(context.Background(), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// kaiakCommand runs a command line in a process of its own and returns what it
// said.
func kaiakCommand(t *testing.T, env []string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asKaiak+"=1"), env...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Run(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatal(err)
		}
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// The example of examples/model, from the question to the applied fix.
func TestModelExample(t *testing.T) {
	script, err := modelserver.ReadScript("../../examples/model/endpoint.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server := modelserver.New(t, script)
	dir := t.TempDir()
	app := filepath.Join(dir, "app")
	if err := os.CopyFS(app, os.DirFS("../../examples/model/app")); err != nil {
		t.Fatal(err)
	}
	env := []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_API_KEY=", "OPENAI_MODEL=", "KAIAK_STATE_DIR=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + dir, "HOME=" + dir}
	batch := func(more ...string) []string {
		return append([]string{"batch", "--workspace", app, "--engine", "recipe", "--engine", "model", "--approve", "validated"}, more...)
	}

	if out, code := kaiakCommand(t, env, "doctor"); code != 0 || !strings.Contains(out, "scripted calls tools") {
		t.Errorf("doctor ended with %d:\n%s", code, out)
	}
	if out, code := kaiakCommand(t, env, batch("--estimate")...); code != 0 || !strings.Contains(out, "cost: unknown") || !strings.Contains(out, "1 of them left for the model") {
		t.Errorf("estimate ended with %d:\n%s", code, out)
	}
	price, err := os.ReadFile(filepath.Join(app, "price.go"))
	if err != nil {
		t.Fatal(err)
	}
	asked := len(server.Received())
	before := files(t, app)
	if out, code := kaiakCommand(t, env, batch()...); code != 0 || !strings.Contains(out, "+\tsum := price * float64(n)") {
		t.Errorf("the dry run ended with %d:\n%s", code, out)
	}
	if len(server.Received()) == asked {
		t.Error("the dry run did not ask the model")
	}
	if after := files(t, app); after != before {
		t.Errorf("the dry run wrote:\n%s", after)
	}

	// Recorded once, the run is repeated without the endpoint.
	tape := filepath.Join(dir, "tape")
	for _, e := range [][]string{append(env, "KAIAK_MODEL_RECORD="+tape), append(env, "KAIAK_MODEL_REPLAY="+tape, "OPENAI_BASE_URL=http://127.0.0.1:1/v1")} {
		if out, code := kaiakCommand(t, e, batch()...); code != 0 || !strings.Contains(out, "+\tsum := price * float64(n)") {
			t.Errorf("a recorded or replayed run ended with %d:\n%s", code, out)
		}
	}

	if out, code := kaiakCommand(t, env, batch("--apply")...); code != 0 {
		t.Errorf("the run ended with %d:\n%s", code, out)
	}
	want := strings.NewReplacer("import \"example.com/app/legacy\"\n\n", "", "legacy.Multiply(price, n)", "price * float64(n)").Replace(before)
	if after := files(t, app); after != want {
		t.Errorf("the files are now:\n%s", after)
	}

	// The fix that was accepted is a hint for the same rule, with its source.
	if err := os.WriteFile(filepath.Join(app, "price.go"), price, 0o644); err != nil {
		t.Fatal(err)
	}
	hint := ", accepted in price.go (hint-"
	if slices.ContainsFunc(server.Received(), func(r modelserver.Received) bool { return strings.Contains(r.Text(), hint) }) {
		t.Error("there was a hint before anything was accepted")
	}
	if out, code := kaiakCommand(t, env, batch()...); code != 0 {
		t.Errorf("the run with a hint ended with %d:\n%s", code, out)
	}
	if text := server.Received()[len(server.Received())-1].Text(); !strings.Contains(text, hint) || !strings.Contains(text, "- \tsum := legacy.Multiply(price, n)") {
		t.Errorf("the model was not shown the accepted fix:\n%s", text)
	}

	// A command of the user's own judges, too: here one that always objects to
	// what it sees after the change.
	if err := os.CopyFS(filepath.Join(dir, "fresh"), os.DirFS("../../examples/model/app")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "kaiak")
	if err := os.MkdirAll(config, 0o755); err != nil {
		t.Fatal(err)
	}
	judge := "command: [sh, -c, 'grep -n --with-filename float64.n price.go || true']\ntimeout: 60s\n"
	if err := os.WriteFile(filepath.Join(config, "diagnostics.yaml"), []byte(judge), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := kaiakCommand(t, env, "batch", "--workspace", filepath.Join(dir, "fresh"), "--engine", "model", "--approve", "validated", "--trust", "-v")
	if text := server.Received()[len(server.Received())-1].Text(); code != 1 || !strings.Contains(text, "newly reported") {
		t.Errorf("with a judge that objects, it ended with %d:\n%s\nand the model was told\n%s", code, out, text)
	}

	// Without an endpoint the rules still work, and the model says what is missing.
	none := append(env, "OPENAI_BASE_URL=")
	if out, code := kaiakCommand(t, none, "doctor"); code != 1 || !strings.Contains(out, "set OPENAI_BASE_URL") {
		t.Errorf("doctor without an endpoint ended with %d:\n%s", code, out)
	}
}

// files returns every file of a folder with its text.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		b.WriteString(d.Name() + ":\n" + string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
