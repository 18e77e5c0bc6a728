package literal

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// Limits of what [FromRegexp] enumerates.
const (
	maxStrings = 64 // alternatives in one clause
	maxRunes   = 8  // members of a character class that are enumerated
	minLength  = 2  // shorter strings occur everywhere
)

// FromRegexp returns strings that a text must contain for the expression (in
// RE2 syntax) to match: of each inner list at least one. It returns nil when
// there are none to be found, which says nothing about the text.
func FromRegexp(expr string) [][]string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	f := analyze(re.Simplify())
	if f.exact != nil {
		return keep(append(f.need, f.exact))
	}
	return keep(f.need)
}

// keep drops the clauses that would hold for nearly every text.
func keep(clauses [][]string) [][]string {
	var kept [][]string
	for _, c := range clauses {
		if shortest(c) >= minLength {
			kept = append(kept, c)
		}
	}
	return kept
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	n := len(list[0])
	for _, s := range list[1:] {
		n = min(n, len(s))
	}
	return n
}

// facts is what is known about the texts of an expression: exactly these
// strings (exact), or texts that meet every clause of need.
type facts struct {
	exact []string
	need  [][]string
}

func analyze(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCharClass:
		return class(re)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return facts{exact: []string{""}}
	case syntax.OpCapture:
		return analyze(re.Sub[0])
	case syntax.OpPlus:
		return atLeastOnce(analyze(re.Sub[0]))
	case syntax.OpRepeat:
		if re.Min > 0 {
			return atLeastOnce(analyze(re.Sub[0]))
		}
	case syntax.OpQuest:
		if f := analyze(re.Sub[0]); f.exact != nil && len(f.exact) < maxStrings {
			return facts{exact: append([]string{""}, f.exact...)}
		}
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return facts{}
}

func literal(re *syntax.Regexp) facts {
	if re.Flags&syntax.FoldCase != 0 {
		for _, r := range re.Rune {
			if unicode.SimpleFold(r) != r {
				return facts{}
			}
		}
	}
	return facts{exact: []string{string(re.Rune)}}
}

func class(re *syntax.Regexp) facts {
	var list []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		if int(re.Rune[i+1]-re.Rune[i]) >= maxRunes {
			return facts{}
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			list = append(list, string(r))
		}
	}
	if len(list) == 0 || len(list) > maxRunes {
		return facts{}
	}
	return facts{exact: list}
}

func atLeastOnce(f facts) facts {
	if f.exact != nil {
		return facts{need: append(f.need, f.exact)}
	}
	return f
}

// concat multiplies neighbouring exact strings out and closes the product with
// a clause where an inexact part follows.
func concat(subs []*syntax.Regexp) facts {
	var need [][]string
	run := []string{""}
	whole := true
	for _, sub := range subs {
		f := analyze(sub)
		if f.exact != nil && len(run)*len(f.exact) <= maxStrings {
			run = product(run, f.exact)
			continue
		}
		need = append(need, run)
		run = []string{""}
		if f.exact != nil {
			run = f.exact
			whole = false
			continue
		}
		need = append(need, f.need...)
		whole = false
	}
	if whole {
		return facts{exact: run}
	}
	return facts{need: keep(append(need, run))}
}

func product(left, right []string) []string {
	out := make([]string, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			out = append(out, l+r)
		}
	}
	return out
}

// alternate needs one clause of every branch; their union is the clause of the
// alternation.
func alternate(subs []*syntax.Regexp) facts {
	var exact, union []string
	allExact := true
	for _, sub := range subs {
		f := analyze(sub)
		if f.exact != nil {
			exact = append(exact, f.exact...)
			union = append(union, f.exact...)
			continue
		}
		allExact = false
		best := -1
		for i, c := range f.need {
			if shortest(c) >= minLength && (best < 0 || shortest(c) > shortest(f.need[best])) {
				best = i
			}
		}
		if best < 0 {
			return facts{}
		}
		union = append(union, f.need[best]...)
	}
	switch {
	case allExact && len(exact) <= maxStrings:
		return facts{exact: exact}
	case len(union) <= maxStrings:
		return facts{need: [][]string{union}}
	}
	return facts{}
}

// StripLookaround replaces look-ahead and look-behind groups of a Perl-style
// expression by nothing. What is left matches wherever the expression matches
// (and more), so it serves to find literals and to rule texts out.
func StripLookaround(expr string) string {
	var out strings.Builder
	for i := 0; i < len(expr); {
		switch {
		case expr[i] == '\\' && i+1 < len(expr):
			out.WriteString(expr[i : i+2])
			i += 2
		case expr[i] == '[':
			end := classEnd(expr, i)
			out.WriteString(expr[i:end])
			i = end
		case isLookaround(expr[i:]):
			i = groupEnd(expr, i)
			// A quantifier on a look-around would now bind to what precedes.
			for i < len(expr) && strings.IndexByte("*+?", expr[i]) >= 0 {
				i++
			}
		default:
			out.WriteByte(expr[i])
			i++
		}
	}
	return out.String()
}

func isLookaround(s string) bool {
	for _, p := range [...]string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// classEnd returns the offset after the character class that starts at i.
func classEnd(s string, i int) int {
	j := i + 1
	if j < len(s) && s[j] == '^' {
		j++
	}
	if j < len(s) && s[j] == ']' {
		j++
	}
	for ; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case ']':
			return j + 1
		}
	}
	return len(s)
}

// groupEnd returns the offset after the group that starts at i.
func groupEnd(s string, i int) int {
	depth := 0
	for j := i; j < len(s); {
		switch s[j] {
		case '\\':
			j += 2
			continue
		case '[':
			j = classEnd(s, j)
			continue
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j + 1
			}
		}
		j++
	}
	return len(s)
}
