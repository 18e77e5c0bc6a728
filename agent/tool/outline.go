package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

type outlineParams struct {
	Path string `json:"path" jsonschema_description:"Path relative to the workspace root."`
}

func outline(ctx context.Context, b *Box, p outlineParams) output {
	f, err := b.file(p.Path)
	if err != nil {
		return refuse(err)
	}
	symbols, err := symbolsOf(ctx, f)
	if err != nil {
		return failure("%s: %v", f.Path, err)
	}
	if len(symbols) == 0 {
		return output{text: f.Path + " declares nothing that is known here", ok: true}
	}
	var out strings.Builder
	for i, s := range symbols {
		if i == MaxEntries {
			fmt.Fprintf(&out, "… and %d more\n", len(symbols)-i)
			break
		}
		fmt.Fprintf(&out, "%4d│%s%s %s\n", line(f.Text, s.Decl.Start()), strings.Repeat("  ", s.Depth), s.Kind, clip(s.Signature()))
	}
	return output{text: out.String(), ok: true}
}

// symbolsOf parses a file and returns its declarations.
func symbolsOf(ctx context.Context, f *workspace.File) ([]treesitter.Symbol, error) {
	lang := treesitter.ForPath(f.Path)
	if lang == nil {
		return nil, fmt.Errorf("its language is not known; use read_file")
	}
	tree, err := treesitter.Parse(ctx, lang, f.Text)
	if err != nil {
		return nil, err
	}
	return treesitter.Outline(tree), nil
}

// line returns the 1-based line of an offset in bytes.
func line(text []byte, offset int) int {
	n := 1
	for _, c := range text[:min(offset, len(text))] {
		if c == '\n' {
			n++
		}
	}
	return n
}
