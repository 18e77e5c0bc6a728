package konveyor

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kaiak/kaiak/rules/konveyor/javaref"
)

var firstAlternative = regexp.MustCompile(`\(([^()|]*)\|[^()]*\)\??`)

// codeFor writes a Java file that uses a pattern as its location asks for, ""
// for patterns that no code can match (the linter warns of those).
func codeFor(s *Java) string {
	loc, _ := javaref.ParseLocation(s.Location)
	if s.Annotated != nil || len(javaref.CompilePattern(s.Pattern, loc).Warnings()) > 0 {
		return ""
	}
	text := firstAlternative.ReplaceAllString(s.Pattern, "$1")
	args := ""
	if open := strings.IndexByte(text, '('); open >= 0 && strings.HasSuffix(text, ")") {
		if params := strings.TrimSpace(text[open+1 : len(text)-1]); params != "" {
			depth := 0
			n := 1
			for _, r := range params {
				switch {
				case r == '<':
					depth++
				case r == '>':
					depth--
				case r == ',' && depth == 0:
					n++
				}
			}
			args = strings.TrimSuffix(strings.Repeat("null, ", n), ", ")
		}
		text = text[:open]
	}
	if returns, ok := strings.CutPrefix(text, "* "); ok {
		return "class T { " + returns + " m() { return null; } }"
	}
	text = strings.NewReplacer("*", "Any", "?", "x", "$", ".").Replace(strings.TrimSpace(text))
	text = strings.ReplaceAll(text, "..", ".")
	dot := strings.LastIndexByte(text, '.')
	simple := text[dot+1:]
	imported := ""
	if dot >= 0 {
		imported = "import " + text + ";\n"
	}
	switch loc {
	case javaref.Import:
		if dot < 0 {
			return "import " + text + ".Type;\nimport some." + text + ";\nclass T { }"
		}
		return imported + "class T { }"
	case javaref.Default, javaref.Type:
		if dot < 0 {
			return "class T { " + simple + " field; }"
		}
		return imported + "class T { }"
	case javaref.Package:
		return "import " + text + ".Type;\nclass T { }"
	case javaref.Annotation:
		return imported + "@" + simple + " class T { }"
	case javaref.Inheritance, javaref.ImplementsType:
		return imported + "class T extends " + simple + " { }"
	case javaref.ConstructorCall:
		return imported + "class T { Object o = new " + simple + "(" + args + "); }"
	case javaref.ReturnType:
		return imported + "class T { " + simple + " m() { return null; } }"
	case javaref.VariableDeclaration:
		return imported + "class T { void m() { " + simple + " local = null; } }"
	case javaref.Field:
		return imported + "class T { " + simple + " field; }"
	case javaref.Class:
		return "package " + text[:max(dot, 0)] + ";\nclass " + simple + " { }"
	case javaref.MethodCall:
		if dot < 0 {
			return "class T { void m(Object o) { o." + simple + "(" + args + "); } }"
		}
		typ := text[:dot]
		return "import " + typ + ";\nclass T { void m(" + typ[strings.LastIndexByte(typ, '.')+1:] + " o) { o." + simple + "(" + args + "); } }"
	case javaref.Method:
		if dot >= 0 {
			typ := text[:dot]
			return "import " + typ + ";\nclass T extends " + typ[strings.LastIndexByte(typ, '.')+1:] + " { void " + simple + "() { } }"
		}
		return "class T { void " + simple + "(" + strings.Replace(args, "null", "Object a", 1) + ") { } }"
	case javaref.EnumConstant:
		typ := text[:max(dot, 0)]
		return "import " + typ + ";\nclass T { Object o = " + typ[strings.LastIndexByte(typ, '.')+1:] + "." + simple + "; }"
	}
	return ""
}

// TestPublishedJavaPatterns writes code for every published java.referenced
// condition and wants the condition to match it.
func TestPublishedJavaPatterns(t *testing.T) {
	set, _ := Load(rulesets(t))
	tried, left := 0, 0
	seen := map[string]bool{}
	for _, r := range set.Rules() {
		r.When.walk(func(c *Condition) {
			s, ok := c.Spec.(*Java)
			if !ok || seen[s.Location+" "+s.Pattern] {
				return
			}
			seen[s.Location+" "+s.Pattern] = true
			code := codeFor(s)
			if code == "" {
				left++
				return
			}
			tried++
			alone := *c
			alone.As, alone.From, alone.Not = "", "", false
			spec := *s
			spec.Scope = Scope{}
			alone.Spec = &spec
			one := &Set{RuleSets: []*RuleSet{{Name: "one", Rules: []*Rule{{ID: "r", Message: "m", RuleSet: "one", When: &alone}}}}}
			res, err := one.Run(context.Background(), FromFS(fstest.MapFS{"T.java": {Data: []byte(code)}}, "/"), RunOptions{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Incidents) == 0 {
				t.Errorf("%s: %s %s does not match\n%s", r.ID, s.Location, s.Pattern, code)
			}
		})
	}
	t.Logf("%d patterns tried, %d left out", tried, left)
}

// sample returns a text that a regular expression matches, false when it would
// have to hold what a file name or line cannot.
func sample(re *syntax.Regexp) (string, bool) {
	var b strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), true
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for _, r := range []rune{'a', 'A', '0', ' ', '/', '"', re.Rune[i]} {
				if re.Rune[i] <= r && r <= re.Rune[i+1] && r >= ' ' {
					return string(r), true
				}
			}
		}
		return "", false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x", true
	case syntax.OpCapture, syntax.OpPlus:
		return sample(re.Sub[0])
	case syntax.OpRepeat:
		one, ok := sample(re.Sub[0])
		return strings.Repeat(one, re.Min), ok
	case syntax.OpAlternate:
		return sample(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			s, ok := sample(sub)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	}
	return "", true // empty matches, * and ?
}

// sampleOf returns a text that the pattern matches, false when none was found.
func sampleOf(pattern string) (string, bool) {
	re, err := syntax.Parse("(?m)"+pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	s, ok := sample(re)
	return s, ok && regexp.MustCompile("(?m)"+pattern).MatchString(s)
}

// TestPublishedTextPatterns writes a text for every published condition on
// text and names, in a file of a name that it asks for, and wants it to match
// when all rules run together.
func TestPublishedTextPatterns(t *testing.T) {
	set, _ := Load(rulesets(t))
	app := fstest.MapFS{}
	type place struct{ key, file string }
	var want []place
	rules := map[string]*Rule{}
	left := 0
	for _, r := range set.Rules() {
		r.When.walk(func(c *Condition) {
			name, text := "", "x"
			ok := false
			switch s := c.Spec.(type) {
			case *FileContent:
				if len(s.Patterns) > 0 {
					break
				}
				if text, ok = sampleOf(s.Pattern); !ok && regexp.QuoteMeta(s.Pattern) != s.Pattern {
					text, ok = s.Pattern, len(compileLiteral(t, s.Pattern)) > 0
				}
				name = "any.txt"
				if s.FilePattern != "" && ok {
					name, ok = nameFor(s.FilePattern)
				}
				ok = ok && text != "" && !isBinaryName(name)
			case *File:
				name, ok = nameFor(s.Pattern)
			default:
				return
			}
			if !ok {
				left++
				return
			}
			key := fmt.Sprintf("c%d", len(want))
			file := key + "/" + name
			app[file] = &fstest.MapFile{Data: []byte(text + "\n")}
			alone := *c
			alone.As, alone.From, alone.Not = "", "", false
			rules[key] = &Rule{ID: key, Message: "m", RuleSet: "one", When: &alone, Description: fmt.Sprintf("%s: %+v", r.ID, c.Spec)}
			want = append(want, place{key, file})
		})
	}
	rs := &RuleSet{Name: "one"}
	for _, w := range want {
		rs.Rules = append(rs.Rules, rules[w.key])
	}
	res, err := (&Set{RuleSets: []*RuleSet{rs}}).Run(context.Background(), FromFS(app, "/"), RunOptions{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	found := map[place]bool{}
	for _, in := range res.Incidents {
		found[place{in.RuleID, in.FilePath}] = true
	}
	for _, w := range want {
		if !found[w] {
			t.Errorf("%s does not match in %s: %q", rules[w.key].Description, w.file, app[w.file].Data)
		}
	}
	t.Logf("%d conditions tried, %d left out", len(want), left)
}

// compileLiteral returns the pattern when it is searched as plain text.
func compileLiteral(t *testing.T, pattern string) string {
	t.Helper()
	p, err := compileText(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return string(p.plain)
}

// nameFor returns a file name that a path pattern fits.
func nameFor(pattern string) (string, bool) {
	p := compilePath(pattern)
	name := p.plain
	switch {
	case p.glob != "":
		name = strings.ReplaceAll(p.glob, "*", "x")
	case p.re != nil:
		var ok bool
		if name, ok = sampleOf(pattern); !ok {
			return "", false
		}
	}
	if name = strings.Trim(name, "/"); strings.HasPrefix(name, ".") {
		name = "x" + name
	}
	return name, fs.ValidPath(name)
}
