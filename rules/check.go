package rules

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/refactor"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Source is the [incidents.Incident.Source] of what rules find.
const Source = "kaiak"

// Check returns the matches of all rules in one file, in the order of the text,
// with their incidents identified. tree is the file's tree, or nil: then the
// file is parsed here, and only if it has the texts that some rule needs.
//
// The error is ctx's, or that the text cannot be parsed or takes a rule too
// much work; what was found until then comes with it.
func (s *Set) Check(ctx context.Context, file *workspace.File, tree *treesitter.Tree) ([]Match, error) {
	lang := s.language(file.Path)
	if tree != nil {
		lang = tree.Language()
	}
	l := s.byLang[lang]
	if l == nil {
		return nil, nil
	}
	return s.check(ctx, l, file, tree, l.candidates(file.Path, file.Text))
}

// CheckRule returns the matches of one rule of the set in one text, even if the
// rule is off or is not for files of this name. tree is the text's tree.
func (s *Set) CheckRule(ctx context.Context, r *Rule, file *workspace.File, tree *treesitter.Tree) ([]Match, error) {
	l := &langRules{rules: []*Rule{r}}
	l.index()
	return s.check(ctx, l, file, tree, []bool{true})
}

// check runs the candidates among l's rules over one file.
func (s *Set) check(ctx context.Context, l *langRules, file *workspace.File, tree *treesitter.Tree, candidates []bool) ([]Match, error) {
	if candidates == nil {
		return nil, nil
	}
	if tree == nil {
		var err error
		if tree, err = treesitter.Parse(ctx, l.rules[0].lang, file.Text); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	c := &checker{set: s, file: file, tree: tree, state: matcher.NewState(tree), envs: make([]*pattern.Env, len(l.rules))}
	err := c.run(ctx, l, candidates)
	return c.finish(ctx), err
}

// checker is the check of one file.
type checker struct {
	set   *Set
	file  *workspace.File
	tree  *treesitter.Tree
	state *matcher.State
	envs  []*pattern.Env // by rule; reused from node to node

	ignores    *suppressions
	lines      *workspace.Mapper // built at the first match
	found      []found
	importList []treesitter.Import
	importsGot bool
}

// found is one match before it is made into an incident.
type found struct {
	rule  *Rule
	match matcher.Match
}

// ctxEvery is after how many nodes the context is asked.
const ctxEvery = 1 << 14

func (c *checker) run(ctx context.Context, l *langRules, candidates []bool) error {
	for i := range c.tree.Len() {
		if i%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n := c.tree.Node(i)
		kind := int(n.KindID())
		if kind >= len(l.byKind) {
			continue
		}
		for _, r := range l.byKind[kind] {
			if candidates[r] {
				c.try(l.rules[r], int(r), n)
			}
		}
		if c.state.Exhausted() {
			return fmt.Errorf("%s: a rule takes too much work here: relations with stopBy: end within each other look at every node for every node", c.file.Path)
		}
	}
	return nil
}

func (c *checker) try(r *Rule, index int, n treesitter.Node) {
	env := c.envs[index]
	if env == nil {
		env = pattern.NewEnv(r.core.Vars())
		c.envs[index] = env
	}
	node, ok := r.core.Match(c.state, n, env)
	if ok && !c.suppressed(r, node) && c.imported(r) {
		c.found = append(c.found, found{r, matcher.Match{Node: node, Env: env.Clone()}})
	}
	env.Undo(0)
}

// suppressed reports whether a comment switches the match off.
func (c *checker) suppressed(r *Rule, n treesitter.Node) bool {
	if c.lines == nil {
		c.lines = workspace.NewMapper(c.file.Text, workspace.UTF16)
		c.ignores = readSuppressions(c.tree, c.line)
	}
	return c.ignores != nil && c.ignores.suppressed(r.ID, c.line(n.Start()))
}

func (c *checker) line(offset int) int { return c.lines.Position(offset).Line }

// imported reports whether the file imports what the rule's names have to stand
// for. Where it does not, the code only looks like a match.
func (c *checker) imported(r *Rule) bool {
	for _, req := range r.requires {
		if req.path == "" {
			continue
		}
		ok := slices.ContainsFunc(c.imports(), func(imp treesitter.Import) bool { return req.standsFor(imp) })
		if !ok {
			return false
		}
	}
	return true
}

// standsFor reports whether an import gives the required name its meaning.
func (req requirement) standsFor(imp treesitter.Import) bool {
	whole := imp.Path
	if imp.Name != "" && imp.Name != "*" {
		whole += "." + imp.Name
	}
	if imp.Path != req.path && whole != req.path {
		// A wildcard gives all names of the package.
		return imp.Name == "*" && strings.HasPrefix(req.path, imp.Path+".") && !strings.Contains(req.path[len(imp.Path)+1:], ".")
	}
	return req.name == "" || imp.Local() == req.name || imp.Alias == "" && imp.Local() == ""
}

func (c *checker) imports() []treesitter.Import {
	if !c.importsGot {
		c.importList, c.importsGot = treesitter.Imports(c.tree), true
	}
	return c.importList
}

// finish makes the matches out of what was found.
func (c *checker) finish(ctx context.Context) []Match {
	if len(c.found) == 0 {
		return nil
	}
	sort.SliceStable(c.found, func(i, j int) bool {
		a, b := c.found[i], c.found[j]
		if a.match.Node.Start() != b.match.Node.Start() {
			return a.match.Node.Start() < b.match.Node.Start()
		}
		if a.match.Node.Index() != b.match.Node.Index() {
			return a.match.Node.Index() < b.match.Node.Index() // the outer first
		}
		return a.rule.ID < b.rule.ID
	})
	list := make([]incidents.Incident, len(c.found))
	matches := make([]Match, len(c.found))
	for i, f := range c.found {
		list[i] = c.incident(f)
	}
	around := declarations{outline: treesitter.Outline(c.tree)}
	incidents.AssignIDs(list, func(in *incidents.Incident) string { return around.at(in.Span.Start) })
	for i, f := range c.found {
		matches[i] = Match{Rule: f.rule, Incident: list[i], Fixes: c.fixes(ctx, f, list[i].ID), Labels: c.labels(f)}
	}
	return matches
}

// declarations says which declaration is around an offset, as
// [treesitter.EnclosingIn] does, for offsets that ascend: in one pass over the
// outline, however many there are.
type declarations struct {
	outline []treesitter.Symbol
	next    int                 // of outline, the first that begins after the last offset
	open    []treesitter.Symbol // those that began before it and may not have ended, outermost first
}

func (d *declarations) at(offset int) string {
	for ; d.next < len(d.outline) && d.outline[d.next].Decl.Start() <= offset; d.next++ {
		s := d.outline[d.next]
		if top := len(d.open) - 1; top >= 0 && s.Decl == d.open[top].Decl && s.NameNode.Start() > offset {
			break // int a = HERE, b;
		}
		d.close(s.Decl.Start())
		d.open = append(d.open, s)
	}
	d.close(offset)
	if len(d.open) == 0 {
		return ""
	}
	return d.open[len(d.open)-1].Qualified
}

// close drops the declarations that end before an offset.
func (d *declarations) close(offset int) {
	for len(d.open) > 0 && d.open[len(d.open)-1].Decl.End() < offset {
		d.open = d.open[:len(d.open)-1]
	}
}

// maxSnippet bounds the text of an incident in bytes.
const maxSnippet = 2000

func (c *checker) incident(f found) incidents.Incident {
	n := f.match.Node
	r := f.rule
	start, end := c.lines.Position(n.Start()), c.lines.Position(n.End())
	in := incidents.Incident{
		RuleID:      r.ID,
		FilePath:    c.file.Path,
		LineNumber:  start.Line + 1,
		Severity:    r.Severity,
		Message:     strings.ToValidUTF8(r.core.Message(f.match), "\uFFFD"),
		Description: r.Note,
		Category:    r.Category,
		Range:       &incidents.Range{Start: start, End: end},
		Source:      Source,
		Effort:      r.Effort,
		Labels:      r.Labels,
		Snippet:     strings.ToValidUTF8(string(n.Bytes()[:min(maxSnippet, n.End()-n.Start())]), "\uFFFD"),
		Span:        incidents.Span{Start: n.Start(), End: n.End()},
	}
	if in.Message == "" {
		in.Message = r.ID
	}
	if in.Description == "" {
		in.Description = in.Message
	}
	if r.URL != "" {
		in.Links = []incidents.Link{{URL: r.URL, Title: r.ID}}
	}
	if r.Pack != "" {
		in.Metadata = map[string]any{"pack": r.Pack}
	}
	return in
}

func (c *checker) labels(f found) []Label {
	var out []Label
	add := func(style LabelStyle, message string, nodes ...treesitter.Node) {
		if len(nodes) > 0 && !nodes[0].IsZero() {
			out = append(out, Label{style, message, incidents.Span{Start: nodes[0].Start(), End: nodes[len(nodes)-1].End()}})
		}
	}
	env := f.match.Env
	if len(f.rule.labels) == 0 {
		for _, n := range env.Labels() {
			add(SecondaryLabel, "", n)
		}
	}
	for _, spec := range f.rule.labels {
		slot := env.Vars().Lookup(spec.variable)
		if n := env.Single(slot); !n.IsZero() {
			add(spec.style, spec.message, n)
		} else if list, _ := env.Multi(slot); len(list) > 0 {
			add(spec.style, spec.message, list...)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Span.Start < out[j].Span.Start })
	return out
}

// fixes makes the alternatives of a match.
func (c *checker) fixes(ctx context.Context, f found, id string) []Fix {
	var out []Fix
	for _, fix := range f.rule.core.Fixes {
		start, end := fix.Range(c.state, f.match)
		one := Fix{Title: fix.Title, span: incidents.Span{Start: start, End: end}}
		pieces := fix.Pieces(f.match)
		var inPlace bool
		one.Edits, one.verbatim, one.claims, inPlace = fixEdits(c.file.Text, start, end, pieces)
		if !inPlace {
			one.pieces = pieces
		}
		if lost := lostNode(f.match, start, end); !lost.IsZero() {
			at := c.lines.Position(lost.Start())
			one.refusal = &Refusal{id, f.rule.ID, RefusedDroppedNode, fmt.Sprintf(
				"the fix would lose %s %q (%s:%d:%d), which its pattern passes over; write it into the pattern, or set strictness: cst",
				lost.Kind(), shorten(lost.Text()), c.file.Path, at.Line+1, at.Character+1)}
		}
		out = append(out, one)
	}
	if len(f.rule.steps) == 0 {
		return out
	}
	fix := Fix{span: incidents.Span{Start: f.match.Node.Start(), End: f.match.Node.End()}}
	for _, s := range f.rule.steps {
		edits, err := s.step.Edits(ctx, refactor.Input{Path: c.file.Path, Text: c.file.Text, Tree: c.tree, Start: fix.span.Start, End: fix.span.End})
		if err != nil {
			fix.refusal = &Refusal{id, f.rule.ID, refusalKind(err), s.name + ": " + err.Error()}
			break
		}
		fix.Edits = append(fix.Edits, edits...)
	}
	fix.claims = []incidents.Span{fix.span}
	return append(out, fix)
}

// refusalKind returns the kind of a step's refusal.
func refusalKind(err error) RefusalKind {
	if r, ok := err.(*refactor.Refusal); ok {
		return RefusalKind(r.Kind)
	}
	return RefusedUnsafe
}

func shorten(s string) string {
	const most = 60
	if s, _, cut := strings.Cut(s, "\n"); cut || len(s) > most {
		return s[:min(len(s), most)] + "…"
	}
	return s
}

// fixEdits returns the edits that put pieces in place of [start, end), those
// edits to the letter of the template where they differ, the spans that the fix
// rests on, and whether all carried code stays where it is. Code that is carried over in its order stays
// untouched between them, and so do line breaks between such code, which the
// template has no way to know of.
func fixEdits(text []byte, start, end int, pieces []pattern.Piece) (edits, verbatim []workspace.Edit, claims []incidents.Span, inPlace bool) {
	var pending []byte
	at := start
	inPlace = true
	first := bytes.IndexByte(text, '\n')
	crlf := first > 0 && text[first-1] == '\r'
	var layout []workspace.Edit // edits that would only join lines
	flush := func(to int) {
		change := appendChange(nil, text, at, to, pending)
		if bytes.IndexByte(text[at:to], '\n') >= 0 && sameTokens(text[at:to], pending) {
			layout = append(layout, change...)
		} else {
			edits = append(edits, change...)
		}
		claims = append(claims, incidents.Span{Start: at, End: to})
		pending = nil
	}
	for _, p := range pieces {
		if p.Carried && p.Start >= at && p.End <= end && p.End > p.Start {
			flush(p.Start)
			at = p.End
			continue
		}
		inPlace = inPlace && !p.Carried
		pending = append(pending, withLineEnds(p.Text, crlf)...)
	}
	flush(end)
	if len(edits) == 0 {
		// Layout is all that the rule is about.
		return layout, nil, claims, inPlace
	}
	if len(layout) > 0 {
		verbatim = slices.Concat(edits, layout)
	}
	return edits, verbatim, claims, inPlace
}

// withLineEnds gives text the line ends of a file that has \r\n.
func withLineEnds(text []byte, crlf bool) []byte {
	if !crlf || bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}

// sameTokens reports whether two texts differ in white space alone.
func sameTokens(a, b []byte) bool {
	return bytes.Equal(bytes.Join(bytes.Fields(a), nil), bytes.Join(bytes.Fields(b), nil))
}

// appendChange appends the edits that put new in place of text[start:end], cut
// at token boundaries, so that a person reads whole words.
func appendChange(edits []workspace.Edit, text []byte, start, end int, new []byte) []workspace.Edit {
	for _, e := range workspace.EditsBetween(text[start:end], new) {
		edits = append(edits, workspace.Edit{Start: start + e.Start, End: start + e.End, New: e.New})
	}
	return edits
}

// lostNode returns a named node that patterns passed over and that the fix
// would replace by nothing.
func lostNode(m matcher.Match, start, end int) treesitter.Node {
	for _, n := range m.Env.Passed() {
		if start <= n.Start() && n.End() <= end && !m.Env.Holds(n) {
			return n
		}
	}
	return treesitter.Node{}
}
