package matcher

import (
	"maps"
	"slices"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// fixes compiles a fix: a template, an object with a template, or a list of
// objects with titles.
func (c *compiler) fixes(doc *yamldoc.Node, core *Core, defined map[string]bool) ([]*Fix, error) {
	if doc.Kind != yamldoc.Sequence {
		f, err := c.fix(doc, core, defined)
		return []*Fix{f}, err
	}
	var out []*Fix
	for _, item := range doc.Items {
		f, err := c.fix(item, core, defined)
		if err != nil {
			return nil, err
		}
		if f.Title == "" {
			return nil, item.Errorf("each fix of a list must have a `title`")
		}
		out = append(out, f)
	}
	return out, nil
}

func (c *compiler) fix(doc *yamldoc.Node, core *Core, defined map[string]bool) (*Fix, error) {
	out := &Fix{}
	source := doc
	if doc.Kind == yamldoc.Mapping {
		if err := doc.Keys("`fix`", "template", "title", "expandStart", "expandEnd"); err != nil {
			return nil, err
		}
		if source = doc.Get("template"); source == nil {
			return nil, doc.Errorf("`fix` must have a `template`")
		}
		if title := doc.Get("title"); title != nil {
			out.Title = title.Text
		}
		for key, into := range map[string]**expansion{"expandStart": &out.start, "expandEnd": &out.end} {
			if e := doc.Get(key); e != nil && e.Kind != yamldoc.Null {
				sub, stop, err := c.related(key, e)
				if err != nil {
					return nil, err
				}
				*into = &expansion{sub, stop}
			}
		}
	}
	text, err := scalar(source, "`fix`")
	if err != nil {
		return nil, err
	}
	out.Template = pattern.ParseTemplate(text, c.vars, core.transformed)
	var unknown string
	out.Template.Uses(func(name string, _ bool) {
		if !defined[name] && unknown == "" {
			unknown = name
		}
	})
	if unknown != "" {
		return nil, source.Errorf("the fix uses $%s, which nothing in the rule binds", unknown)
	}
	return out, nil
}

// readRewriters compiles the rewriters of a rule, which see its utilities and
// metavariables.
func (c *compiler) readRewriters(doc *yamldoc.Node, defined []string) error {
	if doc.Kind != yamldoc.Sequence {
		return doc.Errorf("`rewriters` must be a list, not %s", doc.Kind)
	}
	for _, item := range doc.Items {
		if err := item.Keys("a rewriter", append([]string{"id"}, CoreKeys...)...); err != nil {
			return err
		}
		id := item.Get("id")
		if id == nil || id.Text == "" {
			return item.Errorf("a rewriter must have an `id`")
		}
		if item.Get("fix") == nil {
			return item.Errorf("rewriter %q must have a `fix`", id.Text)
		}
		sub := *c
		sub.locals, sub.own = maps.Clone(c.locals), maps.Clone(c.utilOwn)
		core, err := sub.core(item, defined)
		if err != nil {
			return err
		}
		c.rewriters[id.Text] = core
	}
	return nil
}

// checkRewriters checks that every rewriter that a transform names is there.
func (c *compiler) checkRewriters(doc *yamldoc.Node, core *Core) error {
	for _, user := range append([]*Core{core}, slices.Collect(maps.Values(c.rewriters))...) {
		for _, t := range user.transforms {
			with, ok := t.fn.(*rewriteWith)
			if !ok {
				continue
			}
			for _, id := range with.ids {
				if c.rewriters[id] == nil {
					return doc.Errorf("transform %s uses rewriter %q, which is not among `rewriters`", c.vars.Names()[t.slot], id)
				}
			}
		}
	}
	return nil
}
