package konveyor

import (
	"context"
	"fmt"
	"regexp"
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
	t.Log(fmt.Sprintf("%d patterns tried, %d left out", tried, left))
}
