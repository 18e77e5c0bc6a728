package treesitter

import (
	"fmt"
	"slices"
	"strings"
)

// A SyntaxError counts the syntax errors of one sort in a tree. It has no
// position, so that the errors of a text before and after an edit can be compared.
type SyntaxError struct {
	Kind    string // "ERROR", or "MISSING " and the kind that the parser inserted
	Within  string // kind of the nearest named ancestor, "" at the root
	Count   int
	Example int // offset of the first, in bytes
}

func (e SyntaxError) String() string {
	within := e.Within
	if within == "" {
		within = "the file"
	}
	return fmt.Sprintf("%d× %s in %s, first at byte %d", e.Count, e.Kind, within, e.Example)
}

// Errors returns the syntax errors of a tree, sorted by kind and place; nil for
// a tree without any.
func Errors(t *Tree) []SyntaxError {
	if t.Root().IsZero() || !t.Root().HasError() {
		return nil
	}
	type key struct{ kind, within string }
	found := map[key]*SyntaxError{}
	for i := 0; i < t.Len(); {
		n := t.Node(i)
		if !n.HasError() {
			i = n.Last()
			continue
		}
		i++
		kind := ""
		switch {
		case n.Error():
			kind = "ERROR"
		case n.Missing():
			kind = "MISSING " + n.Kind()
		default:
			continue
		}
		k := key{kind, namedAncestor(n)}
		if e := found[k]; e != nil {
			e.Count++
		} else {
			found[k] = &SyntaxError{Kind: k.kind, Within: k.within, Count: 1, Example: n.Start()}
		}
	}
	list := make([]SyntaxError, 0, len(found))
	for _, e := range found {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b SyntaxError) int {
		if c := strings.Compare(a.Kind, b.Kind); c != 0 {
			return c
		}
		return strings.Compare(a.Within, b.Within)
	})
	return list
}

func namedAncestor(n Node) string {
	for p := n.Parent(); !p.IsZero(); p = p.Parent() {
		if p.Named() && !p.Error() {
			return p.Kind()
		}
	}
	return ""
}

// NewErrors returns what is in after and not in before: the sorts of error that
// are new or more frequent, with Count set to how many more. An edit is
// syntactically sound when there are none, however broken the text was before.
func NewErrors(before, after *Tree) []SyntaxError {
	type key struct{ kind, within string }
	had := map[key]int{}
	for _, e := range Errors(before) {
		had[key{e.Kind, e.Within}] = e.Count
	}
	var more []SyntaxError
	for _, e := range Errors(after) {
		if e.Count -= had[key{e.Kind, e.Within}]; e.Count > 0 {
			more = append(more, e)
		}
	}
	return more
}
