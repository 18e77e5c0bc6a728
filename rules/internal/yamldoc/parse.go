package yamldoc

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxNodes bounds the values of one text after its aliases are resolved, so
// that aliases of aliases cannot use up the memory.
const maxNodes = 1 << 18

// maxDepth bounds how deep values may nest.
const maxDepth = 200

// maxSource is the largest text that is read, in bytes.
const maxSource = 4 << 20

// Parse reads the documents of a text. Empty documents are left out. The error
// is an [*Error].
func Parse(src []byte) (docs []*Node, err error) {
	if len(src) > maxSource {
		return nil, &Error{Msg: fmt.Sprintf("%d bytes of YAML are too much, at most %d", len(src), maxSource)}
	}
	// The parser is foreign code that reads foreign bytes: what it does not
	// foresee is an error of the text, not the end of the program.
	defer func() {
		if r := recover(); r != nil {
			docs, err = nil, &Error{Msg: fmt.Sprintf("is not YAML that can be read (%v)", r)}
		}
	}()
	file, err := parser.ParseBytes(dropEmptyDocuments(src), 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		c := converter{anchors: map[string]ast.Node{}, open: map[string]bool{}}
		n, err := c.convert(doc.Body, 0)
		if err != nil {
			return nil, err
		}
		if n.Kind != Null {
			docs = append(docs, n)
		}
	}
	return docs, nil
}

// dropEmptyDocuments blanks the marker of a document with nothing in it: the
// parser loses the document that follows one. Positions stay as they are.
func dropEmptyDocuments(src []byte) []byte {
	marker, out := -1, src
	for at := 0; at < len(src); {
		end := at + bytes.IndexByte(src[at:], '\n')
		if end < at {
			end = len(src)
		}
		line := bytes.TrimRight(src[at:end], " \t\r")
		switch {
		case bytes.Equal(line, []byte("---")):
			if marker >= 0 {
				if &out[0] == &src[0] {
					out = bytes.Clone(src)
				}
				copy(out[marker:], "   ")
			}
			marker = at
		case len(line) > 0 && line[0] != '#':
			marker = -1
		}
		at = end + 1
	}
	return out
}

func syntaxError(err error) *Error {
	var at interface {
		error
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) {
		if t := at.GetToken(); t != nil && t.Position != nil {
			return &Error{t.Position.Line, t.Position.Column, at.GetMessage()}
		}
		return &Error{Msg: at.GetMessage()}
	}
	return &Error{Msg: err.Error()}
}

type converter struct {
	anchors map[string]ast.Node
	open    map[string]bool // anchors that are being resolved
	count   int
}

func place(n ast.Node) (line, col int) {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 0, 0
}

func (c *converter) convert(n ast.Node, depth int) (*Node, error) {
	line, col := place(n)
	if c.count++; c.count > maxNodes {
		return nil, &Error{line, col, fmt.Sprintf("more than %d values; are aliases nested?", maxNodes)}
	}
	if depth > maxDepth {
		return nil, &Error{line, col, fmt.Sprintf("nested deeper than %d", maxDepth)}
	}
	scalar := func(kind Kind, text string) (*Node, error) {
		return &Node{Kind: kind, Text: text, Line: line, Col: col}, nil
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return scalar(Null, "")
	case *ast.BoolNode:
		return scalar(Bool, fmt.Sprint(n.Value))
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return scalar(Number, n.GetToken().Value)
	case *ast.StringNode:
		return scalar(String, n.Value)
	case *ast.LiteralNode:
		return scalar(String, n.Value.Value)
	case *ast.TagNode:
		return c.convert(n.Value, depth+1)
	case *ast.AnchorNode:
		c.anchors[n.Name.String()] = n.Value
		return c.convert(n.Value, depth+1)
	case *ast.AliasNode:
		return c.alias(n, depth)
	case *ast.SequenceNode:
		out := &Node{Kind: Sequence, Line: line, Col: col}
		for _, v := range n.Values {
			item, err := c.convert(v, depth+1)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
		return out, nil
	case *ast.MappingNode:
		return c.mapping(n.Values, line, col, depth)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, line, col, depth)
	}
	return nil, &Error{line, col, "is a kind of YAML that rules do not use"}
}

func (c *converter) alias(n *ast.AliasNode, depth int) (*Node, error) {
	line, col := place(n)
	name := n.Value.String()
	target, ok := c.anchors[name]
	if !ok {
		return nil, &Error{line, col, fmt.Sprintf("alias *%s has no anchor before it", name)}
	}
	if c.open[name] {
		return nil, &Error{line, col, fmt.Sprintf("alias *%s is inside its own anchor", name)}
	}
	c.open[name] = true
	defer delete(c.open, name)
	return c.convert(target, depth+1)
}

func (c *converter) mapping(values []*ast.MappingValueNode, line, col, depth int) (*Node, error) {
	out := &Node{Kind: Mapping, Line: line, Col: col}
	if len(values) > 0 && values[0].Key != nil {
		out.Line, out.Col = place(values[0].Key) // the token of a block mapping is its first colon
	}
	seen := map[string]*Node{}
	var merged []Pair
	for _, v := range values {
		if v.Key.IsMergeKey() {
			from, err := c.convert(v.Value, depth+1)
			if err != nil {
				return nil, err
			}
			sources := []*Node{from}
			if from.Kind == Sequence {
				sources = from.Items
			}
			for _, s := range sources {
				if s.Kind != Mapping {
					return nil, s.Errorf("only a mapping can be merged, not %s", s.Kind)
				}
				merged = append(merged, s.Pairs...)
			}
			continue
		}
		key, err := c.key(v.Key, depth+1)
		if err != nil {
			return nil, err
		}
		if first := seen[key.Text]; first != nil {
			return nil, key.Errorf("key %q is there twice, first in line %d", key.Text, first.Line)
		}
		seen[key.Text] = key
		value, err := c.convert(v.Value, depth+1)
		if err != nil {
			return nil, err
		}
		if value.Line == 0 {
			value.Line, value.Col = key.Line, key.Col
		}
		out.Pairs = append(out.Pairs, Pair{key, value})
	}
	for _, p := range merged {
		if seen[p.Key.Text] == nil {
			seen[p.Key.Text] = p.Key
			out.Pairs = append(out.Pairs, p)
		}
	}
	return out, nil
}

func (c *converter) key(k ast.MapKeyNode, depth int) (*Node, error) {
	n, ok := k.(ast.Node)
	if ex, isExplicit := k.(*ast.MappingKeyNode); isExplicit {
		n, ok = ex.Value, ex.Value != nil
	}
	if !ok {
		return nil, &Error{Msg: "a key is not a scalar"}
	}
	key, err := c.convert(n, depth)
	if err != nil {
		return nil, err
	}
	if key.Kind == Sequence || key.Kind == Mapping {
		return nil, key.Errorf("a key must be a scalar, not %s", key.Kind)
	}
	return key, nil
}
