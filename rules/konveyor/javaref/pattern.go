package javaref

import (
	"fmt"
	"strings"
)

// A Pattern is a compiled pattern of java.referenced: qualified names with *
// (any text, dots included) and ? (any character), alternatives in parentheses,
// parameters after a method's name.
type Pattern struct {
	source   string
	loc      Location
	alts     []alternative
	warnings []string
}

// An alternative is one name of a pattern.
type alternative struct {
	text    string // the name without parameters: "javax.ejb.Stateless", "get*"
	qual    string // before the last dot: "javax.ejb"; "" when there is none
	simple  string // after it
	params  int    // number of parameters; -1: any
	returns string // of a method pattern "* a.b.C"; "" otherwise
}

// CompilePattern reads a pattern for a location. Every text is a pattern; what
// cannot match as it probably should is reported by [Pattern.Warnings].
func CompilePattern(source string, loc Location) *Pattern {
	p := &Pattern{source: source, loc: loc}
	for _, text := range expand(source, 0) {
		p.alts = append(p.alts, parseAlternative(text))
	}
	p.check()
	return p
}

// String returns the pattern as the rule has it.
func (p *Pattern) String() string { return p.source }

// Warnings says what about the pattern is a trap.
func (p *Pattern) Warnings() []string { return p.warnings }

const maxAlternatives = 4096

// expand resolves the first group of alternatives, "(a|b)" or "(a|b)?", and
// then what is left of them.
func expand(s string, depth int) []string {
	open := strings.IndexByte(s, '(')
	if open < 0 || depth > 8 {
		return []string{s}
	}
	length := strings.IndexByte(s[open:], ')')
	if length < 0 || !strings.Contains(s[open:open+length], "|") {
		return []string{s}
	}
	before, list, after := s[:open], s[open+1:open+length], s[open+length+1:]
	var out []string
	if rest, ok := strings.CutPrefix(after, "?"); ok {
		after = rest
		out = append(out, expand(before+after, depth+1)...)
	}
	for _, alt := range strings.Split(list, "|") {
		out = append(out, expand(before+strings.TrimSpace(alt)+after, depth+1)...)
		if len(out) > maxAlternatives {
			return out[:maxAlternatives]
		}
	}
	return out
}

func parseAlternative(text string) alternative {
	a := alternative{text: strings.ReplaceAll(strings.TrimSpace(text), "$", "."), params: -1}
	if rest, ok := strings.CutPrefix(a.text, "* "); ok {
		a.returns = strings.TrimSpace(rest)
		a.text = "*"
	}
	if open := strings.IndexByte(a.text, '('); open >= 0 && strings.HasSuffix(a.text, ")") {
		a.params = countParams(a.text[open+1 : len(a.text)-1])
		a.text = a.text[:open]
	}
	a.simple = a.text
	if dot := strings.LastIndexByte(a.text, '.'); dot >= 0 {
		a.qual, a.simple = a.text[:dot], a.text[dot+1:]
	}
	return a
}

// countParams counts parameters, not the commas between type arguments. "*"
// stands for one parameter of any type.
func countParams(list string) int {
	if strings.TrimSpace(list) == "" {
		return 0
	}
	n, depth := 1, 0
	for _, r := range list {
		switch r {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}

func (p *Pattern) check() {
	warn := func(format string, args ...any) { p.warnings = append(p.warnings, fmt.Sprintf(format, args...)) }
	if strings.Count(p.source, "(") != strings.Count(p.source, ")") {
		warn("its parentheses are not balanced")
	}
	if bar := strings.IndexByte(p.source, '|'); bar >= 0 && !strings.Contains(p.source[:bar], "(") {
		warn("alternatives stand in parentheses: (a|b)")
	}
	if strings.ContainsAny(p.source, `\{}[]+^-`) {
		warn("it holds what no Java name does, and is no regular expression: only *, ?, (a|b) and (a|b)? have a meaning")
	}
	for _, a := range p.alts {
		switch {
		case p.loc == MethodCall && a.returns != "":
			warn("a pattern by return type matches no call")
		case (p.loc == MethodCall || p.loc == ConstructorCall || p.loc == Inheritance) && lowerWildcard(a):
			warn("%s matches only names that begin with %q; for a whole package end it with .*", a.text, strings.TrimRight(a.simple, "*"))
		default:
			continue
		}
		break
	}
}

// lowerWildcard reports whether a looks like a package with a star behind it.
func lowerWildcard(a alternative) bool {
	return a.qual != "" && len(a.simple) > 1 && strings.HasSuffix(a.simple, "*") && a.simple[0] >= 'a' && a.simple[0] <= 'z' && a.params < 0 &&
		!hasUpper(a.qual)
}

func hasUpper(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0
}

// Literals returns the strings a file must contain for the pattern to match in
// it: of each inner list at least one. nil: any file may match.
func (p *Pattern) Literals() [][]string {
	var names, packages []string
	for _, a := range p.alts {
		names = append(names, nameLiteral(a, p.loc))
		packages = append(packages, packageLiteral(a))
	}
	var need [][]string
	for _, clause := range [][]string{names, packages} {
		if !contains(clause, "") {
			need = append(need, clause)
		}
	}
	return need
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// nameLiteral is the longest fixed part of the name itself.
func nameLiteral(a alternative, loc Location) string {
	if a.returns != "" {
		return longestFixed(a.returns[strings.LastIndexByte(a.returns, '.')+1:])
	}
	if isWild(a.simple) && (loc == Package || loc == Import || loc == Default || loc == Type) {
		return longestFixed(a.text) // an import matches by the whole name
	}
	return longestFixed(a.simple)
}

// packageLiteral is the package: every use of a library's type is preceded by
// its name, in an import or in the use. Types of java.lang need no import.
func packageLiteral(a alternative) string {
	text := a.text
	if a.returns != "" {
		text = a.returns
	}
	var parts []string
	segments := strings.Split(text, ".")
	for _, segment := range segments[:len(segments)-1] {
		if isWild(segment) || hasUpper(segment) {
			break
		}
		parts = append(parts, segment)
	}
	pkg := strings.Join(parts, ".")
	if pkg == "java.lang" {
		return ""
	}
	return pkg
}

func isWild(s string) bool { return strings.ContainsAny(s, "*?") }

// longestFixed returns the longest part of s without a wildcard.
func longestFixed(s string) string {
	best := ""
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return strings.Trim(best, ".")
}

// fits reports whether a qualified name fits a pattern. A pattern without a
// package ("Outer.Inner") fits whatever the package.
func fits(pattern, name string) bool {
	if wildcard(pattern, name) {
		return true
	}
	if pattern == "" || !hasUpper(pattern[:1]) {
		return false
	}
	end := len(name)
	for range 1 + strings.Count(pattern, ".") {
		end = strings.LastIndexByte(name[:max(end, 0)], '.')
	}
	return end >= 0 && wildcard(pattern, name[end+1:])
}

// wildcard reports whether s fits pattern: * is any text, ? any character.
func wildcard(pattern, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}
