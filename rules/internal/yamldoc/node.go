// Package yamldoc reads YAML documents into a small tree whose every value
// knows its place, so that a rule that is wrong is reported with line and
// column. [Parse] is where to begin; the accessors of [Node] check shapes and
// return errors that say what was found and what was expected.
//
// Aliases are resolved and merge keys applied. The package knows nothing of
// what the documents mean, never panics on input, and bounds how far aliases
// may blow a document up.
package yamldoc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a [Node].
type Kind uint8

// The kinds of node.
const (
	Null Kind = iota
	Bool
	Number
	String
	Sequence
	Mapping
)

var kindNames = [...]string{"nothing", "a boolean", "a number", "a string", "a list", "a mapping"}

func (k Kind) String() string { return kindNames[k] }

// A Node is one value of a document. It is immutable.
type Node struct {
	Kind      Kind
	Text      string  // of a scalar, without quotes
	Items     []*Node // of a sequence
	Pairs     []Pair  // of a mapping, in the order of the document
	Line, Col int     // 1-based; Col counts characters
}

// A Pair is one entry of a mapping.
type Pair struct {
	Key   *Node // a scalar
	Value *Node
}

// An Error is what is wrong at one place.
type Error struct {
	Line, Col int // 1-based; 0: not known
	Msg       string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

// Errorf returns an error at n.
func (n *Node) Errorf(format string, args ...any) *Error {
	return &Error{n.Line, n.Col, fmt.Sprintf(format, args...)}
}

// Get returns the value of a key, nil when n is no mapping or has no such key.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, p := range n.Pairs {
		if p.Key.Text == key {
			return p.Value
		}
	}
	return nil
}

// Str returns the text of a string. what names the value in the error: "`id`".
func (n *Node) Str(what string) (string, error) {
	if n.Kind == String {
		return n.Text, nil
	}
	if n.Kind == Number || n.Kind == Bool {
		return "", n.Errorf("%s must be a string, not %s; put quotes around %s", what, n.Kind, n.Text)
	}
	return "", n.Errorf("%s must be a string, not %s", what, n.Kind)
}

// Int returns the value of a whole number.
func (n *Node) Int(what string) (int, error) {
	if n.Kind == Number {
		if i, err := strconv.Atoi(strings.ReplaceAll(n.Text, "_", "")); err == nil {
			return i, nil
		}
	}
	return 0, n.Errorf("%s must be a whole number, not %s", what, n.describe())
}

// Bool returns the value of a boolean.
func (n *Node) Bool(what string) (bool, error) {
	if n.Kind == Bool {
		return n.Text == "true", nil
	}
	return false, n.Errorf("%s must be true or false, not %s", what, n.describe())
}

func (n *Node) describe() string {
	if n.Text != "" && n.Kind != Sequence && n.Kind != Mapping {
		return strconv.Quote(n.Text)
	}
	return n.Kind.String()
}

// Strs returns the texts of a list of strings.
func (n *Node) Strs(what string) ([]string, error) {
	if n.Kind != Sequence {
		return nil, n.Errorf("%s must be a list of strings, not %s", what, n.Kind)
	}
	out := make([]string, 0, len(n.Items))
	for _, item := range n.Items {
		s, err := item.Str("an entry of " + what)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Keys checks that n is a mapping that has no keys but the known ones.
func (n *Node) Keys(what string, known ...string) error {
	if n.Kind != Mapping {
		return n.Errorf("%s must be a mapping, not %s", what, n.describe())
	}
	for _, p := range n.Pairs {
		if !slices.Contains(known, p.Key.Text) {
			return p.Key.Errorf("%s has no key %q; its keys are %s", what, p.Key.Text, strings.Join(known, ", "))
		}
	}
	return nil
}

// Value returns n as plain Go data: nil, bool, int or float64, string, []any,
// map[string]any.
func (n *Node) Value() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		if i, err := strconv.ParseInt(strings.ReplaceAll(n.Text, "_", ""), 0, 64); err == nil {
			return int(i)
		}
		if f, err := strconv.ParseFloat(n.Text, 64); err == nil {
			return f
		}
		return n.Text
	case String:
		return n.Text
	case Sequence:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Value()
		}
		return list
	case Mapping:
		m := make(map[string]any, len(n.Pairs))
		for _, p := range n.Pairs {
			m[p.Key.Text] = p.Value.Value()
		}
		return m
	}
	return nil
}
