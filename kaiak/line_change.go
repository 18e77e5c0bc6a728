package kaiak

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/workspace"
)

// A lineChange is edits of neighbouring bytes seen as whole lines, without
// their line endings: Old became New. Lines that are the same at both ends are
// not part of it.
type lineChange struct{ Old, New []string }

// lineChanges groups sorted byte edits of base by the lines they touch. Edits
// that do not fit base give none.
func lineChanges(base []byte, edits []workspace.Edit) []lineChange {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b workspace.Edit) int { return a.Start - b.Start })
	var out []lineChange
	for i := 0; i < len(edits); {
		if edits[i].Start < 0 || edits[i].End > len(base) || edits[i].Start > edits[i].End {
			return nil
		}
		start, end := lineStart(base, edits[i].Start), lineEnd(base, edits[i])
		j := i + 1
		for ; j < len(edits) && edits[j].Start < end && edits[j].End <= len(base); j++ {
			end = max(end, lineEnd(base, edits[j]))
		}
		group := make([]workspace.Edit, 0, j-i)
		for _, e := range edits[i:j] {
			group = append(group, workspace.Edit{Start: e.Start - start, End: e.End - start, New: e.New})
		}
		text, err := workspace.ApplyEdits(base[start:end], group)
		if err != nil {
			return nil
		}
		if c := trimCommon(lines(base[start:end]), lines(text)); len(c.Old)+len(c.New) > 0 {
			out = append(out, c)
		}
		i = j
	}
	return out
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd returns where the last line that an edit touches ends, its line
// ending included. An edit that leaves the line after it as it is ends before it.
func lineEnd(text []byte, e workspace.Edit) int {
	at := e.End
	whole := strings.HasSuffix(e.New, "\n") || e.New == "" && e.Start == lineStart(text, e.Start)
	if whole && at == lineStart(text, at) {
		return at
	}
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func lines(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		out = append(out, strings.TrimRight(line, "\r\n"))
	}
	return out
}

func trimCommon(old, now []string) lineChange {
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	return lineChange{old, now}
}

// String is the change as a diff shows it.
func (c lineChange) String() string {
	var b strings.Builder
	for _, l := range c.Old {
		b.WriteString("- " + l + "\n")
	}
	for _, l := range c.New {
		b.WriteString("+ " + l + "\n")
	}
	return b.String()
}
