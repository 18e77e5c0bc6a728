package builtin_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/builtin/internal/packgen"
	"github.com/kaiak/kaiak/rules/konveyor"
)

// Konveyor's rules look at what the tables are about: what they find there gets
// a fix in the line that they name. KAIAK_RULESETS is the folder of
// konveyor/rulesets, without which the test is skipped.
func TestKonveyorIncidentsAreFixed(t *testing.T) {
	dir := os.Getenv("KAIAK_RULESETS")
	if dir == "" {
		t.Skip("KAIAK_RULESETS does not name a copy of konveyor/rulesets")
	}
	rows, err := packgen.Rows(os.DirFS("tables"))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := konveyor.Load(dir)
	known := map[string]bool{}
	for _, set := range konveyor.NewCoverage(all, nil).Unfixed {
		known[set] = true
	}
	sets := map[string]*rules.Set{}
	files := fstest.MapFS{}
	byFolder := map[string]packgen.Row{}
	for i, r := range rows {
		if sets[r.Pack] == nil {
			sets[r.Pack] = load(t, r.Pack)
		}
		for _, id := range r.Fixes {
			if !known[id] {
				t.Errorf("%s.tsv:%d: the rulesets have no rule %s", r.Table, r.Line, id)
			}
		}
		for j, s := range samples(r) {
			folder := fmt.Sprintf("row%d-%d", i, j)
			byFolder[folder] = r
			files[folder+"/"+s.path] = &fstest.MapFile{Data: []byte(s.before)}
		}
	}
	result, err := all.Run(context.Background(), konveyor.FromFS(files, "."), konveyor.RunOptions{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	found, fixed := map[string]bool{}, map[string]bool{}
	unfixed := map[string]string{}
	for _, in := range result.Incidents {
		folder, name, _ := strings.Cut(in.FilePath, "/")
		r, ok := byFolder[folder]
		if !ok || !slices.Contains(r.Fixes, in.RuleID) {
			continue
		}
		found[in.RuleID] = true
		in.FilePath = name
		file := textFile(name, string(files[path.Join(folder, name)].Data))
		matches, err := sets[r.Pack].Match(context.Background(), file, nil, in)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(matches, func(m rules.Match) bool { return len(m.Fixes) > 0 && m.Incident.ID == in.ID }) {
			unfixed[in.RuleID] = fmt.Sprintf("%s.tsv:%d: line %d of %s gets no fix:\n%s", r.Table, r.Line, in.LineNumber, name, file.Text)
			continue
		}
		fixed[in.RuleID] = true
	}
	// A rule whose conditions are joined by "and" reports what each of them
	// matched, the import of a component as well as its property: one of them has
	// to have the fix.
	for id, where := range unfixed {
		if !fixed[id] {
			t.Errorf("%s: %s", id, where)
		}
	}
	var unseen []string
	for _, r := range rows {
		for _, id := range r.Fixes {
			if !found[id] && !slices.Contains(unseen, id) {
				unseen = append(unseen, id)
			}
		}
	}
	t.Logf("of the tables' rules %d report their samples and %d are fixed where they report; not reported: %v", len(found), len(fixed), unseen)
	if len(fixed) < 250 {
		t.Errorf("%d of Konveyor's rules are fixed where they report, fewer than 250", len(fixed))
	}
}
