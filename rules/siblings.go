package rules

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// declaredBeside returns the file of the same Go package that declares name for
// the whole package, "" when there is none. A name that is free in one file may
// be taken by another one: an import of it would not compile, and a built-in
// name would mean something else.
//
// It reads the folder anew for each Rewrite, because an editor may have changed
// a neighbour since; only files that hold the name as a word are parsed.
func (rw *rewriter) declaredBeside(name string) string {
	ws := rw.set.opts.Workspace
	if ws == nil || rw.tree.Language().Name != "go" {
		return ""
	}
	if file, known := rw.beside[name]; known {
		return file
	}
	if rw.beside == nil {
		rw.beside = map[string]string{}
	}
	rw.beside[name] = ""
	files, err := ws.Siblings(path.Dir(rw.file.Path))
	if err != nil {
		return "" // a folder that cannot be listed has no neighbours to ask
	}
	own := packageName(rw.file.Text)
	for _, f := range files {
		if f == rw.file.Path || !strings.HasSuffix(f, ".go") {
			continue
		}
		text, err := ws.Read(f)
		if err != nil || !bytes.Contains(text.Text, []byte(name)) || packageName(text.Text) != own {
			continue
		}
		if declaresTop(text.Text, name) {
			rw.beside[name] = f
			break
		}
	}
	return rw.beside[name]
}

func packageName(text []byte) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return f.Name.Name
}

// declaresTop reports whether a Go file declares name at the top level. What
// can be read of a file with errors counts.
func declaresTop(text []byte, name string) bool {
	f, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if f == nil {
		return false
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.Name == name {
						return true
					}
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						if n.Name == name {
							return true
						}
					}
				}
			}
		}
	}
	return false
}
