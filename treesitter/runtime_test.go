package treesitter

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runtime.h repeats declarations of the runtime's own header. Each must be in
// it word for word, or the linker would join what does not fit.
func TestDeclarationsMatchTheRuntime(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", smacker).Output()
	if err != nil {
		t.Skipf("cannot find the module %s: %v", smacker, err)
	}
	api := declarations(t, filepath.Join(strings.TrimSpace(string(dir)), "api.h"))
	ours := declarations(t, "runtime.h")
	if len(ours) < 30 {
		t.Fatalf("found %d declarations in runtime.h, expected more: is the test's reading of it right?", len(ours))
	}
	for name, text := range ours {
		if api[name] != text {
			t.Errorf("%s:\nruntime.h: %s\napi.h:     %s", name, text, api[name])
		}
	}
}

// declarations returns the typedefs and functions of a C header by name, with
// comments removed and white space normalised.
func declarations(t *testing.T, path string) map[string]string {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?ms:/\*.*?\*/)|//[^\n]*|(?m:^#.*$)`).ReplaceAllString(string(src), "")
	text = strings.Join(strings.Fields(text), " ")
	text = strings.NewReplacer("( ", "(", " )", ")", ", }", " }").Replace(text)
	found := map[string]string{}
	for _, re := range []string{
		`typedef (?:struct|enum) (\w+) \{[^}]*\} \w+;`,
		`typedef \w+ (TS\w+);`,
		`[\w ]+[ *]+(ts_\w+)\([^;]*\);`,
	} {
		for _, m := range regexp.MustCompile(re).FindAllStringSubmatch(text, -1) {
			found[m[1]] = strings.TrimSpace(m[0])
		}
	}
	return found
}
