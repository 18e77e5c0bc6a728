package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules/ruletest"
)

func TestTestRunsBothKinds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"grep/a.yml":            "id: a\nlanguage: js\nrule: {pattern: 'foo($A)'}\n",
		"grep/a-test.yml":       "id: a\nvalid: [bar(1), foo(2)]\ninvalid: [foo(1)]\n---\nid: b\nvalid: [x]\n",
		"kon/r.yaml":            "- ruleID: r-1\n  message: m\n  effort: 1\n  when:\n    builtin.filecontent: {pattern: hello, filePattern: '.*txt'}\n",
		"kon/tests/r.test.yaml": "rulesPath: ../r.yaml\nproviders:\n- name: builtin\n  dataPath: ./data\ntests:\n- ruleID: r-1\n  testCases:\n  - name: tc-1\n    hasIncidents: {exactly: 1}\n",
		"kon/tests/data/a.txt":  "hello\n",
		"none/x.txt":            "",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := Test(context.Background(), []string{"grep", "kon"}, dir, ruletest.Options{SkipSnapshots: true})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Write(&b, false); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\n3 passed, 1 failed, 1 skipped\n") || !strings.Contains(b.String(), "FAIL  a-test.yml:2: a valid: the rule must find nothing here") {
		t.Errorf("got\n%s", b.String())
	}
	if _, err := Test(context.Background(), []string{"none"}, dir, ruletest.Options{}); err == nil {
		t.Error("a folder without tests was taken")
	}
	if _, err := Test(context.Background(), []string{"nowhere"}, dir, ruletest.Options{}); err == nil {
		t.Error("a folder that is not there was taken")
	}
}
