package incidents

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxYAMLRepairs bounds how many broken list items of one document are dropped.
const maxYAMLRepairs = 32

// fromYAML turns analysis output into JSON, so that one converter reads both.
// YAML has no brackets to find the next record by: where the text does not
// parse, the innermost list item around the error is reported and left out, and
// the rest is tried again.
func (k *konveyorReader) fromYAML(data []byte) ([]byte, bool) {
	text := data
	for repairs := 0; ; repairs++ {
		file, err := parser.ParseBytes(text, 0)
		if err == nil {
			return k.convertYAML(file)
		}
		line, reason := yamlError(err)
		start, end := itemAround(text, line)
		if repairs == maxYAMLRepairs || start == end {
			k.problem(fmt.Sprintf("line %d", line), "the YAML is broken here: %s", reason)
			return nil, false
		}
		k.problem(fmt.Sprintf("line %d", line), "the YAML is broken here: %s; the list item that starts on line %d is left out", reason, bytes.Count(text[:start], []byte("\n"))+1)
		text = blank(text, start, end)
	}
}

func (k *konveyorReader) convertYAML(file *ast.File) ([]byte, bool) {
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return []byte("[]"), true
	}
	body := file.Docs[0].Body
	if a := findAlias(body); a != nil {
		// Aliases can make a small file enormous, and no analyzer writes them.
		k.problem(fmt.Sprintf("line %d", a.GetToken().Position.Line), "anchors and aliases are not read in analysis output")
		return nil, false
	}
	var value any
	if err := yaml.NodeToValue(body, &value, yaml.UseOrderedMap(), yaml.AllowDuplicateMapKey()); err != nil {
		line, reason := yamlError(err)
		k.problem(fmt.Sprintf("line %d", line), "the YAML cannot be read: %s", reason)
		return nil, false
	}
	out, err := jsonOf(jsonable(value))
	if err != nil {
		k.problem("line 1", "the YAML holds a value that JSON cannot: %v", err)
		return nil, false
	}
	return out, true
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

// itemAround returns the bytes of the innermost "- " list item that holds the
// 1-based line: from its dash to the next line that is indented no deeper.
func itemAround(text []byte, line int) (start, end int) {
	all := strings.SplitAfter(string(text), "\n")
	if line > len(all) {
		line = len(all)
	}
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	isBlank := func(s string) bool { return strings.TrimSpace(s) == "" }
	isItem := func(s string) bool {
		t := strings.TrimLeft(s, " ")
		return strings.HasPrefix(t, "- ") || strings.TrimSpace(t) == "-"
	}

	first, depth := -1, 0
	for n := line - 1; n >= 0; n-- {
		if isBlank(all[n]) {
			continue
		}
		if isItem(all[n]) && (n == line-1 || indent(all[n]) < indent(all[line-1]) || isBlank(all[line-1])) {
			first, depth = n, indent(all[n])
			break
		}
	}
	if first < 0 {
		return 0, 0
	}
	last := first + 1
	for last < len(all) && (isBlank(all[last]) || indent(all[last]) > depth) {
		last++
	}
	for n, s := range all[:last] {
		if n < first {
			start += len(s)
		}
		end += len(s)
	}
	return start, end
}

// blank replaces the bytes [start, end) by nothing but their line breaks, so
// that the lines after keep their numbers.
func blank(text []byte, start, end int) []byte {
	out := append([]byte(nil), text[:start]...)
	out = append(out, bytes.Repeat([]byte("\n"), bytes.Count(text[start:end], []byte("\n")))...)
	return append(out, text[end:]...)
}
