package incidents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	// The YAML library of the analyzer itself: it reads what that writes (block
	// scalars that begin with spaces among it), at some 30 MB/s.
	"go.yaml.in/yaml/v3"
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
	return value, true
}

// decodeYAML turns the first document of a text into JSON with the same order
// of members.
func decodeYAML(data []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return []byte("[]"), nil
	}
	var out bytes.Buffer
	if err := writeJSON(&out, doc.Content[0]); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// An aliasError refuses an alias: they can make a small file enormous, and no
// analyzer writes them.
type aliasError struct{ line int }

func (e *aliasError) Error() string { return "anchors and aliases are not read in analysis output" }

func writeJSON(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return &aliasError{n.Line}
	case yaml.MappingNode:
		out.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				out.WriteByte(',')
			}
			if key := n.Content[i]; key.Kind == yaml.ScalarNode {
				writeScalar(out, key.Value)
			} else {
				return fmt.Errorf("line %d: a key must be a text", key.Line)
			}
			out.WriteByte(':')
			if err := writeJSON(out, n.Content[i+1]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	default:
		switch n.ShortTag() {
		case "!!null", "!!bool", "!!int", "!!float":
			var v any
			if err := n.Decode(&v); err != nil {
				return err
			}
			writeScalar(out, v)
		default:
			writeScalar(out, n.Value)
		}
	}
	return nil
}

func writeScalar(out *bytes.Buffer, v any) {
	raw, err := json.Marshal(v)
	if err != nil { // .nan and .inf have no JSON
		raw, _ = json.Marshal(fmt.Sprint(v))
	}
	out.Write(raw)
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

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlError returns the 1-based line of an error, and its text.
func yamlError(err error) (line int, reason string) {
	var alias *aliasError
	if errors.As(err, &alias) {
		return alias.line, alias.Error()
	}
	text := firstLine(err.Error())
	at := yamlLine.FindStringSubmatchIndex(text)
	if at == nil {
		return 1, text
	}
	line, _ = strconv.Atoi(text[at[2]:at[3]]) // digits
	return max(line, 1), text[at[1]:]
}
