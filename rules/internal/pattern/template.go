package pattern

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/kaiak/kaiak/treesitter"
)

// A Template is text with metavariables to fill in: a fix or a message. It is
// immutable.
type Template struct {
	fragments []string // one more than holes
	holes     []hole
}

type hole struct {
	slot   int
	name   string
	multi  bool
	text   bool // the result of a transform
	indent int  // of the line in the template
}

// ParseTemplate reads a fix or a message. transformed says which names are
// results of transforms. A $ that begins no metavariable stands for itself.
func ParseTemplate(src string, vars *Vars, transformed func(name string) bool) *Template {
	t := &Template{}
	rest, at := src, 0
	for {
		i := strings.IndexByte(rest[at:], '$')
		if i < 0 {
			break
		}
		i += at
		name, multi, size := cutMeta(rest[i:])
		if name == "" {
			at = i + 1
			continue
		}
		h := hole{name: name, multi: multi, indent: indentAt([]byte(rest[:i]))}
		h.slot = vars.Slot(name)
		h.text = !multi && transformed != nil && transformed(name)
		t.fragments = append(t.fragments, rest[:i])
		t.holes = append(t.holes, h)
		rest, at = rest[i+size:], 0
	}
	t.fragments = append(t.fragments, rest)
	return t
}

// cutMeta reads the metavariable that s begins with. The name is "" for none.
func cutMeta(s string) (name string, multi bool, size int) {
	for size < 3 && size < len(s) && s[size] == '$' {
		size++
	}
	multi = size == 3
	end := size
	for end < len(s) && isNameRune(rune(s[end])) {
		end++
	}
	return s[size:end], multi, end
}

// Uses calls visit for the name of every metavariable in t.
func (t *Template) Uses(visit func(name string, multi bool)) {
	for _, h := range t.holes {
		visit(h.name, h.multi)
	}
}

// Literal returns the text of a template without metavariables.
func (t *Template) Literal() (string, bool) {
	return t.fragments[0], len(t.holes) == 0
}

// Fill returns t with what env binds, to be put at offset at of src. What is
// not bound is left out.
func (t *Template) Fill(env *Env, src []byte, at int) []byte {
	out := t.fill(env)
	if bytes.IndexByte(out, '\n') < 0 {
		return out
	}
	return reindent(out, 0, indentAt(src[:at]))
}

func (t *Template) fill(env *Env) []byte {
	var b bytes.Buffer
	for i, h := range t.holes {
		b.WriteString(t.fragments[i])
		b.Write(h.value(env))
	}
	b.WriteString(t.fragments[len(t.holes)])
	return b.Bytes()
}

func (h *hole) value(env *Env) []byte {
	if h.text {
		text, _ := env.Text(h.slot)
		return reindent(text, 0, h.indent)
	}
	var first treesitter.Node
	if h.multi {
		list, _ := env.Multi(h.slot)
		if len(list) == 0 {
			return nil
		}
		first = list[0]
	} else if first = env.Single(h.slot); first.IsZero() {
		return nil
	}
	text, _ := env.Bytes(h.slot, h.multi)
	if bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	return reindent(text, indentAt(first.Tree().Source()[:first.Start()]), h.indent)
}

// ValidUTF8 reports whether filling t can only give valid text for valid code.
func (t *Template) ValidUTF8() bool {
	for _, f := range t.fragments {
		if !utf8.ValidString(f) {
			return false
		}
	}
	return true
}
