package treesitter

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// samples returns a small program for every language, by name.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/samples/*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lang := ForPath(filepath.ToSlash(f))
		if lang == nil {
			t.Fatalf("%s: no language", f)
		}
		all[lang.Name] = src
	}
	return all
}

func mustParse(t testing.TB, language, src string) *Tree {
	t.Helper()
	lang := Lookup(language)
	if lang == nil {
		t.Fatalf("no language %q", language)
	}
	tree, err := Parse(context.Background(), lang, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestEveryGrammarParsesItsSample(t *testing.T) {
	all := samples(t)
	goMod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range All() {
		t.Run(lang.Name, func(t *testing.T) {
			src, ok := all[lang.Name]
			if !ok {
				t.Fatal("no sample in testdata/samples")
			}
			tree := mustParse(t, lang.Name, string(src))
			if tree.Root().HasError() {
				t.Errorf("the sample has syntax errors: %v", Errors(tree))
			}
			comments := 0
			for n := range tree.Root().Descendants() {
				if n.Kind() == "" {
					t.Errorf("node %d of symbol %d has no kind", n.Index(), n.KindID())
				}
				if lang.KindID(n.Kind(), n.Named()) != n.KindID() {
					t.Errorf("KindID(%q, %v) = %d, want %d", n.Kind(), n.Named(), lang.KindID(n.Kind(), n.Named()), n.KindID())
				}
				if lang.IsComment(n.KindID()) {
					comments++
				}
			}
			if lang.Name != "json" && comments == 0 {
				t.Error("no comment found: is the table's list of comment kinds right?")
			}
			if !strings.Contains(string(goMod), "\t"+lang.Module+" v") {
				t.Errorf("go.mod does not require %s", lang.Module)
			}
			if v := lang.Version(); v != lang.Module && !strings.HasPrefix(v, lang.Module+"@v") {
				t.Errorf("Version() = %q, want %s@version", v, lang.Module)
			}
			if abi := lang.ABI(); abi < 13 || abi > 14 {
				t.Errorf("ABI %d: the runtime takes 13 and 14", abi)
			}
		})
	}
}

func TestCommentKindsExist(t *testing.T) {
	for _, lang := range All() {
		for _, kind := range lang.Comments {
			if lang.KindID(kind, true) == 0 {
				t.Errorf("%s: the grammar has no kind %q", lang.Name, kind)
			}
		}
	}
}

func TestTableIsSortedAndUnambiguous(t *testing.T) {
	if !slices.IsSortedFunc(languages, func(a, b *Language) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not sorted by name")
	}
	names, extensions := map[string]string{}, map[string]string{}
	for _, l := range languages {
		for _, n := range append([]string{l.Name}, l.Aliases...) {
			if other, dup := names[n]; dup {
				t.Errorf("%q names both %s and %s", n, other, l.Name)
			}
			names[n] = l.Name
		}
		for _, e := range l.Extensions {
			if other, dup := extensions[e]; dup {
				t.Errorf(".%s belongs to both %s and %s", e, other, l.Name)
			}
			extensions[e] = l.Name
		}
	}
}

func TestForPath(t *testing.T) {
	for path, want := range map[string]string{
		"a/b/main.go": "go", "A.JAVA": "java", "x.d.ts": "typescript", "x.tsx": "tsx", "deploy.YML": "yaml",
		"Dockerfile": "dockerfile", "docker/Dockerfile.dev": "dockerfile", "run.sh.in": "bash", "build.gradle.kts": "kotlin",
		"pom.xml": "xml", "application-dev.properties": "properties", "Rakefile": "ruby", ".bashrc": "bash",
	} {
		lang := ForPath(path)
		if lang == nil || lang.Name != want {
			t.Errorf("ForPath(%q) = %v, want %s", path, lang, want)
		}
	}
	for _, path := range []string{"", "README", "a.unknown", "go", "dir.go/file", "go.mod"} {
		if lang := ForPath(path); lang != nil {
			t.Errorf("ForPath(%q) = %s, want none", path, lang.Name)
		}
	}
}

// A pattern's metavariable must be a name to the grammar, else patterns cannot be written in it.
func TestExpandoIsPartOfAWord(t *testing.T) {
	all := samples(t)
	word := map[string]string{ // a word of the sample that is replaced by a metavariable
		"bash": "out.log", "c": "sum", "cpp": "Cart", "csharp": "Cart", "css": "external", "cue": "prod",
		"dockerfile": "golang", "elixir": "total", "elm": "main", "go": "Cart", "groovy": "prices", "hcl": "tags",
		"html": "Shop", "java": "Cart", "javascript": "Cart", "json": `"shop"`, "kotlin": "total", "lua": "total",
		"ocaml": "total", "php": "Cart", "properties": "update", "protobuf": "Cart", "python": "prices", "ruby": "prices",
		"rust": "prices", "scala": "total", "sql": "carts", "svelte": "clicked", "swift": "total", "toml": "name",
		"tsx": "items", "typescript": "total", "xml": "note", "yaml": "shop",
	}
	for _, lang := range All() {
		src := strings.ReplaceAll(string(all[lang.Name]), word[lang.Name], string(lang.Expando)+"A")
		if src == string(all[lang.Name]) {
			t.Errorf("%s: the sample has no %q", lang.Name, word[lang.Name])
		}
		if lang.Name == "json" {
			continue // JSON has no names: a pattern's $A is an ERROR node in it
		}
		if tree := mustParse(t, lang.Name, src); tree.Root().HasError() {
			t.Errorf("%s: %cA is no name: %v", lang.Name, lang.Expando, Errors(tree))
		}
	}
}
