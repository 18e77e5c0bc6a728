package builtin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/builtin/internal/packgen"
)

// Every rule of every pack has a category, says why its fix is safe where it
// has one, and is matched by a test: a row's sample, a fixture, or a rule test.
func TestEveryRuleIsTested(t *testing.T) {
	packs, err := rules.Packs()
	if err != nil {
		t.Fatal(err)
	}
	tested := map[*rules.Rule]bool{}
	try := func(set *rules.Set, path, text string) {
		matches, err := set.Check(t.Context(), textFile(path, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			tested[m.Rule] = true
		}
	}
	rows, err := packgen.Rows(os.DirFS("tables"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, s := range samples(row) {
			try(load(t, row.Pack), s.path, s.before)
		}
	}
	for _, p := range packs {
		set := load(t, p.ID)
		archive, err := txtar.ParseFile(filepath.Join("testdata", p.ID+".txtar"))
		if err == nil {
			for _, f := range archive.Files {
				if _, path, ok := strings.Cut(f.Name, "/before/"); ok {
					try(set, path, string(f.Data))
				}
			}
		} else if !os.IsNotExist(err) {
			t.Fatal(err)
		}
		names := ruleTestIDs(t, p.ID)
		for _, r := range set.Rules() {
			where := p.ID + ": " + r.ID + " (" + r.Language + ")"
			if !slices.Contains([]string{"mechanical", "local", "cross-file"}, r.Category) {
				t.Errorf("%s has no category", where)
			}
			if r.Fixable() && r.Safety == "" {
				t.Errorf("%s does not say why its fix is safe", where)
			}
			if !tested[r] && !slices.Contains(names, r.ID) {
				t.Errorf("%s is matched by no test", where)
			}
		}
	}
}

// ruleTestIDs returns the ids of rules that the pack's own rule tests are about.
func ruleTestIDs(t *testing.T, pack string) []string {
	files, err := filepath.Glob(pack + "/*-test.yml")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var test struct {
				ID      string
				Invalid []string
			}
			if d.Decode(&test) != nil {
				break
			}
			if len(test.Invalid) > 0 {
				ids = append(ids, test.ID)
			}
		}
	}
	return ids
}
