package incidents

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// fromYAML turns analysis output into JSON, so that one converter reads both.
// Where the text cannot be decoded, the smallest list items that are broken by
// themselves are reported and left out, and the rest is read.
func (k *konveyorReader) fromYAML(data []byte) ([]byte, bool) {
	value, err := decodeYAML(data)
	if err != nil {
		rows := bytes.SplitAfter(data, []byte("\n"))
		k.dropBrokenItems(rows, 0, len(rows))
		value, err = decodeYAML(bytes.Join(rows, nil))
	}
	if err != nil {
		line, reason := yamlError(err)
		k.problem(fmt.Sprintf("line %d", line), "the YAML is broken here, and what is around it cannot be read without it: %s", reason)
		return nil, false
	}
	out, err := jsonOf(value)
	if err != nil {
		k.problem("line 1", "the YAML holds a value that JSON cannot: %v", err)
		return nil, false
	}
	return out, true
}

// decodeYAML decodes the first document of a text into values that
// encoding/json writes in the same order.
func decodeYAML(data []byte) (value any, err error) {
	defer func() { // the parser is foreign and has been known to panic on broken text
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("the YAML parser gave up: %v", p)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return []any{}, nil
	}
	body := file.Docs[0].Body
	if a := findAlias(body); a != nil {
		// Aliases can make a small file enormous, and no analyzer writes them.
		return nil, &yaml.SyntaxError{Message: "anchors and aliases are not read in analysis output", Token: a.GetToken()}
	}
	if err := yaml.NodeToValue(body, &value, yaml.UseOrderedMap(), yaml.AllowDuplicateMapKey()); err != nil {
		return nil, err
	}
	return jsonable(value), nil
}

// dropBrokenItems empties the list items among rows [from, to) that cannot
// be decoded, or the broken items inside them where that is enough. A YAML text has
// no brackets to find the next record by, but an item ends at the next line
// that is indented no deeper than its dash. Emptied rows keep their line break,
// so that lines keep their numbers.
func (k *konveyorReader) dropBrokenItems(rows [][]byte, from, to int) {
	for at := from; at < to; {
		if !isYAMLItem(rows[at]) {
			at++
			continue
		}
		end := at + 1
		for end < to && (isBlankRow(rows[end]) || yamlIndent(rows[end]) > yamlIndent(rows[at])) {
			end++
		}
		decode := func() error {
			_, err := decodeYAML(bytes.Join(rows[at:end], nil))
			return err
		}
		err := decode()
		if err != nil && at+1 < end {
			k.dropBrokenItems(rows, at+1, end)
			err = decode()
		}
		if err != nil {
			line, reason := yamlError(err)
			k.problem(fmt.Sprintf("line %d", at+line), "the YAML is broken here: %s; the list item that starts on line %d is left out", reason, at+1)
			for i := at; i < end; i++ {
				rows[i] = rows[i][len(bytes.TrimRight(rows[i], "\r\n")):]
			}
		}
		at = end
	}
}

func yamlIndent(row []byte) int { return len(row) - len(bytes.TrimLeft(row, " ")) }

func isBlankRow(row []byte) bool { return len(bytes.TrimSpace(row)) == 0 }

func isYAMLItem(row []byte) bool {
	t := bytes.TrimLeft(row, " ")
	return bytes.HasPrefix(t, []byte("- ")) || len(bytes.TrimSpace(t)) == 1 && t[0] == '-'
}

// jsonable turns ordered YAML maps, whose keys may be of any type, into
// something encoding/json writes in the same order.
func jsonable(v any) any {
	switch v := v.(type) {
	case yaml.MapSlice:
		out := make(orderedObject, len(v))
		for i, item := range v {
			out[i] = orderedMember{fmt.Sprint(item.Key), jsonable(item.Value)}
		}
		return out
	case []any:
		for i := range v {
			v[i] = jsonable(v[i])
		}
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v) // .nan and .inf
		}
	}
	return v
}

// An orderedObject is a JSON object that keeps its members' order.
type orderedObject []orderedMember

type orderedMember struct {
	key   string
	value any
}

func (o orderedObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := jsonOf(m.key)
		if err != nil {
			return nil, err
		}
		value, err := jsonOf(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(bytes.TrimRight(key, "\n"))
		b.WriteByte(':')
		b.Write(bytes.TrimRight(value, "\n"))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// aliasFinder stops at the first alias or merge key.
type aliasFinder struct{ found ast.Node }

func (f *aliasFinder) Visit(n ast.Node) ast.Visitor {
	if f.found != nil {
		return nil
	}
	switch n.(type) {
	case *ast.AliasNode, *ast.MergeKeyNode:
		f.found = n
		return nil
	}
	return f
}

func findAlias(n ast.Node) ast.Node {
	var f aliasFinder
	ast.Walk(&f, n)
	return f.found
}

// yamlError returns the 1-based line of an error and its text without the
// source excerpt.
func yamlError(err error) (line int, reason string) {
	line = 1
	var syntax yaml.Error
	if !errors.As(err, &syntax) {
		return line, firstLine(err.Error())
	}
	if t := syntax.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return line, syntax.GetMessage()
}
