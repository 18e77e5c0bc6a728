package langref

import (
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// splitGo splits "crypto/md5.New" into import path and name. A version at the
// end of a path ("gopkg.in/yaml.v3") is no name.
func splitGo(pattern string) (path, name string) {
	last := lastElement(pattern)
	dot := strings.LastIndexByte(last, '.')
	if dot < 0 || goVersion.MatchString(last[dot+1:]) || !strings.Contains(pattern, "/") && strings.Contains(last[:dot], ".") {
		return pattern, ""
	}
	return pattern[:len(pattern)-len(last)+dot], last[dot+1:]
}

var goVersion = regexp.MustCompile(`^v\d+$`)

// packageNames returns the names by which a package can be used that is
// imported without one: the last element of its path, without what custom puts
// around it.
func packageNames(p string) []string {
	last := lastElement(p)
	names := []string{last}
	if goVersion.MatchString(last) {
		if i := strings.LastIndexByte(p, '/'); i >= 0 {
			names = append(names, packageNames(p[:i])...)
		}
	}
	if dot := strings.LastIndexByte(last, '.'); dot > 0 && goVersion.MatchString(last[dot+1:]) {
		names = append(names, last[:dot])
	}
	for _, name := range names[:len(names):len(names)] {
		if i := strings.LastIndexByte(name, '-'); i >= 0 {
			names = append(names, name[i+1:], strings.ReplaceAll(name, "-", ""), name[:i])
		}
	}
	return names
}

func extractGo(f *File, tree *treesitter.Tree) {
	packages := map[string][]string{} // name → import paths
	var dots []string
	for n := range tree.Root().Descendants() {
		if n.Kind() != "import_spec" {
			continue
		}
		p := n.ChildByField("path")
		if p.IsZero() {
			continue
		}
		full := unquote(p.Text())
		f.add(refImport, p, full, full)
		switch name := n.ChildByField("name"); {
		case name.IsZero():
			for _, alias := range packageNames(full) {
				packages[alias] = append(packages[alias], full)
			}
		case name.Kind() == "dot":
			dots = append(dots, full)
		case name.Kind() != "blank_identifier":
			packages[name.Text()] = append(packages[name.Text()], full)
		}
	}
	for n := range tree.Root().Descendants() {
		switch n.Kind() {
		case "selector_expression":
			operand, field := n.ChildByField("operand"), n.ChildByField("field")
			if !operand.IsZero() && !field.IsZero() && operand.Kind() == "identifier" {
				f.goMember(n, packages[operand.Text()], field.Text())
			}
		case "qualified_type":
			pkg, name := n.ChildByField("package"), n.ChildByField("name")
			if !pkg.IsZero() && !name.IsZero() {
				f.goMember(n, packages[pkg.Text()], name.Text())
			}
		case "identifier", "type_identifier":
			if n.Parent().Kind() != "qualified_type" {
				f.goMember(n, dots, n.Text())
				f.add(refName, n, n.Text())
			}
		}
	}
}

func (f *File) goMember(n treesitter.Node, paths []string, name string) {
	if len(paths) == 0 {
		return
	}
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i] = p + "." + name
	}
	f.add(refMember, n, name, full...)
}

// fitsGo: a path means the imports of the package and of those below it, a path
// with a name its uses, a bare name whatever has that name.
func fitsGo(q *Query, r *reference) bool {
	if q.re != nil {
		for _, full := range r.full {
			if q.re.MatchString(full) {
				return true
			}
		}
		return false
	}
	if !strings.ContainsAny(q.pattern, "/.") && r.kind == refName {
		return r.plain == q.pattern
	}
	for _, full := range r.full {
		switch {
		case r.kind == refImport && q.name == "":
			if full == q.path || strings.HasPrefix(full, q.path+"/") {
				return true
			}
		case r.kind == refMember && q.name != "":
			dot := strings.LastIndexByte(full, '.')
			if full[dot+1:] == q.name && (full[:dot] == q.path || !strings.Contains(q.path, "/") && lastElement(full[:dot]) == q.path) {
				return true
			}
		}
	}
	return false
}
