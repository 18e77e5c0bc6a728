package refactor

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

const stepsDoc = "../../docs/refactorings.md"

const stepsHead = `# Refactorings as fixes

Made from ` + "`rules/refactor`" + ` by ` + "`go test ./rules/refactor -update`" + `.

Some fixes need more than a pattern: a file's imports, its scopes, or the structure of a build file. A rule names them
as steps; what it matches is where they work, and where a step has to change the whole file (a type's new name) it does.

` + "```yaml" + `
id: no-javax-inject
language: java
rule:
  kind: scoped_identifier
  regex: '^javax\.inject\.Inject$'
metadata:
  category: mechanical
  safety: Jakarta's annotation has the same meaning.
  fixes: [javax-to-jakarta-import-00001]
  steps:
    - renameType: {from: javax.inject.Inject, to: jakarta.inject.Inject}
` + "```" + `

A step that cannot show that its edit is right makes none, and the fix is refused with the reason. Comments, white
space and order stay as they are.

| step | what it does | files |
|---|---|---|
`

// docs/refactorings.md is made from the table of steps, their parameters and one
// fixture of each.
func TestStepsDoc(t *testing.T) {
	var b strings.Builder
	b.WriteString(stepsHead)
	for _, s := range Steps {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, s.Doc, s.Files)
	}
	for _, s := range Steps {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nParameters: %s.\n", s.Name, s.Doc, parameters(s.New()))
		if before, after, step := example(t, s.Name); step != "" {
			fmt.Fprintf(&b, "\n    %s\n\nmakes of\n\n%s\nthis:\n\n%s", step, block(before), block(after))
		}
	}
	if *update {
		if err := os.WriteFile(stepsDoc, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(stepsDoc); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the steps are (%v); run go test ./rules/refactor -update", stepsDoc, err)
	}
}

// parameters lists the keys of a step.
func parameters(step Step) string {
	typ := reflect.TypeOf(step).Elem()
	var keys []string
	for i := range typ.NumField() {
		if key := typ.Field(i).Tag.Get("yaml"); key != "" {
			keys = append(keys, "`"+key+"`")
		}
	}
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, ", ")
}

func block(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
	}
	return b.String()
}

// example returns the shortest fixture of a step that changes its text.
func example(t *testing.T, name string) (before, after []byte, step string) {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		archive, err := txtar.ParseFile("testdata/" + e.Name())
		if err != nil {
			continue // the fuzzer's corpus is a folder
		}
		parts := map[string][]byte{}
		for _, f := range archive.Files {
			parts[f.Name] = f.Data
		}
		for _, f := range archive.Files {
			dir, ok := strings.CutSuffix(f.Name, "/step.yaml")
			if !ok || !bytes.HasPrefix(f.Data, []byte(name+":")) {
				continue
			}
			for _, g := range archive.Files {
				if path, ok := strings.CutPrefix(g.Name, dir+"/after/"); ok && (step == "" || len(g.Data) < len(after)) {
					before, after, step = parts[dir+"/before/"+path], g.Data, strings.TrimSpace(string(f.Data))
				}
			}
		}
	}
	return before, after, step
}
