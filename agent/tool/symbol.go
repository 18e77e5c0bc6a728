package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

type symbolParams struct {
	Name string `json:"name" jsonschema_description:"Name of a type, function, method or constant, e.g. Cart or Cart.Add."`
	Glob string `json:"glob,omitempty" jsonschema_description:"Only files whose path matches."`
}

// Limits of one lookup.
const (
	parsedFiles = 100
	shownLines  = 60 // of one declaration
	shownDecls  = 10
)

func symbol(ctx context.Context, b *Box, p symbolParams) output {
	name := strings.TrimSpace(p.Name)
	if name == "" {
		return failure("name is empty")
	}
	last := name[strings.LastIndexAny(name, ".:#/")+1:]
	var out strings.Builder
	parsed, found := 0, 0
	err := b.each(ctx, p.Glob, func(f *workspace.File) error {
		if treesitter.ForPath(f.Path) == nil || !strings.Contains(string(f.Text), last) {
			return nil
		}
		if parsed++; parsed > parsedFiles {
			return errEnough
		}
		symbols, err := symbolsOf(ctx, f)
		if err != nil {
			return ctx.Err() // a file that cannot be parsed declares nothing
		}
		for _, s := range symbols {
			if s.Name != name && s.Qualified != name && (last == name || !strings.HasSuffix(s.Qualified, "."+name)) {
				continue
			}
			if found++; found <= shownDecls {
				declaration(&out, f, s)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return failure("the lookup failed: %v", err)
	}
	switch {
	case found == 0:
		return output{text: fmt.Sprintf("no declaration of %s is found; try search", name), ok: true}
	case found > shownDecls:
		fmt.Fprintf(&out, "… and %d more; narrow it down with glob or a qualified name\n", found-shownDecls)
	}
	return output{text: out.String(), ok: true}
}

func declaration(out *strings.Builder, f *workspace.File, s treesitter.Symbol) {
	from := line(f.Text, s.Decl.Start())
	lines := Lines(string(f.Text))
	to := min(line(f.Text, s.Decl.End()), len(lines))
	fmt.Fprintf(out, "%s:%d: %s %s\n", f.Path, from, s.Kind, s.Qualified)
	for i := from; i <= to; i++ {
		if i == from+shownLines {
			fmt.Fprintf(out, "    ⋮ (to line %d)\n", to)
			break
		}
		out.WriteString(Gutter(i, lines[i-1]))
	}
}
