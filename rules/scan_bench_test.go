package rules_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// benchRules are ordinary rules for Go; more are made of them by renaming.
var benchRules = []string{
	"ioutil.ReadAll($A)", "interface{}", "sort.Slice($A, $B)", "strings.Replace($A, $B, $C, -1)", "time.Now().Sub($A)",
	"ioutil.ReadFile($A)", "errors.New(fmt.Sprintf($$$A))", "bytes.Compare($A, $B) == 0", "os.IsNotExist($A)", "reflect.PtrTo($A)",
}

// ruleText returns n rules; common makes every one of them look at every file.
func ruleText(n int, common bool) string {
	var b strings.Builder
	for i := range n {
		p := benchRules[i%len(benchRules)]
		if i >= len(benchRules) {
			p = fmt.Sprintf("pkg%d.Func%d($A, $$$B)", i, i)
		}
		if common {
			p = fmt.Sprintf("if $A != nil { return $B%d }", i)
		}
		fmt.Fprintf(&b, "id: rule-%d\nlanguage: go\nrule: {pattern: '%s'}\n---\n", i, p)
	}
	return b.String()
}

func loadText(tb testing.TB, text string) *rules.Set {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	set, problems, err := rules.Load(context.Background(), []string{file}, rules.LoadOptions{})
	if err != nil || len(problems) > 0 {
		tb.Fatal(err, problems)
	}
	return set
}

// goTree returns Go's own source tree, the real input of the benchmarks.
func goTree(tb testing.TB) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skip("the go command is not there, and so is its source tree")
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

func BenchmarkScanGoTree(b *testing.B) {
	ws, err := workspace.Open(goTree(b), workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	for _, bench := range []struct {
		name   string
		rules  int
		common bool
	}{{"1", 1, false}, {"10", 10, false}, {"50", 50, false}, {"every_file_1", 1, true}, {"every_file_10", 10, true}} {
		b.Run(bench.name, func(b *testing.B) {
			set := loadText(b, ruleText(bench.rules, bench.common))
			for b.Loop() {
				matches := 0
				err := set.Scan(context.Background(), ws, rules.ScanOptions{}, func(r rules.FileResult) error {
					matches += len(r.Matches)
					return r.Err
				})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(matches), "matches")
			}
		})
	}
}

// BenchmarkScanGoTreeWarm scans a tree that did not change since the last scan.
func BenchmarkScanGoTreeWarm(b *testing.B) {
	ws, err := workspace.Open(goTree(b), workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	set := loadText(b, ruleText(10, false))
	opts := rules.ScanOptions{Cache: rules.NewCache(b.TempDir())}
	scan := func() {
		if err := set.Scan(context.Background(), ws, opts, func(r rules.FileResult) error { return r.Err }); err != nil {
			b.Fatal(err)
		}
	}
	scan()
	for b.Loop() {
		scan()
	}
}

// BenchmarkCheckLargeFile is what an editor asks for after each edit: a file of
// 10,000 lines that has a match in every sixth.
func BenchmarkCheckLargeFile(b *testing.B) {
	var text strings.Builder
	text.WriteString("package p\n\n")
	for i := range 1666 {
		fmt.Fprintf(&text, "func f%d(x interface{}) error {\n\tif x == nil {\n\t\treturn nil\n\t}\n\treturn g(x)\n}\n", i)
	}
	file := &workspace.File{Path: "a.go", Text: []byte(text.String())}
	tree, err := treesitter.Parse(context.Background(), treesitter.Lookup("go"), file.Text)
	if err != nil {
		b.Fatal(err)
	}
	set := loadText(b, ruleText(10, false))
	for b.Loop() {
		matches, err := set.Check(context.Background(), file, tree)
		if err != nil || len(matches) != 1666 {
			b.Fatal(len(matches), err)
		}
	}
}

// BenchmarkRewrite fixes all matches of such a file, through the gate.
func BenchmarkRewrite(b *testing.B) {
	const n = 10_000
	file := &workspace.File{Path: "a.go", Text: []byte("package p\n\n" + strings.Repeat("var x interface{} = f(1)\n", n))}
	set := loadText(b, "id: any\nlanguage: go\nrule: {pattern: 'interface{}'}\nfix: any\n")
	matches, err := set.Check(context.Background(), file, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		rw, err := set.Rewrite(context.Background(), file, nil, matches)
		if err != nil || len(rw.Hunks) != n {
			b.Fatal(len(rw.Hunks), len(rw.Refused), err)
		}
	}
}
