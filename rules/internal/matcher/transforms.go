package matcher

import (
	"strings"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// transforms compiles the transforms of a rule in the order in which they
// depend on each other, and adds their names to defined.
func (c *compiler) transforms(doc *yamldoc.Node, core *Core, defined map[string]bool) error {
	if doc.Kind != yamldoc.Mapping {
		return doc.Errorf("`transform` must be a mapping of new metavariables to transforms, not %s", doc.Kind)
	}
	for _, p := range doc.Pairs {
		if defined[p.Key.Text] {
			return p.Key.Errorf("transform %s has the name of a metavariable of the rule", p.Key.Text)
		}
	}
	compiled := map[string]*transform{}
	sources := map[string]string{}
	for _, p := range doc.Pairs {
		t, source, err := c.transform(p.Value)
		if err != nil {
			return err
		}
		t.slot = c.vars.Slot(p.Key.Text)
		compiled[p.Key.Text], sources[p.Key.Text] = t, source
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(name string, at *yamldoc.Node) error
	visit = func(name string, at *yamldoc.Node) error {
		t := compiled[name]
		switch {
		case t == nil:
			if !defined[name] {
				return at.Errorf("the transform uses $%s, which nothing in the rule binds", name)
			}
			return nil
		case state[name] == done:
			return nil
		case state[name] == open:
			return at.Errorf("transform %s %s", name, errCycle)
		}
		state[name] = open
		if err := visit(sources[name], at); err != nil {
			return err
		}
		state[name] = done
		core.transforms = append(core.transforms, *t)
		return nil
	}
	for _, p := range doc.Pairs {
		if err := visit(p.Key.Text, p.Key); err != nil {
			return err
		}
	}
	for name := range compiled {
		defined[name] = true
	}
	return nil
}

// transformKeys are the kinds of transform with their arguments besides source;
// required ones come first, as many as the number says.
var transformKeys = map[string]struct {
	args     []string
	required int
}{
	"substring": {[]string{"startChar", "endChar"}, 0},
	"replace":   {[]string{"replace", "by"}, 2},
	"convert":   {[]string{"toCase", "separatedBy"}, 1},
	"rewrite":   {[]string{"rewriters", "joinBy"}, 1},
}

// transform compiles one transform and returns the name of its source.
func (c *compiler) transform(doc *yamldoc.Node) (*transform, string, error) {
	kind, args := "", doc
	if doc.Kind == yamldoc.String {
		var err error
		if kind, args, err = parseTransform(doc); err != nil {
			return nil, "", err
		}
	} else {
		if doc.Kind != yamldoc.Mapping || len(doc.Pairs) != 1 {
			return nil, "", doc.Errorf("a transform must be one of %s with its arguments", strings.Join(sortedKeys(transformKeys), ", "))
		}
		kind, args = doc.Pairs[0].Key.Text, doc.Pairs[0].Value
	}
	known, ok := transformKeys[kind]
	if !ok {
		return nil, "", doc.Errorf("there is no transform %q; there are %s", kind, strings.Join(sortedKeys(transformKeys), ", "))
	}
	if err := args.Keys("`"+kind+"`", append([]string{"source"}, known.args...)...); err != nil {
		return nil, "", err
	}
	for _, name := range append([]string{"source"}, known.args[:known.required]...) {
		if args.Get(name) == nil {
			return nil, "", args.Errorf("`%s` must have `%s`", kind, name)
		}
	}
	source := args.Get("source")
	meta := pattern.ParseMetaVar(source.Text, '$')
	if meta.Kind != pattern.Capture && meta.Kind != pattern.MultiCapture {
		return nil, "", source.Errorf("`source` must be a metavariable with a name, such as $A or $$$A, not %q", source.Text)
	}
	fn, err := c.transformer(kind, args)
	if err != nil {
		return nil, "", at(err, args)
	}
	return &transform{source: c.vars.Slot(meta.Name), multi: meta.Kind == pattern.MultiCapture, fn: fn}, meta.Name, nil
}

func (c *compiler) transformer(kind string, args *yamldoc.Node) (transformer, error) {
	switch kind {
	case "substring":
		f := &substring{}
		for name, into := range map[string]**int{"startChar": &f.start, "endChar": &f.end} {
			if n := args.Get(name); n != nil && n.Kind != yamldoc.Null {
				i, err := n.Int("`" + name + "`")
				if err != nil {
					return nil, err
				}
				*into = &i
			}
		}
		return f, nil
	case "replace":
		src, err := scalar(args.Get("replace"), "`replace`")
		if err != nil {
			return nil, err
		}
		by, err := scalar(args.Get("by"), "`by`")
		if err != nil {
			return nil, err
		}
		re, err := compileRegex(src)
		if err != nil {
			return nil, at(err, args.Get("replace"))
		}
		return &replace{re, []byte(by)}, nil
	case "convert":
		to := args.Get("toCase")
		if cases[to.Text] == nil {
			return nil, to.Errorf("there is no case %q; there are %s", to.Text, strings.Join(caseNames(), ", "))
		}
		f := &convert{to: to.Text, seps: defaultSeparators}
		if list := args.Get("separatedBy"); list != nil && list.Kind != yamldoc.Null {
			names, err := list.Strs("`separatedBy`")
			if err != nil {
				return nil, err
			}
			f.seps = separators{}
			for i, name := range names {
				chars, ok := separatorNames[name]
				if !ok {
					return nil, list.Items[i].Errorf("there is no separator %q; there are %s", name, strings.Join(sortedKeys(separatorNames), ", "))
				}
				f.seps.chars += chars
				f.seps.caseChange = f.seps.caseChange || chars == ""
			}
		}
		return f, nil
	}
	ids, err := args.Get("rewriters").Strs("`rewriters`")
	if err != nil {
		return nil, err
	}
	f := &rewriteWith{ids: ids}
	if join := args.Get("joinBy"); join != nil && join.Kind != yamldoc.Null {
		f.joinBy = &join.Text
	}
	return f, nil
}

// parseTransform reads the string form: "replace($A, replace='^x', by=y)".
func parseTransform(doc *yamldoc.Node) (kind string, args *yamldoc.Node, err error) {
	bad := func(why string) (string, *yamldoc.Node, error) {
		return "", nil, doc.Errorf("transform %q %s; write for example replace($A, replace='^old', by=new)", doc.Text, why)
	}
	kind, rest, ok := strings.Cut(strings.TrimSpace(doc.Text), "(")
	if !ok {
		return bad("has no (")
	}
	rest = strings.TrimRight(rest, ")")
	source, rest, ok := strings.Cut(rest, ",")
	if !ok {
		return bad("has no arguments")
	}
	args = &yamldoc.Node{Kind: yamldoc.Mapping, Line: doc.Line, Col: doc.Col}
	add := func(key string, value *yamldoc.Node) {
		args.Pairs = append(args.Pairs, yamldoc.Pair{Key: &yamldoc.Node{Kind: yamldoc.String, Text: key, Line: doc.Line, Col: doc.Col}, Value: value})
	}
	add("source", &yamldoc.Node{Kind: yamldoc.String, Text: strings.TrimSpace(source), Line: doc.Line, Col: doc.Col})
	for rest = strings.TrimSpace(rest); rest != ""; {
		key, next, ok := strings.Cut(rest, "=")
		if !ok {
			return bad("has an argument without =")
		}
		next = strings.TrimLeft(next, " \t")
		end := strings.IndexByte(next, ',')
		if next != "" && strings.IndexByte(`'"[`, next[0]) >= 0 {
			closer := next[0]
			if closer == '[' {
				closer = ']'
			}
			if end = strings.IndexByte(next[1:], closer); end < 0 {
				return bad("has an argument that is not closed")
			}
			end += 2
		}
		if end < 0 {
			end = len(next)
		}
		values, err := yamldoc.Parse([]byte(next[:end]))
		if err != nil {
			return bad("has an argument that is not YAML")
		}
		value := &yamldoc.Node{Kind: yamldoc.String, Line: doc.Line, Col: doc.Col}
		if len(values) > 0 {
			value = values[0]
			value.Line, value.Col = doc.Line, doc.Col
		}
		add(strings.TrimSpace(key), value)
		rest = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(next[end:]), ","))
	}
	return strings.TrimSpace(kind), args, nil
}
