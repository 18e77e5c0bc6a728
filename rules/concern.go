package rules

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/literal"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// A Concern says by what a pack knows a project that it is for. One hit of any
// kind is enough.
type Concern struct {
	Files        []string // globs of files that the project has
	Imports      []string // what its sources import: a path, or "path.*" and what is below it
	Languages    []string // the languages whose imports count; none: every language with imports
	Dependencies []string // what its build files name; * stands for anything
}

func (c Concern) empty() bool { return len(c.Files)+len(c.Imports)+len(c.Dependencies) == 0 }

// concerns reports whether a pack, one of packs, is for the project.
func (l *loader) concerns(ctx context.Context, p Pack, packs []Pack) (bool, error) {
	if p.Concerns.empty() || l.opts.Workspace == nil {
		return true, nil
	}
	if l.facts == nil {
		facts, err := readProject(ctx, l.opts.Workspace)
		if err != nil {
			return false, err
		}
		for _, p := range packs {
			facts.want(p.Concerns)
		}
		l.facts = facts
	}
	return l.facts.concern(ctx, p.Concerns)
}

// projectFacts is what packs ask of a project.
type projectFacts struct {
	ws     *workspace.Workspace
	files  []string
	builds [][]byte // texts of the build files

	wanted    []string        // imports that some pack asks for
	languages map[string]bool // whose imports somebody asks for
	anyLang   bool            // or those of every language
	imports   map[string]bool // the wanted ones that the project has; nil: not read yet
}

// buildFiles are the base names of files that name dependencies.
var buildFiles = []string{"pom.xml", "build.gradle", "build.gradle.kts", "libs.versions.toml", "package.json", "go.mod",
	"pyproject.toml", "requirements.txt", "setup.cfg", "setup.py", "Pipfile", "Cargo.toml", "Directory.Packages.props"}

// maxProjectFiles bounds how many files are listed, maxImportFiles how many are
// parsed to learn what a project imports.
const (
	maxProjectFiles = 200_000
	maxImportFiles  = 3_000
)

func readProject(ctx context.Context, ws *workspace.Workspace) (*projectFacts, error) {
	f := &projectFacts{ws: ws, languages: map[string]bool{}}
	err := ws.Walk(ctx, workspace.WalkOptions{}, func(e workspace.Entry) error {
		if e.Skipped != nil {
			return nil
		}
		f.files = append(f.files, e.Path)
		base := path.Base(e.Path)
		if slices.Contains(buildFiles, base) || strings.HasSuffix(base, ".csproj") {
			if file, err := ws.Read(e.Path); err == nil {
				f.builds = append(f.builds, file.Text)
			}
		}
		if len(f.files) >= maxProjectFiles {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return nil, err
	}
	return f, nil
}

// want notes which imports will be asked for, so that one pass over the sources
// answers for all packs.
func (f *projectFacts) want(c Concern) {
	if len(c.Imports) == 0 {
		return
	}
	for _, want := range c.Imports {
		if !slices.Contains(f.wanted, want) {
			f.wanted = append(f.wanted, want)
		}
	}
	f.anyLang = f.anyLang || len(c.Languages) == 0
	for _, name := range c.Languages {
		if lang := treesitter.Lookup(name); lang != nil {
			f.languages[lang.Name] = true
		}
	}
}

func (f *projectFacts) concern(ctx context.Context, c Concern) (bool, error) {
	for _, pattern := range c.Files {
		re, err := compileGlob(pattern, false)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(f.files, re.MatchString) {
			return true, nil
		}
	}
	for _, dep := range c.Dependencies {
		if slices.ContainsFunc(f.builds, func(text []byte) bool { return namesDependency(text, dep) }) {
			return true, nil
		}
	}
	if len(c.Imports) == 0 {
		return false, nil
	}
	if f.imports == nil {
		if err := f.readImports(ctx); err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(c.Imports, func(want string) bool { return f.imports[want] }), nil
}

// namesDependency reports whether a build file names a dependency. The parts of
// a Maven coordinate ("group:artifact") may stand apart.
func namesDependency(text []byte, dep string) bool {
	for _, part := range strings.FieldsFunc(dep, func(r rune) bool { return r == '*' || r == ':' }) {
		if !bytes.Contains(text, []byte(part)) {
			return false
		}
	}
	return true
}

// readImports finds out which of the wanted imports the sources have. A file is
// parsed only when it holds the text of one that no file before it had, so that
// a project is known after a few of its files.
func (f *projectFacts) readImports(ctx context.Context) error {
	f.imports = map[string]bool{}
	var b literal.Builder
	numbers := make([]int, len(f.wanted))
	for i, want := range f.wanted {
		numbers[i] = b.Add(strings.TrimSuffix(want, "*"))
	}
	texts := b.Build()
	open, parsed := len(f.wanted), 0
	var found literal.Found
	for _, name := range f.files {
		if open == 0 || parsed >= maxImportFiles {
			return nil
		}
		lang := treesitter.ForPath(name)
		if lang == nil || !lang.HasImports() || !f.anyLang && !f.languages[lang.Name] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		file, err := f.ws.ReadText(name)
		if err != nil {
			continue
		}
		found = texts.Scan(file.Text, found)
		held := func(i int) bool { return found.Has(numbers[i]) && !f.imports[f.wanted[i]] }
		if !anyOf(len(f.wanted), held) {
			continue
		}
		tree, err := treesitter.Parse(ctx, lang, file.Text)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		parsed++
		for _, imp := range treesitter.Imports(tree) {
			full := imp.Path
			if imp.Name != "" {
				full += "." + imp.Name
			}
			for i, want := range f.wanted {
				if held(i) && importMatches(want, imp.Path, full) {
					f.imports[want] = true
					open--
				}
			}
		}
	}
	return nil
}

func anyOf(n int, ok func(int) bool) bool {
	for i := range n {
		if ok(i) {
			return true
		}
	}
	return false
}

// importMatches reports whether an import is what a pack asks for.
func importMatches(want, path, full string) bool {
	if prefix, below := strings.CutSuffix(want, "*"); below {
		return strings.HasPrefix(full, prefix)
	}
	return want == path || want == full
}
