package incidents

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Identity is what an incident's id is made of. No line, offset or absolute
// path is part of it, so that an id survives edits above the incident and a
// move of the workspace.
type Identity struct {
	RuleID      string
	Path        string // relative to the workspace root, slash-separated
	Declaration string // qualified name of the enclosing declaration, e.g. "Server.Close"; "" outside any
	Snippet     string // the incident's text; white space does not count
	Ordinal     int    // how many incidents with the same other fields come before it in the file
}

// Identify returns the id for an identity: the same on every machine and in
// every run. Callers with a whole file's incidents use [AssignIDs], which
// counts the ordinals.
//
// An id is assigned once: an [Index] keeps it while edits move the incident,
// even where Identify would now count another ordinal.
func Identify(id Identity) string {
	h := sha256.New()
	var size [8]byte
	for _, part := range []string{id.RuleID, id.Path, id.Declaration, NormalizeSnippet(id.Snippet)} {
		// Lengths keep "ab"+"c" and "a"+"bc" apart.
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	binary.BigEndian.PutUint64(size[:], uint64(id.Ordinal))
	h.Write(size[:])
	return "inc-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// AssignIDs sets the ID of every incident of list that has none. Ordinals are
// counted in the order of the file, whatever the order of the list, and the
// list may mix files. declaration names the declaration around an incident;
// nil stands for a source that knows none.
func AssignIDs(list []Incident, declaration func(*Incident) string) {
	order := make([]*Incident, len(list))
	for i := range list {
		order[i] = &list[i]
	}
	slices.SortStableFunc(order, func(a, b *Incident) int { return comparePlaces(a, b) })

	seen := map[Identity]int{}
	for _, in := range order {
		id := Identity{RuleID: in.RuleID, Path: in.FilePath, Snippet: NormalizeSnippet(in.Snippet)}
		if declaration != nil {
			id.Declaration = declaration(in)
		}
		ordinal := seen[id]
		seen[id]++
		if in.ID == "" {
			id.Ordinal = ordinal
			in.ID = Identify(id)
		}
	}
}

// comparePlaces orders incidents by file, line and column.
func comparePlaces(a, b *Incident) int {
	var ca, cb int
	if a.Range != nil {
		ca = a.Range.Start.Character
	}
	if b.Range != nil {
		cb = b.Range.Start.Character
	}
	return cmp.Or(
		cmp.Compare(a.FilePath, b.FilePath),
		cmp.Compare(a.LineNumber, b.LineNumber),
		cmp.Compare(ca, cb),
		cmp.Compare(a.Span.Start, b.Span.Start),
	)
}

// NormalizeSnippet returns text as identity sees it: valid UTF-8, no white
// space at the ends, and one space for each run of white space inside, so that
// re-indenting or re-wrapping code keeps its incidents' ids.
func NormalizeSnippet(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.Join(strings.Fields(text), " ")
}
