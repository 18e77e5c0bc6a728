package refactor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Imports is the upkeep of a file's imports. Additions that are there already
// and removals of what is not there are no edits. What stays keeps its place.
type Imports struct {
	Add    []ImportSpec `yaml:"add" json:"add"`
	Remove []ImportSpec `yaml:"remove" json:"remove"`
	// Unused are removed only where nothing in the file refers to them.
	Unused []ImportSpec `yaml:"removeUnused" json:"removeUnused"`
}

// An ImportSpec names an import, in the fields of [treesitter.Import].
type ImportSpec struct {
	Path   string `yaml:"path" json:"path"`
	Name   string `yaml:"name" json:"name"`     // the member; "default" and "*" in JavaScript; a Go package's name if not the path's last element
	Alias  string `yaml:"alias" json:"alias"`   // its name in the file
	Static bool   `yaml:"static" json:"static"` // Java: import static
}

func (s *Imports) validate() error {
	for _, list := range [][]ImportSpec{s.Add, s.Remove, s.Unused} {
		for i, spec := range list {
			if spec.Path == "" {
				return fmt.Errorf("import %d has no path", i+1)
			}
		}
	}
	if len(s.Add)+len(s.Remove)+len(s.Unused) == 0 {
		return errors.New("add, remove and removeUnused are all empty")
	}
	return nil
}

// An importStyle knows one language's import statements.
type importStyle struct {
	// add returns the edits for one import that is not there yet.
	add func(t *treesitter.Tree, have []treesitter.Import, spec ImportSpec) ([]workspace.Edit, error)
	// remove returns the edits that remove one.
	remove func(t *treesitter.Tree, imp treesitter.Import) []workspace.Edit
	// used reports whether the file refers to the name.
	used func(t *treesitter.Tree, imp treesitter.Import, name string) bool
}

var importStyles = map[string]importStyle{
	"go":         {addGoImport, removeGoImport, goPackageUsed},
	"java":       {addJavaImport, removeStatement, javaNameUsed},
	"python":     {addPythonImport, removePythonImport, identifierUsed},
	"javascript": {addJSImport, removeJSImport, identifierUsed},
	"typescript": {addJSImport, removeJSImport, identifierUsed},
	"tsx":        {addJSImport, removeJSImport, identifierUsed},
}

// Edits implements [Step]. Its edits lie in the file's import block. Add is
// refused where the name would mean something else: it is declared in the file
// (in the declaration around the input's span, where one is given) or another
// import has it.
func (s *Imports) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx)
	if t == nil || err != nil {
		return nil, err
	}
	style, ok := importStyles[t.Language().Name]
	if !ok {
		return nil, nil
	}
	// One change after the other, each on the text that the one before left:
	// two additions to one list, or the removal of all it holds, are then no
	// special case.
	text := in.Text
	apply := func(edits []workspace.Edit) error {
		if len(edits) == 0 {
			return nil
		}
		next, err := workspace.ApplyEdits(text, edits)
		if err != nil {
			return refuse(Unsafe, "the imports of %s cannot be changed: %v", in.Path, err)
		}
		parsed, err := treesitter.Parse(ctx, t.Language(), next)
		if err != nil {
			return err
		}
		if worse := treesitter.NewErrors(t, parsed); len(worse) > 0 {
			return refuse(BadParse, "changing the imports of %s would break its syntax: %v", in.Path, worse[0])
		}
		text, t = next, parsed
		return nil
	}
	for _, spec := range s.Remove {
		for {
			i := slices.IndexFunc(treesitter.Imports(t), spec.matches)
			if i < 0 {
				break
			}
			before := len(text)
			if err := apply(style.remove(t, treesitter.Imports(t)[i])); err != nil {
				return nil, err
			}
			if len(text) == before {
				break
			}
		}
	}
	for _, spec := range s.Unused {
		i := slices.IndexFunc(treesitter.Imports(t), spec.matches)
		if i < 0 {
			continue
		}
		imp := treesitter.Imports(t)[i]
		name := imp.Local()
		if imp.Alias == "" && t.Language().Name == "go" && spec.Name != "" {
			name = spec.Name
		}
		if name == "" || style.used(t, imp, name) {
			continue
		}
		if err := apply(style.remove(t, imp)); err != nil {
			return nil, err
		}
	}
	for _, spec := range s.Add {
		have := treesitter.Imports(t)
		present, err := checkAdd(t, have, spec, in)
		if err != nil {
			return nil, err
		}
		if present {
			continue
		}
		edits, err := style.add(t, have, spec)
		if err != nil {
			return nil, err
		}
		if err := apply(edits); err != nil {
			return nil, err
		}
	}
	return workspace.EditsBetween(in.Text, text), nil
}

// matches reports whether imp is what the spec names. A spec without an alias
// stands for any alias.
func (s ImportSpec) matches(imp treesitter.Import) bool {
	name := s.Name
	if imp.Stmt.Tree().Language().Name == "go" {
		name = "" // there it is the package's name, not a member
	}
	return imp.Path == s.Path && imp.Name == name && imp.Static == s.Static && (s.Alias == "" || s.Alias == imp.Alias)
}

// conditional reports whether an import may not be run, or only later: Python's
// inside of try, if or a function.
func conditional(imp treesitter.Import) bool {
	return imp.Stmt.Tree().Language().Name == "python" && imp.Stmt.Parent().Kind() != "module"
}

// local returns the name that the import will have in the file, or "".
func (s ImportSpec) local(lang *treesitter.Language) string {
	switch {
	case s.Alias == "_" || s.Alias == ".":
		return ""
	case s.Alias != "":
		return s.Alias
	case s.Name == "*" || s.Name == "default":
		return ""
	case s.Name != "":
		return s.Name
	}
	return lang.ImportName(s.Path)
}

// checkAdd reports whether the import is there already, or refuses it.
func checkAdd(t *treesitter.Tree, have []treesitter.Import, spec ImportSpec, in Input) (present bool, err error) {
	language := t.Language().Name
	local := spec.local(t.Language())
	for _, imp := range have {
		if spec.matches(imp) && imp.Alias != "_" && !conditional(imp) {
			if spec.Alias == "" && imp.Alias != "" && language == "go" && imp.Local() != local {
				return false, refuse(Shadowed, "%s imports %s as %s, so %s would be unknown; use %[3]s by hand", in.Path, spec.Path, imp.Alias, local)
			}
			return true, nil
		}
		if language == "java" && imp.Name == "*" && imp.Path == spec.Path && imp.Static == spec.Static {
			return true, nil
		}
	}
	if local == "" {
		return false, nil
	}
	for _, imp := range have {
		if language == "python" && spec.Name == "" && imp.Name == "" && spec.Alias == "" && imp.Alias == "" {
			continue // import a and import a.b both bind a, to the same package
		}
		if imp.Local() == local && !(imp.Path == spec.Path && imp.Name == spec.Name) {
			return false, refuse(Shadowed, "in %s the name %s already stands for %s, so %s cannot be imported by that name; tell them apart by hand", in.Path, local, fullName(imp), fullName(treesitter.Import{Path: spec.Path, Name: spec.Name}))
		}
	}
	if d := declaration(t, local, in.Start, in.End); !d.IsZero() {
		return false, refuse(Shadowed, "%s declares %s itself (byte %d), so an import of that name would mean something else there; rename one of them by hand", in.Path, local, d.Start())
	}
	return false, nil
}

// removeStatement removes the import's whole statement and its line. Of the
// blank lines around it, one run is enough.
func removeStatement(t *treesitter.Tree, imp treesitter.Import) []workspace.Edit {
	text := t.Source()
	cut := cutLines(text, imp.Stmt.Start(), imp.Stmt.End())
	if blankLine(text, cut.End) && (cut.Start == top(text) || blankLine(text, lineStart(text, cut.Start-1))) {
		for blankLine(text, cut.End) {
			cut.End = lineEnd(text, cut.End)
		}
	}
	return []workspace.Edit{cut}
}
