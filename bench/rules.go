package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// patterns are Go patterns that occur in real code with very different
// frequency. A rule set of size n is the first n of them. One that is a call
// gets a context, because Go's grammar reads a lone f(x) as a conversion.
var patterns = []string{
	"errors.New($A)",
	"if err != nil { return err }",
	"len($A) == 0",
	"append($A, $B)",
	"make([]byte, $N)",
	"defer $A.Close()",
	"$A != nil && $B",
	"for $I := 0; $I < $N; $I++ { $$$BODY }",
	"panic($A)",
	"go func() { $$$BODY }()",
	"$A = append($A, $$$ARGS)",
	"fmt.Sprintf($$$ARGS)",
	"fmt.Errorf($$$ARGS)",
	"strings.Replace($A, $B, $C, -1)",
	"sort.Slice($A, $F)",
	"time.Now().Sub($A)",
	"ioutil.ReadAll($A)",
	"ioutil.ReadFile($A)",
	"os.Exit($A)",
	"t.Fatalf($$$ARGS)",
	"t.Errorf($$$ARGS)",
	"t.Fatal($$$ARGS)",
	"var $A []$T",
	"switch $A { $$$CASES }",
	"if $A == nil { $$$BODY }",
	"return nil, $ERR",
	"return $A, nil",
	"$A.Lock()",
	"$A.Unlock()",
	"defer $A.Unlock()",
	"select { $$$CASES }",
	"for { $$$BODY }",
	"for _, $V := range $X { $$$BODY }",
	"for $K := range $X { $$$BODY }",
	"copy($A, $B)",
	"delete($M, $K)",
	"cap($A)",
	"string($A)",
	"[]byte($A)",
	"$A, ok := $M[$K]",
	"$A, err := $F($$$ARGS)",
	"_ = $A",
	"$A += $B",
	"$A << $B",
	"$A | $B",
	"!$A",
	"&$T{$$$FIELDS}",
	"func($$$ARGS) { $$$BODY }",
	"$A[$I:$J]",
	"close($C)",
}

// selective are Go patterns with literals that few files hold, as the rules of
// a migration have them.
var selective = []string{
	"ioutil.ReadAll($A)",
	"interface{}",
	"sort.Slice($A, $B)",
	"strings.Replace($A, $B, $C, -1)",
	"time.Now().Sub($A)",
	"ioutil.WriteFile($A, $B, $C)",
	"ioutil.TempDir($A, $B)",
	"ioutil.Discard",
	"sort.Strings($A)",
	"reflect.PtrTo($A)",
}

// jsPatterns are JavaScript patterns from rare to common.
var jsPatterns = []string{
	"new Buffer($A)",
	"$A.substr($B, $C)",
	"escape($A)",
	"util.isArray($A)",
	"$A.__proto__",
	"Object.assign({}, $A)",
	"$A.hasOwnProperty($B)",
	"var $A = require($B)",
	"typeof $A === 'undefined'",
	"$A == null",
}

// derived returns n more Go patterns, one for each of n functions of packages
// that every tree uses.
func derived(n int) []string {
	var out []string
	for _, pkg := range []string{"strings", "bytes"} {
		for _, f := range []string{"Contains", "HasPrefix", "HasSuffix", "Index", "LastIndex", "Split", "EqualFold", "Compare", "Count", "Fields",
			"Join", "Map", "Repeat", "Title", "ToLower", "ToUpper", "Trim", "TrimLeft", "TrimRight", "TrimSpace"} {
			out = append(out, pkg+"."+f+"($$$ARGS)")
		}
	}
	return out[:n]
}

// goCall recognises a pattern that is nothing but a call.
var goCall = regexp.MustCompile(`^[\w$.]+(\(\)\.\w+)?\([^()]*\)$`)

// writeRules writes the patterns of a workload as a rule directory that both
// programs read, with the sgconfig.yml that ast-grep wants, and returns the
// directory of the configuration and that of the rules.
func writeRules(dir string, load workload) (project, rules string, err error) {
	project = filepath.Join(dir, "rules-"+load.language+"-"+strings.ReplaceAll(load.label, " ", "-"))
	rules = filepath.Join(project, "rules")
	if err := os.MkdirAll(rules, 0o755); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(filepath.Join(project, "sgconfig.yml"), []byte("ruleDirs: [rules]\n"), 0o644); err != nil {
		return "", "", err
	}
	for i, p := range load.patterns {
		text := ruleYAML(fmt.Sprintf("bench-%02d", i+1), load.language, p, "")
		if err := os.WriteFile(filepath.Join(rules, fmt.Sprintf("bench-%02d.yml", i+1)), []byte(text), 0o644); err != nil {
			return "", "", err
		}
	}
	return project, rules, nil
}

// ruleYAML is a rule with one pattern and, when fix is not empty, its fix.
func ruleYAML(id, language, pattern, fix string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\nlanguage: %s\nseverity: warning\nmessage: found by %s\nrule:\n", id, language, id)
	if language == "go" && goCall.MatchString(pattern) {
		fmt.Fprintf(&b, "  pattern:\n    context: %q\n    selector: call_expression\n", "func _() { "+pattern+" }")
	} else {
		fmt.Fprintf(&b, "  pattern: %q\n", pattern)
	}
	if fix != "" {
		fmt.Fprintf(&b, "fix: %q\n", fix)
	}
	return b.String()
}
