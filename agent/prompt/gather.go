package prompt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/agent/tool"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Limits of what is looked at for one batch.
const (
	neighbours   = 40   // files of the same folder whose declarations are listed
	callerFiles  = 2000 // files that are searched for callers
	callerHits   = 10
	callerMargin = 1 // lines before and after a reference
)

// References is what other code says about the place of some incidents.
type References struct {
	Symbols []string // signatures of what the code around the incidents refers to, most used first
	Callers []string // lines that refer to the declarations of the incidents
}

var identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{2,}`)

// Gather looks for the declarations that the incidents' surroundings refer to, one
// step far, and for who refers to the declarations the incidents are in. It
// reads files of the same language only. The error is ctx's.
func Gather(ctx context.Context, ws *workspace.Workspace, f *workspace.File, tree *treesitter.Tree, list []incidents.Incident) (References, error) {
	if tree == nil {
		return References{}, nil
	}
	s := newSource(f, tree, list)
	var refs References
	used, told := map[string]int{}, map[string]bool{}
	around := s.enclosing()
	for _, r := range around {
		for i := r.from; i <= r.to && i < len(s.lines); i++ {
			for _, name := range identifier.FindAllString(s.lines[i], -1) {
				used[name]++
			}
		}
	}
	for _, in := range list {
		for _, name := range identifier.FindAllString(in.Message+" "+in.Description, -1) {
			told[name] = true
		}
	}
	_, shown, _ := s.excerpt(1 << 20)
	ranked := rank(s.file, s.outline, used, told, func(row int) bool { return has(shown, row) })
	folder, count := path.Dir(f.Path), 0
	if err := sameLanguage(ctx, ws, f, folder, neighbours, func(other *workspace.File) error {
		t, err := treesitter.Parse(ctx, tree.Language(), other.Text)
		if err != nil {
			return ctx.Err() // a neighbour that cannot be parsed says nothing
		}
		count++
		ranked = append(ranked, rank(other, treesitter.Outline(t), used, told, nil)...)
		return nil
	}); err != nil {
		return References{}, err
	}
	slices.SortStableFunc(ranked, func(a, b ranking) int { return cmp.Compare(b.score, a.score) })
	for _, r := range ranked {
		refs.Symbols = append(refs.Symbols, r.text)
	}
	var err error
	refs.Callers, err = callers(ctx, ws, s)
	return refs, err
}

// A ranking is a declaration and how likely it is to be needed.
type ranking struct {
	score float64
	text  string
}

// rank lists the declarations whose name is used. What the excerpt shows anyway
// is left out.
func rank(f *workspace.File, outline []treesitter.Symbol, used map[string]int, told map[string]bool, shown func(row int) bool) []ranking {
	var out []ranking
	row, from := 0, 0
	for _, sym := range outline {
		n := used[sym.Name]
		if n == 0 {
			continue
		}
		row += strings.Count(string(f.Text[from:max(sym.Decl.Start(), from)]), "\n")
		from = max(sym.Decl.Start(), from)
		if shown != nil && shown(row) {
			continue
		}
		score := float64(n)
		if told[sym.Name] {
			score *= 10
		}
		if strings.HasPrefix(sym.Name, "_") {
			score *= 0.1
		}
		out = append(out, ranking{score, fmt.Sprintf("%s:%d: %s\n", f.Path, row+1, clip(sym.Signature(), 200))})
	}
	return out
}

var errEnough = errors.New("enough")

// sameLanguage calls fn for files of f's language below a folder, besides f.
func sameLanguage(ctx context.Context, ws *workspace.Workspace, f *workspace.File, folder string, most int, fn func(*workspace.File) error) error {
	lang, n := treesitter.ForPath(f.Path), 0
	err := ws.Walk(ctx, workspace.WalkOptions{Under: []string{folder}}, func(e workspace.Entry) error {
		if e.Skipped != nil || e.Path == f.Path || treesitter.ForPath(e.Path) != lang {
			return nil
		}
		if folder != "." && path.Dir(e.Path) != folder && most == neighbours {
			return nil
		}
		if n++; n > most {
			return errEnough
		}
		other, err := ws.ReadText(e.Path)
		if err != nil {
			return nil // it went away or is not text
		}
		return fn(other)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// callers finds lines that name the declarations around the incidents.
func callers(ctx context.Context, ws *workspace.Workspace, s *source) ([]string, error) {
	var names []string
	for _, in := range s.incidents {
		if sym, ok := treesitter.EnclosingIn(s.outline, s.at(in)); ok && len(sym.Name) > 2 && !slices.Contains(names, regexp.QuoteMeta(sym.Name)) {
			names = append(names, regexp.QuoteMeta(sym.Name))
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	re, err := regexp.Compile(`\b(?:` + strings.Join(names, "|") + `)\b`)
	if err != nil {
		return nil, nil // a name that is no word in any language we know
	}
	var out []string
	err = sameLanguage(ctx, ws, s.file, ".", callerFiles, func(f *workspace.File) error {
		if !re.Match(f.Text) {
			return nil
		}
		lines := tool.Lines(string(f.Text))
		for i, line := range lines {
			if !re.MatchString(line) {
				continue
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s:\n", f.Path)
			for j := max(i-callerMargin, 0); j <= min(i+callerMargin, len(lines)-1); j++ {
				b.WriteString(tool.Gutter(j+1, clip(lines[j], 200)))
			}
			if out = append(out, b.String()); len(out) >= callerHits {
				return errEnough
			}
			break // one reference per file tells how it is used there
		}
		return nil
	})
	return out, err
}
