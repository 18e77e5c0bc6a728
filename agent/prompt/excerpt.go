package prompt

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/agent/edit"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/tool"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Limits up to which a file is shown whole.
const (
	wholeLines  = 300
	wholeTokens = 4000
)

// A source is a file with what is known of its structure.
type source struct {
	file      *workspace.File
	tree      *treesitter.Tree // nil: there is no grammar
	outline   []treesitter.Symbol
	imports   []treesitter.Import
	lines     []string
	starts    []int // offset of each line
	incidents []incidents.Incident
}

func newSource(f *workspace.File, tree *treesitter.Tree, list []incidents.Incident) *source {
	s := &source{file: f, tree: tree, incidents: list, lines: tool.Lines(string(f.Text))}
	if tree != nil {
		s.outline, s.imports = treesitter.Outline(tree), treesitter.Imports(tree)
	}
	s.starts = []int{0}
	for i, c := range f.Text {
		if c == '\n' && i+1 < len(f.Text) {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// row returns the 0-based line of an offset.
func (s *source) row(offset int) int {
	i, found := slices.BinarySearch(s.starts, offset)
	if found {
		return i
	}
	return i - 1
}

// at returns the offset where an incident begins.
func (s *source) at(in incidents.Incident) int {
	if in.Span.End > 0 && in.Span.Start <= len(s.file.Text) {
		return in.Span.Start
	}
	row := min(max(in.LineNumber-1, 0), len(s.starts)-1)
	// The first thing in the line, not the blanks before it.
	text := s.file.Text[s.starts[row]:]
	return s.starts[row] + len(text) - len(bytes.TrimLeft(text, " \t"))
}

// rows is a range of 0-based lines, the last one included.
type rows struct{ from, to int }

// enclosing returns the rows of the declarations around the incidents; an
// incident outside of any has its own line.
func (s *source) enclosing() []rows {
	var out []rows
	for _, in := range s.incidents {
		at := s.at(in)
		r := rows{s.row(at), s.row(max(at, in.Span.End-1))}
		if in.LineNumber > 0 {
			if sym, ok := treesitter.EnclosingIn(s.outline, at); ok {
				r = rows{s.row(sym.Decl.Start()), s.row(max(sym.Decl.End()-1, sym.Decl.Start()))}
			}
		}
		out = append(out, r)
	}
	return out
}

// headers returns the first rows of the declarations around a range.
func (s *source) headers(r rows) []rows {
	var out []rows
	for _, sym := range s.outline {
		from, to := s.row(sym.Decl.Start()), s.row(sym.Decl.End())
		if from < r.from && to >= r.to {
			name := s.row(sym.NameNode.Start())
			out = append(out, rows{name, name})
		}
	}
	return out
}

func (s *source) importRows() []rows {
	var out []rows
	for _, im := range s.imports {
		out = append(out, rows{s.row(im.Stmt.Start()), s.row(max(im.Stmt.End()-1, im.Stmt.Start()))})
	}
	return out
}

// regions returns where edits are expected: the declarations around the
// incidents and the imports. nil means that nothing is known of the file's
// structure, so that everywhere is as good.
func (s *source) regions() []edit.Span {
	if s.tree == nil || len(s.outline) == 0 {
		return nil
	}
	spans := func(r rows) edit.Span {
		for r.to+1 < len(s.lines) && strings.TrimSpace(s.lines[r.to+1]) == "" { // the gap goes with what is before it
			r.to++
		}
		end := len(s.file.Text)
		if r.to+1 < len(s.starts) {
			end = s.starts[r.to+1]
		}
		return edit.Span{Start: s.starts[max(r.from, 0)], End: end}
	}
	var out []edit.Span
	for i, r := range s.enclosing() {
		if s.incidents[i].LineNumber == 0 { // the whole file
			return nil
		}
		r.from = s.above(r.from) // decorators, annotations and comments belong to it
		out = append(out, spans(r))
	}
	head := rows{0, 0}
	for _, r := range s.importRows() {
		head.to = max(head.to, r.to)
	}
	if len(s.imports) == 0 { // where imports would go
		head.to = max(s.row(s.outline[0].Decl.Start())-1, 0)
	}
	return append(out, spans(head))
}

// above returns the first row of the run of lines that are not blank and lie
// directly above row, at most ten.
func (s *source) above(row int) int {
	for n := 0; n < 10 && row > 0; n++ {
		line := strings.TrimSpace(s.lines[row-1])
		if line == "" || strings.HasSuffix(line, "}") || strings.HasSuffix(line, ";") || strings.HasSuffix(line, "{") {
			break
		}
		row--
	}
	return row
}

// excerpt shows as much of the file as fits into a number of tokens: the whole
// file, or declarations with margins, or the surroundings of the incidents.
// short says that a declaration of an incident is not shown whole.
func (s *source) excerpt(tokens int) (text string, shown []rows, short bool) {
	if len(s.lines) <= wholeLines {
		if whole := []rows{{0, len(s.lines) - 1}}; s.cost(whole) <= min(tokens, wholeTokens) {
			return s.show(whole), whole, false
		}
	}
	var lastShown []rows
	for level, margin := range []int{8, 0, 25, 8, 2} {
		var keep []rows
		for i, r := range s.enclosing() {
			if level >= 2 { // the surroundings only
				at := s.row(s.at(s.incidents[i]))
				r = rows{max(at-margin, 0), min(at+margin, len(s.lines)-1)}
			} else {
				r = rows{max(r.from-margin, 0), min(r.to+margin, len(s.lines)-1)}
			}
			keep = append(keep, r)
			keep = append(keep, s.headers(r)...)
		}
		if level < 4 {
			keep = append(keep, s.importRows()...)
		}
		lastShown = join(keep)
		if s.cost(lastShown) <= tokens {
			return s.show(lastShown), lastShown, level >= 2
		}
	}
	text = s.show(lastShown)
	return strings.ToValidUTF8(text[:min(len(text), tokens*3)], ""), lastShown, true
}

// join sorts ranges and joins those that touch.
func join(list []rows) []rows {
	slices.SortFunc(list, func(a, b rows) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var out []rows
	for _, r := range list {
		if n := len(out); n > 0 && r.from <= out[n-1].to+2 {
			out[n-1].to = max(out[n-1].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (s *source) cost(list []rows) int {
	n := 0
	for _, r := range list {
		for i := r.from; i <= r.to && i < len(s.lines); i++ {
			n += len(s.lines[i]) + 8
		}
	}
	return llm.RoughTokens(n)
}

func (s *source) show(list []rows) string {
	var b strings.Builder
	next := 0
	for _, r := range list {
		if r.from > next {
			fmt.Fprintf(&b, "   ⋮│\n")
		}
		for i := r.from; i <= r.to && i < len(s.lines); i++ {
			b.WriteString(tool.Gutter(i+1, s.lines[i]))
		}
		next = r.to + 1
	}
	if next < len(s.lines) {
		fmt.Fprintf(&b, "   ⋮│\n")
	}
	return b.String()
}

// has reports whether a 0-based line is among ranges.
func has(list []rows, row int) bool {
	return slices.ContainsFunc(list, func(r rows) bool { return r.from <= row && row <= r.to })
}
