package incidents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// A recordShape tells the records of a format from other objects: the arrays
// they are in, and members of which each has one of every group.
type recordShape struct {
	key     string // of the arrays; "": the array that is the document
	members [][]string
}

var recordShapes = map[Format]recordShape{
	SARIF:        {"results", [][]string{{"message"}, {"ruleId", "ruleIndex", "rule"}}},
	Konveyor:     {"incidents", [][]string{{"uri"}}},
	GolangciLint: {"Issues", [][]string{{"FromLinter"}, {"Pos"}}},
	ESLint:       {"messages", [][]string{{"message"}, {"ruleId"}}},
	Native:       {"", [][]string{{"rule_id"}, {"file_path", "uri"}}},
}

// brokenMark begins the string that stands for a record that is not JSON.
const brokenMark = "\x00broken: "

// maxRepairs bounds the places at which a next record is looked for.
const maxRepairs = 1000

// repair makes JSON with broken records readable: each is replaced by a string
// that says what is wrong with it, so that the others, before and after it, are
// where they were. A record that is missing a bracket or a quote has no end of
// its own; it ends where the next sound one begins. Sound JSON is returned as
// it is; so is what is broken elsewhere than in a record.
func repair(data []byte, shape recordShape) []byte {
	if json.Valid(data) {
		return data
	}
	var out bytes.Buffer
	at, tries := 0, 0
	for {
		start := shape.nextArray(data, at)
		if start < 0 {
			break
		}
		out.Write(data[at:start])
		at = shape.repairArray(&out, data, start, &tries)
	}
	out.Write(data[at:])
	return out.Bytes()
}

// nextArray returns the offset after the bracket of the next array of records,
// -1 when there is none.
func (shape recordShape) nextArray(data []byte, from int) int {
	if shape.key == "" {
		if from > 0 || firstByte(data) != '[' {
			return -1
		}
		return bytes.IndexByte(data, '[') + 1
	}
	name := []byte(`"` + shape.key + `"`)
	for {
		i := bytes.Index(data[from:], name)
		if i < 0 {
			return -1
		}
		from += i + len(name)
		rest := bytes.TrimLeft(data[from:], " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(rest) > 0 && rest[0] == '[' {
			return len(data) - len(rest) + 1
		}
	}
}

// repairArray writes the records from at on, and returns where the array ends:
// at its closing bracket, or where no sound record follows.
func (shape recordShape) repairArray(out *bytes.Buffer, data []byte, at int, tries *int) int {
	// Another array of records belongs to something else: its records are not
	// what follows a broken one here.
	limit := len(data)
	if next := shape.nextArray(data, at); next >= 0 {
		limit = next
	}
	first, broken := true, false // nothing is written yet; the last one written is broken
	write := func(raw []byte) {
		if !first {
			out.WriteByte(',')
		}
		first = false
		out.Write(raw)
	}
	for {
		end, stop := partEnd(data, at)
		raw := bytes.TrimSpace(data[at:end])
		sound := json.Valid(raw)
		next := -1
		switch {
		case !sound && stop == ',': // it ends with the comma, or before, where a sound one begins
			if len(raw) > 0 {
				next = shape.nextRecord(data, at, end, tries)
			}
		case !sound && (len(raw) > 0 || !first), stop != ',' && stop != ']':
			next = shape.nextRecord(data, at, limit, tries)
			if sound {
				next = shape.nextRecord(data, end, limit, tries)
			}
		}
		switch {
		case sound:
			write(raw)
			broken = false
		case next < 0 && stop != ',' && stop != ']':
			if !first {
				out.WriteByte(',')
			}
			return at // the rest cannot be told apart
		case (len(raw) > 0 || next >= 0) && !broken:
			write(brokenRecord(data[at:max(end, next)]))
			broken = true // what follows may be the rest of it
		}
		switch {
		case next >= 0:
			at = next
		case stop == ',':
			at = end + 1
		default:
			return end
		}
	}
}

// nextRecord returns where the next sound record begins between from and to:
// after a comma, and with the members of one. -1: nowhere.
func (shape recordShape) nextRecord(data []byte, from, to int, tries *int) int {
	for i := from; i < to && *tries < maxRepairs; i++ {
		if data[i] != ',' {
			continue
		}
		rest := bytes.TrimLeft(data[i+1:], " \t\r\n")
		if len(rest) == 0 || rest[0] != '{' {
			continue
		}
		*tries++
		start := len(data) - len(rest)
		end, _ := partEnd(data, start)
		if raw := bytes.TrimSpace(data[start:end]); json.Valid(raw) && shape.fits(raw) {
			return start
		}
	}
	return -1
}

func (shape recordShape) fits(raw []byte) bool {
	parts, _ := members(raw)
	for _, group := range shape.members {
		if !slices.ContainsFunc(parts, func(p part) bool { return slices.Contains(group, p.key) }) {
			return false
		}
	}
	return true
}

// brokenRecord returns what stands for a record that is not JSON.
func brokenRecord(raw []byte) []byte {
	var v any
	reason := "it is cut off"
	if err := json.Unmarshal(raw, &v); err != nil {
		reason = err.Error()
	}
	text, _ := json.Marshal(brokenMark + reason) // a string: cannot fail
	return text
}

// brokenReason returns what is wrong with a record that repair replaced.
func brokenReason(data []byte) (string, bool) {
	var text string
	if len(data) == 0 || data[0] != '"' || json.Unmarshal(data, &text) != nil {
		return "", false
	}
	return strings.CutPrefix(text, brokenMark)
}
