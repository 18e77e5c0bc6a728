package matcher

import (
	"strings"

	"github.com/kaiak/kaiak/rules/internal/literal"
	"github.com/kaiak/kaiak/rules/internal/pattern"
)

// A Need says which texts a file must have for a rule to match anything in it.
// The zero Need is met by every file.
type Need struct {
	Text string   // this text
	Run  []string // these tokens after each other: see [pattern.Pattern.Runs]
	And  []Need   // all of these
	Or   []Need   // one of these
}

// maxNeedDepth bounds how far utilities are followed.
const maxNeedDepth = 12

// Always reports whether every file meets n.
func (n Need) Always() bool {
	return n.Text == "" && len(n.Run) == 0 && len(n.And) == 0 && len(n.Or) == 0
}

// Met reports whether a text meets n.
func (n Need) Met(text []byte) bool {
	var b literal.Builder
	numbered := n.Number(&b)
	return numbered.Met(b.Build().Scan(text, nil), text)
}

// A Numbered is a [Need] with the numbers of a [literal.Set], so that one pass
// over a text serves many needs.
type Numbered struct {
	text int // -1: none
	run  []string
	all  []Numbered
	any  []Numbered
}

// Number adds the texts of n to a set in the making.
func (n Need) Number(b *literal.Builder) Numbered {
	out := Numbered{text: -1, run: n.Run}
	if n.Text != "" {
		out.text = b.Add(n.Text)
	}
	for _, sub := range n.And {
		out.all = append(out.all, sub.Number(b))
	}
	for _, sub := range n.Or {
		out.any = append(out.any, sub.Number(b))
	}
	return out
}

// Met reports whether a text meets the need; found is what the set found in it.
func (n *Numbered) Met(found literal.Found, text []byte) bool {
	if n.text >= 0 && !found.Has(n.text) {
		return false
	}
	for i := range n.all {
		if !n.all[i].Met(found, text) {
			return false
		}
	}
	if len(n.any) > 0 {
		met := false
		for i := range n.any {
			met = met || n.any[i].Met(found, text)
		}
		if !met {
			return false
		}
	}
	// Last, as it costs a search of its own.
	return len(n.run) == 0 || pattern.HasRun(text, n.run)
}

func allOf(needs []Need) Need {
	var out Need
	for _, n := range needs {
		if !n.Always() {
			out.And = append(out.And, n)
		}
	}
	if len(out.And) == 1 {
		return out.And[0]
	}
	return out
}

// oneOf is met when one of needs is; without any it is met by every file.
func oneOf(needs []Need) Need {
	for _, n := range needs {
		if n.Always() {
			return Need{}
		}
	}
	if len(needs) == 1 {
		return needs[0]
	}
	return Need{Or: needs}
}

// Need returns what a file must have for c to match in it.
func (c *Core) Need() Need { return c.need(0) }

func (c *Core) need(depth int) Need {
	needs := []Need{c.rule.need(depth)}
	bound := map[int]bool{}
	surelyBinds(c.rule, bound, 0)
	for _, con := range c.constraints {
		if bound[con.slot] {
			needs = append(needs, con.rule.need(depth))
		}
	}
	return allOf(needs)
}

func (r *patternRule) need(int) Need {
	var needs []Need
	for _, text := range r.p.Literals() {
		needs = append(needs, Need{Text: text})
	}
	for _, run := range r.p.Runs() {
		needs = append(needs, Need{Run: run})
	}
	return allOf(needs)
}

func (r *kindRule) need(int) Need  { return Need{} }
func (r *rangeRule) need(int) Need { return Need{} }
func (r *notRule) need(int) Need   { return Need{} }
func (r *paramRef) need(int) Need  { return Need{} }

func (r *regexRule) need(int) Need {
	var needs []Need
	for _, clause := range literal.FromRegexp(r.re.String()) {
		any := make([]Need, len(clause))
		for i, text := range clause {
			any[i] = Need{Text: text}
		}
		needs = append(needs, oneOf(any))
	}
	return allOf(needs)
}

func (r *allRule) need(depth int) Need { return allOf(needsOf(r.rules, depth)) }

func (r *anyRule) need(depth int) Need { return oneOf(needsOf(r.rules, depth)) }

func needsOf(rules []rule, depth int) []Need {
	needs := make([]Need, len(rules))
	for i, r := range rules {
		needs[i] = r.need(depth)
	}
	return needs
}

func (r *relation) need(depth int) Need { return r.sub.need(depth) }

func (r *nthChildRule) need(depth int) Need {
	if r.of == nil {
		return Need{}
	}
	return r.of.need(depth)
}

func (r *localRef) need(depth int) Need {
	if depth >= maxNeedDepth || *r.target == nil {
		return Need{}
	}
	return (*r.target).need(depth + 1)
}

func (r *globalRef) need(depth int) Need {
	if depth >= maxNeedDepth {
		return Need{}
	}
	return r.target.need(depth + 1)
}

// surelyBinds collects the slots that every match of r binds to a node.
func surelyBinds(r rule, bound map[int]bool, depth int) {
	if depth > maxNeedDepth {
		return
	}
	switch r := r.(type) {
	case *patternRule:
		r.p.Binds(func(slot int) { bound[slot] = true })
	case *allRule:
		for _, sub := range r.rules {
			surelyBinds(sub, bound, depth+1)
		}
	case *localRef:
		if *r.target != nil {
			surelyBinds(*r.target, bound, depth+1)
		}
	case *insideRule:
		surelyBinds(r.sub, bound, depth+1)
	case *hasRule:
		surelyBinds(r.sub, bound, depth+1)
	case *precedesRule:
		surelyBinds(r.sub, bound, depth+1)
	case *followsRule:
		surelyBinds(r.sub, bound, depth+1)
	}
}

// String shows n as a formula, for tests and for people.
func (n Need) String() string {
	var parts []string
	if n.Text != "" {
		parts = append(parts, "`"+n.Text+"`")
	}
	if len(n.Run) > 0 {
		parts = append(parts, "`"+strings.Join(n.Run, " ")+"`")
	}
	for _, sub := range n.And {
		parts = append(parts, sub.String())
	}
	if len(n.Or) > 0 {
		var any []string
		for _, sub := range n.Or {
			any = append(any, sub.String())
		}
		parts = append(parts, "("+strings.Join(any, " | ")+")")
	}
	return strings.Join(parts, " & ")
}
