package konveyor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// A testFile is one *.test.yaml.
type testFile struct {
	path      string // as shown
	dir       string // of the machine
	rulesPath string
	dataPath  string // of the first provider by name
	rules     []ruleTest
}

// A ruleTest is the test cases of one rule.
type ruleTest struct {
	ruleID string
	cases  []testCase
}

// A testCase is one expectation.
type testCase struct {
	name        string
	params      string // analysisParams, as a key: cases with other ones run apart
	isUnmatched bool
	hasTags     []string
	incidents   *incidentTest
	line        int
}

// An incidentTest counts incidents, or lists their places.
type incidentTest struct {
	exactly, atLeast, atMost *int
	message, snip            string
	locations                []locationTest
}

// A locationTest is one place that is expected.
type locationTest struct {
	uri           string
	line          int
	message, snip string
}

// findTests returns the test files below paths, in order.
func findTests(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		if !info.IsDir() {
			if !isTestFile(p) {
				return nil, fmt.Errorf("%s: is no test file; its name must end with .test.yaml", p)
			}
			out = append(out, p)
			continue
		}
		err = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && isTestFile(d.Name()) {
				out = append(out, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// readTest reads a test file; nil when it is empty.
func readTest(name string) (*testFile, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	docs, err := yamldoc.Parse(src)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, nil
	}
	n := docs[0]
	if n.Kind != yamldoc.Mapping {
		return nil, errors.New("a test file must be a mapping with rulesPath, providers and tests")
	}
	f := &testFile{path: filepath.ToSlash(name), dir: filepath.Dir(name)}
	if v := n.Get("rulesPath"); v != nil {
		f.rulesPath = v.Text
	}
	providers := n.Get("providers")
	if providers == nil {
		providers = defaultProviders(f.dir)
	}
	// The analyzer sorts the providers and takes the input of the first.
	first := ""
	for _, p := range items(providers) {
		provider, data := p.Get("name"), p.Get("dataPath")
		if provider != nil && data != nil && (first == "" || provider.Text < first) {
			first, f.dataPath = provider.Text, data.Text
		}
	}
	for _, t := range items(n.Get("tests")) {
		id := t.Get("ruleID")
		if id == nil {
			return nil, t.Errorf("a test has no ruleID")
		}
		rt := ruleTest{ruleID: id.Text}
		for _, c := range items(t.Get("testCases")) {
			tc, err := readCase(c)
			if err != nil {
				return nil, err
			}
			rt.cases = append(rt.cases, tc)
		}
		f.rules = append(f.rules, rt)
	}
	return f, nil
}

// defaultProviders reads the providers of testing-config.yaml.
func defaultProviders(dir string) *yamldoc.Node {
	for _, name := range []string{"testing-config.yaml", "testing-config.yml"} {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if docs, err := yamldoc.Parse(src); err == nil && len(docs) > 0 {
			return docs[0].Get("providers")
		}
	}
	return nil
}

func readCase(n *yamldoc.Node) (testCase, error) {
	tc := testCase{line: n.Line}
	if v := n.Get("name"); v != nil {
		tc.name = v.Text
	}
	if v := n.Get("isUnmatched"); v != nil {
		tc.isUnmatched = v.Text == "true"
	}
	for _, t := range items(n.Get("hasTags")) {
		tc.hasTags = append(tc.hasTags, t.Text)
	}
	if v := n.Get("analysisParams"); v != nil {
		for _, p := range v.Pairs {
			tc.params += p.Key.Text + "=" + p.Value.Text + ";"
		}
	}
	v := n.Get("hasIncidents")
	if v == nil || v.Kind != yamldoc.Mapping {
		return tc, nil
	}
	tc.incidents = &incidentTest{message: textOf(v, "messageMatches"), snip: textOf(v, "codeSnipMatches")}
	for key, into := range map[string]**int{"exactly": &tc.incidents.exactly, "atLeast": &tc.incidents.atLeast, "atMost": &tc.incidents.atMost} {
		if c := v.Get(key); c != nil {
			count, err := c.Int(key)
			if err != nil {
				return tc, err
			}
			*into = &count
		}
	}
	for _, l := range items(v.Get("locations")) {
		at := locationTest{uri: textOf(l, "fileURI"), message: textOf(l, "messageMatches"), snip: textOf(l, "codeSnipMatches")}
		if c := l.Get("lineNumber"); c != nil {
			count, err := c.Int("lineNumber")
			if err != nil {
				return tc, err
			}
			at.line = count
		}
		tc.incidents.locations = append(tc.incidents.locations, at)
	}
	return tc, nil
}

func textOf(n *yamldoc.Node, key string) string {
	if v := n.Get(key); v != nil {
		return v.Text
	}
	return ""
}

// input returns the folder that the test runs over, and whether it is there.
func (f *testFile) input() (dir string, ok bool) {
	if f.dataPath == "" {
		return "", false
	}
	dir = filepath.Join(f.dir, filepath.FromSlash(f.dataPath))
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// ruleFile returns the path of the rules under test.
func (f *testFile) ruleFile() string {
	if f.rulesPath == "" {
		base := strings.NewReplacer(".test.yaml", ".yaml", ".test.yml", ".yml").Replace(path.Base(f.path))
		return filepath.Join(f.dir, base)
	}
	return filepath.Join(f.dir, filepath.FromSlash(f.rulesPath))
}
