package difftest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
)

// caseOf is one rule on one text with what both engines make of it.
type caseOf struct {
	lang                 *treesitter.Language
	code                 []byte
	rule                 string
	ours, theirs         []result
	ourError, theirError string
	bin, dir             string
}

// A deviation is a difference that is known and wanted, or that cannot be
// helped. Each stands in docs/deviations-astgrep.md by its name.
type deviation struct {
	name string
	is   func(t testing.TB, c *caseOf) bool
}

// deviation returns the name of the deviation that explains a difference, "" for none.
func (c *caseOf) deviation(t testing.TB) string {
	for _, d := range deviations {
		if d.is(t, c) {
			return d.name
		}
	}
	return ""
}

var deviations = []deviation{
	{"undefined rewriters are errors", undefinedRewriter},
	{"siblings of the whole file", siblingsOfTheFile},
	{"patterns that the grammars read differently", readsPatternDifferently},
	{"relations in code that has levels of nodes which only the newer grammar has", hasOtherLevels},
}

// undefinedRewriter says that a transform names a rewriter that is not there,
// which ast-grep passes over where the rule has no rewriters at all.
func undefinedRewriter(_ testing.TB, c *caseOf) bool {
	return strings.Contains(c.ourError, "is not among `rewriters`") && c.theirError == ""
}

// siblingsOfTheFile says that the only difference is in matches of the whole
// file, for which ast-grep takes its own children for its siblings.
func siblingsOfTheFile(t testing.TB, c *caseOf) bool {
	if !slices.ContainsFunc([]string{"\"precedes\"", "\"follows\"", "\"expandStart\"", "\"expandEnd\""}, func(key string) bool { return strings.Contains(c.rule, key) }) {
		return false
	}
	root := parse(t, c.lang, c.code).Root()
	inner := func(list []result) []result {
		return slices.DeleteFunc(slices.Clone(list), func(r result) bool { return r.Start == root.Start() && r.End == root.End() })
	}
	return equal(inner(c.ours), inner(c.theirs))
}

// structural are the keys of conditions that depend on the nodes around.
var structural = []string{"\"inside\"", "\"has\"", "\"precedes\"", "\"follows\"", "\"nthChild\"", "\"expandStart\"", "\"expandEnd\""}

// hasOtherLevels says that the newer grammar puts nodes between those that both
// know (Go's statement_list), and that the rule asks for parents or siblings.
func hasOtherLevels(t testing.TB, c *caseOf) bool {
	if !slices.ContainsFunc(structural, func(key string) bool { return strings.Contains(c.rule, key) }) {
		return false
	}
	return outline(c.oracleTree(t, string(c.code))) != ourOutline(t, c.lang, string(c.code))
}

// readsPatternDifferently says that a pattern of the rule has another tree for
// the other side, whose grammar is newer.
func readsPatternDifferently(t testing.TB, c *caseOf) bool {
	docs, err := yamldoc.Parse([]byte(c.rule))
	if err != nil || len(docs) != 1 {
		return false
	}
	doc := docs[0].Value()
	differs := false
	eachPattern(doc, func(code string) {
		differs = differs || outline(c.oracleTree(t, code)) != ourOutline(t, c.lang, code)
	})
	return differs
}

// eachPattern calls visit for the code of every pattern in a rule.
func eachPattern(v any, visit func(string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			eachPattern(item, visit)
		}
	case map[string]any:
		for key, item := range v {
			text, isText := item.(string)
			if isText && (key == "pattern" || key == "context") {
				visit(text)
			} else {
				eachPattern(item, visit)
			}
		}
	}
}

// oracleTree returns how the oracle reads a pattern, as its debug output.
func (c *caseOf) oracleTree(t testing.TB, code string) string {
	empty := filepath.Join(c.dir, "empty.txt")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(c.bin, "run", "-p", pattern.Preprocess(code, c.lang.Expando), "-l", c.lang.Name, "--debug-query=cst", empty)
	out, _ := cmd.CombinedOutput() // it fails when nothing matches
	_, tree, _ := strings.Cut(string(out), "Debug CST:\n")
	return tree
}

var place = regexp.MustCompile(` \(\d+,\d+\)-\(\d+,\d+\)$`)

// outline leaves the kinds and their depth of a debug output.
func outline(tree string) string {
	var b strings.Builder
	for _, line := range strings.Split(tree, "\n") {
		bare := place.ReplaceAllString(line, "")
		if bare == line {
			continue
		}
		body := strings.TrimLeft(bare, " ")
		indent := len(bare) - len(body)
		if i := strings.Index(body, ": "); i > 0 && i+2 < len(body) {
			body = body[i+2:]
		}
		fmt.Fprintf(&b, "%d %s\n", indent/2, body)
	}
	return b.String()
}

func ourOutline(t testing.TB, lang *treesitter.Language, code string) string {
	tree := parse(t, lang, []byte(pattern.Preprocess(code, lang.Expando)))
	var b strings.Builder
	var walk func(n treesitter.Node, depth int)
	walk = func(n treesitter.Node, depth int) {
		fmt.Fprintf(&b, "%d %s\n", depth, n.Kind())
		for c := range n.Children() {
			walk(c, depth+1)
		}
	}
	walk(tree.Root(), 0)
	return b.String()
}
