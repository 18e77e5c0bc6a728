package rules

import (
	"bytes"
	"go/format"
	"slices"

	"github.com/kaiak/kaiak/workspace"
)

// keepLayout adds to the hunks what a formatter would do after them, where the
// language has one layout that everybody agrees on and the file had it before:
// Go's. A shorter name moves the columns of its neighbours; a file that gofmt
// left alone stays one. Only white space is touched, never a token.
func (rw *rewriter) keepLayout() error {
	if rw.tree.Language().Name != "go" || len(rw.plans) == 0 {
		return nil
	}
	if was, err := format.Source(rw.file.Text); err != nil || !bytes.Equal(was, rw.file.Text) {
		return nil // it was not formatted, or it is no whole file
	}
	result, err := workspace.ApplyEdits(rw.file.Text, rw.edits())
	if err != nil {
		return err
	}
	formatted, err := format.Source(result)
	if err != nil {
		return nil // the gate has compared the syntax errors already
	}
	// All are turned back before the first is added: rebase counts what the
	// hunks have.
	var layout []workspace.Edit
	for _, e := range spacing(result, formatted) {
		if back, ok := rw.rebase([]workspace.Edit{e}); ok { // else inside what a rule wrote itself
			layout = append(layout, back...)
		}
	}
	for _, e := range layout {
		p := rw.nearest(e)
		p.hunk.Edits = append(p.hunk.Edits, e)
	}
	for _, p := range rw.plans {
		slices.SortStableFunc(p.hunk.Edits, func(a, b workspace.Edit) int { return a.Start - b.Start })
	}
	return nil
}

// nearest returns the plan whose own edits are closest to e.
func (rw *rewriter) nearest(e workspace.Edit) *plan {
	best, distance := rw.plans[0], -1
	for _, p := range rw.plans {
		for _, own := range p.hunk.Edits {
			d := max(own.Start-e.End, e.Start-own.End, 0)
			if distance < 0 || d < distance {
				best, distance = p, d
			}
		}
	}
	return best
}

// spacing returns the edits that turn the white space of a into that of b. It
// returns none when anything else differs.
func spacing(a, b []byte) []workspace.Edit {
	var edits []workspace.Edit
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		from, to := i, j
		for i < len(a) && blank(a[i]) {
			i++
		}
		for j < len(b) && blank(b[j]) {
			j++
		}
		if !bytes.Equal(a[from:i], b[to:j]) {
			edits = append(edits, workspace.Edit{Start: from, End: i, New: string(b[to:j])})
		}
		for i < len(a) && j < len(b) && a[i] == b[j] && !blank(a[i]) {
			i, j = i+1, j+1
		}
		if (i < len(a) && !blank(a[i])) || (j < len(b) && !blank(b[j])) {
			return nil
		}
	}
	return edits
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
