package deps

import "golang.org/x/mod/modfile"

func (r *resolver) goMods() {
	for _, p := range r.paths(func(base string) bool { return base == "go.mod" }) {
		f, err := modfile.ParseLax(p, r.files[p], nil)
		if err != nil {
			r.problem(p, "the file", "is no go.mod that can be read: "+err.Error())
			continue
		}
		for _, req := range f.Require {
			d := Dependency{Language: "go", Name: req.Mod.Path, Version: req.Mod.Version, Manifest: p}
			if req.Syntax != nil {
				d.Start, d.End = req.Syntax.Start.Byte, req.Syntax.End.Byte
			}
			r.out = append(r.out, d)
		}
	}
}
