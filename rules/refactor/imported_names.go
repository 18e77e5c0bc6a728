package refactor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// RenameImported renames what a file imports by name from a module: in the
// import, and wherever the file uses it. A name that it has in the file (as …)
// stays. It is refused
// where the new name is taken, and where the file declares the old one again.
type RenameImported struct {
	// Module is the module's name; "@scope/pkg/*" stands for everything below it, too.
	Module string `yaml:"module" json:"module"`
	From   string `yaml:"from" json:"from"`
	To     string `yaml:"to" json:"to"`
	// ToModule, if set, is the module that has the new name.
	ToModule string `yaml:"toModule" json:"toModule"`
}

func (s *RenameImported) validate() error {
	if s.Module == "" || s.From == "" || s.To == "" {
		return errors.New("module, from and to are required")
	}
	return nil
}

// Edits implements [Step] for JavaScript, TypeScript, TSX and Python.
func (s *RenameImported) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "javascript", "typescript", "tsx", "python")
	if t == nil || err != nil {
		return nil, err
	}
	var imp treesitter.Import
	have := false // the new name is imported already
	all := treesitter.Imports(t)
	for _, i := range all {
		if k := i.Spec.Kind(); k != "import_specifier" && i.Stmt.Kind() != "import_from_statement" || !s.inModule(i.Path) {
			continue
		}
		switch {
		case i.Name == s.From && conditional(i):
			return nil, refuse(Unsafe, "%s imports %s inside another statement (byte %d), which may choose between versions or run later; change it by hand", in.Path, s.From, i.Stmt.Start())
		case i.Name == s.From:
			imp = i
		case !conditional(i) && i.Name == s.To && i.Alias == "" && (s.ToModule == "" || i.Path == s.ToModule):
			have = true
		}
	}
	if imp.Spec.IsZero() {
		return nil, nil
	}
	if imp.Alias == "" && !have && s.From != s.To {
		for _, i := range all {
			if i.Local() == s.To {
				return nil, refuse(Shadowed, "in %s %s already stands for an import of %s; tell them apart by hand", in.Path, s.To, i.Path)
			}
		}
		if d := declaration(t, s.To, 0, 0); !d.IsZero() {
			return nil, refuse(Shadowed, "%s declares %s itself (byte %d); rename one of them by hand", in.Path, s.To, d.Start())
		}
	}
	var edits []workspace.Edit
	switch {
	case s.ToModule != "" && s.ToModule != imp.Path && !have && s.From == s.To && alone(imp, all):
		edits = append(edits, replace(imp.Stmt.ChildByField("module_name"), s.ToModule))
	case s.ToModule != "" && s.ToModule != imp.Path:
		up := &Imports{Remove: []ImportSpec{{Path: imp.Path, Name: s.From, Alias: imp.Alias}}}
		if !have {
			up.Add = []ImportSpec{{Path: s.ToModule, Name: s.To, Alias: imp.Alias}}
		}
		if edits, err = up.Edits(ctx, Input{Path: in.Path, Text: in.Text, Tree: t}); err != nil {
			return nil, err
		}
	case have:
		edits = append(edits, cutListItem(in.Text, imp.Spec))
	default:
		name := imp.Spec.ChildByField("name")
		if name.IsZero() { // Python: the item is its name
			name = imp.Spec
		}
		edits = append(edits, replace(name, s.To))
	}
	if imp.Alias != "" || s.From == s.To {
		return edits, nil // the rest of the file knows it by its own name
	}
	for n := range t.Root().Descendants() {
		if n.End()-n.Start() != len(s.From) || !n.FirstChild().IsZero() || n.Text() != s.From {
			continue
		}
		if n.Start() >= imp.Stmt.Start() && n.End() <= imp.Stmt.End() {
			continue
		}
		if isMember(n) {
			continue
		}
		switch n.Kind() {
		case "identifier", "type_identifier":
			if declares(n) {
				return nil, refuse(Shadowed, "%s imports %s and declares it again (byte %d); tell them apart by hand", in.Path, s.From, n.Start())
			}
			edits = append(edits, replace(n, s.To))
		case "shorthand_property_identifier": // {Name} is {Name: Name}
			edits = append(edits, replace(n, s.From+": "+s.To))
		case "shorthand_property_identifier_pattern":
			return nil, refuse(Shadowed, "%s imports %s and declares it again (byte %d); tell them apart by hand", in.Path, s.From, n.Start())
		}
	}
	return sortEdits(edits), nil
}

// alone reports whether a Python statement imports nothing else, so that its
// module can be changed where it stands.
func alone(imp treesitter.Import, all []treesitter.Import) bool {
	if imp.Stmt.Kind() != "import_from_statement" {
		return false
	}
	return !slices.ContainsFunc(all, func(i treesitter.Import) bool {
		return i.Stmt.Start() == imp.Stmt.Start() && i.Name != imp.Name
	})
}

func (s *RenameImported) inModule(module string) bool {
	base, below := strings.CutSuffix(s.Module, "/*")
	return module == base || below && strings.HasPrefix(module, base+"/")
}
