package rules

import (
	"context"
	"fmt"
	"strings"

	"github.com/kaiak/kaiak/incidents"
)

// Lint loads rules and returns what is wrong with them: first what keeps a rule
// from being loaded, then, in the order of the rules, what its author probably
// did not mean. The second count is how many rules were looked at.
func Lint(ctx context.Context, sources []string, opts LoadOptions) ([]incidents.Problem, int, error) {
	set, problems, err := Load(ctx, sources, opts)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range set.Rules() {
		file := r.Source[:strings.LastIndexByte(r.Source, ':')]
		warn := func(where, format string, args ...any) {
			problems = append(problems, incidents.Problem{Source: file, Where: where, Reason: fmt.Sprintf("rule %s: ", r.ID) + fmt.Sprintf(format, args...)})
		}
		for _, w := range r.core.Warnings {
			warn(fmt.Sprintf("line %d, column %d", w.Line, w.Col), "%s", w.Msg)
		}
		whole := "line " + r.Source[strings.LastIndexByte(r.Source, ':')+1:]
		if r.Message == "" {
			warn(whole, "it has no `message`, so that those who see its incidents learn only its id")
		}
		if len(r.FixesIDs) > 0 && !r.Fixable() {
			warn(whole, "`metadata.fixes` binds it to other tools' rules, but it has no fix")
		}
		if r.imports != nil && !r.Fixable() {
			warn(whole, "`metadata.imports` is for rules with a fix")
		}
	}
	return problems, len(set.Rules()), nil
}
