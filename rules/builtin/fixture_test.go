package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/rules"
)

// Each archive in testdata is named after a pack and holds whole files:
//
//	-- NAME/before/PATH --   the file
//	-- NAME/after/PATH --    what all of the pack's fixes make of it; the same without it
//	-- NAME/refused --       the fixes that are refused, one "rule: kind" a line
//
// A file that is fixed once is not changed again.
func TestFixtures(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range archives {
		pack := strings.TrimSuffix(filepath.Base(path), ".txtar")
		set := load(t, pack)
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, f := range archive.Files {
			want[f.Name] = string(f.Data)
		}
		out := &txtar.Archive{Comment: archive.Comment}
		for _, f := range archive.Files {
			name, file, ok := strings.Cut(f.Name, "/before/")
			if !ok {
				continue
			}
			t.Run(pack+"/"+name, func(t *testing.T) {
				got, _, refused := fix(t, set, file, string(f.Data))
				out.Files = append(out.Files, f)
				if got != string(f.Data) {
					out.Files = append(out.Files, txtar.File{Name: name + "/after/" + file, Data: []byte(got)})
				}
				var why strings.Builder
				for _, r := range refused {
					if r.Kind != rules.RefusedNoFix {
						why.WriteString(r.RuleID + ": " + string(r.Kind) + "\n")
					}
				}
				if why.Len() > 0 {
					out.Files = append(out.Files, txtar.File{Name: name + "/refused", Data: []byte(why.String())})
				}
				if *update {
					return
				}
				after, changed := want[name+"/after/"+file]
				if !changed {
					after = string(f.Data)
				}
				if got != after {
					t.Errorf("got:\n%s\nwant:\n%s", got, after)
				}
				if why.String() != want[name+"/refused"] {
					t.Errorf("refused:\n%swant:\n%s", &why, want[name+"/refused"])
				}
				if again, _, _ := fix(t, set, file, got); again != got {
					t.Errorf("a second run changes the file again:\n%s", again)
				}
				windows := func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") }
				if other, _, _ := fix(t, set, file, windows(string(f.Data))); other != windows(got) {
					t.Errorf("with CR LF and a byte order mark the result is %q", other)
				}
			})
		}
		if *update {
			if err := os.WriteFile(path, txtar.Format(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// All packs at once: fixes that claim the same place wait for each other, and
// after a few rounds there is nothing left to fix.
func TestPacksTogether(t *testing.T) {
	set, problems, err := rules.Load(context.Background(), []string{rules.Builtin}, rules.LoadOptions{})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 4
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			_, file, ok := strings.Cut(f.Name, "/before/")
			if !ok {
				continue
			}
			text := string(f.Data)
			for round := 0; ; round++ {
				next, _, _ := fix(t, set, file, text)
				if next == text {
					break
				}
				if text = next; round == rounds {
					t.Errorf("%s in %s is still being changed after %d rounds:\n%s", f.Name, path, rounds, text)
					break
				}
			}
		}
	}
}

// A pack's rules that are not made from a table each have a fixture that they fix.
func TestEveryHandWrittenRuleIsShown(t *testing.T) {
	packs, err := rules.Packs()
	if err != nil {
		t.Fatal(err)
	}
	tables := []string{"types.yml", "methods.yml", "maven.yml", "descriptors.yml", "roots.yml", "strings.yml", "properties.yml", "jsx.yml"}
	for _, p := range packs {
		set := load(t, p.ID)
		shown := map[string]bool{}
		if archive, err := txtar.ParseFile("testdata/" + p.ID + ".txtar"); err == nil {
			for _, f := range archive.Files {
				if _, file, ok := strings.Cut(f.Name, "/before/"); ok {
					_, matches, _ := fix(t, set, file, string(f.Data))
					for _, m := range matches {
						shown[m.Rule.Language+" "+m.Rule.ID] = true
					}
				}
			}
		}
		for _, r := range set.Rules() {
			made := false
			for _, table := range tables {
				made = made || strings.Contains(r.Source, "/"+table+":")
			}
			if !made && !shown[r.Language+" "+r.ID] {
				t.Errorf("pack %s: no fixture shows what rule %s does in %s", p.ID, r.ID, r.Language)
			}
			if r.Fixable() && (r.Category == "" || r.Safety == "") {
				t.Errorf("pack %s: rule %s has a fix and no category or no safety note", p.ID, r.ID)
			}
		}
	}
}
