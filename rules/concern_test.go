package rules

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kaiak/kaiak/workspace"
)

// A pack that is not named applies where a file, a dependency or an import says so.
func TestPacksThatConcernAProject(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		want, never []string
	}{
		"go": {
			map[string]string{"a.go": "package a\n", "b.go": "package a\n\n// import javax.persistence.Entity;\n"},
			[]string{"go-deprecated"}, []string{"jakarta-ee9", "python-modernize", "camel-3", "go-any"},
		},
		"java by import": {
			map[string]string{"src/A.java": "import java.util.List;\n", "src/B.java": "import javax.persistence.Entity;\n"},
			[]string{"jakarta-ee9"}, []string{"camel-3", "quarkus-3", "go-deprecated"},
		},
		"only in text": {
			map[string]string{"A.java": "// import javax.persistence.Entity;\nclass A { String s = \"org.apache.camel.x\"; }\n"},
			nil, []string{"jakarta-ee9", "camel-3"},
		},
		"java by dependency": {
			map[string]string{"pom.xml": "<project><dependencies><dependency><groupId>org.apache.camel</groupId><artifactId>camel-core</artifactId></dependency></dependencies></project>"},
			[]string{"camel-3"}, []string{"jakarta-ee9"},
		},
		"javascript by dependency": {
			map[string]string{"package.json": `{"dependencies": {"@patternfly/react-core": "5"}}`},
			[]string{"patternfly-6"}, []string{"angular"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				full := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			ws, err := workspace.Open(dir, workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := ws.Close(); err != nil {
					t.Error(err)
				}
			}()
			set, problems, err := Load(context.Background(), []string{Builtin}, LoadOptions{Workspace: ws})
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			var packs []string
			for _, r := range set.Rules() {
				if !slices.Contains(packs, r.Pack) {
					packs = append(packs, r.Pack)
				}
			}
			for _, p := range c.want {
				if !slices.Contains(packs, p) {
					t.Errorf("pack %s is not loaded: %v", p, packs)
				}
			}
			for _, p := range c.never {
				if slices.Contains(packs, p) {
					t.Errorf("pack %s is loaded", p)
				}
			}
		})
	}
}
