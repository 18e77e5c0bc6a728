package matcher

import (
	"context"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
)

func compileText(t testing.TB, text string, globals Globals) (*Core, error) {
	t.Helper()
	docs, err := yamldoc.Parse([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatal(len(docs), err)
	}
	return Compile(docs[0], treesitter.Lookup("javascript"), globals)
}

// texts returns what a rule matches in code.
func texts(t *testing.T, rule, code string) string {
	t.Helper()
	core, err := compileText(t, rule, nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(matches(t, core, code), "|")
}

func matches(t testing.TB, core *Core, code string) []string {
	tree, err := treesitter.Parse(context.Background(), core.Language(), []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	state, env := NewState(tree), pattern.NewEnv(core.Vars())
	var out []string
	for n := range tree.Root().Descendants() {
		if found, ok := core.Match(state, n, env); ok {
			out = append(out, found.Text())
		}
		env.Undo(0)
		if env.Mark() != 0 {
			t.Error("bindings are left over")
		}
	}
	return out
}

func TestConditions(t *testing.T) {
	const code = "f(1, 2, x); { a(); b(); c(); } function g() { for (;;) { h(y) } } o = {k: 1, l: {m: 2}}"
	for _, c := range []struct{ name, rule, want string }{
		{"kind and regex", `rule: {kind: number, regex: '^1$'}`, "1|1"},
		{"selector child", `rule: {kind: 'pair > number'}`, "1|2"},
		{"selector descendant", `rule: {kind: 'for_statement identifier'}`, "h|y"},
		{"selector has", `rule: {kind: 'pair:has(> number)'}`, "k: 1|m: 2"},
		{"selector not", `rule: {kind: 'number:not(:nth-child(1))'}`, "2|1|2"},
		{"selector list", `rule: {kind: 'pair > number, for_statement'}`, "for (;;) { h(y) }|1|2"},
		{"nth of", `rule: {kind: number, nthChild: {position: 2, ofRule: {kind: number}}}`, "2"},
		{"nth reverse", `rule: {kind: expression_statement, nthChild: {position: 1, reverse: true}, inside: {kind: statement_block}}`, "c();|h(y)"},
		{"follows end", `rule: {kind: expression_statement, follows: {pattern: 'a();', stopBy: end}}`, "b();|c();"},
		{"follows neighbour", `rule: {kind: expression_statement, follows: {pattern: 'a();'}}`, "b();"},
		{"precedes", `rule: {kind: expression_statement, precedes: {pattern: 'c();', stopBy: end}}`, "a();|b();"},
		{"inside field", `rule: {kind: identifier, inside: {kind: call_expression, field: function}, regex: '^[a-c]$'}`, "a|b|c"},
		{"has field", `rule: {kind: pair, has: {field: value, kind: object}}`, "l: {m: 2}"},
		{"has stop", `rule: {kind: object, has: {kind: number, stopBy: {kind: object}}}`, "{k: 1, l: {m: 2}}|{m: 2}"},
		{"any binds the first", `rule: {any: [{pattern: 'f($A, $$$)'}, {pattern: 'h($A)'}]}`, "f(1, 2, x)|h(y)"},
		{"not", `rule: {kind: call_expression, not: {has: {kind: arguments, has: {kind: identifier}}}}`, "a()|b()|c()"},
		{"local util", "utils: {num: {kind: number}, two: {matches: num, regex: '2'}}\nrule: {matches: two}", "2|2"},
		{"recursive util", "utils: {deep: {any: [{kind: number}, {kind: object, has: {matches: deep, stopBy: end}}]}}\nrule: {matches: deep, kind: object}", "{k: 1, l: {m: 2}}|{m: 2}"},
		{"constraint", "rule: {pattern: 'h($A)'}\nconstraints: {A: {regex: z}}", ""},
		{"range", `rule: {kind: number, range: {start: {line: 0, column: 2}, end: {line: 0, column: 3}}}`, "1"},
	} {
		if got := texts(t, c.rule, code); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNeeds(t *testing.T) {
	for rule, want := range map[string]string{
		"rule: {pattern: 'foo($A).bar(1)'}":                                          "`foo` & `bar` & `1`",
		"rule: {any: [{pattern: foo($A)}, {pattern: bar($A)}]}":                      "(`foo` | `bar`)",
		"rule: {any: [{pattern: foo($A)}, {kind: number}]}":                          "",
		"rule: {kind: string, regex: 'https?://example'}":                            "(`http://example` | `https://example`)",
		"rule: {pattern: foo($A), inside: {pattern: 'class Bar { $$$ }'}}":           "`foo` & `class` & `Bar`",
		"rule: {pattern: foo($A), not: {pattern: foo(no)}}":                          "`foo`",
		"rule: {pattern: foo($A)}\nconstraints: {A: {regex: secret}}":                "`foo` & `secret`",
		"rule: {pattern: {context: foo(bar), strictness: signature}}":                "",
		"utils: {u: {pattern: deep($A)}}\nrule: {kind: call_expression, matches: u}": "`deep`",
	} {
		core, err := compileText(t, rule, nil)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if got := core.Need().String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", rule, got, want)
		}
	}
}

func TestGlobals(t *testing.T) {
	source := func(text string) GlobalSource {
		docs, err := yamldoc.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return GlobalSource{Doc: docs[0], Lang: treesitter.Lookup("javascript"), ID: docs[0].Get("id").Text}
	}
	globals, errs := CompileGlobals([]GlobalSource{
		source("id: wrap(BODY)\nrule: {kind: call_expression, has: {kind: arguments, has: {matches: BODY}}}"),
		source("id: twice(BODY)\nrule: {matches: {wrap: {BODY: {matches: BODY}}}}"),
		source("id: lit\nrule: {any: [{kind: number}, {matches: str}]}"),
		source("id: str\nrule: {kind: string}"),
		source("id: loop\nrule: {kind: number, matches: loop}"),
		source("id: bad()\nrule: {kind: number}"),
	})
	if len(errs) != 2 || errs[4] == nil || errs[5] == nil {
		t.Errorf("errors: %v", errs)
	}
	for rule, want := range map[string]string{
		"rule: {matches: lit}":                                                "1|'s'",
		"rule: {matches: {wrap: {BODY: {matches: lit}}}}":                     "f(1)|g('s')",
		"rule: {matches: {twice: {BODY: {pattern: $X, kind: identifier}}}}":   "h(x)",
		"rule: {matches: {wrap: {BODY: {kind: number}}}, pattern: '$F($$$)'}": "f(1)",
	} {
		core, err := compileText(t, rule, globals)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if got := strings.Join(matches(t, core, "f(1); g('s'); h(x)"), "|"); got != want {
			t.Errorf("%s: got %s, want %s", rule, got, want)
		}
	}
	for rule, want := range map[string]string{
		"rule: {matches: wrap}":                                 "takes parameters",
		"rule: {matches: {lit: {A: {kind: number}}}}":           "takes no arguments",
		"rule: {matches: {wrap: {}}}":                           "without its argument",
		"rule: {matches: {wrap: {NOPE: {kind: number}}}}":       "has no key",
		"rule: {matches: {nowhere: {A: {kind: number}}}}":       "no global utility",
		"utils: {'u(X)': {kind: number}}\nrule: {kind: number}": "files of their own",
	} {
		if _, err := compileText(t, rule, globals); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rule, err, want)
		}
	}
}

func TestStringCases(t *testing.T) {
	for _, c := range []struct{ to, in, want string }{
		{"camelCase", "user_account-name", "userAccountName"},
		{"snakeCase", "XMLHttpRequest", "xml_http_request"},
		{"kebabCase", "camelsLiveInTheDesert", "camels-live-in-the-desert"},
		{"pascalCase", "path/is.a slash", "PathIsASlash"},
		{"capitalize", "éa", "Éa"},
		{"upperCase", "aß", "ASS"[:1] + strings.ToUpper("ß")},
		{"camelCase", "", ""},
	} {
		if got := cases[c.to](c.in, defaultSeparators); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.to, c.in, got, c.want)
		}
	}
}

func TestParseNth(t *testing.T) {
	for src, want := range map[string][2]int{"12n + 2": {12, 2}, "-n+6": {-1, 6}, "2": {0, 2}, "n": {1, 0}, "-N": {-1, 0}, "123   n": {123, 0}, "-2": {0, -2}} {
		step, offset, err := parseNth(src)
		if err != nil || step != want[0] || offset != want[1] {
			t.Errorf("%q: %d %d %v", src, step, offset, err)
		}
	}
	for _, bad := range []string{"", "3a", "3 - n", "n++", "3n +", "n + 3n", "nN", "+", "99999999999999999999"} {
		if _, _, err := parseNth(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestRegexSyntax(t *testing.T) {
	for src, text := range map[string]string{`\u{41}b`: "Ab", `\u0041`: "A", `x{,2}y`: "xxy", `[]a]`: "]", `[^]]b`: "ab", `[[:alpha:]]1`: "a1", `\[x`: "[x"} {
		re, err := compileRegex(src)
		if err != nil || re.FindString(text) != text {
			t.Errorf("%s on %s: %v", src, text, err)
		}
	}
	for _, bad := range []string{`(?=x)`, `(?<!x)y`, `[a[b]]`, `[a&&b]`, `(`, `\1`, strings.Repeat("x", 1<<15), `[[:alpha`} {
		if _, err := compileRegex(bad); err == nil {
			t.Errorf("%.20s was taken", bad)
		}
	}
}

// TestWorkIsBounded: relations in each other give up and say so.
func TestWorkIsBounded(t *testing.T) {
	rule := "kind: number"
	for range 6 {
		rule = "kind: call_expression, inside: {kind: program, stopBy: end, has: {stopBy: end, " + rule + ", regex: zzz}}"
	}
	core, err := compileText(t, "rule: {"+rule+"}", nil)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := treesitter.Parse(context.Background(), core.Language(), []byte(strings.Repeat("f(g(h(1)));\n", 300)))
	if err != nil {
		t.Fatal(err)
	}
	state, env := NewState(tree), pattern.NewEnv(core.Vars())
	state.budget = 50_000
	for n := range tree.Root().Descendants() {
		core.Match(state, n, env)
		env.Undo(0)
	}
	if state.steps > 200_000 {
		t.Errorf("%d steps after the budget of %d was used up", state.steps, state.budget)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("rule: {pattern: $A, kind: 'a > b:has(c)', regex: '[a-z', nthChild: 2n+1}\nfix: {template: $A}\ntransform: {B: 'replace($A, replace=a, by=b)'}", "f(1)")
	f.Add("utils: {a: {matches: b}, b: {has: {matches: a, stopBy: end}}}\nrule: {matches: a, kind: number}", "[1]")
	f.Add("rule: {pattern: 'x = $A'}\nrewriters: [{id: r, rule: {pattern: '[$$$B]'}, transform: {C: {rewrite: {source: $$$B, rewriters: [r]}}}, fix: $C}]\ntransform: {D: {rewrite: {source: $A, rewriters: [r]}}}\nfix: $D", "x = [1, [2]]")
	f.Fuzz(func(t *testing.T, rule, code string) {
		if len(rule) > 2000 || len(code) > 2000 {
			t.Skip()
		}
		docs, err := yamldoc.Parse([]byte(rule))
		if err != nil || len(docs) == 0 {
			return
		}
		core, err := Compile(docs[0], treesitter.Lookup("javascript"), nil)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a message")
			}
			return
		}
		tree, err := treesitter.Parse(context.Background(), core.Language(), []byte(code))
		if err != nil {
			return
		}
		met := core.Need().Met([]byte(code))
		state, env := NewState(tree), pattern.NewEnv(core.Vars())
		state.budget = 100_000
		for n := range tree.Root().Descendants() {
			if found, ok := core.Match(state, n, env); ok {
				if !met {
					t.Errorf("matches although the prefilter rules it out: %s", core.Need())
				}
				m := Match{found, env}
				core.Message(m)
				for _, fix := range core.Fixes {
					if start, end := fix.Range(state, m); start > end || end > len(code) {
						t.Errorf("fix of [%d, %d)", start, end)
					}
					fix.Pieces(m)
				}
			}
			env.Undo(0)
		}
	})
}
