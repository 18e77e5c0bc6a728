package langref

import (
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// extractPython resolves names by the imports of the file.
func extractPython(f *File, tree *treesitter.Tree) {
	names := map[string]string{} // name → what was imported under it
	for n := range tree.Root().Descendants() {
		switch n.Kind() {
		case "import_statement":
			f.pythonImport(n, "", names)
		case "import_from_statement":
			if module := n.ChildByField("module_name"); !module.IsZero() {
				f.add(refImport, module, module.Text(), module.Text())
				f.pythonImport(n, module.Text(), names)
			}
		}
	}
	for n := range tree.Root().Descendants() {
		switch n.Kind() {
		case "attribute":
			if written := n.Text(); !strings.ContainsAny(written, " \t\r\n()[]\"'") {
				f.add(refMember, n, written, pythonName(written, names))
			}
		case "identifier":
			if p := n.Parent(); p.Kind() == "dotted_name" || p.Kind() == "aliased_import" || p.Kind() == "keyword_argument" && n.Field() == "name" {
				continue
			}
			f.add(refName, n, n.Text(), pythonName(n.Text(), names))
		}
	}
}

// pythonImport reads the names of an import statement.
func (f *File) pythonImport(n treesitter.Node, module string, names map[string]string) {
	for _, c := range children(n) {
		if c.Field() != "name" {
			continue
		}
		name, alias := c, treesitter.Node{}
		if c.Kind() == "aliased_import" {
			name, alias = c.ChildByField("name"), c.ChildByField("alias")
		}
		if name.IsZero() {
			continue
		}
		full := name.Text()
		if module != "" {
			full = module + "." + full
		}
		f.add(refImport, name, name.Text(), full)
		switch {
		case !alias.IsZero():
			names[alias.Text()] = full
		case module != "":
			names[name.Text()] = full
		default:
			first, _, _ := strings.Cut(full, ".")
			names[first] = first
		}
	}
}

func pythonName(written string, names map[string]string) string {
	first, rest, dotted := strings.Cut(written, ".")
	if full, ok := names[first]; ok {
		first = full
	}
	if dotted {
		return first + "." + rest
	}
	return first
}

// fitsPython: the pattern means a qualified name, the end of one, or a name as
// it is written.
func fitsPython(q *Query, r *reference) bool {
	if q.whole(r.plain) {
		return true
	}
	for _, full := range r.full {
		if q.whole(full) || q.re == nil && strings.Contains(q.pattern, ".") && strings.HasSuffix(full, "."+q.pattern) {
			return true
		}
	}
	return false
}
