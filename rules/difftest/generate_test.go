package difftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// A generator makes rules out of one tree: patterns are the text of its nodes
// with parts replaced by metavariables, so that they match something.
type generator struct {
	*rand.Rand
	tree *treesitter.Tree
	lang *treesitter.Language
	vars []string // metavariables of the pattern that is being made
}

// object is a YAML mapping in the making.
type object = map[string]any

// rule returns a rule document with the given id.
func (g *generator) rule(id string) string {
	g.vars = nil
	doc := object{"id": id, "language": g.lang.Name, "message": "m"}
	node := g.node(300)
	rule := g.matcher(node)
	doc["rule"] = rule
	var single []string
	for _, v := range g.vars {
		if !strings.HasPrefix(v, "$$") {
			single = append(single, v)
		}
	}
	if len(single) > 0 && g.Intn(5) == 0 {
		v := single[g.Intn(len(single))]
		doc["constraints"] = object{v[1:]: g.atom(g.node(60))}
	}
	if len(g.vars) > 0 && g.Intn(3) == 0 {
		v := g.vars[g.Intn(len(g.vars))]
		doc["transform"] = object{"T1": g.transform(v)}
		g.vars = append(g.vars, "$T1")
		if g.Intn(3) == 0 {
			doc["transform"].(object)["T2"] = g.transform("$T1")
			g.vars = append(g.vars, "$T2")
		}
	}
	if len(g.vars) > 0 && g.Intn(4) == 0 {
		doc["message"] = "found " + strings.Join(g.vars, " and ")
	}
	if g.Intn(2) == 0 {
		doc["fix"] = g.fix()
	}
	return encode(doc)
}

func encode(doc object) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// node returns a named node of at most size bytes.
func (g *generator) node(size int) treesitter.Node {
	for range 200 {
		n := g.tree.Node(g.Intn(g.tree.Len()))
		if n.Named() && !n.Missing() && !n.Error() && n.End() > n.Start() && n.End()-n.Start() <= size {
			return n
		}
	}
	return g.tree.Root()
}

// matcher returns a rule object for a node, of any form.
func (g *generator) matcher(n treesitter.Node) object {
	switch g.Intn(12) {
	case 0, 1, 2:
		return object{"pattern": g.pattern(n)}
	case 3:
		return object{"pattern": object{"context": g.pattern(n), "strictness": g.strictness()}}
	case 4:
		if p := n.Parent(); !p.IsZero() && p.End()-p.Start() < 400 {
			around := object{"context": g.pattern(p), "selector": n.Kind()}
			if g.Intn(3) == 0 {
				around["strictness"] = g.strictness()
			}
			return object{"pattern": around}
		}
		return object{"kind": n.Kind()}
	case 5:
		return object{"any": []any{g.matcher(n), g.matcher(g.node(100))}}
	case 6:
		return object{"all": []any{g.matcher(n), object{"not": g.atom(g.node(100))}}}
	case 7:
		return object{"kind": n.Kind(), "nthChild": g.nth()}
	case 8:
		return object{"kind": n.Kind(), "regex": g.regex(n)}
	}
	return g.related(n)
}

// atom returns a rule object for a node that looks at the node alone.
func (g *generator) atom(n treesitter.Node) object {
	switch g.Intn(3) {
	case 0:
		return object{"kind": n.Kind()}
	case 1:
		return object{"regex": g.regex(n)}
	}
	return object{"pattern": g.pattern(n)}
}

func (g *generator) strictness() string {
	return []string{"cst", "smart", "ast", "relaxed", "signature", "template"}[g.Intn(6)]
}

// related returns a rule object for n with a relation that holds for it.
func (g *generator) related(n treesitter.Node) object {
	rule := g.atom(n)
	if _, ok := rule["regex"]; ok {
		rule["kind"] = n.Kind()
	}
	relation, other := "inside", n.Parent()
	stop := any("neighbor")
	switch g.Intn(4) {
	case 0:
		for !other.IsZero() && !other.Parent().IsZero() && g.Intn(2) == 0 {
			other, stop = other.Parent(), "end"
		}
	case 1:
		relation, other = "has", g.below(n)
		stop = []any{"neighbor", "end"}[g.Intn(2)]
	case 2:
		relation, other = "precedes", n.NextSibling()
		stop = []any{"neighbor", "end"}[g.Intn(2)]
	default:
		relation, other = "follows", n.PrevSibling()
		stop = []any{"neighbor", "end"}[g.Intn(2)]
	}
	if other.IsZero() || !other.Named() {
		relation, other = "inside", n.Parent()
	}
	if other.IsZero() {
		return object{"kind": n.Kind()}
	}
	sub := object{}
	if other.End()-other.Start() <= 300 {
		sub = g.atom(other)
	} else {
		sub["kind"] = other.Kind()
	}
	if g.Intn(4) == 0 {
		stop = object{"kind": g.node(1 << 20).Kind()}
	}
	if g.Intn(5) > 0 {
		sub["stopBy"] = stop
	}
	if field := n.Field(); relation == "inside" && field != "" && g.Intn(2) == 0 {
		sub["field"] = field
	}
	if field := other.Field(); relation == "has" && other.Parent() == n && field != "" && g.Intn(2) == 0 {
		sub["field"] = field
	}
	rule[relation] = sub
	return rule
}

// below returns a named node below n, or no node.
func (g *generator) below(n treesitter.Node) treesitter.Node {
	if n.Last() == n.Index()+1 {
		return treesitter.Node{}
	}
	d := g.tree.Node(n.Index() + 1 + g.Intn(n.Last()-n.Index()-1))
	if d.Named() && !d.Missing() {
		return d
	}
	return treesitter.Node{}
}

func (g *generator) nth() any {
	position := []any{1, 2, 3, "2n", "2n+1", "-n+2", "n + 2", "odd"}[g.Intn(7)]
	if g.Intn(2) == 0 {
		return position
	}
	out := object{"position": position}
	if g.Intn(2) == 0 {
		out["reverse"] = true
	}
	if g.Intn(3) == 0 {
		out["ofRule"] = g.atom(g.node(40))
	}
	return out
}

// regex returns an expression that matches in n's text.
func (g *generator) regex(n treesitter.Node) string {
	text := strings.Split(n.Text(), "\n")[0]
	from := g.Intn(len(text) + 1)
	to := from + g.Intn(min(12, len(text)-from)+1)
	var b strings.Builder
	if from == 0 {
		b.WriteByte('^')
	}
	for _, c := range strings.ToValidUTF8(text[from:to], "") {
		switch {
		case strings.ContainsRune(`\.+*?()|[]{}^$`, c):
			b.WriteString(`\` + string(c))
		case c >= 'a' && c <= 'z' && g.Intn(6) == 0:
			b.WriteString("[a-z]+")
		case c < 0x20:
			b.WriteString(`\s`)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// names are the metavariables that patterns use.
var names = []string{"A", "B", "C", "_", "NAME", "_X"}

// pattern returns n's text with some of its parts replaced by metavariables.
func (g *generator) pattern(n treesitter.Node) string {
	var b strings.Builder
	if n.NextSibling().IsZero() && g.Intn(12) == 0 && n.FirstChild().IsZero() {
		return g.meta(false)
	}
	g.write(&b, n, n.Start())
	return b.String()
}

func (g *generator) meta(multi bool) string {
	name := names[g.Intn(len(names))]
	sigil := "$"
	switch {
	case multi:
		sigil = "$$$"
		if g.Intn(4) == 0 {
			return sigil
		}
	case g.Intn(10) == 0:
		sigil = "$$"
	}
	if !strings.HasPrefix(name, "_") {
		v := "$" + name
		if multi {
			v = "$$$" + name
		}
		g.vars = append(g.vars, v)
	}
	return sigil + name
}

// write writes n's text from offset from on and returns where it ended.
func (g *generator) write(b *strings.Builder, n treesitter.Node, from int) int {
	src := g.tree.Source()
	at := from
	var kids []treesitter.Node
	for c := range n.Children() {
		kids = append(kids, c)
	}
	for i := 0; i < len(kids); i++ {
		c := kids[i]
		if c.Start() < at {
			continue
		}
		if !c.Named() || c.Missing() || c.End() == c.Start() {
			continue
		}
		b.Write(src[at:c.Start()])
		at = c.Start()
		switch {
		case len(kids) > 3 && g.Intn(9) == 0:
			// An ellipsis for some siblings, with the tokens between them.
			last := i + g.Intn(len(kids)-i)
			for last > i && !kids[last].Named() {
				last--
			}
			b.WriteString(g.meta(true))
			at, i = kids[last].End(), last
		case g.Intn(4) == 0:
			b.WriteString(g.meta(false))
			at = c.End()
		default:
			at = g.write(b, c, at)
		}
	}
	b.Write(src[at:n.End()])
	return n.End()
}

func (g *generator) transform(v string) any {
	switch g.Intn(5) {
	case 0:
		return object{"substring": object{"source": v, "startChar": g.Intn(5) - 2, "endChar": g.Intn(9) - 4}}
	case 1:
		return object{"replace": object{"source": v, "replace": `([a-z]+)`, "by": "<$1>"}}
	case 2:
		return fmt.Sprintf("replace(%s, replace='[aeiou]', by=_)", v)
	case 3:
		return fmt.Sprintf("substring(%s, startChar=1, endChar=-1)", v)
	}
	to := []string{"lowerCase", "upperCase", "capitalize", "camelCase", "snakeCase", "kebabCase", "pascalCase"}[g.Intn(7)]
	out := object{"source": v, "toCase": to}
	if g.Intn(3) == 0 {
		out["separatedBy"] = []string{[]string{"caseChange", "dash", "dot", "slash", "space", "underscore"}[g.Intn(6)]}
	}
	return object{"convert": out}
}

func (g *generator) fix() any {
	var b strings.Builder
	b.WriteString("fixed(")
	for _, v := range g.vars {
		if g.Intn(4) > 0 {
			if g.Intn(4) == 0 {
				b.WriteString("\n  ")
			}
			b.WriteString(v + ", ")
		}
	}
	if g.Intn(4) == 0 {
		b.WriteString("\n")
	}
	b.WriteString(")")
	if g.Intn(4) > 0 {
		return b.String()
	}
	out := object{"template": b.String()}
	if g.Intn(2) == 0 {
		out["expandEnd"] = object{"regex": "[,;]", "stopBy": []any{"neighbor", "end"}[g.Intn(2)]}
	}
	if g.Intn(2) == 0 {
		out["expandStart"] = object{"regex": "[,(]", "stopBy": []any{"neighbor", "end"}[g.Intn(2)]}
	}
	return out
}
