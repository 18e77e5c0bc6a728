package konveyor

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rulesets returns the folder of Konveyor's own rulesets, or skips.
func rulesets(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("KAIAK_RULESETS")
	if dir == "" {
		t.Skip("KAIAK_RULESETS does not name a checkout of konveyor/rulesets; tests over its rules are skipped")
	}
	return dir
}

// TestLoadPublishedRules loads every published rule. The figures are those of
// konveyor/rulesets at 1ca8e9e.
func TestLoadPublishedRules(t *testing.T) {
	set, problems := Load(rulesets(t))
	rules := set.Rules()
	ids := map[string]bool{}
	for _, r := range rules {
		ids[r.ID] = true
	}
	if len(rules) != 3274 || len(ids) != 3242 {
		t.Errorf("loaded %d rules with %d ids, want 3274 with 3242", len(rules), len(ids))
	}
	// Two channel manifests and an empty file are no rule files, two rules have
	// conditions that cannot be evaluated beside others that can.
	var lost []string
	for _, f := range set.Findings() {
		if f.Level == LevelError {
			lost = append(lost, f.Code+" "+f.RuleID)
		}
	}
	slices.Sort(lost)
	want := []string{"dropped component-changes-00008", "dropped component-changes-00008", "no-rules ", "no-rules ", "no-rules ",
		"side-by-side javaee-to-jakarta-namespaces-00045"}
	if diff := cmp.Diff(want, lost); diff != "" || len(problems) != len(want) {
		t.Errorf("what is not used (-want +got):\n%s", diff)
	}
	if _, err := newPlan(rules); err != nil {
		t.Errorf("the rules cannot be compiled: %v", err)
	}
}
