package incidents

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// Format is the form of an analysis file.
type Format string

// The formats that [Read] tells apart.
const (
	SARIF        Format = "sarif"
	Konveyor     Format = "konveyor"
	GolangciLint Format = "golangci-lint"
	ESLint       Format = "eslint"
	Native       Format = "kaiak" // what `kaiak check --format json` writes
)

// converters reads each format; a format without one here cannot be read.
var converters = map[Format]func([]byte, Options) *Report{
	SARIF:        ReadSARIF,
	Konveyor:     ReadKonveyor,
	GolangciLint: ReadGolangciLint,
	ESLint:       ReadESLint,
	Native:       ReadNative,
}

// Read reads an analysis file by the converter for its content; the name only
// appears in problems. An error means that the format is not known: nothing
// was read.
func Read(name string, data []byte, opts Options) (*Report, error) {
	opts.Name = name
	data = decodeText(data)
	format, ok := Detect(data)
	if !ok {
		return nil, fmt.Errorf("%s is no analysis output that can be read: "+
			"SARIF 2.1.0, Konveyor (output.yaml, JSON or the static report's output.js), golangci-lint JSON, ESLint JSON or the output of `kaiak check --format json` is expected", name)
	}
	return converters[format](data, opts), nil
}

// Detect tells the format of an analysis file by its first members.
func Detect(data []byte) (Format, bool) {
	data = bytes.TrimSpace(data)
	if _, ok := afterAssignment(data); ok {
		return Konveyor, true
	}
	switch firstByte(data) {
	case 0:
		return "", false
	case '{':
		parts, _ := members(data)
		return formatOf(parts, map[string]Format{
			"runs": SARIF, "Issues": GolangciLint, "incidents": Native,
			"violations": Konveyor, "insights": Konveyor,
		})
	case '[':
		list, whole := elements(data)
		if len(list) == 0 {
			return Native, whole // an empty list is empty in every format
		}
		for _, p := range list { // the first may be the broken one
			parts, _ := members(p.data)
			if f, ok := formatOf(parts, map[string]Format{
				"messages": ESLint, "rule_id": Native,
				"violations": Konveyor, "insights": Konveyor, "rulesets": Konveyor,
				"unmatched": Konveyor, "skipped": Konveyor, "errors": Konveyor, "tags": Konveyor,
			}); ok {
				return f, true
			}
		}
		return "", false
	}
	for _, sign := range []string{"violations:", "insights:", "unmatched:", "skipped:", "tags:"} {
		if bytes.HasPrefix(data, []byte(sign)) || bytes.Contains(data, []byte("\n  "+sign)) || bytes.Contains(data, []byte("- "+sign)) {
			return Konveyor, true
		}
	}
	return "", false
}

func formatOf(parts []part, signs map[string]Format) (Format, bool) {
	for _, m := range parts {
		if f, ok := signs[m.key]; ok {
			return f, true
		}
	}
	return "", false
}

// decodeText removes a byte order mark and turns UTF-16, which some Windows
// tools write, into UTF-8.
func decodeText(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}
