package refactor

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// javaNameUsed reports whether a simple name occurs outside the imports, in
// code or in a doc comment ({@link Name}): removing an import that only a
// comment needs breaks the documentation.
func javaNameUsed(t *treesitter.Tree, imp treesitter.Import, name string) bool {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for i := 0; i < t.Len(); i++ {
		n := t.Node(i)
		switch {
		case n.Kind() == "import_declaration" || n.Kind() == "package_declaration":
			i = n.Last() - 1
		case n.Kind() == "block_comment" && word.Match(n.Bytes()):
			return true
		case n.Kind() == "identifier" || n.Kind() == "type_identifier":
			if n.Text() != name {
				continue
			}
			if p := n.Parent(); p.Kind() == "scoped_type_identifier" && p.FirstChild() != n ||
				p.Kind() == "scoped_identifier" && n.Field() == "name" || p.Kind() == "field_access" && n.Field() == "field" ||
				p.Kind() == "method_invocation" && n.Field() == "name" && (!imp.Static || !p.ChildByField("object").IsZero()) {
				continue // a.b.Name, x.name and x.name() are not the import
			}
			return true
		}
	}
	return false
}

// javaImportText writes an import as a line without its end.
func javaImportText(spec ImportSpec) string {
	static := ""
	if spec.Static {
		static = "static "
	}
	name := spec.Path
	if spec.Name != "" {
		name += "." + spec.Name
	}
	return "import " + static + name + ";"
}

func fullName(imp treesitter.Import) string { return strings.Trim(imp.Path+"."+imp.Name, ".") }

// addJavaImport adds to the run of imports that shares the longest package
// prefix, in that run's order if it has one, else at its end.
func addJavaImport(t *treesitter.Tree, have []treesitter.Import, spec ImportSpec) ([]workspace.Edit, error) {
	text, nl := t.Source(), eol(t.Source())
	if spec.Name == "" {
		return nil, refuse(Unsafe, "a Java import names a type: %s has a path but no name", spec.Path)
	}
	line := javaImportText(spec)
	full := spec.Path + "." + spec.Name
	var run []treesitter.Import
	best := -1
	for _, r := range javaRuns(text, have) {
		if r[0].Static != spec.Static {
			continue
		}
		for _, imp := range r {
			if n := commonPackages(fullName(imp), full); n > best {
				best, run = n, r
			}
		}
	}
	if run == nil {
		return []workspace.Edit{javaFirstImport(t, have, line, spec.Static)}, nil
	}
	sorted := true
	for i := 1; i < len(run); i++ {
		sorted = sorted && fullName(run[i-1]) <= fullName(run[i])
	}
	after := run[len(run)-1]
	if sorted {
		for i, imp := range run {
			if fullName(imp) > full {
				if i == 0 {
					return []workspace.Edit{insert(lineStart(text, imp.Stmt.Start()), line+nl)}, nil
				}
				after = run[i-1]
				break
			}
		}
	} else {
		for _, imp := range run { // beside its nearest relative
			if commonPackages(fullName(imp), full) == best {
				after = imp
			}
		}
	}
	at := lineEnd(text, after.Stmt.End())
	if !bytes.HasSuffix(text[:at], []byte("\n")) {
		return []workspace.Edit{insert(at, nl+line)}, nil
	}
	return []workspace.Edit{insert(at, line+nl)}, nil
}

// javaFirstImport puts the first import of its sort: behind the other sort's,
// behind the package clause, or before the first type.
func javaFirstImport(t *treesitter.Tree, have []treesitter.Import, line string, static bool) workspace.Edit {
	text, nl := t.Source(), eol(t.Source())
	if len(have) > 0 {
		if static { // the more usual order: static imports last
			return insert(lineEnd(text, have[len(have)-1].Stmt.End()), nl+line+nl)
		}
		return insert(lineStart(text, have[0].Stmt.Start()), line+nl+nl)
	}
	if _, name := treesitter.Package(t); !name.IsZero() {
		at := lineEnd(text, topLevel(name).End())
		if blankLine(text, at) {
			return insert(at, nl+line+nl)
		}
		return insert(at, nl+line+nl+nl)
	}
	at := len(text)
	for c := range t.Root().NamedChildren() {
		if !t.Language().IsComment(c.KindID()) {
			at = lineStart(text, c.Start())
			if p := c.PrevSibling(); !p.IsZero() && t.Language().IsComment(p.KindID()) && !hasBlankLine(text[p.End():c.Start()]) {
				at = lineStart(text, p.Start()) // its doc comment
			}
			break
		}
	}
	return insert(at, line+nl+nl)
}

// javaRuns splits imports where a blank line does, and where static ones begin.
func javaRuns(text []byte, have []treesitter.Import) [][]treesitter.Import {
	var runs [][]treesitter.Import
	for i, imp := range have {
		if i == 0 || imp.Static != have[i-1].Static || hasBlankLine(text[have[i-1].Stmt.End():imp.Stmt.Start()]) {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], imp)
	}
	return runs
}

// commonPackages counts the leading elements that two names share.
func commonPackages(a, b string) int {
	n := 0
	for {
		x, restA, okA := strings.Cut(a, ".")
		y, restB, okB := strings.Cut(b, ".")
		if x != y || x == "" {
			return n
		}
		n++
		if !okA || !okB {
			return n
		}
		a, b = restA, restB
	}
}
