package pattern

import (
	"bytes"
	"strings"

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
	from := 0 // where the fragment begins
	for at := 0; ; {
		i := strings.IndexByte(src[at:], '$')
		if i < 0 {
			break
		}
		i += at
		name, multi, size := cutMeta(src[i:])
		if name == "" {
			at = i + 1
			continue
		}
		h := hole{name: name, multi: multi, indent: indentAt([]byte(src[:i]))}
		h.slot = vars.Slot(name)
		h.text = !multi && transformed != nil && transformed(name)
		t.fragments = append(t.fragments, src[from:i])
		t.holes = append(t.holes, h)
		from = i + size
		at = from
	}
	t.fragments = append(t.fragments, src[from:])
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

// A Piece is a part of a filled template: a text, or code of the source that is
// carried over as it stands.
type Piece struct {
	Text       []byte
	Carried    bool
	Start, End int // of Carried, in the source
}

// Fill returns t with what env binds, to be put at offset at of src. What is
// not bound is left out.
func (t *Template) Fill(env *Env, src []byte, at int) []byte {
	var b bytes.Buffer
	for _, p := range t.Pieces(env, src, at) {
		b.Write(p.Text)
	}
	return b.Bytes()
}

// Pieces is [Template.Fill] in pieces.
func (t *Template) Pieces(env *Env, src []byte, at int) []Piece {
	indent := indentAt(src[:at])
	pieces := make([]Piece, 0, 2*len(t.holes)+1)
	text := func(s []byte) {
		if len(s) > 0 {
			pieces = append(pieces, Piece{Text: reindent(s, 0, indent)})
		}
	}
	for i, h := range t.holes {
		text([]byte(t.fragments[i]))
		first, last := h.nodes(env)
		if first.IsZero() {
			if h.text {
				made, _ := env.Text(h.slot)
				text(reindent(made, 0, h.indent))
			}
			continue
		}
		start, end := first.Start(), last.End()
		code := first.Tree().Source()[start:end]
		p := Piece{Text: code, Carried: true, Start: start, End: end}
		if bytes.IndexByte(code, '\n') >= 0 {
			// Two steps, as each only changes what has the indentation to lose.
			p.Text = reindent(reindent(code, indentAt(first.Tree().Source()[:start]), h.indent), 0, indent)
			p.Carried = bytes.Equal(p.Text, code)
		}
		pieces = append(pieces, p)
	}
	text([]byte(t.fragments[len(t.holes)]))
	return pieces
}

// nodes returns the first and the last node that h stands for; none when it is
// not bound or is the result of a transform.
func (h *hole) nodes(env *Env) (first, last treesitter.Node) {
	switch {
	case h.text:
	case h.multi:
		if list, _ := env.Multi(h.slot); len(list) > 0 {
			return list[0], list[len(list)-1]
		}
	default:
		n := env.Single(h.slot)
		return n, n
	}
	return first, last
}
