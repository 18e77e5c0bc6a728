package difftest

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
)

// runEngine runs the same rules with our own engine.
func runEngine(t testing.TB, tree *treesitter.Tree, rules map[string]string) ([]result, map[string]string) {
	rejected := map[string]string{}
	var ids []string
	for id := range rules {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	var out []result
	for _, id := range ids {
		got, err := engineOnce(tree, id, rules[id])
		if err != nil {
			rejected[id] = err.Error()
			continue
		}
		out = append(out, got...)
	}
	sortResults(out)
	return out, rejected
}

func engineOnce(tree *treesitter.Tree, id, source string) ([]result, error) {
	docs, err := yamldoc.Parse([]byte(source))
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%d documents", len(docs))
	}
	core, err := matcher.Compile(docs[0], tree.Language(), nil)
	if err != nil {
		return nil, err
	}
	needs := core.Need()
	canMatch := needs.Met(tree.Source())
	var out []result
	state := matcher.NewState(tree)
	for i := range tree.Len() {
		env := pattern.NewEnv(core.Vars())
		node, ok := core.Match(state, tree.Node(i), env)
		if !ok {
			continue
		}
		if !canMatch {
			return nil, fmt.Errorf("it matches although the prefilter says it cannot: %s", needs)
		}
		m := matcher.Match{Node: node, Env: env}
		r := result{Rule: id, Start: node.Start(), End: node.End(), Single: map[string]string{}, Multi: map[string]string{}, Transformed: map[string]string{}, Message: core.Message(m)}
		for slot, name := range env.Vars().Names() {
			if n := env.Single(slot); !n.IsZero() {
				r.Single[name] = fmt.Sprintf("%d-%d", n.Start(), n.End())
			}
			if list, ok := env.Multi(slot); ok {
				var parts []string
				for _, n := range list {
					parts = append(parts, fmt.Sprintf("%d-%d", n.Start(), n.End()))
				}
				r.Multi[name] = strings.Join(parts, " ")
			}
			if text, ok := env.Text(slot); ok {
				r.Transformed[name] = string(text)
			}
		}
		if len(core.Fixes) > 0 {
			start, end := core.Fixes[0].Range(state, m)
			var text strings.Builder
			for _, p := range core.Fixes[0].Pieces(m) {
				text.Write(p.Text)
			}
			r.Fix = fmt.Sprintf("%d-%d %s", start, end, text.String())
		}
		out = append(out, r.normal())
	}
	return out, nil
}

func parse(t testing.TB, lang *treesitter.Language, src []byte) *treesitter.Tree {
	tree, err := treesitter.Parse(context.Background(), lang, src)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
