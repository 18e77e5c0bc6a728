package refactor

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

var update = flag.Bool("update", false, "rewrite what the fixtures expect")

// Each archive in testdata holds cases of one step:
//
//	-- NAME/step.yaml --            the step as a rule writes it: "name: {parameters}"
//	-- NAME/before/PATH --          the text
//	-- NAME/after/PATH --           what it becomes, or
//	-- NAME/refused --              the kind of refusal and a part of its detail
//
// Without after and refused, the step does nothing to the text.
func TestFixtures(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]map[string][]byte{}
		for _, f := range archive.Files {
			name, rest, _ := strings.Cut(f.Name, "/")
			if files[name] == nil {
				files[name] = map[string][]byte{}
			}
			files[name][rest] = f.Data
		}
		changed := false
		for name, parts := range files {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar")+"/"+name, func(t *testing.T) {
				if got, ok := runFixture(t, parts); *update && ok {
					changed = true
					for k := range parts {
						if strings.HasPrefix(k, "after/") || k == "refused" {
							delete(parts, k)
						}
					}
					for k, v := range got {
						parts[k] = v
					}
				}
			})
		}
		if changed {
			writeArchive(t, path, archive, files)
		}
	}
}

// runFixture runs one case. When the outcome is not the expected one it is an
// error, or with -update it is returned.
func runFixture(t *testing.T, parts map[string][]byte) (got map[string][]byte, differs bool) {
	var doc map[string]any
	if err := yaml.Unmarshal(parts["step.yaml"], &doc); err != nil || len(doc) != 1 {
		t.Fatalf("step.yaml: %v", err)
	}
	var step Step
	for name, params := range doc {
		raw, err := yaml.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		if step, err = New(name, func(p any) error { return yaml.UnmarshalWithOptions(raw, p, yaml.Strict()) }); err != nil {
			t.Fatal(err)
		}
	}
	var path string
	var before []byte
	for k, v := range parts {
		if p, ok := strings.CutPrefix(k, "before/"); ok {
			path, before = p, v
		}
	}
	if path == "" {
		t.Fatal("no before/PATH")
	}
	outcome := func(text []byte) (after []byte, refused string) {
		edits, err := step.Edits(context.Background(), Input{Path: path, Text: text})
		var r *Refusal
		if errors.As(err, &r) {
			return nil, r.Kind + ": " + r.Detail + "\n"
		}
		if err != nil {
			t.Fatal(err)
		}
		after, err = workspace.ApplyEdits(text, edits)
		if err != nil {
			t.Fatalf("the edits do not apply: %v", err)
		}
		return after, ""
	}
	after, refused := outcome(before)
	got = map[string][]byte{}
	switch {
	case refused != "":
		got["refused"] = []byte(refused)
	case !bytes.Equal(after, before):
		got["after/"+path] = after
	}
	if refused == "" {
		again, refusedAgain := outcome(after)
		if refusedAgain != "" || !bytes.Equal(again, after) {
			t.Errorf("a second run changes the text again:\n%s%s", again, refusedAgain)
		}
		if lang := treesitter.ForPath(path); lang != nil {
			a, _ := treesitter.Parse(context.Background(), lang, before)
			b, _ := treesitter.Parse(context.Background(), lang, after)
			if worse := treesitter.NewErrors(a, b); len(worse) > 0 {
				t.Errorf("new syntax errors: %v\n%s", worse, after)
			}
		}
	}
	// Lines that end in CR LF stay so, and new ones end as the others do.
	if refused == "" && !bytes.Contains(before, []byte("\r")) {
		crlf := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }
		if got, why := outcome(crlf(before)); !bytes.Equal(got, crlf(after)) {
			t.Errorf("with CR LF the result is %q, want %q (%s)", got, crlf(after), why)
		}
	}
	// So does a byte order mark at the front.
	if mark := []byte("\ufeff"); refused == "" && path != "go.mod" { // the go command takes none there
		if got, why := outcome(append(bytes.Clone(mark), before...)); !bytes.Equal(got, append(bytes.Clone(mark), after...)) {
			t.Errorf("with a byte order mark the result is %q (%s)", got, why)
		}
	}
	for _, k := range []string{"after/" + path, "refused"} {
		if !bytes.Equal(got[k], parts[k]) {
			if !*update {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", k, got[k], parts[k])
			}
			differs = true
		}
	}
	return got, differs
}

func writeArchive(t *testing.T, path string, archive *txtar.Archive, files map[string]map[string][]byte) {
	t.Helper()
	var names []string
	seen := map[string]bool{}
	for _, f := range archive.Files {
		if name, _, _ := strings.Cut(f.Name, "/"); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	out := &txtar.Archive{Comment: archive.Comment}
	for _, name := range names {
		keys := make([]string, 0, len(files[name]))
		for k := range files[name] {
			keys = append(keys, k)
		}
		order := func(k string) string { // step, before, after, refused
			return fmt.Sprint(strings.Index("sbar", k[:1]), k)
		}
		sort.Slice(keys, func(i, j int) bool { return order(keys[i]) < order(keys[j]) })
		for _, k := range keys {
			out.Files = append(out.Files, txtar.File{Name: name + "/" + k, Data: files[name][k]})
		}
	}
	if err := os.WriteFile(path, txtar.Format(out), 0o644); err != nil {
		t.Fatal(err)
	}
}
