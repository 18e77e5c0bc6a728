package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/kaiak/kaiak/"

// root is the repository, seen from this package.
const root = "../.."

// A room is one row of the table in docs/architecture.md.
type room struct {
	folder   string
	anything bool     // may import every room
	imports  []string // folders
}

// rooms reads the table, which is the one place that says what may import what.
func rooms(t *testing.T) []room {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	var out []room
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := quoted.FindStringSubmatch(cells[0])
		if len(cells) != 3 || name == nil {
			continue
		}
		r := room{folder: name[1]}
		last := strings.TrimSpace(cells[2])
		r.anything = last == "everything" || last == "anything"
		for _, m := range quoted.FindAllStringSubmatch(last, -1) {
			r.imports = append(r.imports, m[1])
		}
		out = append(out, r)
	}
	if len(out) < 10 {
		t.Fatalf("docs/architecture.md has %d rooms in its table; the table was not understood", len(out))
	}
	return out
}

func inside(pkg, folder string) bool {
	return pkg == folder || strings.HasPrefix(pkg, folder+"/")
}

// files yields the repository's own Go files, without fixtures.
func files(t *testing.T, visit func(file string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && (name == "testdata" || name == "fixtures" || name == "node_modules" || name == "build" || strings.HasPrefix(name, ".") && p != root):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go"):
			visit(p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDependenciesPointDown(t *testing.T) {
	table := rooms(t)
	find := func(pkg string) *room {
		for i := range table {
			if inside(pkg, table[i].folder) {
				return &table[i]
			}
		}
		return nil
	}
	seen := 0
	files(t, func(file string) {
		rel, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(filepath.ToSlash(rel))
		r := find(pkg)
		if r == nil || r.anything {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
	imports:
		for _, spec := range parsed.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if !ours || inside(target, r.folder) {
				continue
			}
			seen++
			for _, folder := range r.imports {
				if inside(target, folder) {
					continue imports
				}
			}
			// A test may use the test houses, which may know everything.
			if strings.HasSuffix(file, "_test.go") && inside(target, "internal") {
				continue
			}
			t.Errorf("%s imports %s, which docs/architecture.md does not allow %s", rel, target, r.folder)
		}
	})
	if seen == 0 {
		t.Error("no import between rooms was seen; the check looks in the wrong place")
	}
}

func TestEveryPackageIntroducesItself(t *testing.T) {
	docs := map[string]bool{}
	files(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		dir := filepath.Dir(file)
		docs[dir] = docs[dir] || parsed.Doc.Text() != ""
	})
	for dir, ok := range docs {
		if !ok {
			t.Errorf("package in %s has no package comment", dir)
		}
	}
}
