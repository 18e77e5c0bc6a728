package pattern

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MetaKind is the kind of a metavariable.
type MetaKind uint8

// The kinds of metavariable.
const (
	NoMeta       MetaKind = iota // not a metavariable
	Capture                      // $A: one node, bound
	Dropped                      // $_: one node, not bound
	Multi                        // $$$: any number of nodes, not bound
	MultiCapture                 // $$$A: any number of nodes, bound
)

// A MetaVar is a metavariable as it is written in a pattern.
type MetaVar struct {
	Kind  MetaKind
	Name  string // of Capture and MultiCapture
	Named bool   // Capture, Dropped: only named nodes ($A); $$A takes any node
}

// ParseMetaVar reads src, which must be a metavariable and nothing else, with
// sigil as its leading character. Kind is [NoMeta] when it is none.
func ParseMetaVar(src string, sigil rune) MetaVar {
	rest, n := src, 0
	for n < 3 {
		cut, ok := cutRune(rest, sigil)
		if !ok {
			break
		}
		rest, n = cut, n+1
	}
	switch n {
	case 0:
		return MetaVar{}
	case 3:
		if strings.IndexFunc(rest, notNameRune) >= 0 {
			return MetaVar{}
		}
		if rest == "" || rest[0] == '_' {
			return MetaVar{Kind: Multi}
		}
		return MetaVar{Kind: MultiCapture, Name: rest}
	}
	if rest == "" || !isFirst(rune(rest[0])) || strings.IndexFunc(rest, notNameRune) >= 0 {
		return MetaVar{}
	}
	if rest[0] == '_' {
		return MetaVar{Kind: Dropped, Named: n == 1}
	}
	return MetaVar{Kind: Capture, Name: rest, Named: n == 1}
}

func cutRune(s string, r rune) (string, bool) {
	got, size := utf8.DecodeRuneInString(s)
	if size == 0 || got != r {
		return s, false
	}
	return s[size:], true
}

func isFirst(r rune) bool     { return r == '_' || 'A' <= r && r <= 'Z' }
func isNameRune(r rune) bool  { return isFirst(r) || '0' <= r && r <= '9' }
func notNameRune(r rune) bool { return !isNameRune(r) }

// Preprocess writes expando for every $ of src that begins a metavariable, so
// that a grammar which has no $ in its identifiers parses it as one.
func Preprocess(src string, expando rune) string {
	if expando == '$' {
		return src
	}
	var b strings.Builder
	dollars := 0
	flush := func(sigil rune) {
		for ; dollars > 0; dollars-- {
			b.WriteRune(sigil)
		}
	}
	for _, c := range src {
		if c == '$' {
			dollars++
			continue
		}
		if isFirst(c) || dollars == 3 {
			flush(expando)
		} else {
			flush('$')
		}
		b.WriteRune(c)
	}
	if dollars == 3 {
		flush(expando)
	} else {
		flush('$')
	}
	return b.String()
}

// Vars numbers the metavariables of one rule, so that an [Env] is a few slices
// and no map. It is built while the rule is compiled and only read afterwards.
type Vars struct{ names []string }

// Slot returns the number of name, which it gives out on first use.
func (v *Vars) Slot(name string) int {
	if i := slices.Index(v.names, name); i >= 0 {
		return i
	}
	v.names = append(v.names, name)
	return len(v.names) - 1
}

// Lookup returns the number of name, -1 when it was never used.
func (v *Vars) Lookup(name string) int { return slices.Index(v.names, name) }

// Names returns the names by number. Do not modify it.
func (v *Vars) Names() []string { return v.names }
