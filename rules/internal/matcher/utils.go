package matcher

import (
	"slices"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
)

// Globals are the utilities that all rules of a language may use, by language
// and id.
type Globals map[globalKey]*Global

type globalKey struct {
	lang *treesitter.Language
	id   string
}

// A Global is a utility with or without parameters.
type Global struct {
	params []string
	core   *Core
}

// A GlobalSource is a global utility as it is read: a mapping with id, language
// and [CoreKeys].
type GlobalSource struct {
	Doc  *yamldoc.Node
	Lang *treesitter.Language
	ID   string // "name" or "name(PARAM, …)"
}

// CompileGlobals compiles global utilities, those that others use first. It
// returns all that are sound, and for each of the others, by its index in
// sources, what is wrong.
func CompileGlobals(sources []GlobalSource) (Globals, map[int]error) {
	g := Globals{}
	errs := map[int]error{}
	type entry struct {
		index  int
		params []string
	}
	byKey := map[globalKey]entry{}
	keys := make([]globalKey, len(sources))
	for i, src := range sources {
		name, params, err := parseSignature(src.ID)
		keys[i] = globalKey{src.Lang, name}
		if _, twice := byKey[keys[i]]; err == nil && twice {
			err = src.Doc.Errorf("utility %q is there twice", name)
		}
		if err != nil {
			errs[i] = at(err, src.Doc)
			continue
		}
		byKey[keys[i]] = entry{i, params}
	}
	const open, done = 1, 2
	state := map[globalKey]int{}
	var visit func(key globalKey) error
	visit = func(key globalKey) error {
		e, ok := byKey[key]
		if !ok || state[key] == done {
			return nil
		}
		src := sources[e.index]
		if state[key] == open {
			return src.Doc.Errorf("utility %q %s", key.id, errCycle)
		}
		state[key] = open
		defer func() { state[key] = done }()
		for _, id := range references(src.Doc) {
			if slices.Contains(e.params, id) {
				continue
			}
			if err := visit(globalKey{src.Lang, id}); err != nil {
				errs[e.index] = err
				return err
			}
		}
		c := &compiler{lang: src.Lang, vars: &pattern.Vars{}, locals: map[string]*rule{}, globals: g, params: e.params, rewriters: map[string]*Core{}, own: map[string]bool{}}
		core, err := c.core(src.Doc, nil)
		if err != nil {
			errs[e.index] = err
			return nil
		}
		g[key] = &Global{e.params, core}
		return nil
	}
	for i := range sources {
		if errs[i] == nil {
			if err := visit(keys[i]); err != nil && errs[i] == nil {
				errs[i] = err
			}
		}
	}
	return g, errs
}

// references returns the ids in `matches` anywhere in doc.
func references(doc *yamldoc.Node) []string {
	var ids []string
	for _, p := range doc.Pairs {
		if p.Key.Text == "matches" {
			if p.Value.Kind == yamldoc.Mapping {
				for _, call := range p.Value.Pairs {
					ids = append(ids, call.Key.Text)
				}
			} else {
				ids = append(ids, p.Value.Text)
			}
		}
		ids = append(ids, references(p.Value)...)
	}
	for _, item := range doc.Items {
		ids = append(ids, references(item)...)
	}
	return ids
}

// compositeReferences returns the ids that doc needs to hold for the very node:
// those in matches, also below all, any and not. A relation leads to another
// node, so that what is below it may lead back.
func compositeReferences(doc *yamldoc.Node) []string {
	var ids []string
	for _, p := range doc.Pairs {
		switch p.Key.Text {
		case "matches":
			if p.Value.Kind == yamldoc.Mapping {
				for _, call := range p.Value.Pairs {
					ids = append(ids, call.Key.Text)
					for _, arg := range call.Value.Pairs {
						ids = append(ids, compositeReferences(arg.Value)...)
					}
				}
			} else {
				ids = append(ids, p.Value.Text)
			}
		case "all", "any":
			for _, item := range p.Value.Items {
				ids = append(ids, compositeReferences(item)...)
			}
		case "not":
			ids = append(ids, compositeReferences(p.Value)...)
		}
	}
	return ids
}

// parseSignature reads "name" or "name(A, B)".
func parseSignature(id string) (name string, params []string, err error) {
	name, rest, hasParams := strings.Cut(id, "(")
	if !hasParams {
		if strings.Contains(id, ")") {
			return "", nil, &yamldoc.Error{Msg: "utility id " + id + " has a ) without a ("}
		}
		return id, nil, nil
	}
	name = strings.TrimSpace(name)
	inner, ok := strings.CutSuffix(rest, ")")
	if !ok || name == "" {
		return "", nil, &yamldoc.Error{Msg: "utility id " + id + " is no signature; write name(PARAM, PARAM)"}
	}
	for _, p := range strings.Split(inner, ",") {
		p = strings.TrimSpace(p)
		if p == "" || slices.Contains(params, p) {
			return "", nil, &yamldoc.Error{Msg: "utility id " + id + " has an empty parameter or one twice"}
		}
		params = append(params, p)
	}
	return name, params, nil
}

// utils compiles the utilities of a rule, those that others use first.
func (c *compiler) utils(doc *yamldoc.Node) error {
	if doc.Kind != yamldoc.Mapping {
		return doc.Errorf("`utils` must be a mapping of ids to rules, not %s", doc.Kind)
	}
	for _, p := range doc.Pairs {
		if strings.ContainsAny(p.Key.Text, "()") {
			return p.Key.Errorf("utility %q: only utilities in files of their own (utilDirs) take parameters", p.Key.Text)
		}
		c.locals[p.Key.Text] = new(rule)
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(p yamldoc.Pair) error
	visit = func(p yamldoc.Pair) error {
		switch state[p.Key.Text] {
		case done:
			return nil
		case open:
			return p.Key.Errorf("utility %q %s", p.Key.Text, errCycle)
		}
		state[p.Key.Text] = open
		for _, id := range compositeReferences(p.Value) {
			for _, other := range doc.Pairs {
				if other.Key.Text == id {
					if err := visit(other); err != nil {
						return err
					}
				}
			}
		}
		r, err := c.rule(p.Value)
		if err != nil {
			return err
		}
		*c.locals[p.Key.Text] = r
		state[p.Key.Text] = done
		return nil
	}
	for _, p := range doc.Pairs {
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}

// matches compiles a reference to a utility or parameter, or calls of
// parameterised utilities.
func (c *compiler) matches(doc *yamldoc.Node) (rule, error) {
	if doc.Kind == yamldoc.Mapping {
		var calls []rule
		for _, p := range doc.Pairs {
			call, err := c.call(p.Key, p.Value)
			if err != nil {
				return nil, err
			}
			calls = append(calls, call)
		}
		switch len(calls) {
		case 0:
			return nil, doc.Errorf("`matches` must name a utility")
		case 1:
			return calls[0], nil
		}
		return newAll(calls), nil
	}
	id, err := scalar(doc, "`matches`")
	if err != nil {
		return nil, err
	}
	if slices.Contains(c.params, id) {
		return &paramRef{id}, nil
	}
	if local := c.locals[id]; local != nil {
		return &localRef{local}, nil
	}
	g := c.globals[globalKey{c.lang, id}]
	if g == nil {
		return nil, doc.Errorf("there is no utility %q in `utils` or among the global utilities for %s", id, c.lang.Name)
	}
	if len(g.params) > 0 {
		return nil, doc.Errorf("utility %q takes parameters: write matches: {%s: {%s: …}}", id, id, strings.Join(g.params, ": …, "))
	}
	return &globalRef{target: g.core}, nil
}

func (c *compiler) call(name, args *yamldoc.Node) (rule, error) {
	g := c.globals[globalKey{c.lang, name.Text}]
	switch {
	case slices.Contains(c.params, name.Text):
		return nil, name.Errorf("parameter %q is a rule and takes no arguments", name.Text)
	case c.locals[name.Text] != nil || g != nil && len(g.params) == 0:
		return nil, name.Errorf("utility %q takes no arguments", name.Text)
	case g == nil:
		return nil, name.Errorf("there is no global utility %q for %s", name.Text, c.lang.Name)
	}
	if err := args.Keys("the arguments of "+name.Text, g.params...); err != nil {
		return nil, err
	}
	out := &globalRef{target: g.core, args: map[string]rule{}}
	for _, param := range g.params {
		arg := args.Get(param)
		if arg == nil {
			return nil, name.Errorf("utility %q is called without its argument %s", name.Text, param)
		}
		// Which metavariables the argument binds shows in what compiling it adds.
		before := c.own
		c.own = map[string]bool{}
		r, err := c.rule(arg)
		if err != nil {
			return nil, err
		}
		for _, v := range sortedKeys(c.own) {
			out.binds = append(out.binds, c.vars.Slot(v))
			before[v] = true
		}
		c.own = before
		out.args[param] = r
	}
	return out, nil
}
