package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

type retrieveParams struct {
	ArtifactID string `json:"artifact_id" jsonschema_description:"The id that the cut result named."`
	Query      string `json:"query,omitempty" jsonschema_description:"Only lines that contain this text, whatever its case."`
	Offset     int    `json:"offset,omitempty" jsonschema_description:"First line to return, counted from 1."`
	Limit      int    `json:"limit,omitempty" jsonschema_description:"How many lines to return; 120 by default."`
}

const linesPerPage = 120

func retrieve(_ context.Context, b *Box, p retrieveParams) output {
	text, ok := b.artifacts[p.ArtifactID]
	if !ok {
		var ids []string
		for id := range b.artifacts {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return failure("there is no artifact %q; there are: %s", p.ArtifactID, strings.Join(ids, ", "))
	}
	page, next := Page(text, p.Query, p.Offset, p.Limit)
	if page == "" {
		return output{text: "no line matches", ok: true, whole: true}
	}
	if next > 0 {
		page += fmt.Sprintf("(more from offset %d)\n", next)
	}
	return output{text: page, ok: true, whole: true}
}

// Page returns the lines of a text from offset (1-based), those that contain
// query when it is not "", each with its number, in at most MaxOutput bytes; next
// is the offset to go on with, 0 when that was all.
func Page(text, query string, offset, limit int) (page string, next int) {
	if limit <= 0 {
		limit = linesPerPage
	}
	query = strings.ToLower(query)
	var out strings.Builder
	n := 0
	for i, l := range Lines(text) {
		if i+1 < offset || query != "" && !strings.Contains(strings.ToLower(l), query) {
			continue
		}
		const longest = 2000
		if len(l) > longest {
			l = strings.ToValidUTF8(l[:longest], "") + "…"
		}
		row := Gutter(i+1, l)
		if n == limit || out.Len()+len(row) > MaxOutput-100 {
			return out.String(), i + 1
		}
		out.WriteString(row)
		n++
	}
	return out.String(), 0
}
