package konveyor

import (
	"fmt"
	"regexp"
	"strings"
)

// Labels with a meaning of their own.
const (
	SourceLabel  = "konveyor.io/source"
	TargetLabel  = "konveyor.io/target"
	includeLabel = "konveyor.io/include" // always, never: whatever the selector says
)

// A label is a key with an optional value.
type label struct{ key, value string }

var (
	labelValue  = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9. ]*[a-zA-Z0-9+-])?$`)
	labelPrefix = regexp.MustCompile(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`)
)

func parseLabel(s string) (label, error) {
	key, value, _ := strings.Cut(s, "=")
	if value != "" && !labelValue.MatchString(value) {
		return label{}, fmt.Errorf("label %q: %q is no valid value (letters, digits, dots, dashes, a version range sign at the end)", s, value)
	}
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		name = prefix
	} else if !labelPrefix.MatchString(prefix) {
		return label{}, fmt.Errorf("label %q: %q is no valid prefix of a key", s, prefix)
	}
	if !labelValue.MatchString(name) {
		return label{}, fmt.Errorf("label %q: %q is no valid key", s, name)
	}
	return label{key, value}, nil
}

// A Selector chooses rules by their labels. The zero Selector chooses all but
// those labelled konveyor.io/include=never.
type Selector struct{ expr boolExpr }

// boolExpr is a parsed selector expression.
type boolExpr interface{ eval(labels []label) bool }

type (
	andExpr  struct{ left, right boolExpr }
	orExpr   struct{ left, right boolExpr }
	notExpr  struct{ expr boolExpr }
	constant bool
)

func (e andExpr) eval(l []label) bool  { return e.left.eval(l) && e.right.eval(l) }
func (e orExpr) eval(l []label) bool   { return e.left.eval(l) || e.right.eval(l) }
func (e notExpr) eval(l []label) bool  { return !e.expr.eval(l) }
func (e constant) eval(l []label) bool { return bool(e) }

// eval makes a label the operand of an expression: true when a label has the
// key and, if a value is asked for, a value that fits.
func (want label) eval(labels []label) bool {
	for _, have := range labels {
		if have.key == want.key && (want.value == "" || valueFits(have.value, want.value)) {
			return true
		}
	}
	return false
}

// ParseSelector reads a selector expression: labels (key or key=value) joined
// by &&, || and !, with parentheses. The empty expression selects everything.
func ParseSelector(expr string) (Selector, error) {
	if strings.TrimSpace(expr) == "" {
		return Selector{}, nil
	}
	p := selectorParser{tokens: selectorTokens(expr)}
	e, err := p.or(0)
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("unexpected %q", p.tokens[0])
	}
	if err != nil {
		return Selector{}, fmt.Errorf("label selector %q: %w", expr, err)
	}
	return Selector{e}, nil
}

// SelectorFor returns the selector that the names of technologies stand for, as
// Konveyor's own command has it: rules of any of the targets that are also of
// any of the sources (without sources: that have a source at all), and the rules
// for discovery. Without sources and targets everything is selected.
func SelectorFor(sources, targets []string) (Selector, error) {
	target, err := anyOf(TargetLabel, targets)
	if err != nil {
		return Selector{}, err
	}
	source, err := anyOf(SourceLabel, sources)
	if err != nil {
		return Selector{}, err
	}
	var chosen boolExpr
	switch {
	case source == nil && target == nil:
		return Selector{}, nil
	case target == nil:
		chosen = source
	case source == nil:
		chosen = andExpr{target, label{key: SourceLabel}}
	default:
		chosen = andExpr{target, source}
	}
	return Selector{orExpr{chosen, label{key: "discovery"}}}, nil
}

func anyOf(key string, values []string) (boolExpr, error) {
	var e boolExpr
	for _, v := range values {
		l, err := parseLabel(key + "=" + v)
		if err != nil {
			return nil, err
		}
		if e == nil {
			e = l
		} else {
			e = orExpr{e, l}
		}
	}
	return e, nil
}

// And returns a selector that chooses what both choose.
func (s Selector) And(other Selector) Selector {
	switch {
	case s.expr == nil:
		return other
	case other.expr == nil:
		return s
	}
	return Selector{andExpr{s.expr, other.expr}}
}

// Matches reports whether a rule with the given labels is chosen.
func (s Selector) Matches(labels []string) bool {
	parsed := make([]label, 0, len(labels))
	for _, text := range labels {
		l, err := parseLabel(text)
		if err != nil {
			continue
		}
		parsed = append(parsed, l)
	}
	for _, l := range parsed {
		if l.key == includeLabel {
			switch l.value {
			case "always":
				return true
			case "never":
				return false
			}
		}
	}
	return s.expr == nil || s.expr.eval(parsed)
}

// Select returns the rules of s that the selector chooses; the others are
// listed as skipped.
func (s *Set) Select(sel Selector) *Set {
	out := &Set{findings: s.findings}
	for _, rs := range s.RuleSets {
		chosen := *rs
		chosen.Rules, chosen.Skipped = nil, append([]string(nil), rs.Skipped...)
		for _, r := range rs.Rules {
			if sel.Matches(r.Labels) {
				chosen.Rules = append(chosen.Rules, r)
			} else {
				chosen.Skipped = append(chosen.Skipped, r.ID)
			}
		}
		out.RuleSets = append(out.RuleSets, &chosen)
	}
	return out
}

// selectorTokens splits an expression into operators and labels. A label may
// hold spaces, as its value may.
func selectorTokens(expr string) []string {
	var tokens []string
	start := 0
	flush := func(end int) {
		if t := strings.TrimSpace(expr[start:end]); t != "" {
			tokens = append(tokens, t)
		}
	}
	for i := 0; i < len(expr); {
		n := 0
		switch {
		case strings.HasPrefix(expr[i:], "&&"), strings.HasPrefix(expr[i:], "||"):
			n = 2
		case expr[i] == '!' || expr[i] == '(' || expr[i] == ')':
			n = 1
		}
		if n == 0 {
			i++
			continue
		}
		flush(i)
		tokens = append(tokens, expr[i:i+n])
		i += n
		start = i
	}
	flush(len(expr))
	return tokens
}

// maxSelectorDepth bounds how deep parentheses and negations nest.
const maxSelectorDepth = 200

type selectorParser struct{ tokens []string }

func (p *selectorParser) accept(token string) bool {
	if len(p.tokens) > 0 && p.tokens[0] == token {
		p.tokens = p.tokens[1:]
		return true
	}
	return false
}

func (p *selectorParser) or(depth int) (boolExpr, error) {
	left, err := p.and(depth)
	for err == nil && p.accept("||") {
		var right boolExpr
		right, err = p.and(depth)
		left = orExpr{left, right}
	}
	return left, err
}

func (p *selectorParser) and(depth int) (boolExpr, error) {
	left, err := p.unary(depth)
	for err == nil && p.accept("&&") {
		var right boolExpr
		right, err = p.unary(depth)
		left = andExpr{left, right}
	}
	return left, err
}

func (p *selectorParser) unary(depth int) (boolExpr, error) {
	if depth > maxSelectorDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxSelectorDepth)
	}
	switch {
	case p.accept("!"):
		e, err := p.unary(depth + 1)
		return notExpr{e}, err
	case p.accept("("):
		e, err := p.or(depth + 1)
		if err == nil && !p.accept(")") {
			err = fmt.Errorf("a closing parenthesis is missing")
		}
		return e, err
	case len(p.tokens) == 0:
		return nil, fmt.Errorf("a label is missing at the end")
	case p.tokens[0] == "&&" || p.tokens[0] == "||" || p.tokens[0] == ")":
		return nil, fmt.Errorf("a label is missing before %q", p.tokens[0])
	}
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	switch token {
	case "true":
		return constant(true), nil
	case "false":
		return constant(false), nil
	}
	l, err := parseLabel(strings.TrimSuffix(token, "="))
	return l, err
}
