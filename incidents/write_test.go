package incidents

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What a writer writes, the reader of the same format reads back: nothing that
// the format can say is lost, and the ids stay.
func TestWrittenIncidentsAreReadBack(t *testing.T) {
	ws := map[string][]byte{
		"src/a b.go": []byte("package a\n\nvar s = \"ü😀\" + old(1)\nvar t = old(2)\n"),
		"pom.xml":    []byte("<project>\n</project>\n"),
		"50%.txt":    []byte("<&> \"quoted\": - x\n"),
	}
	text := func(p string) ([]byte, bool) { b, ok := ws[p]; return b, ok }
	list := []Incident{
		{
			RuleID: "go-old", FilePath: "src/a b.go", LineNumber: 3, Severity: Error, Description: "old is gone", Message: "use <new>(x) & co",
			Category: "mandatory", Effort: 3, Labels: []string{"deprecated"}, Links: []Link{{URL: "https://example.com/old"}},
			Range: &Range{pos(2, 16), pos(2, 22)}, Snippet: "old(1)",
			Fixes: []Fix{{Title: "call new", Edits: []FixEdit{{"src/a b.go", Range{pos(2, 16), pos(2, 19)}, "new"}, {"pom.xml", Range{pos(1, 0), pos(1, 0)}, "  <x/>\n"}}}, {Title: "drop it", Edits: []FixEdit{{"src/a b.go", Range{pos(2, 13), pos(2, 22)}, ""}}}},
		},
		{RuleID: "go-old", FilePath: "src/a b.go", LineNumber: 4, Severity: Error, Description: "old is gone", Message: "multi\nline: \"message\"\n", Category: "mandatory", Effort: 3, Labels: []string{"deprecated"}, Links: []Link{{URL: "https://example.com/old"}}, Snippet: "var t = old(2)"},
		{RuleID: "pom", FilePath: "pom.xml", Severity: Info, Description: "no version", Message: "no version", Category: "optional"},
		{RuleID: "percent", FilePath: "50%.txt", LineNumber: 1, Severity: Warning, Description: "d", Message: "'m': #", Category: "potential", Snippet: "<&> \"quoted\": - x"},
	}
	AssignIDs(list, nil)

	for _, tt := range []struct {
		format Format
		write  func(*bytes.Buffer) error
		// what the format has no place for
		ignore []string
	}{
		{SARIF, func(b *bytes.Buffer) error { return WriteSARIF(b, list, SARIFTool{Name: "kaiak", Version: "1"}) }, nil},
		{Konveyor, func(b *bytes.Buffer) error {
			return WriteKonveyor(b, list, KonveyorOptions{Root: "/home/dev/shop", Text: text})
		}, []string{"Fixes", "Metadata"}},
		{Konveyor, func(b *bytes.Buffer) error { return WriteKonveyor(b, list, KonveyorOptions{}) }, []string{"Fixes", "Metadata"}},
		{Native, func(b *bytes.Buffer) error { return WriteNative(b, list) }, nil},
	} {
		var b bytes.Buffer
		if err := tt.write(&b); err != nil {
			t.Fatalf("%s: %v", tt.format, err)
		}
		rep, err := Read("written", b.Bytes(), Options{Root: "/home/dev/shop", Text: text})
		if err != nil {
			t.Fatalf("%s: %v\n%s", tt.format, err, &b)
		}
		if rep.Format != tt.format || len(rep.Problems) > 0 {
			t.Errorf("%s: read as %s with problems %v\n%s", tt.format, rep.Format, rep.Problems, &b)
		}
		ignore := append([]string{"Span", "URI", "Source"}, tt.ignore...)
		byID := cmpopts.SortSlices(func(a, b Incident) bool { return a.ID < b.ID })
		if diff := cmp.Diff(list, rep.Incidents, byID, cmpopts.IgnoreFields(Incident{}, ignore...), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-written +read):\n%s\n%s", tt.format, diff, &b)
		}
	}
}

func TestDiagnosticsThereAndBack(t *testing.T) {
	text := []byte("a\nb😀 old()\n")
	given := []Diagnostic{
		{Range: Range{pos(1, 4), pos(1, 9)}, Severity: 1, Code: "SA1019", CodeHref: "https://x", Source: "staticcheck", Message: "first line\nmore", Tags: []int{TagDeprecated}},
		{Range: Range{pos(1, 4), pos(1, 900)}, Code: "", Source: "compiler", Message: "m", Data: []byte(`[1]`)},
		{Range: Range{pos(7, 0), pos(7, 1)}, Message: "past the end"},
		{Range: Range{pos(1, 4), pos(0, 1)}, Message: "backwards"},
		{Range: Range{pos(0, 0), pos(0, 0)}, Severity: 4, Code: "own", Source: "kaiak", Message: "ours", Data: []byte(`{"incident_id":"inc-1"}`)},
	}
	list, problems := FromDiagnostics("a.go", text, given, nil)
	if len(list) != 3 || len(problems) != 2 {
		t.Fatalf("%d incidents, problems %v; want 3 and 2", len(list), problems)
	}
	if in := list[0]; in.RuleID != "SA1019" || in.Snippet != "old()" || in.LineNumber != 2 || in.Severity != Error || in.Description != "first line" {
		t.Errorf("first incident: %+v", in)
	}
	if in := list[1]; in.RuleID != "compiler" || in.Range.End.Character != 9 || in.Severity != Warning {
		t.Errorf("second incident: %+v; its range must end with the line", in)
	}
	if in := list[2]; in.ID != "inc-1" || in.Snippet != "a" {
		t.Errorf("third incident: %+v; it must keep the id it brought", in)
	}
	back := ToDiagnostic(list[0])
	want := given[0]
	want.Data = []byte(`{"incident_id":"` + list[0].ID + `","rule_id":"SA1019"}`)
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("back to a diagnostic (-want +got):\n%s", diff)
	}
	if d := ToDiagnostic(Incident{RuleID: "r", LineNumber: 3}); d.Range != (Range{pos(2, 0), pos(2, endOfLine)}) || d.Message != "r" || d.Source != "kaiak" {
		t.Errorf("a line without a range: %+v", d)
	}
}
