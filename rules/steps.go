package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/rules/refactor"
)

// imports reads `metadata.imports`: what a fix of the rule does to the imports
// of its file. Entries are written as the language writes them ("os",
// "jakarta.inject.Inject") or as {path, name, alias, static}.
func imports(doc *yamldoc.Node, what, language string) (*refactor.Imports, error) {
	if err := doc.Keys(what, "add", "remove", "removeUnused"); err != nil {
		return nil, err
	}
	out := &refactor.Imports{}
	for _, part := range []struct {
		key  string
		into *[]refactor.ImportSpec
	}{{"add", &out.Add}, {"remove", &out.Remove}, {"removeUnused", &out.Unused}} {
		list := doc.Get(part.key)
		if list == nil || list.Kind == yamldoc.Null {
			continue
		}
		if list.Kind != yamldoc.Sequence {
			return nil, list.Errorf("`%s` must be a list of imports, not %s", part.key, list.Kind)
		}
		for _, item := range list.Items {
			spec, err := importSpec(item, language)
			if err != nil {
				return nil, err
			}
			*part.into = append(*part.into, spec)
		}
	}
	if len(out.Add)+len(out.Remove)+len(out.Unused) == 0 {
		return nil, doc.Errorf("%s names no import", what)
	}
	return out, nil
}

func importSpec(doc *yamldoc.Node, language string) (refactor.ImportSpec, error) {
	var spec refactor.ImportSpec
	if doc.Kind == yamldoc.Mapping {
		err := decode(doc, &spec)
		if err == nil && spec.Path == "" {
			err = doc.Errorf("an import must have `path`")
		}
		return spec, err
	}
	text, err := doc.Str("an import")
	if err != nil {
		return spec, err
	}
	spec.Path = text
	// Java and its kin name what they import after its package.
	if language == "java" || language == "kotlin" || language == "scala" {
		if rest, ok := strings.CutPrefix(text, "static "); ok {
			spec.Static, text = true, rest
		}
		if i := strings.LastIndexByte(text, '.'); i > 0 {
			spec.Path, spec.Name = text[:i], text[i+1:]
		}
	}
	return spec, nil
}

// steps reads `metadata.steps`: refactorings that are the rule's fix, each a
// mapping of its name to its parameters.
func steps(doc *yamldoc.Node, what string) ([]namedStep, error) {
	if doc.Kind != yamldoc.Sequence {
		return nil, doc.Errorf("%s must be a list of steps, not %s", what, doc.Kind)
	}
	var out []namedStep
	for _, item := range doc.Items {
		if item.Kind != yamldoc.Mapping || len(item.Pairs) != 1 {
			return nil, item.Errorf("a step must be its name with its parameters, as in renameType: {from: …, to: …}")
		}
		name, params := item.Pairs[0].Key, item.Pairs[0].Value
		step, err := refactor.New(name.Text, func(into any) error { return decode(params, into) })
		if err != nil {
			return nil, name.Errorf("%s", err.Error())
		}
		out = append(out, namedStep{name.Text, step})
	}
	return out, nil
}

// decode fills a struct with json tags from a mapping; keys that the struct does
// not have are errors.
func decode(doc *yamldoc.Node, into any) error {
	text, err := json.Marshal(doc.Value())
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return doc.Errorf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// Typed reports whether the rule's fix is made of steps alone that know what
// they change (a dependency, a version, a property, a name), none of which puts
// text in place of what was matched.
func (r *Rule) Typed() bool {
	return len(r.steps) > 0 && len(r.core.Fixes) == 0 &&
		!slices.ContainsFunc(r.steps, func(s namedStep) bool { return s.name == "findReplace" || s.name == "removeMatch" })
}
