package rules

import (
	"bytes"
	"fmt"
	"go/version"
	"path"
	"regexp"

	"golang.org/x/mod/modfile"

	"github.com/kaiak/kaiak/rules/refactor"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// generated finds what a file says of itself when a program wrote it: Go's
// comment, which is a line of its own, and the mark that most others use.
var generated = regexp.MustCompile(`(?m)^\W{0,4}Code generated .* DO NOT EDIT\.?\W*$|(?m)^[ \t]*(?://|#|/?\*+|--|<!--|;)[ \t]*@generated\b`)

// maxGeneratedHead is how far into a file the mark is looked for, in bytes.
const maxGeneratedHead = 4096

// IsGenerated reports whether a file says that a program wrote it.
func IsGenerated(text []byte) bool {
	return generated.Match(text[:min(len(text), maxGeneratedHead)])
}

// untouchable says why no fix may change the file at all, "" when one may.
func (s *Set) untouchable(file *workspace.File) (reason string, kind RefusalKind) {
	if err := workspace.CheckEditable(file.Path, file.Text); err != nil {
		return err.Error(), RefusedEncoding
	}
	if !s.opts.Generated && IsGenerated(file.Text) {
		return fmt.Sprintf("%s says that it is generated; change what generates it, or ask for generated files too", file.Path), RefusedGenerated
	}
	return "", ""
}

// unsafeHere says why the fix of a match is not safe in its place, "" when
// nothing speaks against it.
func (rw *rewriter) unsafeHere(m Match) (kind RefusalKind, reason string) {
	at := m.Incident.Span
	for _, req := range m.Rule.requires {
		if d := rw.declared(req.name, at.Start, at.End); !d.IsZero() {
			return RefusedShadowed, rw.shadowed(req.name, d)
		}
		if req.path == "" {
			if file := rw.declaredBeside(req.name); file != "" {
				return RefusedShadowed, takenBeside(req.name, file)
			}
			if imp, ok := rw.importNamed(req.name); ok {
				return RefusedShadowed, fmt.Sprintf("%s is the import %s in this file", req.name, imp.Path)
			}
		}
	}
	if m.Rule.imports != nil {
		for _, spec := range m.Rule.imports.Add {
			name := localName(rw.tree.Language(), spec)
			if name == "" {
				continue
			}
			if d := rw.declared(name, at.Start, at.End); !d.IsZero() {
				return RefusedShadowed, rw.shadowed(name, d)
			}
			if file := rw.declaredBeside(name); file != "" {
				return RefusedShadowed, takenBeside(name, file)
			}
		}
	}
	if v := m.Rule.MinLanguageVersion; v != "" {
		if reason := rw.set.tooOld(rw.file.Path, v); reason != "" {
			return RefusedVersion, fmt.Sprintf("rule %s needs go %s: %s", m.Rule.ID, v, reason)
		}
	}
	return "", ""
}

func (rw *rewriter) declared(name string, start, end int) treesitter.Node {
	return refactor.Declaration(rw.tree, name, start, end)
}

func (rw *rewriter) shadowed(name string, d treesitter.Node) string {
	at := workspace.NewMapper(rw.file.Text, workspace.UTF16).Position(d.Start())
	return fmt.Sprintf("%s is declared in line %d of this file, so it may mean something else here; rename one of them, or change this place by hand", name, at.Line+1)
}

func takenBeside(name, file string) string {
	return fmt.Sprintf("%s is declared in %s, which belongs to the same package, so it means something else here; rename one of them, or change this place by hand", name, file)
}

func (rw *rewriter) importNamed(name string) (treesitter.Import, bool) {
	for _, imp := range treesitter.Imports(rw.tree) {
		if imp.Local() == name {
			return imp, true
		}
	}
	return treesitter.Import{}, false
}

// localName returns the name that an import has in a file, "" for none.
func localName(lang *treesitter.Language, spec refactor.ImportSpec) string {
	switch {
	case spec.Alias == "_" || spec.Alias == ".":
		return ""
	case spec.Alias != "":
		return spec.Alias
	case spec.Name == "*" || spec.Name == "default":
		return ""
	case spec.Name != "":
		return spec.Name
	case lang.Name == "go":
		return path.Base(spec.Path)
	}
	return ""
}

// tooOld says why the module of a Go file may not use what came with a version,
// "" when it may.
func (s *Set) tooOld(filePath, need string) string {
	if s.opts.Workspace == nil {
		return "there is no project whose go.mod could say the language version"
	}
	for dir := path.Dir(filePath); ; dir = path.Dir(dir) {
		name := path.Join(dir, "go.mod")
		file, err := s.opts.Workspace.Read(name)
		if err == nil {
			return modTooOld(name, file.Text, need)
		}
		if dir == "." || dir == "/" || dir == "" {
			return "no go.mod above the file says the language version"
		}
	}
}

func modTooOld(name string, text []byte, need string) string {
	mod, err := modfile.ParseLax(name, bytes.Clone(text), nil)
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %v", name, err)
	}
	has := "1.16" // what the go command assumes without the directive
	if mod.Go != nil {
		has = mod.Go.Version
	}
	if version.Compare("go"+has, "go"+need) < 0 {
		return fmt.Sprintf("%s says go %s", name, has)
	}
	return ""
}
