package matcher

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
)

// CoreKeys are the keys that [Compile] reads; a caller may allow others.
var CoreKeys = []string{"rule", "constraints", "utils", "transform", "fix"}

// compiler holds what is known while one rule is compiled.
type compiler struct {
	lang      *treesitter.Language
	vars      *pattern.Vars
	locals    map[string]*rule // utilities of this rule
	globals   Globals
	params    []string // of the global utility that is compiled
	rewriters map[string]*Core
	own       map[string]bool // metavariables of the patterns that were compiled
	utilOwn   map[string]bool // of those, the ones of utilities
	warnings  []*yamldoc.Error
}

// Compile compiles one rule, which is a mapping with [CoreKeys] among its keys,
// and rewriters and message. Errors are [*yamldoc.Error].
func Compile(doc *yamldoc.Node, lang *treesitter.Language, globals Globals) (*Core, error) {
	c := &compiler{lang: lang, vars: &pattern.Vars{}, locals: map[string]*rule{}, globals: globals, rewriters: map[string]*Core{}, own: map[string]bool{}}
	core, err := c.core(doc, nil)
	if err != nil {
		return nil, err
	}
	if !core.only.Limited() {
		at := doc
		if r := doc.Get("rule"); r != nil {
			at = r
		}
		return nil, at.Errorf("the rule could match a node of any kind; add `kind`, or a pattern that is more than a metavariable and is valid %s", lang.Name)
	}
	defined := slices.Collect(maps.Keys(c.own))
	for _, t := range core.transforms {
		defined = append(defined, c.vars.Names()[t.slot])
	}
	if list := doc.Get("rewriters"); list != nil && list.Kind != yamldoc.Null {
		if err := c.readRewriters(list, defined); err != nil {
			return nil, err
		}
	}
	if err := c.checkRewriters(doc, core); err != nil {
		return nil, err
	}
	if message := doc.Get("message"); message != nil && message.Kind != yamldoc.Null {
		core.message = pattern.ParseTemplate(message.Text, c.vars, core.transformed)
	}
	core.Warnings = c.warnings
	return core, nil
}

// Defines reports whether name is a metavariable that a match can bind.
func (c *Core) Defines(name string) bool { return c.vars.Lookup(name) >= 0 }

func (c *Core) transformed(name string) bool {
	slot := c.vars.Lookup(name)
	return slices.ContainsFunc(c.transforms, func(t transform) bool { return t.slot == slot })
}

// core compiles what rules, global utilities and rewriters have in common.
// outer names the metavariables of the rule around a rewriter.
func (c *compiler) core(doc *yamldoc.Node, outer []string) (*Core, error) {
	ruleDoc := doc.Get("rule")
	if ruleDoc == nil {
		return nil, doc.Errorf("`rule` is missing: it says what to find")
	}
	if utils := doc.Get("utils"); utils != nil && utils.Kind != yamldoc.Null {
		if err := c.utils(utils); err != nil {
			return nil, err
		}
	}
	c.utilOwn = maps.Clone(c.own)
	core := &Core{lang: c.lang, vars: c.vars, rewriters: c.rewriters}
	var err error
	if core.rule, err = c.rule(ruleDoc); err != nil {
		return nil, err
	}
	core.only = core.rule.kinds()
	var constrained []*yamldoc.Node
	if cons := doc.Get("constraints"); cons != nil && cons.Kind != yamldoc.Null {
		if cons.Kind != yamldoc.Mapping {
			return nil, cons.Errorf("`constraints` must be a mapping of metavariables (without $) to rules, not %s", cons.Kind)
		}
		for _, p := range cons.Pairs {
			r, err := c.rule(p.Value)
			if err != nil {
				return nil, err
			}
			constrained = append(constrained, p.Key)
			core.constraints = append(core.constraints, constraint{rule: r, slot: -1})
		}
	}
	defined := maps.Clone(c.own)
	for i, key := range constrained {
		if !defined[key.Text] {
			return nil, key.Errorf("metavariable %s has a constraint but is not in the rule", key.Text)
		}
		core.constraints[i].slot = c.vars.Slot(key.Text)
	}
	if doc := doc.Get("transform"); doc != nil && doc.Kind != yamldoc.Null {
		if err := c.transforms(doc, core, defined); err != nil {
			return nil, err
		}
	}
	for _, name := range outer {
		defined[name] = true
	}
	if doc := doc.Get("fix"); doc != nil && doc.Kind != yamldoc.Null {
		if core.Fixes, err = c.fixes(doc, core, defined); err != nil {
			return nil, err
		}
	}
	return core, nil
}

// ruleKeys are the keys of a rule object.
var ruleKeys = []string{"pattern", "kind", "regex", "nthChild", "range", "inside", "has", "precedes", "follows", "all", "any", "not", "matches"}

// relationKeys are the further keys of the rule in a relation.
var relationKeys = append([]string{"stopBy", "field"}, ruleKeys...)

// rule compiles a rule object: conditions that must all hold.
func (c *compiler) rule(doc *yamldoc.Node) (rule, error) { return c.ruleWith(doc, "a rule", ruleKeys) }

func (c *compiler) ruleWith(doc *yamldoc.Node, what string, keys []string) (rule, error) {
	if err := doc.Keys(what, keys...); err != nil {
		return nil, err
	}
	// The order is that of matching: what says which node it is comes first,
	// relations to other nodes last.
	var rules []rule
	for _, key := range ruleKeys {
		sub := doc.Get(key)
		if sub == nil {
			continue
		}
		if sub.Kind == yamldoc.Null {
			return nil, sub.Errorf("`%s` is empty", key)
		}
		r, err := c.condition(key, sub)
		if err != nil {
			return nil, at(err, sub)
		}
		rules = append(rules, r)
	}
	slices.SortStableFunc(rules, func(a, b rule) int { return rank(a) - rank(b) })
	switch len(rules) {
	case 0:
		return nil, doc.Errorf("%s must have a condition: one of %s", what, strings.Join(ruleKeys, ", "))
	case 1:
		return rules[0], nil
	}
	return newAll(rules), nil
}

// rank orders conditions: those on the node itself, combinations, relations.
func rank(r rule) int {
	switch r.(type) {
	case *insideRule, *hasRule, *precedesRule, *followsRule:
		return 2
	case *allRule, *anyRule, *notRule, *localRef, *globalRef, *paramRef:
		return 1
	}
	return 0
}

// at gives an error without a place that of n.
func at(err error, n *yamldoc.Node) error {
	if _, ok := err.(*yamldoc.Error); ok {
		return err
	}
	return n.Errorf("%s", err.Error())
}

func (c *compiler) condition(key string, doc *yamldoc.Node) (rule, error) {
	switch key {
	case "pattern":
		return c.pattern(doc)
	case "kind":
		s, err := doc.Str("`kind`")
		if err != nil {
			return nil, err
		}
		return parseSelector(s, c.lang)
	case "regex":
		s, err := scalar(doc, "`regex`")
		if err != nil {
			return nil, err
		}
		re, err := compileRegex(s)
		return &regexRule{re}, err
	case "nthChild":
		return c.nthChild(doc)
	case "range":
		return c.rangeRule(doc)
	case "inside", "has", "precedes", "follows":
		return c.relation(key, doc)
	case "all", "any":
		if doc.Kind != yamldoc.Sequence {
			return nil, doc.Errorf("`%s` must be a list of rules, not %s", key, doc.Kind)
		}
		var rules []rule
		for _, item := range doc.Items {
			r, err := c.rule(item)
			if err != nil {
				return nil, err
			}
			rules = append(rules, r)
		}
		if key == "all" {
			return newAll(rules), nil
		}
		return newAny(rules), nil
	case "not":
		sub, err := c.rule(doc)
		return &notRule{sub}, err
	}
	return c.matches(doc)
}

// scalar returns the text of a string, number or boolean.
func scalar(doc *yamldoc.Node, what string) (string, error) {
	switch doc.Kind {
	case yamldoc.String, yamldoc.Number, yamldoc.Bool:
		return doc.Text, nil
	}
	return doc.Str(what)
}

func (c *compiler) pattern(doc *yamldoc.Node) (rule, error) {
	if doc.Kind != yamldoc.Mapping {
		s, err := doc.Str("`pattern`")
		if err != nil {
			return nil, err
		}
		p, err := pattern.Compile(s, c.lang, pattern.Smart, c.vars)
		return c.compiled(p, err, doc)
	}
	if err := doc.Keys("`pattern`", "context", "selector", "strictness"); err != nil {
		return nil, err
	}
	context := doc.Get("context")
	if context == nil {
		return nil, doc.Errorf("`pattern` must have `context`, the code around what is looked for")
	}
	code, err := context.Str("`context`")
	if err != nil {
		return nil, err
	}
	strictness := pattern.Smart
	if s := doc.Get("strictness"); s != nil && s.Kind != yamldoc.Null {
		var ok bool
		if strictness, ok = pattern.ParseStrictness(s.Text); !ok {
			return nil, s.Errorf("there is no strictness %q; there are %s", s.Text, strings.Join(pattern.StrictnessNames, ", "))
		}
	}
	if s := doc.Get("selector"); s != nil && s.Kind != yamldoc.Null {
		selector, err := s.Str("`selector`")
		if err != nil {
			return nil, err
		}
		p, err := pattern.CompileContext(code, selector, c.lang, strictness, c.vars)
		return c.compiled(p, err, context)
	}
	p, err := pattern.Compile(code, c.lang, strictness, c.vars)
	return c.compiled(p, err, context)
}

func (c *compiler) compiled(p *pattern.Pattern, err error, doc *yamldoc.Node) (rule, error) {
	if err != nil {
		return nil, err
	}
	p.Names(func(name string) { c.own[name] = true })
	if trap := p.Trap(); trap != "" {
		c.warnings = append(c.warnings, doc.Errorf("%s", trap))
	}
	return &patternRule{p}, nil
}

func (c *compiler) nthChild(doc *yamldoc.Node) (rule, error) {
	out := &nthChildRule{}
	position := doc
	if doc.Kind == yamldoc.Mapping {
		if err := doc.Keys("`nthChild`", "position", "ofRule", "reverse"); err != nil {
			return nil, err
		}
		if position = doc.Get("position"); position == nil {
			return nil, doc.Errorf("`nthChild` must have `position`")
		}
		if of := doc.Get("ofRule"); of != nil && of.Kind != yamldoc.Null {
			var err error
			if out.of, err = c.rule(of); err != nil {
				return nil, err
			}
		}
		if reverse := doc.Get("reverse"); reverse != nil {
			var err error
			if out.reverse, err = reverse.Bool("`reverse`"); err != nil {
				return nil, err
			}
		}
	}
	if position.Kind == yamldoc.Number {
		n, err := position.Int("`nthChild`")
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, position.Errorf("`nthChild` counts from 1; to count from the end set reverse: true")
		}
		out.offset = n
		return out, nil
	}
	s, err := position.Str("`nthChild`")
	if err != nil {
		return nil, err
	}
	out.step, out.offset, err = parseNth(s)
	return out, err
}

func (c *compiler) rangeRule(doc *yamldoc.Node) (rule, error) {
	if err := doc.Keys("`range`", "start", "end"); err != nil {
		return nil, err
	}
	out := &rangeRule{}
	for _, end := range []struct {
		key       string
		line, col *int
	}{{"start", &out.startLine, &out.startCol}, {"end", &out.endLine, &out.endCol}} {
		pos := doc.Get(end.key)
		if pos == nil {
			return nil, doc.Errorf("`range` must have `%s`", end.key)
		}
		if err := pos.Keys("`"+end.key+"`", "line", "column"); err != nil {
			return nil, err
		}
		line := pos.Get("line")
		if line == nil {
			return nil, pos.Errorf("`%s` must have `line`, counted from 0", end.key)
		}
		var err error
		if *end.line, err = line.Int("`line`"); err != nil {
			return nil, err
		}
		*end.col = -1
		if col := pos.Get("column"); col != nil && col.Kind != yamldoc.Null {
			if *end.col, err = col.Int("`column`"); err != nil {
				return nil, err
			}
		}
	}
	if out.startLine > out.endLine || out.startLine == out.endLine && out.startCol > out.endCol {
		return nil, doc.Errorf("`range` ends before it starts")
	}
	return out, nil
}

func (c *compiler) relation(key string, doc *yamldoc.Node) (rule, error) {
	rel := relation{}
	var err error
	if rel.sub, rel.stop, err = c.related(key, doc); err != nil {
		return nil, err
	}
	if field := doc.Get("field"); field != nil && field.Kind != yamldoc.Null {
		if key == "precedes" || key == "follows" {
			return nil, field.Errorf("`field` is only for `inside` and `has`")
		}
		name, err := field.Str("`field`")
		if err != nil {
			return nil, err
		}
		if rel.field = c.lang.FieldID(name); rel.field == 0 {
			return nil, field.Errorf("%s has no field %q", c.lang.Name, name)
		}
	}
	switch key {
	case "inside":
		return &insideRule{rel}, nil
	case "has":
		return &hasRule{rel}, nil
	case "precedes":
		return &precedesRule{rel}, nil
	}
	return &followsRule{rel}, nil
}

// related compiles the rule and the stopBy of a relation.
func (c *compiler) related(key string, doc *yamldoc.Node) (rule, stopBy, error) {
	sub, err := c.ruleWith(doc, "`"+key+"`", relationKeys)
	if err != nil {
		return nil, stopBy{}, err
	}
	stop := doc.Get("stopBy")
	if stop == nil {
		return sub, stopBy{}, nil
	}
	if stop.Kind == yamldoc.Mapping {
		r, err := c.rule(stop)
		return sub, stopBy{rule: r}, err
	}
	switch stop.Text {
	case "neighbor":
		return sub, stopBy{}, nil
	case "end":
		return sub, stopBy{end: true}, nil
	}
	return nil, stopBy{}, stop.Errorf("`stopBy` must be neighbor, end or a rule, not %q", stop.Text)
}

var errCycle = fmt.Errorf("refers to itself")
