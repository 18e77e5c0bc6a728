package refactor

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/workspace"
)

func decodeYAML(doc string) func(any) error {
	return func(p any) error { return yaml.UnmarshalWithOptions([]byte(doc), p, yaml.Strict()) }
}

func TestStepsAreSortedAndDocumented(t *testing.T) {
	if !slices.IsSortedFunc(Steps, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table of steps is not sorted by name")
	}
	for _, s := range Steps {
		if s.Doc == "" || s.Files == "" || s.New() == nil {
			t.Errorf("%s: incomplete", s.Name)
		}
		if err := s.New().validate(); err == nil && s.Name != "removeMatch" {
			t.Errorf("%s: no parameters at all are accepted", s.Name)
		}
	}
}

func TestEveryStepHasFixtures(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, "/step.yaml") {
				name, _, _ := strings.Cut(string(f.Data), ":")
				seen[name]++
			}
		}
	}
	for _, s := range Steps {
		if seen[s.Name] < 3 && s.Name != "removeMatch" { // it needs a span: TestRemoveMatch
			t.Errorf("%s has %d fixtures", s.Name, seen[s.Name])
		}
	}
}

func TestNewRefusesBadParameters(t *testing.T) {
	for _, c := range []struct{ name, params, want string }{
		{"renameTyp", "{}", "no step is named"},
		{"renameType", "{from: a.B}", "from and to"},
		{"renameType", "{from: a.B, to: c.D, form: x}", "form"},
		{"renameProperty", "{from: a.*, to: b}", "both end"},
		{"replaceDependency", "{from: 'a:b', to: c}", "different build systems"},
		{"findReplace", "{find: '('}", "find"},
		{"changeAnnotation", "{type: a.B, attributes: [{name: x}]}", "attribute 1"},
		{"setVersion", "{of: a, property: b, version: c}", "one of"},
		{"imports", "{add: [{name: x}]}", "no path"},
	} {
		if _, err := New(c.name, decodeYAML(c.params)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%s, %s) = %v, want an error with %q", c.name, c.params, err, c.want)
		}
	}
}

// A step with a span keeps to it.
func TestSpan(t *testing.T) {
	src := "import a.B;\n\n@B class A { @B int x; }\n"
	at := strings.LastIndex(src, "@B")
	step := &ChangeAnnotation{Type: "a.B", Attributes: []AttributeChange{{Name: "c", Set: "1"}}}
	edits, err := step.Edits(context.Background(), Input{Path: "A.java", Text: []byte(src), Start: at, End: at + 2})
	if err != nil {
		t.Fatal(err)
	}
	got, err := workspace.ApplyEdits([]byte(src), edits)
	if want := "import a.B;\n\n@B class A { @B(c = 1) int x; }\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRemoveMatch(t *testing.T) {
	for _, c := range []struct{ text, match, want string }{
		{"<A b={1} c />\n", "b={1}", "<A c />\n"},
		{"<A\n  b={1}\n  c\n/>\n", "b={1}", "<A\n  c\n/>\n"},
		{"<A b />", "b", "<A />"},
		{"x\ny", "y", "x\n"},
	} {
		at := strings.Index(c.text, c.match)
		edits, err := new(RemoveMatch).Edits(context.Background(), Input{Path: "a.tsx", Text: []byte(c.text), Start: at, End: at + len(c.match)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := workspace.ApplyEdits([]byte(c.text), edits); err != nil || string(got) != c.want {
			t.Errorf("removing %q from %q: %q, want %q (%v)", c.match, c.text, got, c.want, err)
		}
	}
}

// A text that no step is made for gets neither edits nor an error.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	for _, s := range fixtureSteps(t) {
		for _, path := range []string{"README", "a.bin", "x.unknown"} {
			if _, ok := s.(*FindReplace); ok {
				continue
			}
			edits, err := s.Edits(context.Background(), Input{Path: path, Text: []byte("import javax.inject.Inject;\nreact a.b=1")})
			if len(edits) > 0 || err != nil {
				t.Errorf("%T on %s: %v, %v", s, path, edits, err)
			}
		}
	}
}

func fixtureSteps(t testing.TB) []Step {
	t.Helper()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var steps []Step
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if !strings.HasSuffix(f.Name, "/step.yaml") {
				continue
			}
			var doc map[string]any
			if err := yaml.Unmarshal(f.Data, &doc); err != nil {
				t.Fatal(err)
			}
			for name, params := range doc {
				raw, err := yaml.Marshal(params)
				if err != nil {
					t.Fatal(err)
				}
				step, err := New(name, decodeYAML(string(raw)))
				if err != nil {
					t.Fatal(err)
				}
				steps = append(steps, step)
			}
		}
	}
	return steps
}

// Whatever the text: no panic, edits that apply, and no error but a refusal.
func FuzzSteps(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	steps := fixtureSteps(f)
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if _, name, ok := strings.Cut(file.Name, "/before/"); ok {
				f.Add(name, file.Data)
				f.Add(name, bytes.ReplaceAll(file.Data, []byte("\n"), []byte("\r\n")))
				f.Add(name, file.Data[:len(file.Data)*2/3])
			}
		}
	}
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		if len(text) > 1<<14 {
			t.Skip()
		}
		for _, s := range steps {
			edits, err := s.Edits(context.Background(), Input{Path: path, Text: text})
			var r *Refusal
			if err != nil && !errors.As(err, &r) {
				t.Fatalf("%T: %v", s, err)
			}
			if _, err := workspace.ApplyEdits(text, edits); err != nil {
				t.Fatalf("%T: the edits do not apply: %v", s, err)
			}
		}
	})
}
