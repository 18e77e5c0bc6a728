package incidents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzRead feeds any bytes to every converter: none panics, and what is read is
// sound.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/read/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, input := openArchive(ar)
		f.Add(input)
	}
	text := []byte("package a\n\nvar s = \"ü😀\"\r\nlast")
	opts := Options{Root: "/home/dev/shop", Text: func(p string) ([]byte, bool) { return text, len(p)%3 > 0 }}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = decodeText(data)
		if len(data) > 64<<10 {
			t.Skip("large inputs only cost time")
		}
		for format, read := range converters {
			rep := read(data, opts)
			if rep.Format != format {
				t.Errorf("the converter of %s reports %s", format, rep.Format)
			}
			checkInvariants(t, rep, opts)
		}
	})
}

// A document of each format with three records, of which the middle one is
// replaced.
var recordDocs = map[Format]struct{ before, after, record string }{
	SARIF: {
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[`, `]}]}`,
		`{"ruleId":"R%d","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a%[1]d.go"},"region":{"startLine":%[1]d}}}]}`,
	},
	Konveyor: {
		`[{"name":"s","violations":{"r":{"description":"d","incidents":[`, `]}}}]`,
		`{"uri":"a%d.go","message":"m","lineNumber":%[1]d}`,
	},
	GolangciLint: {
		`{"Issues":[`, `]}`,
		`{"FromLinter":"revive","Text":"m","Pos":{"Filename":"a%d.go","Line":%[1]d}}`,
	},
	ESLint: {
		`[{"filePath":"a.js","messages":[`, `]}]`,
		`{"ruleId":"R%d","severity":1,"message":"m","line":%[1]d,"column":1}`,
	},
	Native: {
		`[`, `]`,
		`{"rule_id":"R%d","file_path":"a%[1]d.go","line_number":%[1]d}`,
	},
}

// FuzzBadRecord replaces one record by something else: the records before it
// come out unchanged, and where its brackets and quotes balance, so do the ones
// after it. What is cut off in the middle costs nothing that came before.
func FuzzBadRecord(f *testing.F) {
	for _, bad := range []string{
		`null`, `17`, `"text"`, `[]`, `{}`, `[[{"ruleId":1}]]`, `{"ruleId":["x"]}`, `{"locations":{}}`, `{"uri":7}`,
		`garbage without brackets`, `{"a":}`, `{]`, `{"unterminated": "`, `{{{`, `]`, `}`, `\`, `"\`, ``, `{"lineNumber":1e999}`,
	} {
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, bad string) {
		for format, doc := range recordDocs {
			read := func(records ...string) []Incident {
				return converters[format]([]byte(doc.before+strings.Join(records, ",")+doc.after), Options{}).Incidents
			}
			first, last := fmt.Sprintf(doc.record, 1), fmt.Sprintf(doc.record, 3)
			sound := read(first, last)
			if len(sound) != 2 {
				t.Fatalf("%s: %d incidents of 2 sound records", format, len(sound))
			}
			got := read(first, bad, last)
			if len(got) == 0 || !reflect.DeepEqual(got[0], sound[0]) {
				t.Errorf("%s: the record before %q is lost or changed: %+v", format, bad, got)
			}
			if balanced(bad) && (len(got) < 2 || !reflect.DeepEqual(got[len(got)-1], sound[1])) {
				t.Errorf("%s: the record after %q is lost or changed: %+v", format, bad, got)
			}
			cut := converters[format]([]byte(doc.before+first+","+bad), Options{})
			if len(cut.Incidents) == 0 || !reflect.DeepEqual(cut.Incidents[0], sound[0]) {
				t.Errorf("%s: the record before the cut after %q is lost or changed: %+v", format, bad, cut.Incidents)
			}
			if balanced(bad) && len(cut.Problems) == 0 {
				t.Errorf("%s: a document that is cut off is read without a problem", format)
			}
		}
	})
}

// balanced reports whether bad is one JSON value, or has nothing that could
// open or close one.
func balanced(bad string) bool {
	return json.Valid([]byte(bad)) || !strings.ContainsAny(bad, `{}[]",\`)
}

// FuzzBadYAMLRecord does the same for the YAML of Konveyor: whatever one field
// of an incident holds as a plain line, the other incidents come out unchanged.
func FuzzBadYAMLRecord(f *testing.F) {
	for _, bad := range []string{"text", "[1, 2", "{a: b", `"\q"`, "*alias", "a: b: c", "!!binary x", "%x", "@x", "`x", "\x01", "- - -", "'"} {
		f.Add(bad)
	}
	const head = "- name: s\n  violations:\n    r:\n      description: d\n      incidents:\n"
	item := func(n int, message string) string {
		return fmt.Sprintf("      - uri: a%d.go\n        message: %s\n        lineNumber: %d\n", n, message, n)
	}
	sound := ReadKonveyor([]byte(head+item(1, "m")+item(3, "m")), Options{}).Incidents
	f.Fuzz(func(t *testing.T, bad string) {
		if strings.ContainsAny(bad, "\n\r\"'*&") {
			t.Skip("a line break makes other records, an open quote swallows them, an alias refuses the document")
		}
		got := ReadKonveyor([]byte(head+item(1, "m")+item(2, bad)+item(3, "m")), Options{}).Incidents
		if len(got) < 2 || !reflect.DeepEqual(got[0], sound[0]) || !reflect.DeepEqual(got[len(got)-1], sound[1]) {
			t.Errorf("with %q the others are lost or changed: %+v", bad, got)
		}
	})
}

// Whatever single byte of a record is lost, or doubled, the records before and
// after it come out unchanged, and the damage is reported or harmless.
func TestEveryByteOfARecord(t *testing.T) {
	for format, doc := range recordDocs {
		read := func(records ...string) *Report {
			return converters[format]([]byte(doc.before+strings.Join(records, ",\n  ")+doc.after), Options{})
		}
		record := func(n int) string { return fmt.Sprintf(doc.record, n) }
		sound := read(record(1), record(2), record(3), record(4), record(5)).Incidents
		if len(sound) != 5 {
			t.Fatalf("%s: %d incidents of 5 sound records", format, len(sound))
		}
		middle := record(3)
		for i := range len(middle) {
			for what, damaged := range map[string]string{
				"without": middle[:i] + middle[i+1:],
				"doubled": middle[:i+1] + middle[i:],
				"{":       middle[:i] + "{" + middle[i+1:],
				"]":       middle[:i] + "]" + middle[i+1:],
				"quote":   middle[:i] + `"` + middle[i+1:],
			} {
				rep := read(record(1), record(2), damaged, record(4), record(5))
				got := rep.Incidents
				n := len(got)
				if n < 4 || !reflect.DeepEqual(got[:2], sound[:2]) || !reflect.DeepEqual(got[n-2:], sound[3:]) {
					t.Errorf("%s, byte %d (%q) %s:\n%s\n%d incidents: %+v", format, i, middle[i], what, damaged, n, got)
				}
				if n < 5 && len(rep.Problems) == 0 {
					t.Errorf("%s, byte %d (%q) %s: a record is lost without a problem", format, i, middle[i], what)
				}
			}
		}
	}
}
