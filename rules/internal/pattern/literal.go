package pattern

import "bytes"

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
	if p.strictness != CST && p.strictness != Smart || !noOptionalKeywords[p.lang.Name] {
		return nil
	}
	var out [][]string
	p.runs(&p.root, &out)
	return out
}

// noOptionalKeywords lists the grammars in which two tokens that a pattern has
// side by side in one node never have a keyword between them in code that
// matches it: there are no modifiers that are tokens.
var noOptionalKeywords = map[string]bool{"go": true}

func (p *Pattern) runs(g *goal, out *[][]string) {
	var run []string
	flush := func() {
		if len(run) > 1 {
			*out = append(*out, run)
		}
		run = nil
	}
	dots := false
	for i := range g.children {
		c := &g.children[i]
		fixed := c.meta.Kind == NoMeta && c.leaf && !c.comment && len(c.text) > 0 &&
			(c.named || p.lang.KindName(c.kind) == string(c.text)) && !(dots && c.trivial())
		if fixed {
			run = append(run, string(c.text))
		} else {
			flush()
		}
		p.runs(c, out)
		dots = c.ellipsis() || dots && c.trivial()
	}
	flush()
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
		if follows(text[start+len(token):], run[pivot+1:]) && precedes(text[:start], run[:pivot]) {
			return true
		}
		at = start + 1
	}
}

// maxGap is how far apart two tokens may be before HasRun stops looking and
// takes it that they could be a run.
const maxGap = 200

func follows(text []byte, tokens []string) bool {
	for _, t := range tokens {
		at := 0
		for !bytes.HasPrefix(text[at:], []byte(t)) {
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
		for !bytes.HasSuffix(text[:end], []byte(tokens[i])) {
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
