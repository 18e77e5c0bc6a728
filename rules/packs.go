package rules

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/builtin"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// A Pack is a set of rules that ships with the binary.
type Pack struct {
	ID          string
	Title       string
	Description string
	Default     bool    // "builtin" has it where it concerns the project
	Concerns    Concern // which projects it is for; empty: all
}

// A Concern says by what a pack knows a project that it is for. One hit of any
// kind is enough.
type Concern struct {
	Files        []string // globs of files that the project has
	Imports      []string // what its sources import: a path, or "path.*" and what is below it
	Dependencies []string // what its build files name; * stands for anything
}

func (c Concern) empty() bool { return len(c.Files)+len(c.Imports)+len(c.Dependencies) == 0 }

// packFile describes the pack of its folder.
const packFile = "pack.yml"

// Packs returns the built-in packs, by id.
func Packs() ([]Pack, error) {
	files, err := fs.Glob(builtin.FS, "*/"+packFile)
	if err != nil {
		return nil, err
	}
	var out []Pack
	for _, f := range files {
		text, err := fs.ReadFile(builtin.FS, f)
		if err != nil {
			return nil, err
		}
		p, err := readPack(text)
		if err != nil {
			return nil, fmt.Errorf("built-in pack %s: %w", f, err)
		}
		if p.ID != path.Dir(f) {
			return nil, fmt.Errorf("built-in pack %s calls itself %q; the folder has to have that name", f, p.ID)
		}
		out = append(out, p)
	}
	return out, nil
}

func readPack(text []byte) (Pack, error) {
	docs, err := yamldoc.Parse(text)
	if err != nil {
		return Pack{}, err
	}
	if len(docs) != 1 {
		return Pack{}, fmt.Errorf("%d documents, not one", len(docs))
	}
	doc := docs[0]
	if err := doc.Keys("a pack", "id", "title", "description", "default", "appliesWhen"); err != nil {
		return Pack{}, err
	}
	var p Pack
	for key, into := range map[string]*string{"id": &p.ID, "title": &p.Title, "description": &p.Description} {
		n := doc.Get(key)
		if n == nil {
			return Pack{}, doc.Errorf("a pack must have `%s`", key)
		}
		if *into, err = n.Str("`" + key + "`"); err != nil {
			return Pack{}, err
		}
	}
	if n := doc.Get("default"); n != nil {
		if p.Default, err = n.Bool("`default`"); err != nil {
			return Pack{}, err
		}
	}
	when := doc.Get("appliesWhen")
	if when == nil || when.Kind == yamldoc.Null {
		return p, nil
	}
	if err := when.Keys("`appliesWhen`", "files", "imports", "dependencies"); err != nil {
		return Pack{}, err
	}
	for key, into := range map[string]*[]string{"files": &p.Concerns.Files, "imports": &p.Concerns.Imports, "dependencies": &p.Concerns.Dependencies} {
		if n := when.Get(key); n != nil {
			if *into, err = n.Strs("`" + key + "`"); err != nil {
				return Pack{}, err
			}
		}
	}
	return p, nil
}

// builtin loads "builtin" or "builtin:PACK".
func (l *loader) builtin(ctx context.Context, source string) error {
	packs, err := Packs()
	if err != nil {
		return err
	}
	_, id, named := strings.Cut(source, ":")
	hit := false
	for _, p := range packs {
		if named && p.ID != id {
			continue
		}
		hit = true
		if !named {
			if !p.Default {
				continue
			}
			concerns, err := l.concerns(ctx, p)
			if err != nil {
				return err
			}
			if !concerns {
				continue
			}
		}
		if err := l.dir(builtin.FS, p.ID, Builtin+"/"+p.ID, p.ID); err != nil {
			return err
		}
	}
	if named && !hit {
		var ids []string
		for _, p := range packs {
			ids = append(ids, p.ID)
		}
		return fmt.Errorf("rules %s: there is no such pack; there are %s", source, strings.Join(ids, ", "))
	}
	return nil
}

// concerns reports whether a pack is for the project.
func (l *loader) concerns(ctx context.Context, p Pack) (bool, error) {
	if p.Concerns.empty() || l.opts.Workspace == nil {
		return true, nil
	}
	if l.facts == nil {
		facts, err := readProject(ctx, l.opts.Workspace)
		if err != nil {
			return false, err
		}
		l.facts = facts
	}
	return l.facts.concern(ctx, p.Concerns)
}

// projectFacts is what packs ask of a project.
type projectFacts struct {
	ws      *workspace.Workspace
	files   []string
	builds  [][]byte // texts of the build files
	imports map[string]bool
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
	f := &projectFacts{ws: ws}
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
	if err != nil && err != fs.SkipAll {
		return nil, err
	}
	return f, nil
}

func (f *projectFacts) concern(ctx context.Context, c Concern) (bool, error) {
	for _, pattern := range c.Files {
		if slices.ContainsFunc(f.files, func(name string) bool { return globMatch(pattern, name) }) {
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
	for _, want := range c.Imports {
		if prefix, below := strings.CutSuffix(want, "*"); below {
			for got := range f.imports {
				if strings.HasPrefix(got, prefix) {
					return true, nil
				}
			}
		} else if f.imports[want] {
			return true, nil
		}
	}
	return false, nil
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

// readImports collects what the sources import, each both as its path and with
// the name that is imported from it.
func (f *projectFacts) readImports(ctx context.Context) error {
	f.imports = map[string]bool{}
	parsed := 0
	for _, name := range f.files {
		lang := treesitter.ForPath(name)
		if lang == nil || !lang.HasImports() || parsed >= maxImportFiles {
			continue
		}
		file, err := f.ws.ReadText(name)
		if err != nil {
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
			f.imports[imp.Path] = true
			if imp.Name != "" {
				f.imports[imp.Path+"."+imp.Name] = true
			}
		}
	}
	return nil
}

// PackProblems loads every built-in pack, as their tests do, and returns what
// cannot be loaded.
func PackProblems(ctx context.Context) ([]incidents.Problem, error) {
	packs, err := Packs()
	if err != nil {
		return nil, err
	}
	var problems []incidents.Problem
	for _, p := range packs {
		_, found, err := Load(ctx, []string{Builtin + ":" + p.ID}, LoadOptions{})
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}
