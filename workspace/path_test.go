package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// newWorkspace opens a workspace over files: path → content.
func newWorkspace(t testing.TB, files map[string]string) *Workspace {
	t.Helper()
	return openWorkspace(t, writeTree(t, files), Options{})
}

func openWorkspace(t testing.TB, dir string, opts Options) *Workspace {
	t.Helper()
	w, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(p), 0o755))
		check(t, os.WriteFile(p, []byte(text), 0o644))
	}
	return dir
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kindOf returns the kind of a PathError, "" for nil, and fails on other errors.
func kindOf(t testing.TB, err error) PathErrorKind {
	t.Helper()
	if err == nil {
		return ""
	}
	var p *PathError
	if !errors.As(err, &p) {
		t.Fatalf("%v is a %T, not a *PathError", err, err)
	}
	if p.Reason == "" || !strings.Contains(p.Error(), p.Reason) {
		t.Errorf("%#v says nothing to people", p)
	}
	return p.Kind
}

// tricks are names that must not be taken for a file of the workspace. ROOT
// stands for its folder.
var tricks = []struct {
	name string
	kind PathErrorKind
}{
	{"", BadName},
	{"..", Escapes},
	{"../x", Escapes},
	{"a/../../x", Escapes},
	{"./../x", Escapes},
	{"a/b/../../../etc/passwd", Escapes},
	{"/etc/passwd", Escapes},
	{"//etc/passwd", Escapes},
	{"/proc/self/root/etc/passwd", Escapes},
	{"ROOT/../x", Escapes},
	{"ROOTsuffix/x", Escapes},
	{"ROOT/a/../../x", Escapes},
	{"file:///etc/passwd", Escapes},
	{"file://ROOT/../x", Escapes},
	{"file://ROOT/%2e%2e/x", Escapes},
	{"file://ROOT/%2E%2E%2Fx", Escapes},
	{"file://localhost/etc/passwd", Escapes},
	{"file://evil.example/ROOT/a.go", NotFileURI},
	{"file://user@ROOT/a.go", NotFileURI},
	{"file:a.go", NotFileURI},
	{"file://ROOT/a.go?x=1", NotFileURI},
	{"file://ROOT/a.go?", NotFileURI},
	{"file://ROOT/a.go#x", NotFileURI},
	{"file://ROOT/%zz", NotFileURI},
	{"http://example.com/a.go", NotFileURI},
	{"untitled:Untitled-1", NotFileURI},
	{"vscode-notebook-cell:/a.ipynb#1", NotFileURI},
	{"javascript:alert(1)", NotFileURI},
	{"a.go/", BadName},
	{"a//", BadName},
	{"ROOT/a/", BadName},
	{"file://ROOT/a%2f", BadName},
	{"a\x00b", BadName},
	{"file://ROOT/a%00b", BadName},
	{"a\nb", BadName},
	{"a\x1bb", BadName},
	{"a\x7fb", BadName},
	{"a\u0085b", BadName},
	{"a\u202eog.b", BadName},
	{"a\u2066b", BadName},
	{"a\xffb", BadName},
	{"file://ROOT/a%ffb", BadName},
	{`a\b`, BadName},
	{`..\x`, BadName},
	{`\\?\C:\x`, BadName},
	{`\\server\share\x`, BadName},
	{"file://ROOT/a%5c..%5cb", BadName},
	{`C:\x`, BadName},
	{"C:/x", BadName},
	{"a.go:stream", NotFileURI},
	{"a.go::$DATA", NotFileURI},
	{"d/a.go::$DATA", BadName},
	{"con", BadName},
	{"d/NUL", BadName},
	{"aux.go", BadName},
	{"COM1.txt", BadName},
	{"com¹", BadName},
	{"lpt9 .x", BadName},
	{"a.", BadName},
	{"a ", BadName},
	{"d. /a", BadName},
	{".git.", BadName},
	{".git ", BadName},
	{"...", BadName},
	{strings.Repeat("n", 256), BadName},
	{".git", DeniedPath},
	{".git/config", DeniedPath},
	{"sub/.git/hooks/pre-commit", DeniedPath},
	{"file://ROOT/.git/config", DeniedPath},
	{"file://ROOT/%2egit/config", DeniedPath},
	{"a/../.git/config", DeniedPath},
	{".GIT/config", DeniedPath},
	{".Git/config", DeniedPath},
	{".g\u200cit/config", DeniedPath},
	{".gi\ufefft/config", DeniedPath},
	{"．git/config", DeniedPath},
	{".ｇit/config", DeniedPath},
	{"GIT~1/config", DeniedPath},
	{".hg/hgrc", DeniedPath},
	{".svn/entries", DeniedPath},
	{".env", DeniedPath},
	{"deploy/.ENV.production", DeniedPath},
	{".envrc", DeniedPath},
	{".ssh/config", DeniedPath},
	{".ſſh/config", DeniedPath},
	{"home/.AWS/credentials", DeniedPath},
	{".\u212aube/config", DeniedPath},
	{".docker/config.json", DeniedPath},
	{".npmrc", DeniedPath},
	{"id_rsa", DeniedPath},
	{"keys/id_ed25519.pub", DeniedPath},
	{"deploy_rsa", DeniedPath},
	{"tls/server.PEM", DeniedPath},
	{"server.\u212aey", DeniedPath},
	{"store.jks/x", DeniedPath},
	{"credentials.json", DeniedPath},
}

func TestPathTricks(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.go": "x", ".git/config": "[core]"})
	if runtime.GOOS == "windows" {
		t.Skip("the table has Unix's absolute paths")
	}
	for _, test := range tricks {
		name := strings.ReplaceAll(test.name, "ROOT", w.Dir())
		rel, err := w.Rel(name)
		if kind := kindOf(t, err); kind != test.kind {
			t.Errorf("Rel(%q) = %q, %v: kind %q, want %q", test.name, rel, err, kind, test.kind)
		}
		// The same on every operation that takes a path.
		for op, err := range map[string]error{
			"Read":         second(w.Read(name)),
			"ReadDisk":     second(w.ReadDisk(name)),
			"OpenBuffer":   second(w.OpenBuffer(name, 1, nil, "")),
			"ChangeBuffer": second(w.ChangeBuffer(name, 1, nil)),
			"CloseBuffer":  w.CloseBuffer(name),
			"Ignored":      second(w.Ignored(name)),
			"Walk":         w.Walk(t.Context(), WalkOptions{Under: []string{name}}, func(Entry) error { return nil }),
		} {
			if kind := kindOf(t, err); kind != test.kind {
				t.Errorf("%s(%q): %v: kind %q, want %q", op, test.name, err, kind, test.kind)
			}
		}
		if _, ok := w.Buffer(name); ok {
			t.Errorf("a buffer is open under %q", test.name)
		}
		if c := w.Classify(name); c.Class != Denied {
			t.Errorf("Classify(%q) = %v", test.name, c)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestRel(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the table has Unix's absolute paths")
	}
	real := writeTree(t, map[string]string{"a.go": "x"})
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(real, link))
	w := openWorkspace(t, link, Options{})
	for given, want := range map[string]string{
		"a.go":                                  "a.go",
		"./a.go":                                "a.go",
		"d//e/./f":                              "d/e/f",
		"d/../a.go":                             "a.go",
		".":                                     ".",
		link:                                    ".",
		link + "/":                              ".",
		real:                                    ".",
		link + "/a.go":                          "a.go",
		real + "/d/e":                           "d/e",
		"file://" + link + "/a.go":              "a.go",
		"FILE://" + real + "/a.go":              "a.go",
		"file://localhost" + real + "/a.go":     "a.go",
		"file://" + link + "/a%20b%23%3F%25.go": "a b#?%.go",
		"file://" + link + "/%C3%A9.go":         "é.go",
		"id_generator.py":                       "id_generator.py",
		"src/CredentialsProvider.java":          "src/CredentialsProvider.java",
		"environment.ts":                        "environment.ts",
		".gitignore":                            ".gitignore",
		"console.go":                            "console.go",
		"..a/b..c":                              "..a/b..c",
	} {
		got, err := w.Rel(given)
		if err != nil || got != want {
			t.Errorf("Rel(%q) = %q, %v, want %q", given, got, err, want)
		}
		if back, err := w.Rel(w.URI(got)); err != nil || back != got {
			t.Errorf("Rel(URI(%q)) = %q, %v", got, back, err)
		}
	}
}

func FuzzRel(f *testing.F) {
	for _, test := range tricks {
		f.Add(test.name)
	}
	f.Add("file:///w/a%20b.go")
	w := openWorkspace(f, f.TempDir(), Options{})
	f.Fuzz(func(t *testing.T, name string) {
		for _, n := range []string{name, w.Dir() + "/" + name, "file://" + w.Dir() + "/" + name} {
			rel, err := w.Rel(n)
			if err != nil {
				kindOf(t, err)
				continue
			}
			if !filepath.IsLocal(filepath.FromSlash(rel)) || rel != filepath.ToSlash(filepath.Clean(rel)) {
				t.Errorf("Rel(%q) = %q", n, rel)
			}
			if again, err := w.Rel(rel); err != nil || again != rel {
				t.Errorf("Rel(%q) = %q, but Rel of that is %q, %v", n, rel, again, err)
			}
			if back, err := w.Rel(w.URI(rel)); err != nil || back != rel {
				t.Errorf("Rel(URI(%q)) = %q, %v", rel, back, err)
			}
		}
	})
}

func TestClassify(t *testing.T) {
	w := openWorkspace(t, t.TempDir(), Options{Deny: []string{"secret-*", "internal/keys/"}})
	for path, want := range map[string]Class{
		"main.go":                            Plain,
		"src/build/Main.java":                Plain,
		"com/acme/vendor/Vendor.java":        Plain,
		"id_token.go":                        Plain,
		"docs/agents/readme.md":              Plain,
		"pom.xml":                            ConfigIsCode,
		"module/POM.XML":                     ConfigIsCode,
		"app/build.gradle.kts":               ConfigIsCode,
		".github/workflows/ci.yml":           ConfigIsCode,
		".vscode/tasks.json":                 ConfigIsCode,
		"Makefile":                           ConfigIsCode,
		"MAKEFILE.am":                        ConfigIsCode,
		"scripts/run.sh":                     ConfigIsCode,
		"package.json":                       ConfigIsCode,
		"go.mod":                             ConfigIsCode,
		"Dockerfile.prod":                    ConfigIsCode,
		"CLAUDE.md":                          ConfigIsCode,
		"sub/AGENTS.md":                      ConfigIsCode,
		".mcp.json":                          ConfigIsCode,
		"webpack.config.js":                  ConfigIsCode,
		"gradle/wrapper/gradle.properties":   ConfigIsCode,
		"package-lock.json":                  ReadOnlyFile,
		"vendor/golang.org/x/net/html/a.go":  ReadOnlyFile,
		"src/vendor/golang.org/x/net/a.go":   ReadOnlyFile,
		"node_modules/left-pad/package.json": ReadOnlyFile,
		".kaiak/rules/mine.yml":              ReadOnlyFile,
		".kaiak/.env":                        Denied,
		"node_modules/x/.npmrc":              Denied,
		"secret-plan/a.go":                   Denied,
		"lib/INTERNAL/Keys/a.go":             Denied,
		"internal/keyset/a.go":               Plain,
		"../x":                               Denied,
	} {
		if c := w.Classify(path); c.Class != want || (want != Plain && c.Why == "") {
			t.Errorf("Classify(%q) = %+v, want %s", path, c, want)
		}
	}
	if _, err := Open(t.TempDir(), Options{Deny: []string{"[a"}}); err == nil {
		t.Error("a pattern that is not valid was taken")
	}
}

// Every rule of the table matches something, and is written as its doc says.
func TestClassRules(t *testing.T) {
	table, err := newClassTable(nil)
	check(t, err)
	seen := map[string]bool{}
	for _, r := range ClassRules() {
		example := strings.NewReplacer("*", "x1", "?", "y").Replace(r.Pattern)
		if c := table.classify("d/" + example); c.Class.rank() < r.Class.rank() {
			t.Errorf("%q does not put %q into %s but into %s", r.Pattern, example, r.Class, c.Class)
		}
		if r.Pattern != foldName(r.Pattern) {
			t.Errorf("%q is not lower case", r.Pattern)
		}
		if r.Why == "" || seen[r.Pattern] {
			t.Errorf("%q has no reason or stands there twice", r.Pattern)
		}
		seen[r.Pattern] = true
	}
	for _, must := range []string{".git", ".hg", ".svn", ".env*", "*.pem", "*.key", "id_rsa*", ".ssh", ".aws", ".kube", ".gnupg"} {
		if i := slices.IndexFunc(classRules, func(r ClassRule) bool { return r.Pattern == must }); i < 0 || classRules[i].Class != Denied {
			t.Errorf("%q is not denied", must)
		}
	}
}

func BenchmarkRel(b *testing.B) {
	w := openWorkspace(b, b.TempDir(), Options{})
	for b.Loop() {
		if _, err := w.Rel("src/main/java/com/example/app/service/OrderService.java"); err != nil {
			b.Fatal(err)
		}
	}
}
