package workspace

import (
	"io/fs"
	"slices"
)

// Siblings returns the paths of the regular files directly in the folder dir
// ("." is the root), sorted, what is denied and what is only in a buffer left
// out. It does not look at .gitignore.
func (w *Workspace) Siblings(dir string) ([]string, error) {
	root, err := w.tree.openDir(dir)
	if err != nil {
		return nil, openError(dir, err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, diskError(dir, err)
	}
	var out []string
	for _, e := range entries {
		rel := joinPath(dir, e.Name())
		if e.Type().IsRegular() && w.Classify(rel).Class != Denied {
			out = append(out, rel)
		}
	}
	slices.Sort(out)
	return out, nil
}
