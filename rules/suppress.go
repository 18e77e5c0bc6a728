package rules

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// ignoreMarks begin a suppression in a comment: of all rules, or of those after
// a colon ("kaiak-ignore: rule-a, rule-b").
var ignoreMarks = []string{"ast-grep-ignore", "kaiak-ignore"}

// suppressions is what the comments of a text switch off.
type suppressions struct {
	lines map[int]*suppression // by the 0-based line whose matches are meant
	file  *suppression
}

// suppression names rules; nil ids are all rules.
type suppression struct{ ids []string }

func (s *suppression) covers(id string) bool {
	return s != nil && (s.ids == nil || slices.Contains(s.ids, id))
}

// suppressed reports whether a match of rule id that begins in line is switched off.
func (s *suppressions) suppressed(id string, line int) bool {
	return s != nil && (s.file.covers(id) || s.lines[line].covers(id))
}

// readSuppressions reads the comments of a tree. A comment behind code on its
// line means that line, one on a line of its own the next. The first comment of
// a file means the whole file when it is in the first line and the second is
// empty. nil: nothing is switched off.
func readSuppressions(tree *treesitter.Tree, line func(offset int) int) *suppressions {
	src := tree.Source()
	if !slices.ContainsFunc(ignoreMarks, func(mark string) bool { return bytes.Contains(src, []byte(mark)) }) {
		return nil
	}
	out := &suppressions{lines: map[int]*suppression{}}
	lang := tree.Language()
	for i := range tree.Len() {
		n := tree.Node(i)
		if !lang.IsComment(n.KindID()) {
			continue
		}
		ids, ok := parseIgnore(string(n.Bytes()))
		if !ok {
			continue
		}
		at := line(n.Start())
		prev := n.PrevSibling()
		if !prev.IsZero() && line(prev.Start()) == at {
			out.lines[at] = &suppression{ids}
			continue
		}
		if at == 0 && lineIsBlank(src, 1) {
			out.file = &suppression{ids}
			continue
		}
		out.lines[at+1] = &suppression{ids}
	}
	return out
}

// lineIsBlank reports whether a line of src is there and has only white space.
func lineIsBlank(src []byte, line int) bool {
	for range line {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return false
		}
		src = src[i+1:]
	}
	if i := bytes.IndexByte(src, '\n'); i >= 0 {
		src = src[:i]
	}
	return len(bytes.TrimSpace(src)) == 0
}

// parseIgnore reads the suppression in a comment. ids nil: of all rules.
func parseIgnore(comment string) (ids []string, ok bool) {
	for _, mark := range ignoreMarks {
		_, after, found := strings.Cut(strings.TrimSpace(comment), mark)
		if !found {
			continue
		}
		_, list, named := strings.Cut(after, ":")
		if !named {
			return nil, true
		}
		ids = []string{}
		for _, id := range strings.Split(list, ",") {
			ids = append(ids, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(id), "*/")))
		}
		return ids, true
	}
	return nil, false
}
