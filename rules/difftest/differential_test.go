package difftest

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/treesitter"
)

var (
	perFamily = flag.Int("cases", 2000, "generated cases for each language family; a tenth with -short")
	seed      = flag.Int64("seed", 1, "of the generator")
)

// families are the languages that are compared, by family: the cases of a
// family are spread over its languages.
var families = map[string][]string{
	"go":         {"go"},
	"java":       {"java"},
	"javascript": {"javascript", "typescript", "tsx"},
	"python":     {"python"},
	"csharp":     {"csharp"},
	"systems":    {"rust", "c", "cpp"},
	"scripting":  {"ruby", "php", "bash", "kotlin", "scala", "swift", "elixir"},
	"data":       {"json", "yaml", "html", "css", "hcl"},
}

// tally counts what became of the cases.
type tally struct {
	cases, matching, matches, rejected int
	excluded                           map[string]int
}

func TestDifferential(t *testing.T) {
	bin := oracle(t)
	perFamily := *perFamily
	if testing.Short() {
		perFamily /= 10
	}
	var names []string
	for name := range families {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			sum := tally{excluded: map[string]int{}}
			langs := families[name]
			for _, language := range langs {
				differential(t, bin, language, (perFamily+len(langs)-1)/len(langs), &sum)
			}
			t.Logf("%d cases, %d of them with matches, %d matches; %d rules that both reject; excluded: %v", sum.cases, sum.matching, sum.matches, sum.rejected, sum.excluded)
			if sum.cases < perFamily {
				t.Errorf("only %d cases of %d", sum.cases, perFamily)
			}
			if sum.matching < sum.cases/3 {
				t.Errorf("only %d of %d cases match anything: the comparison says little", sum.matching, sum.cases)
			}
		})
	}
}

// batch is how many rules go into one run of the oracle.
const batch = 60

func differential(t *testing.T, bin, language string, cases int, sum *tally) {
	lang := treesitter.Lookup(language)
	dir := t.TempDir()
	var usable []snippet
	for _, s := range snippets(t, language) {
		if sameTree(t, bin, dir, lang, s, sum) {
			usable = append(usable, s)
			continue
		}
		for _, piece := range pieces(t, lang, s) {
			if sameTree(t, bin, dir, lang, piece, sum) {
				usable = append(usable, piece)
			}
		}
	}
	if len(usable) == 0 {
		t.Errorf("%s: no code that both grammars read alike", language)
		return
	}
	h := fnv.New64a()
	h.Write([]byte(language))
	r := rand.New(rand.NewSource(*seed + int64(h.Sum64()>>1)))
	failures := 0
	for done := 0; done < cases && failures < 25; {
		s := usable[r.Intn(len(usable))]
		tree := parse(t, lang, s.text)
		g := &generator{Rand: r, tree: tree, lang: lang}
		rules := map[string]string{}
		for i := range min(batch, cases-done) {
			id := fmt.Sprintf("r%03d", i)
			rules[id] = g.rule(id)
		}
		failures += compare(t, bin, dir, lang, s, rules, sum)
		done += len(rules)
	}
}

// pieces returns the top-level nodes of a snippet as snippets of their own.
func pieces(t *testing.T, lang *treesitter.Language, s snippet) []snippet {
	var out []snippet
	for c := range parse(t, lang, s.text).Root().NamedChildren() {
		text := c.Text() + "\n"
		if lang.Name == "php" {
			text = "<?php\n" + text
		}
		if len(text) >= minSnippet {
			out = append(out, snippet{fmt.Sprintf("%s@%d", s.name, c.Start()), []byte(text)})
		}
	}
	return out
}

func fileName(lang *treesitter.Language) string {
	return "code." + lang.Extensions[0]
}

func writeSnippet(t testing.TB, dir string, lang *treesitter.Language, s snippet) string {
	name := fileName(lang)
	if err := os.WriteFile(filepath.Join(dir, name), s.text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// sameTree reports whether both engines read the code alike: they have
// grammars of different versions.
func sameTree(t *testing.T, bin, dir string, lang *treesitter.Language, s snippet, sum *tally) bool {
	tree := parse(t, lang, s.text)
	if tree.Root().HasError() {
		sum.excluded["code with syntax errors"]++
		return false
	}
	kinds := map[string]bool{}
	for i := range tree.Len() {
		if n := tree.Node(i); n.Named() {
			kinds[n.Kind()] = true
		}
	}
	rules := map[string]string{}
	for kind := range kinds {
		rules[kind] = encode(object{"id": kind, "language": lang.Name, "rule": object{"kind": kind}})
	}
	name := writeSnippet(t, dir, lang, s)
	theirs, rejected := runOracle(t, bin, dir, name, rules)
	ours, _ := runEngine(t, tree, rules)
	if len(rejected) > 0 || len(theirs) != len(ours) {
		sum.excluded["code that the grammars read differently"]++
		return false
	}
	for i := range ours {
		if ours[i].String() != theirs[i].String() {
			sum.excluded["code that the grammars read differently"]++
			return false
		}
	}
	return true
}

// compare runs rules on both engines and reports the differences that no
// deviation explains. It returns their number.
func compare(t *testing.T, bin, dir string, lang *treesitter.Language, s snippet, rules map[string]string, sum *tally) int {
	name := writeSnippet(t, dir, lang, s)
	tree := parse(t, lang, s.text)
	theirs, theyReject := runOracle(t, bin, dir, name, rules)
	ours, weReject := runEngine(t, tree, rules)
	failures := 0
	for id, source := range rules {
		sum.cases++
		a, b := pick(ours, id), pick(theirs, id)
		if len(b) > 0 {
			sum.matching++
			sum.matches += len(b)
		}
		c := caseOf{lang: lang, code: s.text, rule: source, ours: a, theirs: b, ourError: weReject[id], theirError: theyReject[id], bin: bin, dir: dir}
		if c.ourError != "" && c.theirError != "" {
			sum.rejected++
			continue
		}
		if c.ourError == c.theirError && equal(a, b) {
			continue
		}
		if why := c.deviation(t); why != "" {
			sum.excluded[why]++
			continue
		}
		failures++
		t.Errorf("%s, %s\nrule: %s\nours:   %s %s\ntheirs: %s %s\ncode:\n%s", lang.Name, s.name, source, show(a), c.ourError, show(b), c.theirError, clip(s.text, a, b))
	}
	return failures
}

func pick(list []result, id string) []result {
	var out []result
	for _, r := range list {
		if r.Rule == id {
			out = append(out, r)
		}
	}
	return out
}

func equal(a, b []result) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].String() != b[i].String() {
			return false
		}
	}
	return true
}

// show lists results, the first few.
func show(list []result) string {
	var parts []string
	for i, r := range list {
		if i == 6 {
			parts = append(parts, fmt.Sprintf("… %d more", len(list)-i))
			break
		}
		parts = append(parts, r.String())
	}
	return "[" + strings.Join(parts, "\n         ") + "]"
}

// clip returns the code around the first difference.
func clip(text []byte, a, b []result) string {
	at := 0
	for i := 0; i < max(len(a), len(b)); i++ {
		if i >= len(a) || i >= len(b) || a[i].String() != b[i].String() {
			if i < len(b) {
				at = b[i].Start
			} else {
				at = a[i].Start
			}
			break
		}
	}
	from, to := max(0, at-150), min(len(text), at+350)
	return string(text[from:to])
}
