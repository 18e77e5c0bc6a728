package pattern

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

func isWord(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(b) >= 3
}
