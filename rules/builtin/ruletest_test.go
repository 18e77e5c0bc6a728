package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/kaiak/kaiak/treesitter"
)

// The rule tests in ast-grep's format that ship beside the rules: what a rule
// must find, and what it must not.
func TestRuleTests(t *testing.T) {
	files, err := filepath.Glob("*/*-test.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rule tests: %v", err)
	}
	for _, name := range files {
		set := load(t, filepath.Dir(name))
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for d := yaml.NewDecoder(f, yaml.Strict()); ; {
			var test struct {
				ID             string
				Valid, Invalid []string
			}
			if d.Decode(&test) != nil {
				break
			}
			found := false
			for _, r := range set.Rules() {
				if r.ID != test.ID {
					continue
				}
				found = true
				count := func(snippet string) (n int) {
					file := textFile("a."+treesitter.Lookup(r.Language).Extensions[0], snippet)
					matches, err := set.Check(context.Background(), file, nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range matches {
						if m.Rule == r {
							n++
						}
					}
					return n
				}
				for _, s := range test.Valid {
					if count(s) != 0 {
						t.Errorf("%s: %s in %s finds %q, which is valid", name, r.ID, r.Language, s)
					}
				}
				for _, s := range test.Invalid {
					if count(s) == 0 {
						t.Errorf("%s: %s in %s does not find %q", name, r.ID, r.Language, s)
					}
				}
			}
			if !found {
				t.Errorf("%s: the pack has no rule %q", name, test.ID)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
