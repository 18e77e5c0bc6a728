package pattern

import (
	"context"
	"errors"
	"fmt"

	"github.com/kaiak/kaiak/treesitter"
)

// anyKind is the root kind of a pattern that may begin at any node.
const anyKind = -1

// maxSource bounds the text of a pattern: what a rule's author writes by hand.
const maxSource = 1 << 16

// errorKind is the kind of ERROR nodes. In a pattern it stands for any kind.
const errorKind = 65535

// A Pattern is compiled code with metavariables. It is immutable and safe for
// concurrent use.
type Pattern struct {
	lang       *treesitter.Language
	root       goal
	rootKind   int // kind that the matched node must have, or anyKind
	strictness Strictness
	hasError   bool
}

// goal is one node of a pattern.
type goal struct {
	meta     MetaVar // Kind != NoMeta: a metavariable, and nothing else is set
	slot     int     // of meta, when it binds
	kind     uint16
	named    bool
	text     []byte // of a leaf
	leaf     bool
	comment  bool
	children []goal
}

func (g *goal) ellipsis() bool { return g.meta.Kind == Multi || g.meta.Kind == MultiCapture }

// trivial says that g is punctuation or a keyword.
func (g *goal) trivial() bool { return g.meta.Kind == NoMeta && g.leaf && !g.named }

// Compile reads src as code of lang. The pattern is the innermost node that has
// all of it. Metavariables get their slots in vars.
func Compile(src string, lang *treesitter.Language, strictness Strictness, vars *Vars) (*Pattern, error) {
	tree, err := parse(src, lang)
	if err != nil {
		return nil, err
	}
	n := tree.Root()
	if n.IsZero() || n.FirstChild().IsZero() {
		return nil, fmt.Errorf("pattern %q has no code in it", src)
	}
	if !single(n) {
		return nil, fmt.Errorf("pattern %q is more than one node of %s; write one expression, statement or declaration, or use context and selector", src, lang.Name)
	}
	for single(n) {
		n = n.FirstChild()
	}
	p := &Pattern{lang: lang, rootKind: anyKind, strictness: strictness, hasError: n.HasError()}
	return p.from(n, src, vars)
}

// from sets the root of p.
func (p *Pattern) from(n treesitter.Node, src string, vars *Vars) (*Pattern, error) {
	p.root = convert(n, p.lang.Expando, vars)
	if p.root.ellipsis() {
		return nil, fmt.Errorf("pattern %q is nothing but $$$: write $VAR, or the code around it", src)
	}
	return p, nil
}

// CompileContext reads context as code of lang and takes the first node in it
// whose kind is selector.
func CompileContext(code, selector string, lang *treesitter.Language, strictness Strictness, vars *Vars) (*Pattern, error) {
	kind := lang.KindID(selector, true)
	if kind == 0 {
		return nil, fmt.Errorf("%s has no kind of node %q, which the selector names", lang.Name, selector)
	}
	tree, err := parse(code, lang)
	if err != nil {
		return nil, err
	}
	for n := range tree.Root().Descendants() {
		if n.KindID() == kind {
			p := &Pattern{lang: lang, rootKind: int(kind), strictness: strictness, hasError: n.HasError()}
			return p.from(n, code, vars)
		}
	}
	return nil, fmt.Errorf("selector %q is nowhere in the context %q", selector, code)
}

func parse(src string, lang *treesitter.Language) (*treesitter.Tree, error) {
	if len(src) > maxSource {
		return nil, fmt.Errorf("pattern of %d bytes is too long, at most %d", len(src), maxSource)
	}
	if lang == nil {
		return nil, errors.New("pattern has no language")
	}
	return treesitter.Parse(context.Background(), lang, []byte(Preprocess(src, lang.Expando)))
}

// single reports whether n has one child that counts: grammars such as Go's put
// an empty or missing token after a statement.
func single(n treesitter.Node) bool {
	first := n.FirstChild()
	if first.IsZero() {
		return false
	}
	second := first.NextSibling()
	if second.IsZero() {
		return true
	}
	return second.NextSibling().IsZero() && (second.Missing() || second.Kind() == "")
}

func convert(n treesitter.Node, expando rune, vars *Vars) goal {
	if meta := ParseMetaVar(n.Text(), expando); meta.Kind != NoMeta {
		g := goal{meta: meta}
		if meta.Kind == Capture || meta.Kind == MultiCapture {
			g.slot = vars.Slot(meta.Name)
		}
		return g
	}
	if n.FirstChild().IsZero() {
		return goal{kind: n.KindID(), named: n.Named(), text: n.Bytes(), leaf: true, comment: isComment(n)}
	}
	g := goal{kind: n.KindID(), named: n.Named(), comment: isComment(n)}
	for c := range n.Children() {
		if !c.Missing() {
			g.children = append(g.children, convert(c, expando, vars))
		}
	}
	return g
}

func isComment(n treesitter.Node) bool {
	return n.Named() && n.Tree().Language().IsComment(n.KindID())
}

// Kind returns the kind of node that p can match, and false when it can match
// nodes of more than one kind.
func (p *Pattern) Kind() (uint16, bool) {
	switch {
	case p.strictness == TextOnly:
		return 0, false
	case p.rootKind != anyKind:
		return uint16(p.rootKind), true
	case p.root.meta.Kind != NoMeta, p.root.kind == errorKind && !p.root.leaf:
		return 0, false
	}
	return p.root.kind, true
}

// HasError reports whether the pattern has a syntax error of the language: it
// then matches little or nothing of what its author meant.
func (p *Pattern) HasError() bool { return p.hasError }

// Trap says what about the pattern its author probably did not mean, "" for
// nothing.
func (p *Pattern) Trap() string {
	if p.HasError() {
		return fmt.Sprintf("the pattern is not valid %s by itself, so it matches little or nothing; put what is around it into `context` and name the kind of node that is meant with `selector`", p.lang.Name)
	}
	// Outside a function the grammar takes pkg.Func(x) for a conversion to the type pkg.Func.
	if p.lang.Name == "go" && p.rootKind == anyKind && p.lang.KindName(p.root.kind) == "type_conversion_expression" &&
		len(p.root.children) > 0 && p.lang.KindName(p.root.children[0].kind) == "qualified_type" {
		return "the pattern reads as a conversion to a type, not as a call; write context: 'func _() { … }' around it and selector: call_expression"
	}
	return ""
}

// Match tries p on n itself. Where it fails, env is as it was.
func (p *Pattern) Match(n treesitter.Node, env *Env) bool {
	if p.rootKind != anyKind && n.KindID() != uint16(p.rootKind) {
		return false
	}
	mark := env.Mark()
	if p.match(&p.root, n, env) == matched {
		return true
	}
	env.Undo(mark)
	return false
}

// Binds calls visit for the slot of every $A that each match of p binds.
func (p *Pattern) Binds(visit func(slot int)) { binds(&p.root, visit) }

func binds(g *goal, visit func(slot int)) {
	// $$A may be passed over in the laxer levels when the code has run out.
	if g.meta.Kind == Capture && g.meta.Named {
		visit(g.slot)
	}
	for i := range g.children {
		binds(&g.children[i], visit)
	}
}

// Names calls visit for the name of every metavariable of p that binds.
func (p *Pattern) Names(visit func(name string)) { names(&p.root, visit) }

func names(g *goal, visit func(string)) {
	if g.meta.Name != "" {
		visit(g.meta.Name)
	}
	for i := range g.children {
		names(&g.children[i], visit)
	}
}
