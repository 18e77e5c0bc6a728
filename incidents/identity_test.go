package incidents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestIdentifyDependsOnEachPart(t *testing.T) {
	base := Identity{RuleID: "r", Path: "a/b.go", Declaration: "F", Snippet: "x := old()", Ordinal: 0}
	id := Identify(base)
	if !strings.HasPrefix(id, "inc-") || len(id) != len("inc-")+32 {
		t.Fatalf("id %q has an unexpected form", id)
	}
	for name, change := range map[string]func(*Identity){
		"rule":        func(i *Identity) { i.RuleID = "r2" },
		"path":        func(i *Identity) { i.Path = "a/c.go" },
		"declaration": func(i *Identity) { i.Declaration = "G" },
		"snippet":     func(i *Identity) { i.Snippet = "y := old()" },
		"ordinal":     func(i *Identity) { i.Ordinal = 1 },
		"boundary":    func(i *Identity) { i.RuleID, i.Path = "ra", "/b.go" },
	} {
		other := base
		change(&other)
		if Identify(other) == id {
			t.Errorf("a different %s gives the same id", name)
		}
	}
	wrapped := base
	wrapped.Snippet = "\tx :=\r\n\t\told()\n"
	if Identify(wrapped) != id {
		t.Error("re-indenting the snippet changes the id")
	}
}

// The id is part of stored sessions and baselines: it must not change between releases.
func TestIdentifyIsPinned(t *testing.T) {
	got := Identify(Identity{RuleID: "go-ioutil-readfile", Path: "cmd/main.go", Declaration: "main", Snippet: "ioutil.ReadFile(p)", Ordinal: 2})
	const want = "inc-adc4ed2fefbc65ca417740dd55a349d9"
	if got != want {
		t.Errorf("Identify = %q, want %q", got, want)
	}
}

func TestAssignIDsCountsWithinTheDeclaration(t *testing.T) {
	list := []Incident{
		{RuleID: "r", FilePath: "a.go", LineNumber: 3, Snippet: "old()", Category: "F"},
		{RuleID: "r", FilePath: "a.go", LineNumber: 4, Snippet: "old( )", Category: "F"},
		{RuleID: "r", FilePath: "a.go", LineNumber: 5, Snippet: "old()", Category: "F"},
		{RuleID: "r", FilePath: "a.go", LineNumber: 9, Snippet: "old()", Category: "G"},
		{ID: "given", RuleID: "r", FilePath: "a.go", LineNumber: 10, Snippet: "old()", Category: "G"},
		{RuleID: "r", FilePath: "a.go", LineNumber: 11, Snippet: "old()", Category: "G"},
	}
	AssignIDs(list, func(in *Incident) string { return in.Category })
	want := func(i int, decl, snippet string, ordinal int) {
		t.Helper()
		if id := Identify(Identity{"r", "a.go", decl, snippet, ordinal}); list[i].ID != id {
			t.Errorf("incident %d: id %s, want ordinal %d in %s", i, list[i].ID, ordinal, decl)
		}
	}
	want(0, "F", "old()", 0)
	want(1, "F", "old( )", 0)
	want(2, "F", "old()", 1)
	want(3, "G", "old()", 0)
	want(5, "G", "old()", 2)
	if list[4].ID != "given" {
		t.Errorf("a given id was replaced by %s", list[4].ID)
	}
}

func TestNormalizeSnippet(t *testing.T) {
	for in, want := range map[string]string{
		"":              "",
		" \t\n":         "",
		"a  b\n\tc ":    "a b c",
		"a\u00a0b":      "a b",
		"bad \xff byte": "bad \uFFFD byte",
	} {
		if got := NormalizeSnippet(in); got != want {
			t.Errorf("NormalizeSnippet(%q) = %q, want %q", in, got, want)
		}
	}
}

// What a tool reports again after the workspace has moved and lines were added
// above has the ids that it had.
func TestIDsSurviveEditsAboveAndAMove(t *testing.T) {
	read := func(root, text string, line int) []string {
		var results []string
		for i := range 2 { // the same call twice, on two lines
			results = append(results, fmt.Sprintf(`{"ruleId":"R","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file://%s/a.go"},"region":{"startLine":%d,"startColumn":2,"endColumn":7}}}]}`, root, line+i))
		}
		doc := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[` + strings.Join(results, ",") + `]}]}`
		rep, err := Read("r.sarif", []byte(doc), Options{Root: root, Text: func(string) ([]byte, bool) { return []byte(text), true }})
		if err != nil || len(rep.Incidents) != 2 || len(rep.Problems) > 0 {
			t.Fatal(err, rep)
		}
		if rep.Incidents[0].Snippet != "old()" {
			t.Fatalf("snippet %q", rep.Incidents[0].Snippet)
		}
		return ids(rep.Incidents)
	}
	before := read("/home/a/shop", "x\n\told()\n\told()\n", 2)
	after := read("/srv/moved", "// new\n// lines\nx\n\told()\n\told()\n", 4)
	if !slices.Equal(before, after) || before[0] == before[1] {
		t.Errorf("ids %v became %v", before, after)
	}
}
