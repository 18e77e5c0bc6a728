package rules_test

import (
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules"
)

// TestNameTakenByANeighbour: a file that is free of a name is not free to use it
// when another file of its package declares it.
func TestNameTakenByANeighbour(t *testing.T) {
	const file = "package p\n\nvar x interface{}\n"
	for name, tt := range map[string]struct {
		neighbour string
		refused   bool
	}{
		"type":            {"package p\n\ntype any struct{}\n", true},
		"grouped value":   {"package p\n\nvar (\n\ta, any = 1, 2\n)\n", true},
		"function":        {"package p\n\nfunc any() {}\n", true},
		"method":          {"package p\n\ntype T int\n\nfunc (T) any() {}\n", false},
		"local":           {"package p\n\nfunc f() { any := 1; _ = any }\n", false},
		"another package": {"package p_test\n\ntype any struct{}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			ws := project(t, map[string]string{"go.mod": "module m\n\ngo 1.21\n", "a.go": file, "b.go": tt.neighbour, "sub/c.go": "package p\n\ntype any int\n"})
			set, problems, err := rules.Load(t.Context(), []string{"builtin:go-any"}, rules.LoadOptions{Workspace: ws})
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			f, err := ws.Read("a.go")
			if err != nil {
				t.Fatal(err)
			}
			matches, err := set.Check(t.Context(), f, nil)
			if err != nil || len(matches) != 1 {
				t.Fatalf("%d matches, %v", len(matches), err)
			}
			rw, err := set.Rewrite(t.Context(), f, nil, matches)
			if err != nil {
				t.Fatal(err)
			}
			if refused := len(rw.Refused) == 1; refused != tt.refused {
				t.Fatalf("refused %v, want %v: %+v", refused, tt.refused, rw)
			}
			if tt.refused && (rw.Refused[0].Kind != rules.RefusedShadowed || !strings.Contains(rw.Refused[0].Detail, "b.go")) {
				t.Errorf("%+v", rw.Refused[0])
			}
		})
	}
}
