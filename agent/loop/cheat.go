package loop

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// A model that is judged by whether a message goes away can make it go away in
// ways that nobody wants. The rules below find those that the syntax shows;
// suppressions are found by the agent's own gate.

// emptied finds handlers that swallow what they catch.
var emptied = regexp.MustCompile(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*(?://[^\n]*\s*|/\*(?:[^*]|\*[^/])*\*/\s*)*\}` +
	`|\bexcept\b[^:\n]*:\s*(?:#[^\n]*)?\n?\s*(?:pass|\.\.\.)\s*(?:\n|$)` +
	`|\bif err != nil \{\s*(?://[^\n]*\s*)*\}` +
	`|\brescue\b[^\n]*\n\s*end\b`)

// assertion finds what makes a test a test.
var assertion = regexp.MustCompile(`\b(?:assert\w*|expect|require\.\w+|verify|should\w*)\s*[(!.]|\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\b|\bassert\s`)

// skipped finds tests that are switched off.
var skipped = regexp.MustCompile(`@(?:Ignore|Disabled)\b|\bt\.Skip(?:f|Now)?\(|\b(?:it|test|describe)\.skip\(|@pytest\.mark\.skip|@unittest\.skip|\bxit\(|\[Ignore\b`)

var testName = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)(?:[A-Z_]|$)|^test_?\w*|(?:Test|Tests|IT|Spec)$`)

var testPath = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|__tests__|spec)/|(?:_test|\.test|\.spec|Tests?|IT)\.\w+$|(?:^|/)test_\w+\.py$`)

// Limits of what a fix may take away from one declaration.
const (
	lostShare = 0.2 // of its lines
	lostLines = 10  // and more than so many
)

// cheats lists what a draft does that would hide the problem instead of fixing it.
func cheats(ctx context.Context, f *workspace.File, after []byte) []agent.Flaw {
	var flaws []agent.Flaw
	add := func(format string, args ...any) {
		flaws = append(flaws, agent.Flaw{Check: agent.CheckHygiene, Path: f.Path, Message: fmt.Sprintf(format, args...)})
	}
	more := func(re *regexp.Regexp) bool { return len(re.FindAll(after, -1)) > len(re.FindAll(f.Text, -1)) }
	if more(emptied) {
		add("it adds a handler that swallows what it catches; handle the error as the code did before")
	}
	if more(skipped) {
		add("it switches a test off; fix the test or leave it")
	}
	if testPath.MatchString(f.Path) {
		if n, m := len(assertion.FindAll(f.Text, -1)), len(assertion.FindAll(after, -1)); m < n {
			add("it removes %d of %d assertions from a test", n-m, n)
		}
	}
	before, now := declarations(ctx, f.Path, f.Text), declarations(ctx, f.Path, after)
	for _, d := range before {
		size, still := sizeOf(now, d.name)
		switch {
		case !still && d.test:
			add("it deletes the test %s", d.name)
		case !still && d.lines > lostLines && !renamed(before, now):
			add("it deletes %s (%d lines)", d.name, d.lines)
		case still && d.lines-size > lostLines && float64(d.lines-size) > lostShare*float64(d.lines):
			add("it deletes %d of the %d lines of %s", d.lines-size, d.lines, d.name)
		}
	}
	return flaws
}

// A declared is a function or method with the number of its lines that are not blank.
type declared struct {
	name  string
	lines int
	test  bool
}

func declarations(ctx context.Context, file string, text []byte) []declared {
	lang := treesitter.ForPath(file)
	if lang == nil {
		return nil
	}
	tree, err := treesitter.Parse(ctx, lang, text)
	if err != nil {
		return nil
	}
	var out []declared
	for _, s := range treesitter.Outline(tree) {
		if s.Kind != treesitter.Function && s.Kind != treesitter.Method && s.Kind != treesitter.Constructor {
			continue
		}
		n := 0
		for line := range bytes.Lines(s.Decl.Bytes()) {
			if len(bytes.TrimSpace(line)) > 0 {
				n++
			}
		}
		out = append(out, declared{s.Qualified, n, testPath.MatchString(file) && testName.MatchString(path.Base(strings.ReplaceAll(s.Name, ".", "/")))})
	}
	return out
}

// sizeOf returns the lines of all declarations of a name: overloads count together.
func sizeOf(list []declared, name string) (lines int, ok bool) {
	for _, d := range list {
		if d.name == name {
			lines += d.lines
			ok = true
		}
	}
	return lines, ok
}

// renamed reports whether as many declarations are left as there were: then one
// that is gone has another name now.
func renamed(before, after []declared) bool { return len(after) >= len(before) }
