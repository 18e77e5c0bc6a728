package konveyor

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestLint gives each trap to the linter by itself and wants its code at its
// line; rules that are warned about load, the others do not.
func TestLint(t *testing.T) {
	tests := []struct {
		rule string // after "- ruleID: r\n"; @ marks the line of the finding
		want string
	}{
		{"  message: m\n  when:\n    builtin.filecontent: {pattern: a}", ""},
		{"  message: m\n@  lables: [a]\n  when:\n    builtin.file: {pattern: a}", "warning unknown-key"},
		{"@  when:\n    builtin.file: {pattern: a}", "error rule"},
		{"@  message: m", "error rule"},
		{"  message: m\n@  when: 3", "error rule"},
		{"  message: [m]\n  when:\n    builtin.file: {pattern: a}", "error rule"},
		{"@  message: \"{{#a}}\"\n  when:\n    builtin.file: {pattern: a}", "warning message"},
		{"  message: m\n@  category: urgent\n  when:\n    builtin.file: {pattern: a}", "warning category"},
		{"  message: m\n@  effort: much\n  when:\n    builtin.file: {pattern: a}", "warning effort"},
		{"  message: m\n  labels:\n@  - a=b=c\n  when:\n    builtin.file: {pattern: a}", "warning label"},
		{"@  tag: [a.b]\n  when:\n    builtin.file: {pattern: a}", "warning tag"},
		{"  message: m\n  links:\n@  - title: t\n  when:\n    builtin.file: {pattern: a}", "warning link"},
		{"  message: m\n  customVariables:\n@  - {name: v, pattern: '('}\n  when:\n    builtin.file: {pattern: a}", "error rule"},
		{"  message: m\n  customVariables:\n@  - {name: v, pattern: 'a', nameOfCaptureGroup: g}\n  when:\n    builtin.file: {pattern: a}", "warning capture-group"},
		{"  message: m\n  when:\n@    python.dependency: {name: a}", "error rule"},
		{"  message: m\n  when:\n    or:\n@    - yaml.k8sResourceMatched: {kind: a}\n    - builtin.file: {pattern: a}", "error dropped"},
		{"  message: m\n  when:\n    and:\n@    - yaml.k8sResourceMatched: {kind: a}\n    - builtin.file: {pattern: a}", "error rule"},
		{"  message: m\n  when:\n@    or: []", "warning empty"},
		{"  message: m\n  when:\n@    builtin.file: {pattern: a}\n    builtin.json: {xpath: //a}", "error side-by-side"},
		{"  message: m\n  when:\n@    builtin.file: {pattern: a}\n    from: x", "error rule"},
		{"  message: m\n  when:\n    builtin.filecontent:\n      pattern: a\n@      filepaths: '{{x.Filepath}}'", "warning template"},
		{"  message: m\n  when:\n@    builtin.filecontent: {pattern: a, filepaths: '{{x.filepaths}}'}", "warning template"},
		{"  message: m\n  when:\n    builtin.filecontent:\n      pattern: a\n@      ignore: true", "warning misplaced-key"},
		{"  message: m\n  when:\n@    builtin.filecontent: {pattern: 'a('}", "warning bad-regex"},
		{"  message: m\n  when:\n@    builtin.filecontent: {pattern: 'a(?!b)'}", "warning look-around"},
		{"  message: m\n  when:\n@    builtin.filecontent: {pattern: '$scope'}", "warning dollar"},
		{"  message: m\n  when:\n@    builtin.filecontent: {pattern: '[ngClass]'}", "warning brackets"},
		{"  message: m\n  when:\n@    builtin.filecontent: {pattern: a, filePattern: '['}", "warning bad-pattern"},
		{"  message: m\n  when:\n@    builtin.filecontent: {filePattern: a}", "error rule"},
		{"  message: m\n  when:\n@    builtin.xml: {xpath: '//a['}", "error rule"},
		{"  message: m\n  when:\n@    builtin.xml: {xpath: '//p:a'}", "warning namespace"},
		{"  message: m\n  when:\n@    builtin.xmlPublicID: {regex: ''}", "warning empty-regex"},
		{"  message: m\n  when:\n@    builtin.xml: {xpath: //a, filepaths: ['.*\\.(?i:wsdl)']}", "warning xml-extension"},
		{"  message: m\n  when:\n    builtin.xml: {xpath: //a, filepaths: [pom.xml, '.*\\.xhtml$']}", ""},
		{"  message: m\n  when:\n@    builtin.hasTags: {}", "error rule"},
		{"  message: m\n  when:\n@    java.referenced: {pattern: a.B, location: THROW_STATEMENT}", "warning location"},
		{"  message: m\n  when:\n@    java.referenced: {pattern: 'a.(B|C))*'}", "warning java-pattern"},
		{"  message: m\n  when:\n@    java.referenced: {pattern: a.B, location: IMPORT, annotated: {pattern: c}}", "warning annotated"},
		{"  message: m\n  when:\n@    java.dependency: {name: a}", "warning no-bounds"},
		{"  message: m\n  when:\n@    java.dependency: {name: a, lowerbound: 3.0.0, upperbound: 2.0.0}", "warning bounds"},
		{"  message: m\n  when:\n@    java.dependency: {lowerbound: 3.0.0}", "error rule"},
		{"  message: m\n  when:\n@    csharp.referenced: {pattern: a, location: PROPERTY}", "warning location"},
		{"  message: m\n  when:\n@    csharp.referenced: {pattern: '('}", "error rule"},
	}
	for _, tt := range tests {
		text := "- ruleID: r\n" + tt.rule + "\n"
		line := 1 + strings.Count(text[:max(strings.IndexByte(text, '@'), 0)], "\n")
		src := strings.Replace(text, "@", "", 1)
		set, problems := LoadFS(fstest.MapFS{"rules.yaml": {Data: []byte(src)}}, ".")
		var got []string
		for _, f := range set.Findings() {
			got = append(got, fmt.Sprintf("%s %s", f.Level, f.Code))
			if strings.Contains(text, "@") && f.Line != line && f.Code != "rule" {
				t.Errorf("%s\nfinding at line %d, want %d: %s", src, f.Line, line, f)
			}
			if f.RuleID != "r" || f.File != "rules.yaml" {
				t.Errorf("%s\nfinding is not of the rule: %s", src, f)
			}
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s\ngot %q, want %q", src, s, tt.want)
		}
		loaded := len(set.Rules()) == 1
		if want := tt.want != "error rule"; loaded != want {
			t.Errorf("%s\nloaded: %v", src, loaded)
		}
		if isError := strings.HasPrefix(tt.want, "error"); (len(problems) > 0) != isError {
			t.Errorf("%s\nproblems: %v", src, problems)
		}
	}
}

func TestLoadTree(t *testing.T) {
	rule := func(id string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("- {ruleID: " + id + ", message: m, labels: [own], when: {builtin.file: {pattern: a}}}\n")}
	}
	set, problems := LoadFS(fstest.MapFS{
		"ruleset.yaml":              {Data: []byte("name: top\nlabels: [outer]\n")},
		"b.yaml":                    rule("b"),
		"a.yml":                     rule("a"),
		"a.test.yaml":               {Data: []byte("rulesPath: a.yml\n")},
		"data/input.yaml":           {Data: []byte("not: rules\n")},
		"notes.txt":                 {Data: []byte("text")},
		"sub/deep/ruleset.yaml":     {Data: []byte("name: sub\n")},
		"sub/deep/c.yaml":           rule("c"),
		"loose/d.yaml":              rule("d"),
		"twice/d.yaml":              {Data: []byte("- {ruleID: e, message: m, when: {builtin.file: {pattern: a}}}\n- {ruleID: e, message: m, when: {builtin.file: {pattern: a}}}\n")},
		"broken/x.yaml":             {Data: []byte("- ruleID: [\n")},
		"manifest/y.yaml":           {Data: []byte("a: b\n")},
		"empty/z.yaml":              {Data: []byte("# nothing\n")},
		".hidden/h.yaml":            rule("h"),
		"loose/testing-config.yaml": {Data: []byte("providers: []\n")},
	}, ".")
	var got []string
	for _, rs := range set.RuleSets {
		for _, r := range rs.Rules {
			got = append(got, fmt.Sprintf("%s/%s%v", rs.Name, r.ID, r.Labels))
		}
	}
	want := "konveyor-analysis/d[own] konveyor-analysis/e[] sub/c[own] top/a[own outer] top/b[own outer]"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	var where []string
	for _, p := range problems {
		where = append(where, p.Source)
	}
	if s := strings.Join(where, " "); s != "broken/x.yaml empty/z.yaml manifest/y.yaml twice/d.yaml" {
		t.Errorf("problems in %s", s)
	}
	if _, problems := Load("no/such/path"); len(problems) != 1 {
		t.Errorf("a missing path gives %v", problems)
	}
}

func TestNearest(t *testing.T) {
	for key, want := range map[string]string{"lables": "labels", "ruleId": "ruleID", "ingore": "ignore", "xyz": ""} {
		if got := nearest(key, append([]string{"ignore"}, ruleKeys...)); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("- ruleID: a\n  message: '{{x}}'\n  when:\n    and:\n    - builtin.xml: {xpath: //a, filepaths: '{{b.filepaths}}'}\n      from: b\n    - builtin.file: {pattern: x}\n      as: b\n")
	f.Add("- {ruleID: b, tag: [a], customVariables: [{name: c, pattern: d}], when: {or: [{java.referenced: {pattern: '(a|b)?.C*'}}]}}")
	f.Fuzz(func(t *testing.T, src string) {
		set, _ := LoadFS(fstest.MapFS{"rules.yaml": {Data: []byte(src)}}, ".")
		if _, err := newPlan(set.Rules()); err != nil {
			t.Errorf("a rule that loads cannot be compiled: %v", err)
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add("{{a}} {{{b}}} {{#c}}x{{/c}} {{>p}}", "line a=1", `(a)=(\d)`)
	f.Fuzz(func(t *testing.T, message, line, pattern string) {
		src := fmt.Sprintf("- {ruleID: r, message: %q, when: {builtin.file: {pattern: a}}}", message)
		set, _ := LoadFS(fstest.MapFS{"rules.yaml": {Data: []byte(src)}}, ".")
		for _, r := range set.Rules() {
			m := newMessage(r)
			in := incident{hit: hit{line: 1, text: line, vars: map[string]any{"a": line, "c": true}}}
			m.render(1, m.variables(&in))
		}
	})
}
