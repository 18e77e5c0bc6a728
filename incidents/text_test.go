package incidents

import (
	"strings"
	"testing"
)

func TestWriteText(t *testing.T) {
	list := []Incident{
		{FilePath: "a/b.go", LineNumber: 3, Range: &Range{Start: pos(2, 4)}, Severity: Warning, Message: "first\nsecond", RuleID: "r1"},
		{FilePath: "pom.xml", LineNumber: 7, Severity: Error, Description: "no message", RuleID: "r2"},
		{FilePath: "x", Severity: Info, Message: "red \x1b[31m and \u202ereversed", RuleID: "r3"},
	}
	want := "a/b.go:3:5: warning: first [r1]\n" +
		"pom.xml:7: error: no message [r2]\n" +
		"x: info: red [31m and reversed [r3]\n"
	var got strings.Builder
	if err := WriteText(&got, list); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}
