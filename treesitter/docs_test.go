package treesitter

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What newer grammars understand and the bundled ones do not. Each is a syntax
// error in its tree; docs/languages.md lists them.
var deviations = []struct{ language, what, src string }{
	{"go", "type parameters of an alias (Go 1.24)", "package a\n\ntype A[T any] = []T\n"},
	{"java", "module imports (Java 25)", "import module java.base;\n"},
	{"javascript", "`using` declarations", "{ using x = f(); }\n"},
	{"kotlin", "a companion object on the line of its class", "class A { companion object { fun m() {} } }\n"},
	{"php", "property hooks (PHP 8.4)", "<?php class A { public int $x { get => 1; } }\n"},
}

func TestDeviationsAreReal(t *testing.T) {
	for _, d := range deviations {
		if tree := mustParse(t, d.language, d.src); Errors(tree) == nil {
			t.Errorf("%s understands %s by now: take it off the list", d.language, d.what)
		}
	}
}

const languagesDoc = "../docs/languages.md"

// docs/languages.md is made from the table of languages.
func TestLanguagesDoc(t *testing.T) {
	goMod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	yes := func(ok bool) string {
		if ok {
			return "yes"
		}
		return ""
	}
	var b strings.Builder
	b.WriteString("# Languages\n\nMade from `treesitter/languages.go` by `go test ./treesitter -update`. Rules may use the name or an alias.\n" +
		"Outline *yes* means that declarations are read by a table of the language; for the others they are guessed from the\n" +
		"names of the grammar's nodes. Imports *yes* means that its import statements are understood.\n\n" +
		"| language | aliases | files | grammar | outline | imports |\n|---|---|---|---|---|---|\n")
	for _, l := range All() {
		m := regexp.MustCompile(regexp.QuoteMeta(l.Module) + ` (v\S+)`).FindSubmatch(goMod)
		if m == nil {
			t.Fatalf("go.mod does not require %s", l.Module)
		}
		files := append([]string(nil), l.Files...)
		for _, e := range l.Extensions {
			files = append(files, "."+e)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s %s | %s | %s |\n", l.Name, strings.Join(l.Aliases, ", "), strings.Join(files, " "),
			strings.TrimPrefix(l.Module, "github.com/"), m[1], yes(l.HasOutline()), yes(l.HasImports()))
	}
	b.WriteString("\n## What the bundled grammars do not know\n\nThe runtime takes grammars of ABI 14; newer releases of these understand more. A file with one of these is\n" +
		"parsed around it: rules still match elsewhere in the file, and a fix is judged by the errors that it adds.\n\n")
	for _, d := range deviations {
		fmt.Fprintf(&b, "* %s: %s\n", d.language, d.what)
	}
	if *update {
		if err := os.WriteFile(languagesDoc, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(languagesDoc); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the table says (%v); run go test ./treesitter -update", languagesDoc, err)
	}
}
