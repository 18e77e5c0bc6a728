package difftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// oracleVersion is the version of ast-grep that the engine is compared with.
const oracleVersion = "0.51.1"

// oracle returns the path of the ast-grep binary or skips the test.
func oracle(t testing.TB) string {
	bin := os.Getenv("KAIAK_ASTGREP")
	if bin == "" {
		t.Skip("KAIAK_ASTGREP is not set: it is the path of the ast-grep binary, npm's @ast-grep/cli@" + oracleVersion)
	}
	out, err := exec.Command(bin, "--version").Output()
	if err != nil {
		t.Fatalf("KAIAK_ASTGREP: %v", err)
	}
	if got := strings.TrimSpace(string(out)); !strings.HasSuffix(got, oracleVersion) {
		t.Fatalf("KAIAK_ASTGREP is %s; the comparison is with %s", got, oracleVersion)
	}
	return bin
}

// A result is one match as both engines report it.
type result struct {
	Rule        string
	Start, End  int
	Single      map[string]string // "start-end" of what $A is bound to
	Multi       map[string]string // "start-end start-end …" of $$$A
	Transformed map[string]string
	Fix         string // "start-end text" of the replacement, "" without one
	Message     string
}

func (r result) String() string {
	b, _ := json.Marshal(r)
	return string(b)
}

// sortResults puts results into the order in which they are compared.
func sortResults(list []result) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.Rule != b.Rule {
			return a.Rule < b.Rule
		}
		if a.Start != b.Start {
			return a.Start < b.Start
		}
		return a.End > b.End
	})
}

type oracleRange struct {
	ByteOffset struct{ Start, End int }
}

type oracleNode struct {
	Text  string
	Range oracleRange
}

// oracleMatch is a match in ast-grep's JSON.
type oracleMatch struct {
	RuleID        string
	Range         oracleRange
	Message       string
	Replacement   *string
	ReplacementAt *struct{ Start, End int } `json:"replacementOffsets"`
	MetaVariables *struct {
		Single      map[string]oracleNode
		Multi       map[string][]oracleNode
		Transformed map[string]string
	}
}

// runOracle runs rules, which are YAML documents by id, over one file. A rule
// that ast-grep rejects is in the second map, with its reason.
func runOracle(t testing.TB, bin, dir, file string, rules map[string]string) ([]result, map[string]string) {
	rejected := map[string]string{}
	var ids []string
	for id := range rules {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	var out []result
	var run func(ids []string)
	run = func(ids []string) {
		if len(ids) == 0 {
			return
		}
		got, reason := oracleOnce(t, bin, dir, file, ids, rules)
		if reason == "" {
			out = append(out, got...)
			return
		}
		// One bad rule fails the whole run: find it by halves.
		if len(ids) == 1 {
			rejected[ids[0]] = reason
			return
		}
		run(ids[:len(ids)/2])
		run(ids[len(ids)/2:])
	}
	run(ids)
	sortResults(out)
	return out, rejected
}

func oracleOnce(t testing.TB, bin, dir, file string, ids []string, rules map[string]string) ([]result, string) {
	var docs []string
	for _, id := range ids {
		docs = append(docs, rules[id])
	}
	ruleFile := filepath.Join(dir, "rules.in")
	if err := os.WriteFile(ruleFile, []byte(strings.Join(docs, "\n---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "scan", "--rule", ruleFile, "--json=compact", filepath.Join(dir, file))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var list []oracleMatch
	if jsonErr := json.Unmarshal(stdout.Bytes(), &list); jsonErr != nil {
		return nil, fmt.Sprintf("%v: %s", err, lastLine(stderr.String()))
	}
	out := make([]result, len(list))
	for i, m := range list {
		r := result{Rule: m.RuleID, Start: m.Range.ByteOffset.Start, End: m.Range.ByteOffset.End, Message: m.Message}
		if m.Replacement != nil {
			r.Fix = fmt.Sprintf("%d-%d %s", m.ReplacementAt.Start, m.ReplacementAt.End, *m.Replacement)
		}
		if mv := m.MetaVariables; mv != nil {
			r.Single, r.Multi, r.Transformed = map[string]string{}, map[string]string{}, mv.Transformed
			for name, n := range mv.Single {
				r.Single[name] = fmt.Sprintf("%d-%d", n.Range.ByteOffset.Start, n.Range.ByteOffset.End)
			}
			for name, nodes := range mv.Multi {
				if name == "secondary" {
					continue
				}
				var parts []string
				for _, n := range nodes {
					parts = append(parts, fmt.Sprintf("%d-%d", n.Range.ByteOffset.Start, n.Range.ByteOffset.End))
				}
				r.Multi[name] = strings.Join(parts, " ")
			}
		}
		out[i] = r.normal()
	}
	return out, ""
}

// normal makes absent and empty maps the same.
func (r result) normal() result {
	for _, m := range []*map[string]string{&r.Single, &r.Multi, &r.Transformed} {
		if len(*m) == 0 {
			*m = nil
		}
	}
	return r
}

func lastLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
