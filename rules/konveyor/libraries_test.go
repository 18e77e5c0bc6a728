package konveyor

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"testing"
	"testing/fstest"
)

// Two compiled classes: lib.Child extends lib.Parent and has a method self that
// returns lib.Child; lib.Parent has a method go.
const (
	childClass  = "yv66vgAAADQACwUAAAAAAAAAAQ8BAAABAAlsaWIvQ2hpbGQHAAQBAApsaWIvUGFyZW50BwAGAQAEc2VsZgEADSgpTGxpYi9DaGlsZDsBAARDb2RlAAEABQAHAAAAAAABAAEACAAJAAEACgAAAANhYmM="
	parentClass = "yv66vgAAADQACwUAAAAAAAAAAQ8BAAABAApsaWIvUGFyZW50BwAEAQAQamF2YS9sYW5nL09iamVjdAcABgEAAmdvAQADKClWAQAEQ29kZQABAAUABwAAAAAAAQABAAgACQABAAoAAAADYWJj"
)

func jar(t *testing.T, classes map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range classes {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLibrariesOfTheProject finds a call whose method a class in a jar inherits.
func TestLibrariesOfTheProject(t *testing.T) {
	rules := fstest.MapFS{"rules.yaml": {Data: []byte(`
- {ruleID: parent, message: m, effort: 1, when: {java.referenced: {pattern: lib.Parent.go, location: METHOD_CALL}}}
- {ruleID: child, message: m, effort: 1, when: {java.referenced: {pattern: lib.Child.go, location: METHOD_CALL}}}
`)}}
	app := fstest.MapFS{
		"A.java":    {Data: []byte("import lib.Child;\nimport lib.Parent;\nclass A { void m(Child c) { c.self().go(); } }\n")},
		"lib/a.jar": {Data: jar(t, map[string]string{"lib/Child.class": childClass, "lib/Parent.class": parentClass})},
		"lib/b.jar": {Data: []byte("no archive")},
	}
	set, problems := LoadFS(rules, ".")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, tt := range []struct {
		files fstest.MapFS
		want  string
	}{
		{app, "parent A.java:3 "},
		// Without the jar the type of the receiver is unknown, and both are imported or not.
		{fstest.MapFS{"A.java": app["A.java"]}, "child A.java:3 parent A.java:3 "},
	} {
		res, err := set.Run(context.Background(), FromFS(tt.files, "/app"), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, in := range res.Incidents {
			got += fmt.Sprintf("%s %s:%d ", in.RuleID, in.FilePath, in.LineNumber)
		}
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
		if broken := tt.files["lib/b.jar"] != nil; (len(res.Notes) > 0) != broken {
			t.Errorf("notes: %v", res.Notes)
		}
	}
}
