package refactor

import (
	"context"
	"errors"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// RenameType renames or moves a type of which this file is a user: From and To
// are fully qualified ("javax.inject.Inject"). It is refused in the file that
// declares the type, where the file's own type of that name hides it, and where
// the new simple name is taken.
type RenameType struct {
	From string `yaml:"from" json:"from"`
	To   string `yaml:"to" json:"to"`
}

func (s *RenameType) validate() error {
	if !strings.Contains(s.From, ".") || !strings.Contains(s.To, ".") {
		return errors.New("from and to are qualified type names, e.g. javax.inject.Inject")
	}
	return nil
}

// Edits implements [Step] for Java.
func (s *RenameType) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "java")
	if t == nil || err != nil || s.From == s.To {
		return nil, err
	}
	f := newJavaFile(t)
	fromPkg, from := typeName(s.From)
	toPkg, to := typeName(s.To)
	if own, ok := f.types[from]; ok && f.pkg == fromPkg && topLevel(own) == own.Parent() {
		return nil, refuse(Unsafe, "%s declares %s itself; rename and move the file by hand", in.Path, s.From)
	}

	var edits []workspace.Edit
	for _, n := range f.qualified(s.From) {
		if imp := n.Parent(); imp.Kind() == "import_declaration" {
			if _, have := f.importOf(s.To); have && !strings.Contains(imp.Text(), "static") {
				edits = append(edits, removeStatement(t, treesitter.Import{Stmt: imp})...)
				continue
			}
		}
		edits = append(edits, replace(n, s.To))
	}

	uses, err := s.simpleUses(f, in, from)
	if err != nil {
		return nil, err
	}
	_, haveImport := f.importOf(s.From)
	if haveImport || len(uses) > 0 {
		if err := s.checkFree(f, in, to); err != nil {
			return nil, err
		}
	}
	if from != to {
		for _, n := range uses {
			edits = append(edits, replace(n, to))
		}
	}
	// The name came from a wildcard or from the file's own package: now it needs
	// an import.
	if len(uses) > 0 && !haveImport && toPkg != f.pkg && !f.hasWildcard(toPkg) {
		if _, have := f.importOf(s.To); !have {
			more, err := addJavaImport(t, f.imports, ImportSpec{Path: toPkg, Name: to})
			if err != nil {
				return nil, err
			}
			edits = append(edits, more...)
		}
	}
	return sortEdits(edits), nil
}

// simpleUses returns where the simple name stands for the type.
func (s *RenameType) simpleUses(f *javaFile, in Input, from string) ([]treesitter.Node, error) {
	if !f.means(from, s.From) {
		if own, hidden := f.types[from]; hidden {
			if _, have := f.importOf(s.From); have {
				return nil, refuse(Shadowed, "%s imports %s and declares a type %s of its own (byte %d); tell them apart by hand", in.Path, s.From, from, own.Start())
			}
		}
		return nil, nil
	}
	var uses []treesitter.Node
	for n := range f.tree.Root().Descendants() {
		if k := n.Kind(); k != "identifier" && k != "type_identifier" || n.Text() != from || !isTypeUse(n) || inImport(n) {
			continue
		}
		if n.Kind() == "identifier" && n.Field() == "object" {
			if d := declaration(f.tree, from, n.Start(), n.End()); !d.IsZero() && d.Kind() == "identifier" {
				return nil, refuse(Shadowed, "in %s %s is also a variable (byte %d); rename it by hand", in.Path, from, d.Start())
			}
		}
		uses = append(uses, n)
	}
	return uses, nil
}

// checkFree refuses a new simple name that stands for something else already.
func (s *RenameType) checkFree(f *javaFile, in Input, to string) error {
	if own, ok := f.types[to]; ok {
		return refuse(Shadowed, "%s declares a type %s of its own (byte %d), which would hide %s; use the qualified name by hand", in.Path, to, own.Start(), s.To)
	}
	for _, imp := range f.imports {
		if !imp.Static && imp.Local() == to && fullName(imp) != s.To && fullName(imp) != s.From {
			return refuse(Shadowed, "in %s %s already stands for %s, so %s cannot be imported beside it; use the qualified name by hand", in.Path, to, fullName(imp), s.To)
		}
	}
	return nil
}

func (f *javaFile) hasWildcard(pkg string) bool {
	for _, imp := range f.imports {
		if imp.Name == "*" && imp.Path == pkg && !imp.Static {
			return true
		}
	}
	return false
}

// RenamePackage renames a package of which this file is a user, in imports and
// qualified names. It is refused in a file that declares itself part of the
// package: such a file has to move.
type RenamePackage struct {
	From string `yaml:"from" json:"from"`
	To   string `yaml:"to" json:"to"`
	// Exact leaves the packages below From alone.
	Exact bool `yaml:"exact" json:"exact"`
	// Except lists packages and types below From that keep their names.
	Except []string `yaml:"except" json:"except"`
}

func (s *RenamePackage) validate() error {
	if s.From == "" || s.To == "" {
		return errors.New("from and to are package names, e.g. javax.inject")
	}
	return nil
}

// Edits implements [Step] for Java.
func (s *RenamePackage) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "java")
	if t == nil || err != nil || s.From == s.To {
		return nil, err
	}
	f := newJavaFile(t)
	if f.pkg == s.From || !s.Exact && strings.HasPrefix(f.pkg, s.From+".") && !s.excepted(f.pkg) {
		return nil, refuse(Unsafe, "%s is part of package %s itself; move the file and change its package clause by hand", in.Path, f.pkg)
	}
	have := map[string]bool{}
	for _, imp := range f.imports {
		have[fullName(imp)] = true
	}
	var edits []workspace.Edit
	for _, n := range f.qualified(s.From) {
		full := wholeName(n)
		if s.excepted(full) || s.Exact && belowPackage(full, s.From) {
			continue
		}
		if stmt := importOf(n); !stmt.IsZero() && have[s.To+strings.TrimPrefix(full, s.From)] {
			edits = append(edits, removeStatement(t, treesitter.Import{Stmt: stmt})...)
			continue
		}
		edits = append(edits, replace(n, s.To))
	}
	return sortEdits(edits), nil
}

func (s *RenamePackage) excepted(full string) bool {
	for _, e := range s.Except {
		if full == e || strings.HasPrefix(full, e+".") {
			return true
		}
	}
	return false
}

// wholeName returns the dotted name that n begins, "a.b.C.D" for a.b; a
// wildcard import counts as "a.b.*".
func wholeName(n treesitter.Node) string {
	whole := n
	for {
		p := whole.Parent()
		if p.IsZero() {
			break
		}
		k := p.Kind()
		if k != "scoped_identifier" && k != "scoped_type_identifier" && k != "field_access" || p.FirstChild() != whole || dotted(p) == "" {
			break
		}
		whole = p
	}
	name := dotted(whole)
	if p := whole.Parent(); p.Kind() == "import_declaration" && !childOfKind(p, "asterisk").IsZero() {
		name += ".*"
	}
	return name
}

// belowPackage reports whether a name lies in a package below pkg: what follows
// pkg does not begin like a type.
func belowPackage(full, pkg string) bool {
	next := strings.TrimPrefix(full, pkg+".")
	return next != "" && next != full && next[0] != '*' && (next[0] < 'A' || next[0] > 'Z')
}

// importOf returns the import statement that n is the name of, or no node.
func importOf(n treesitter.Node) treesitter.Node {
	for p := n.Parent(); !p.IsZero(); p = p.Parent() {
		switch p.Kind() {
		case "import_declaration":
			return p
		case "scoped_identifier":
		default:
			return treesitter.Node{}
		}
	}
	return treesitter.Node{}
}
