package rules_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
)

func TestSkeletonsLoadInEveryLanguage(t *testing.T) {
	for _, l := range treesitter.All() {
		rule, test, err := rules.Skeleton("my-rule", l.Name)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"my-rule.yml": rule, "my-rule-test.yml": test} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		problems, n, err := rules.Lint(context.Background(), []string{dir}, rules.LoadOptions{})
		if err != nil || n != 1 || len(problems) > 0 {
			t.Errorf("%s: %d rules, %v %v", l.Name, n, problems, err)
		}
	}
	for _, id := range []string{"", "a/b", "../x", "a\nb"} {
		if _, _, err := rules.Skeleton(id, "go"); err == nil {
			t.Errorf("id %q was taken", id)
		}
	}
	if _, _, err := rules.Skeleton("x", "klingon"); err == nil {
		t.Error("a language that there is not was taken")
	}
}

func TestRulesKeepTheirText(t *testing.T) {
	set := loadText(t, "# about a\nid: a\nlanguage: js\nrule: {pattern: a()}\n---\n\n---\nid: b\nlanguage: js\nrule: {pattern: b()} # b\n")
	var texts []string
	for _, r := range set.Rules() {
		texts = append(texts, r.Text)
	}
	want := "# about a\nid: a\nlanguage: js\nrule: {pattern: a()}\n|id: b\nlanguage: js\nrule: {pattern: b()} # b\n"
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
