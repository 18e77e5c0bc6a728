package pattern

import (
	"bytes"

	"github.com/kaiak/kaiak/treesitter"
)

// An Env holds what metavariables are bound to during one match. It is used by
// one goroutine. Bindings are undone by [Env.Undo], so that an alternative
// which fails leaves nothing behind and nothing has to be copied.
type Env struct {
	vars   *Vars
	single []treesitter.Node
	multi  []nodes
	text   [][]byte // results of transforms; nil: none
	labels []treesitter.Node
	passed []treesitter.Node
	trail  []change
}

// nodes is the binding of a $$$A; the empty list is a binding too.
type nodes struct {
	bound bool
	list  []treesitter.Node
}

// change is what one binding replaced.
type change struct {
	slot   int32
	what   uint8
	single treesitter.Node
	multi  nodes
	text   []byte
}

const (
	changedSingle uint8 = iota
	changedMulti
	changedText
	addedLabel
	addedPassed
)

// NewEnv returns an empty environment for the metavariables of vars.
func NewEnv(vars *Vars) *Env {
	n := len(vars.names)
	return &Env{vars: vars, single: make([]treesitter.Node, n), multi: make([]nodes, n), text: make([][]byte, n)}
}

// Clone returns a copy that shares nothing with e that either would change.
func (e *Env) Clone() *Env {
	return &Env{
		vars:   e.vars,
		single: append([]treesitter.Node(nil), e.single...),
		multi:  append([]nodes(nil), e.multi...),
		text:   append([][]byte(nil), e.text...),
		labels: append([]treesitter.Node(nil), e.labels...),
		passed: append([]treesitter.Node(nil), e.passed...),
	}
}

// Mark returns a point to which [Env.Undo] can return.
func (e *Env) Mark() int { return len(e.trail) }

// Undo takes back everything that was bound since mark.
func (e *Env) Undo(mark int) {
	for i := len(e.trail) - 1; i >= mark; i-- {
		c := &e.trail[i]
		switch c.what {
		case changedSingle:
			e.single[c.slot] = c.single
		case changedMulti:
			e.multi[c.slot] = c.multi
		case changedText:
			e.text[c.slot] = c.text
		case addedLabel:
			e.labels = e.labels[:len(e.labels)-1]
		case addedPassed:
			e.passed = e.passed[:len(e.passed)-1]
		}
	}
	e.trail = e.trail[:mark]
}

// Vars returns the metavariables that e has slots for.
func (e *Env) Vars() *Vars { return e.vars }

// Single returns the node bound to $A, or no node.
func (e *Env) Single(slot int) treesitter.Node {
	if slot < 0 || slot >= len(e.single) {
		return treesitter.Node{}
	}
	return e.single[slot]
}

// Multi returns the nodes bound to $$$A, and whether any list is bound.
func (e *Env) Multi(slot int) ([]treesitter.Node, bool) {
	if slot < 0 || slot >= len(e.multi) {
		return nil, false
	}
	return e.multi[slot].list, e.multi[slot].bound
}

// Text returns the result of the transform that is called like slot.
func (e *Env) Text(slot int) ([]byte, bool) {
	if slot < 0 || slot >= len(e.text) || e.text[slot] == nil {
		return nil, false
	}
	return e.text[slot], true
}

// Labels returns the nodes that relational rules found, in order.
func (e *Env) Labels() []treesitter.Node { return e.labels }

// AddLabel records a node that a relational rule found.
func (e *Env) AddLabel(n treesitter.Node) {
	e.labels = append(e.labels, n)
	e.trail = append(e.trail, change{what: addedLabel})
}

// Passed returns the named nodes that patterns passed over: their strictness
// lets the code have them though the pattern has not, so that a fix which
// replaces the match would lose them.
func (e *Env) Passed() []treesitter.Node { return e.passed }

func (e *Env) pass(n treesitter.Node) {
	if n.Named() {
		e.passed = append(e.passed, n)
		e.trail = append(e.trail, change{what: addedPassed})
	}
}

// Bind binds $A to n. It fails when $A is bound to different code.
func (e *Env) Bind(slot int, n treesitter.Node) bool {
	old := e.single[slot]
	if !old.IsZero() && !Same(old, n) {
		return false
	}
	e.trail = append(e.trail, change{slot: int32(slot), what: changedSingle, single: old})
	e.single[slot] = n
	return true
}

// BindMulti binds $$$A to list. It fails when $$$A is bound to different code;
// only named nodes count.
func (e *Env) BindMulti(slot int, list []treesitter.Node) bool {
	old := e.multi[slot]
	if old.bound && !sameNamed(old.list, list) {
		return false
	}
	e.trail = append(e.trail, change{slot: int32(slot), what: changedMulti, multi: old})
	e.multi[slot] = nodes{true, list}
	return true
}

// SetText stores the result of a transform.
func (e *Env) SetText(slot int, text []byte) {
	if text == nil {
		text = []byte{}
	}
	e.trail = append(e.trail, change{slot: int32(slot), what: changedText, text: e.text[slot]})
	e.text[slot] = text
}

// Bytes returns the text of $A (a node, else a transform's result) or, with
// multi, of $$$A from its first node to its last.
func (e *Env) Bytes(slot int, multi bool) ([]byte, bool) {
	if multi {
		list, _ := e.Multi(slot)
		if len(list) == 0 {
			return nil, false
		}
		first, last := list[0], list[len(list)-1]
		return first.Tree().Source()[first.Start():last.End()], true
	}
	if n := e.Single(slot); !n.IsZero() {
		return n.Bytes(), true
	}
	return e.Text(slot)
}

// Same reports whether two nodes are the same code: equal trees, or equal text
// where one of them has no named children.
func Same(a, b treesitter.Node) bool {
	if a == b {
		return true
	}
	if namedLeaf(a) || namedLeaf(b) {
		return bytes.Equal(a.Bytes(), b.Bytes())
	}
	if a.KindID() != b.KindID() {
		return false
	}
	x, y := a.FirstChild(), b.FirstChild()
	for !x.IsZero() && !y.IsZero() {
		if !Same(x, y) {
			return false
		}
		x, y = x.NextSibling(), y.NextSibling()
	}
	return x.IsZero() && y.IsZero()
}

func namedLeaf(n treesitter.Node) bool {
	for c := n.FirstChild(); !c.IsZero(); c = c.NextSibling() {
		if c.Named() {
			return false
		}
	}
	return true
}

func sameNamed(a, b []treesitter.Node) bool {
	i, j := 0, 0
	for {
		for i < len(a) && !a[i].Named() {
			i++
		}
		for j < len(b) && !b[j].Named() {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if !Same(a[i], b[j]) {
			return false
		}
		i, j = i+1, j+1
	}
}

// Holds reports whether n is within what some metavariable is bound to.
func (e *Env) Holds(n treesitter.Node) bool {
	for _, single := range e.single {
		if !single.IsZero() && single.Tree() == n.Tree() && single.Start() <= n.Start() && n.End() <= single.End() {
			return true
		}
	}
	for _, multi := range e.multi {
		for _, m := range multi.list {
			if m.Start() <= n.Start() && n.End() <= m.End() {
				return true
			}
		}
	}
	return false
}
