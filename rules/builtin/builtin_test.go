package builtin_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/builtin/internal/packgen"
)

var update = flag.Bool("update", false, "write the rules that are made from tables, and what fixtures expect")

// The rules that are made from tables are those that ship.
func TestGeneratedRules(t *testing.T) {
	rows, err := packgen.Rows(os.DirFS("tables"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := packgen.Generate(rows)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the tables make (%v); run go test ./rules/builtin -update", name, err)
		}
	}
}

func TestEveryRuleLoads(t *testing.T) {
	problems, err := rules.PackProblems(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s: %s", p.Source, p.Where, p.Reason)
	}
	packs, err := rules.Packs()
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob("*/pack.yml")
	if err != nil || len(folders) != len(packs) {
		t.Errorf("%d packs of %d folders (%v)", len(packs), len(folders), err)
	}
}
