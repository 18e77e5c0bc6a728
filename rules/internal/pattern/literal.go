package pattern

import (
	"bytes"
	"slices"
)

// Literals returns texts that every match of p has in it. A file without one of
// them need not be parsed.
func (p *Pattern) Literals() []string {
	var out []string
	p.literals(&p.root, false, &out)
	return out
}

// exactKeywords lists the grammars whose keyword tokens always read as their
// kinds do: no folding of case, no aliases.
var exactKeywords = map[string]bool{
	"c": true, "cpp": true, "csharp": true, "go": true, "java": true, "javascript": true, "kotlin": true, "lua": true,
	"python": true, "ruby": true, "rust": true, "scala": true, "swift": true, "tsx": true, "typescript": true,
}

func (p *Pattern) literals(g *goal, afterEllipsis bool, out *[]string) {
	switch {
	case g.meta.Kind != NoMeta:
	case g.leaf && g.named:
		// Signature compares no text.
		if p.strictness != Signature && len(g.text) > 0 {
			*out = append(*out, string(g.text))
		}
	case g.leaf:
		// The token after an ellipsis may be missing, as any token in the laxer levels.
		needed := p.strictness == CST || p.strictness == Smart
		if needed && !afterEllipsis && isWord(g.text) && exactKeywords[p.lang.Name] && p.lang.KindName(g.kind) == string(g.text) {
			*out = append(*out, string(g.text))
		}
	default:
		dots := false
		for i := range g.children {
			c := &g.children[i]
			p.literals(c, dots, out)
			dots = c.ellipsis() || dots && c.trivial()
		}
	}
}

// Runs returns sequences of tokens that every match of p has one after the
// other, with nothing between them but white space, comments and punctuation.
// It knows them only for grammars in which no keyword may be passed over.
func (p *Pattern) Runs() [][]string {
	if p.strictness != CST && p.strictness != Smart || noOptionalKeywords[p.lang.Name] == nil {
		return nil
	}
	b := &runBuilder{p: p}
	b.walk(&p.root, false)
	b.flush()
	return b.list
}

// noOptionalKeywords lists the grammars in which two tokens that a pattern has
// side by side never have a keyword between them in code that matches it: there
// are no modifiers that are tokens. The kinds are those of nodes after whose
// last child nothing can come, so that a run goes on behind them.
var noOptionalKeywords = map[string][]string{
	"go": {"argument_list", "call_expression", "index_expression", "interface_type", "interpreted_string_literal",
		"parenthesized_expression", "qualified_type", "selector_expression"},
}

// runBuilder collects the runs of a pattern, leaf by leaf.
type runBuilder struct {
	p    *Pattern
	run  []string
	list [][]string
}

func (b *runBuilder) flush() {
	if len(b.run) > 1 {
		b.list = append(b.list, b.run)
	}
	b.run = nil
}

func (b *runBuilder) walk(g *goal, skipped bool) {
	switch {
	case g.meta.Kind != NoMeta || g.comment || skipped:
		b.flush()
		return
	case g.leaf:
		if len(g.text) > 0 && (g.named || b.p.lang.KindName(g.kind) == string(g.text)) {
			b.run = append(b.run, string(g.text))
		} else {
			b.flush()
		}
		return
	}
	dots := false
	for i := range g.children {
		c := &g.children[i]
		b.walk(c, dots && c.trivial()) // a token after an ellipsis may be missing
		dots = c.ellipsis() || dots && c.trivial()
	}
	if !slices.Contains(noOptionalKeywords[b.p.lang.Name], b.p.lang.KindName(g.kind)) {
		b.flush()
	}
}

// HasRun reports whether text has the tokens of a run as [Pattern.Runs] says.
func HasRun(text []byte, run []string) bool {
	pivot := 0 // the longest token is looked for first
	for i, t := range run {
		if len(t) > len(run[pivot]) {
			pivot = i
		}
	}
	token := []byte(run[pivot])
	for at := 0; ; {
		i := bytes.Index(text[at:], token)
		if i < 0 {
			return false
		}
		start := at + i
		if apart(text, start, start+len(token)) && follows(text[start+len(token):], run[pivot+1:]) && precedes(text[:start], run[:pivot]) {
			return true
		}
		at = start + 1
	}
}

// apart reports whether text[start:end] is a token by itself and not a part of a
// longer name.
func apart(text []byte, start, end int) bool {
	return !(start > 0 && isNameByte(text[start]) && isNameByte(text[start-1])) &&
		!(end < len(text) && isNameByte(text[end-1]) && isNameByte(text[end]))
}

// maxGap is how far apart two tokens may be before HasRun stops looking and
// takes it that they could be a run.
const maxGap = 200

func follows(text []byte, tokens []string) bool {
	for _, t := range tokens {
		at := 0
		for !(bytes.HasPrefix(text[at:], []byte(t)) && apart(text, at, at+len(t))) {
			switch {
			case at == len(text) || isNameByte(text[at]):
				return false
			case at == maxGap || text[at] == '/':
				return true // perhaps a comment
			}
			at++
		}
		text = text[at+len(t):]
	}
	return true
}

func precedes(text []byte, tokens []string) bool {
	for i := len(tokens) - 1; i >= 0; i-- {
		end := len(text)
		for !(bytes.HasSuffix(text[:end], []byte(tokens[i])) && apart(text, end-len(tokens[i]), end)) {
			switch {
			case end == 0 || isNameByte(text[end-1]) && !inComment(text[:end]):
				return false
			case len(text)-end == maxGap || isNameByte(text[end-1]) || text[end-1] == '/':
				return true // perhaps a comment
			}
			end--
		}
		text = text[:end-len(tokens[i])]
	}
	return true
}

// inComment reports whether the end of text may be in a line comment.
func inComment(text []byte) bool {
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	return bytes.Contains(line, []byte("//"))
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isWord(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(b) >= 3
}
