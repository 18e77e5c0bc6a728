package refactor

import (
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/kaiak/kaiak/workspace"
)

// replaceInGoMod edits require directives in their own lines: modfile tells
// where they are, and the rest of the file keeps its bytes.
func replaceInGoMod(in Input, from, to, version string) ([]workspace.Edit, error) {
	f, err := modfile.Parse(in.Path, in.Text, nil)
	if err != nil {
		return nil, refuse(Unsafe, "%s cannot be read: %v", in.Path, err)
	}
	for _, r := range f.Replace {
		if r.Old.Path == from && to != from {
			return nil, refuse(Unsafe, "%s replaces %s by %s; decide by hand what becomes of that", in.Path, from, r.New.Path)
		}
	}
	have := false
	for _, r := range f.Require {
		have = have || r.Mod.Path == to && to != from
	}
	var edits []workspace.Edit
	for _, r := range f.Require {
		if r.Mod.Path != from {
			continue
		}
		start, end := r.Syntax.Start.Byte, r.Syntax.End.Byte
		if to == "" || have {
			edits = append(edits, cutLines(in.Text, start, end))
			continue
		}
		if version == "" {
			return nil, refuse(Unsafe, "%s: a version of %s is needed in the place of %s %s", in.Path, to, from, r.Mod.Version)
		}
		if err := module.Check(to, version); err != nil {
			return nil, refuse(Unsafe, "%s: %v", in.Path, err)
		}
		line := string(in.Text[start:end])
		next := strings.Replace(line, from, to, 1)
		if i := strings.LastIndex(next, r.Mod.Version); i >= 0 {
			next = next[:i] + version + next[i+len(r.Mod.Version):]
		}
		if next != line {
			edits = append(edits, workspace.Edit{Start: start, End: end, New: next})
		}
	}
	return sortEdits(edits), nil
}
