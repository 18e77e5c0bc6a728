package langref

import (
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// extractNode takes every identifier: what a name means in JavaScript is not
// known without running it, and rules name components and their properties.
func extractNode(f *File, tree *treesitter.Tree) {
	for n := range tree.Root().Descendants() {
		switch n.Kind() {
		case "identifier", "type_identifier", "property_identifier", "shorthand_property_identifier",
			"shorthand_property_identifier_pattern", "jsx_identifier":
			f.add(refName, n, n.Text())
		case "member_expression", "nested_identifier", "nested_type_identifier":
			if text := n.Text(); !strings.ContainsAny(text, " \t\r\n(") {
				f.add(refMember, n, strings.ReplaceAll(text, "?.", "."))
			}
		}
	}
}

func fitsNode(q *Query, r *reference) bool {
	if r.kind == refMember {
		if !strings.Contains(q.pattern, ".") {
			return false
		}
		return q.whole(r.plain) || q.re == nil && strings.HasSuffix(r.plain, "."+q.pattern)
	}
	return q.whole(r.plain)
}
