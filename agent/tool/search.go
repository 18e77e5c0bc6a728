package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/kaiak/kaiak/workspace"
)

type searchParams struct {
	Query string `json:"query" jsonschema_description:"Text to look for, or a regular expression (RE2) with regex."`
	Regex bool   `json:"regex,omitempty" jsonschema_description:"Query is a regular expression."`
	Glob  string `json:"glob,omitempty" jsonschema_description:"Only files whose path matches, e.g. src/**/*.java."`
}

// Limits of one search.
const (
	searchedFiles = 20_000
	longestLine   = 200 // bytes of a hit's line that are shown
)

var errEnough = errors.New("enough")

func search(ctx context.Context, b *Box, p searchParams) output {
	if strings.TrimSpace(p.Query) == "" {
		return failure("query is empty")
	}
	match := func(line string) bool { return strings.Contains(line, p.Query) }
	if p.Regex {
		re, err := regexp.Compile(p.Query) // RE2: linear in the text, whatever the model writes
		if err != nil {
			return failure("query is no regular expression: %v", err)
		}
		match = re.MatchString
	}
	if p.Glob != "" && !doublestar.ValidatePattern(p.Glob) {
		return failure("glob %q is not a pattern; ** stands for any folders, * for any name", p.Glob)
	}
	var out strings.Builder
	hits, files := 0, 0
	err := b.each(ctx, p.Glob, func(f *workspace.File) error {
		if files++; files > searchedFiles {
			return errEnough
		}
		if !p.Regex && !strings.Contains(string(f.Text), p.Query) {
			return nil
		}
		for i, line := range Lines(string(f.Text)) {
			if !match(line) {
				continue
			}
			if hits++; hits <= MaxEntries {
				fmt.Fprintf(&out, "%s:%d: %s\n", f.Path, i+1, clip(strings.TrimSpace(line)))
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return failure("the search failed: %v", err)
	}
	switch {
	case hits == 0:
		return output{text: fmt.Sprintf("no hit in %d files", files), ok: true}
	case hits > MaxEntries:
		fmt.Fprintf(&out, "… and %d more; narrow the query or the glob\n", hits-MaxEntries)
	}
	return output{text: out.String(), ok: true}
}

func clip(s string) string {
	if len(s) > longestLine {
		return strings.ToValidUTF8(s[:longestLine], "") + "…"
	}
	return s
}

// each calls fn for every text file of the workspace that matches glob, in the
// order of their paths. What may not or cannot be read is passed over.
func (b *Box) each(ctx context.Context, glob string, fn func(*workspace.File) error) error {
	return b.env.Workspace.Walk(ctx, workspace.WalkOptions{}, func(e workspace.Entry) error {
		if e.Skipped != nil || glob != "" && !doublestar.MatchUnvalidated(glob, e.Path) {
			return nil
		}
		f, err := b.file(e.Path)
		if err != nil {
			return nil
		}
		return fn(f)
	})
}
