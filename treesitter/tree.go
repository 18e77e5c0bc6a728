package treesitter

import "iter"

// record is one node of a flat tree. Nodes lie in pre-order, so the first
// child of node i is i+1 and its subtree is [i, last).
type record struct {
	start, end uint32 // bytes
	parent     int32  // -1: root
	last       int32  // one past the subtree's last node
	symbol     uint16
	field      uint16 // 0: none
	flags      uint8
}

const (
	flagNamed uint8 = 1 << iota
	flagMissing
	flagError
	flagExtra
	flagHasError // an error or missing node is in the subtree
)

// A Tree is the syntax tree of one text. It is immutable.
type Tree struct {
	lang  *Language
	src   []byte
	nodes []record
}

// Language returns the grammar that the tree was parsed with.
func (t *Tree) Language() *Language { return t.lang }

// Source returns the text that was parsed. Do not modify it.
func (t *Tree) Source() []byte { return t.src }

// Len returns how many nodes the tree has; their indexes are 0 to Len()-1 in pre-order.
func (t *Tree) Len() int { return len(t.nodes) }

// Root returns the tree's root. The zero tree has none.
func (t *Tree) Root() Node {
	if t == nil || len(t.nodes) == 0 {
		return Node{}
	}
	return Node{t, 0}
}

// Node returns the node with the given pre-order index.
func (t *Tree) Node(index int) Node { return Node{t, int32(index)} }

// A Node is a node of a [Tree]: a small value, comparable with ==. The zero
// Node is "no node"; [Node.IsZero] tells.
type Node struct {
	tree *Tree
	i    int32
}

func (n Node) rec() *record { return &n.tree.nodes[n.i] }

// IsZero reports whether n is no node.
func (n Node) IsZero() bool { return n.tree == nil }

// Tree returns the tree of n.
func (n Node) Tree() *Tree { return n.tree }

// Index returns n's place in the tree's pre-order.
func (n Node) Index() int { return int(n.i) }

// Start and End are n's half-open range in bytes.
func (n Node) Start() int { return int(n.rec().start) }

// End is the offset after n's last byte.
func (n Node) End() int { return int(n.rec().end) }

// Text returns n's source text.
func (n Node) Text() string { r := n.rec(); return string(n.tree.src[r.start:r.end]) }

// Bytes returns n's source text without copying it. Do not modify it.
func (n Node) Bytes() []byte { r := n.rec(); return n.tree.src[r.start:r.end] }

// KindID returns the grammar's number for n's kind; ERROR is 65535.
func (n Node) KindID() uint16 { return n.rec().symbol }

// Kind returns n's kind as the grammar names it, "ERROR" for an error node.
func (n Node) Kind() string { return n.tree.lang.kindName(n.rec().symbol) }

// FieldID returns the number of the field by which n hangs on its parent, 0 for none.
func (n Node) FieldID() uint16 { return n.rec().field }

// Field returns the name of that field, "" for none.
func (n Node) Field() string { return n.tree.lang.fieldName(n.rec().field) }

// Named reports whether n is a named node of the grammar (not punctuation or a keyword).
func (n Node) Named() bool { return n.rec().flags&flagNamed != 0 }

// Missing reports whether the parser inserted n to recover from an error.
func (n Node) Missing() bool { return n.rec().flags&flagMissing != 0 }

// Error reports whether n is an ERROR node.
func (n Node) Error() bool { return n.rec().flags&flagError != 0 }

// Extra reports whether n may appear anywhere (a comment, in most grammars).
func (n Node) Extra() bool { return n.rec().flags&flagExtra != 0 }

// HasError reports whether n or a descendant is an ERROR or missing node.
func (n Node) HasError() bool { return n.rec().flags&flagHasError != 0 }

// Last returns the index after n's last descendant: the subtree of n is the
// nodes [n.Index(), n.Last()).
func (n Node) Last() int { return int(n.rec().last) }

// Parent returns n's parent, no node for the root.
func (n Node) Parent() Node {
	if p := n.rec().parent; p >= 0 {
		return Node{n.tree, p}
	}
	return Node{}
}

// FirstChild returns n's first child, named or not.
func (n Node) FirstChild() Node {
	if n.rec().last > n.i+1 {
		return Node{n.tree, n.i + 1}
	}
	return Node{}
}

// NextSibling returns the sibling after n, named or not.
func (n Node) NextSibling() Node {
	r := n.rec()
	if r.parent >= 0 && r.last < n.tree.nodes[r.parent].last {
		return Node{n.tree, r.last}
	}
	return Node{}
}

// PrevSibling returns the sibling before n, named or not. It walks from the
// parent's first child.
func (n Node) PrevSibling() Node {
	p := n.Parent()
	if p.IsZero() {
		return Node{}
	}
	prev := Node{}
	for c := p.FirstChild(); !c.IsZero() && c.i != n.i; c = c.NextSibling() {
		prev = c
	}
	return prev
}

// Children yields n's children in order, named or not.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for c := n.FirstChild(); !c.IsZero(); c = c.NextSibling() {
			if !yield(c) {
				return
			}
		}
	}
}

// NamedChildren yields n's named children in order.
func (n Node) NamedChildren() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for c := n.FirstChild(); !c.IsZero(); c = c.NextSibling() {
			if c.Named() && !yield(c) {
				return
			}
		}
	}
}

// ChildByField returns n's first child in the named field, or no node.
func (n Node) ChildByField(name string) Node {
	id := n.tree.lang.FieldID(name)
	if id == 0 {
		return Node{}
	}
	for c := n.FirstChild(); !c.IsZero(); c = c.NextSibling() {
		if c.FieldID() == id {
			return c
		}
	}
	return Node{}
}

// Descendants yields n and everything below it in pre-order.
func (n Node) Descendants() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for i := n.i; i < n.rec().last; i++ {
			if !yield(Node{n.tree, i}) {
				return
			}
		}
	}
}

// Covering returns the smallest node that contains the bytes [start, end), or
// no node when they are out of range.
func (t *Tree) Covering(start, end int) Node {
	n := t.Root()
	if n.IsZero() || start < 0 || end < start || end > len(t.src) {
		return Node{}
	}
down:
	for {
		for c := range n.Children() {
			if c.Start() <= start && end <= c.End() && c.End() > c.Start() {
				n = c
				continue down
			}
		}
		return n
	}
}
