package workspace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// An Edit replaces the bytes [Start, End) of a file with New. Start == End
// inserts. Offsets are bytes into the original text, so that the edits of one
// file are independent of each other's order.
type Edit struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	New   string `json:"new"`
}

// EditError says which edit of a list cannot be applied, and why.
type EditError struct {
	Index  int    // position in the list that was given
	Edit   Edit   // the edit
	Reason string // "out of range" or "overlaps edit N"
}

func (e *EditError) Error() string {
	return fmt.Sprintf("edit %d [%d,%d): %s", e.Index, e.Edit.Start, e.Edit.End, e.Reason)
}

// ApplyEdits returns text with every edit applied. The edits may come in any
// order; two insertions at one offset keep the order in which they were given.
// An edit that is out of range or overlaps another is an [*EditError] and
// nothing is applied. text is not modified.
func ApplyEdits(text []byte, edits []Edit) ([]byte, error) {
	order, err := sortEdits(len(text), edits)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	at := 0
	for _, i := range order {
		e := edits[i]
		out.Write(text[at:e.Start])
		out.WriteString(e.New)
		at = e.End
	}
	out.Write(text[at:])
	return out.Bytes(), nil
}

// sortEdits returns the indexes of edits in the order of their offsets, or the
// first edit that is out of range or overlaps its predecessor.
func sortEdits(size int, edits []Edit) ([]int, error) {
	order := make([]int, len(edits))
	for i, e := range edits {
		if e.Start < 0 || e.End < e.Start || e.End > size {
			return nil, &EditError{i, e, fmt.Sprintf("out of range of a text of %d bytes", size)}
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(edits[a].Start, edits[b].Start), cmp.Compare(edits[a].End, edits[b].End))
	})
	for n := 1; n < len(order); n++ {
		prev, cur := order[n-1], order[n]
		if edits[cur].Start < edits[prev].End {
			return nil, &EditError{cur, edits[cur], fmt.Sprintf("overlaps edit %d", prev)}
		}
	}
	return order, nil
}

// SHA256 returns the hash of the exact bytes of a file, in lower-case hex, as
// it stands in base_sha256 and proposed_sha256.
func SHA256(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
