package matcher

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/kaiak/kaiak/treesitter"
)

// A selector is kind's second form, written as in CSS:
//
//	call_expression > identifier     a child
//	function_declaration identifier  a descendant
//	pair + pair, pair ~ pair         the next sibling, a later sibling
//	a, b                             either
//	:is(…) :not(…) :has(…) :nth-child(An+B of …) :nth-last-child(…)

// maxSelectorDepth bounds the nesting of parentheses.
const maxSelectorDepth = 50

type selectorParser struct {
	lang  *treesitter.Language
	src   string
	at    int
	depth int
}

// parseSelector reads kind's value: the name of a kind or a selector.
func parseSelector(src string, lang *treesitter.Language) (rule, error) {
	src = strings.TrimSpace(src)
	if kind := lang.KindID(src, true); kind != 0 {
		return &kindRule{kind}, nil
	}
	if strings.IndexFunc(src, func(r rune) bool { return !isIdent(r) }) < 0 {
		return nil, fmt.Errorf("%s has no kind of node %q", lang.Name, src)
	}
	p := &selectorParser{lang: lang, src: src}
	r, err := p.list()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.src) {
		return nil, p.unexpected()
	}
	return r, nil
}

func isIdent(r rune) bool {
	return r == '_' || r == '-' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func (p *selectorParser) unexpected() error {
	if p.at >= len(p.src) {
		return fmt.Errorf("selector %q ends where a kind of node is expected", p.src)
	}
	return fmt.Errorf("selector %q: %q is not expected at character %d", p.src, p.src[p.at:], p.at+1)
}

func (p *selectorParser) space() bool {
	from := p.at
	for p.at < len(p.src) && unicode.IsSpace(rune(p.src[p.at])) {
		p.at++
	}
	return p.at > from
}

func (p *selectorParser) take(c byte) bool {
	if p.at < len(p.src) && p.src[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *selectorParser) ident() string {
	from := p.at
	for p.at < len(p.src) && isIdent(rune(p.src[p.at])) {
		p.at++
	}
	return p.src[from:p.at]
}

// list reads selectors with commas between them; a comma at the end is allowed.
func (p *selectorParser) list() (rule, error) {
	var any []rule
	for {
		p.space()
		r, err := p.complex()
		if err != nil {
			return nil, err
		}
		any = append(any, r)
		p.space()
		if !p.take(',') {
			break
		}
		if p.space(); p.at == len(p.src) {
			break
		}
	}
	if len(any) == 1 {
		return any[0], nil
	}
	return newAny(any), nil
}

// complex reads compounds with combinators between them.
func (p *selectorParser) complex() (rule, error) {
	r, err := p.compound()
	if err != nil {
		return nil, err
	}
	for {
		combinator, ok := p.combinator()
		if !ok {
			return r, nil
		}
		next, err := p.compound()
		if err != nil {
			return nil, err
		}
		neighbour, all := relation{sub: r}, relation{sub: r, stop: stopBy{end: true}}
		var rel rule
		switch combinator {
		case '>':
			rel = &insideRule{neighbour}
		case '+':
			rel = &followsRule{neighbour}
		case '~':
			rel = &followsRule{all}
		default:
			rel = &insideRule{all}
		}
		r = newAll([]rule{next, rel})
	}
}

// combinator reads > + ~ or the space that stands for "somewhere inside".
func (p *selectorParser) combinator() (byte, bool) {
	from := p.at
	spaced := p.space()
	if p.at < len(p.src) {
		switch c := p.src[p.at]; c {
		case '>', '+', '~':
			p.at++
			p.space()
			return c, true
		case ',', ')':
		default:
			if spaced {
				return ' ', true
			}
		}
	}
	p.at = from
	return 0, false
}

// compound reads a kind and what follows it without space.
func (p *selectorParser) compound() (rule, error) {
	var all []rule
	if name := p.ident(); name != "" {
		kind := p.lang.KindID(name, true)
		if kind == 0 {
			return nil, fmt.Errorf("%s has no kind of node %q", p.lang.Name, name)
		}
		all = append(all, &kindRule{kind})
	}
	for p.take(':') {
		r, err := p.pseudo()
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		if p.at < len(p.src) && p.src[p.at] == '.' {
			return nil, fmt.Errorf("selector %q: class selectors (.name) are not supported", p.src)
		}
		return nil, p.unexpected()
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return newAll(all), nil
}

func (p *selectorParser) pseudo() (rule, error) {
	name := p.ident()
	if !p.take('(') {
		return nil, fmt.Errorf("selector %q: there must be a ( after :%s", p.src, name)
	}
	if p.depth++; p.depth > maxSelectorDepth {
		return nil, fmt.Errorf("selector is nested deeper than %d", maxSelectorDepth)
	}
	defer func() { p.depth-- }()
	p.space()
	var out rule
	switch name {
	case "is", "not":
		sub, err := p.list()
		if err != nil {
			return nil, err
		}
		if out = sub; name == "not" {
			out = &notRule{sub}
		}
	case "has":
		child := p.take('>')
		sub, err := p.list()
		if err != nil {
			return nil, err
		}
		out = &hasRule{relation{sub: sub, stop: stopBy{end: !child}}}
	case "nth-child", "nth-last-child":
		nth, err := p.nth()
		if err != nil {
			return nil, err
		}
		nth.reverse = name == "nth-last-child"
		out = nth
	default:
		return nil, fmt.Errorf("selector %q: there is no :%s; there are :is, :not, :has, :nth-child and :nth-last-child", p.src, name)
	}
	p.space()
	if !p.take(')') {
		return nil, fmt.Errorf("selector %q: the ( of :%s is not closed", p.src, name)
	}
	return out, nil
}

func (p *selectorParser) nth() (*nthChildRule, error) {
	from := p.at
	for p.at < len(p.src) && p.src[p.at] != ')' && !strings.HasPrefix(p.src[p.at:], "of ") {
		p.at++
	}
	out := &nthChildRule{}
	var err error
	if out.step, out.offset, err = parseNth(p.src[from:p.at]); err != nil {
		return nil, err
	}
	if strings.HasPrefix(p.src[p.at:], "of ") {
		p.at += len("of ")
		if out.of, err = p.list(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
