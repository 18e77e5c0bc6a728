package rules

import (
	"strings"
	"testing"
)

// TestGlobs has what ast-grep 0.51.1 says of the same globs and paths.
func TestGlobs(t *testing.T) {
	paths := strings.Fields("a.js lib/src/a.js src/a.js src/excluded/c.js src/x/a.js src/x/y/b.test.js test/t.js")
	for pattern, want := range map[string]string{
		"src/*.js":              "src/a.js src/excluded/c.js src/x/a.js src/x/y/b.test.js",
		"src/**/*.js":           "src/a.js src/excluded/c.js src/x/a.js src/x/y/b.test.js",
		"**/*.js":               strings.Join(paths, " "),
		"*.js":                  strings.Join(paths, " "),
		"**/a.js":               "a.js lib/src/a.js src/a.js src/x/a.js",
		"src/**":                "src/a.js src/excluded/c.js src/x/a.js src/x/y/b.test.js",
		"**/x/**":               "src/x/a.js src/x/y/b.test.js",
		"src/{x,excluded}/*.js": "src/excluded/c.js src/x/a.js src/x/y/b.test.js",
		"**/*.test.js":          "src/x/y/b.test.js",
		"a.js":                  "a.js",
		"src":                   "",
		"[ab].js":               "a.js",
		"[!b].js":               "a.js",
		"src/?.js":              "src/a.js",
		"lib":                   "",
		"**/test*":              "test/t.js",
		"./a.js":                "a.js",
		"ä[(].js":               "",
	} {
		re, err := compileGlob(pattern, false)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		var got []string
		for _, p := range paths {
			if re.MatchString(p) {
				got = append(got, p)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", pattern, got, want)
		}
	}
	if re, err := compileGlob("SRC/*.JS", true); err != nil || !re.MatchString("src/a.js") {
		t.Errorf("without case: %v", err)
	}
	for _, bad := range []string{"[a", "{a,b", "[z-a]", strings.Repeat("x", 1<<13)} {
		if _, err := compileGlob(bad, false); err == nil {
			t.Errorf("%.10s was taken", bad)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("**/{a,b}/[!x]?\\*", "q/a/yz*")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if re, err := compileGlob(pattern, true); err == nil {
			re.MatchString(name)
		}
	})
}
