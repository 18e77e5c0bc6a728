package crashtest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/incidents"
)

// The size of the project, 200 incidents: ruled files of perFile incidents each, and sets of
// two to four files that belong to one incident.
const (
	ruled   = 24
	perFile = 8
	sets    = 8
)

// A project is a workspace to be migrated: its files before and after, and
// which of them change together.
type project struct {
	base, final map[string]string
	sets        [][]string // paths; the files of one incident's fix
	offered     []incidents.Incident
}

// languages are those of the ruled files: an old call and a new one each.
var languages = []struct{ ext, rule, head, before, after, tail string }{
	{"java", "id: java-log\nlanguage: java\nseverity: warning\nmessage: use log.info\nrule:\n  pattern: Trace.print($A)\nfix: log.info($A)\n",
		"package shop;\n\nclass C%02d {\n  void run() {\n", "    Trace.print(\"%d\");\n", "    log.info(\"%d\");\n", "  }\n}\n"},
	{"go", "id: go-log\nlanguage: go\nseverity: warning\nmessage: use slog.Info\nrule:\n  pattern: oldLog($A)\nfix: slog.Info($A)\n",
		"package shop\n\nfunc run%02d() {\n", "\toldLog(\"%d\")\n", "\tslog.Info(\"%d\")\n", "}\n"},
	{"js", "id: js-log\nlanguage: javascript\nseverity: warning\nmessage: use console.info\nrule:\n  pattern: legacyLog($A)\nfix: console.info($A)\n",
		"export function run%02d() {\n", "  legacyLog(%d)\n", "  console.info(%d)\n", "}\n"},
}

// newProject makes the project; it is the same every time.
func newProject() *project {
	p := &project{base: map[string]string{}, final: map[string]string{}}
	both := func(path, before, after string) {
		if _, twice := p.base[path]; twice {
			panic(path + " is made twice")
		}
		p.base[path], p.final[path] = before, after
	}
	for _, l := range languages {
		both("rules/"+l.ext+".yml", l.rule, l.rule)
	}
	for i := range ruled {
		l := languages[i%len(languages)]
		before, after := fmt.Sprintf(l.head, i), fmt.Sprintf(l.head, i)
		for j := range perFile {
			before, after = before+fmt.Sprintf(l.before, j), after+fmt.Sprintf(l.after, j)
		}
		path := fmt.Sprintf("src/%s/c%02d.%s", l.ext, i, l.ext)
		both(path, before+l.tail, after+l.tail)
		p.sets = append(p.sets, []string{path})
	}
	for i := range sets {
		in := incidents.Incident{RuleID: "rename-across-files", Severity: incidents.Warning, LineNumber: 1, Source: "analysis",
			Message: "the name is old", Description: "the name is old", Fixes: []incidents.Fix{{Title: "Rename in all files"}}}
		var set []string
		for j := range 2 + i%3 {
			path := fmt.Sprintf("lib/set%02d/part%d.js", i, j)
			both(path, fmt.Sprintf("oldName(%d, %d)\n", i, j), fmt.Sprintf("newName(%d, %d)\n", i, j))
			in.Fixes[0].Edits = append(in.Fixes[0].Edits, incidents.FixEdit{FilePath: path, NewText: "newName",
				Range: incidents.Range{End: incidents.Position{Character: len("oldName")}}})
			set = append(set, path)
		}
		in.FilePath, in.Range = set[0], &in.Fixes[0].Edits[0].Range
		p.offered = append(p.offered, in)
		p.sets = append(p.sets, set)
	}
	return p
}

// write makes the project's files and the analysis of its sets.
func (p *project) write(t testing.TB, l *lab) {
	t.Helper()
	for path, text := range p.base {
		name := filepath.Join(l.workspace, filepath.FromSlash(path))
		check(t, os.MkdirAll(filepath.Dir(name), 0o755))
		check(t, os.WriteFile(name, []byte(text), 0o644))
	}
	p.writeAnalysis(t, l, p.base)
}

// writeAnalysis makes the analysis of the sets that a tree still needs.
func (p *project) writeAnalysis(t testing.TB, l *lab, tree map[string]string) {
	t.Helper()
	list := []incidents.Incident{}
	for _, in := range p.offered {
		if tree[in.FilePath] == p.base[in.FilePath] {
			list = append(list, in)
		}
	}
	var analysis bytes.Buffer
	check(t, incidents.WriteNative(&analysis, list))
	check(t, os.WriteFile(l.analysis, analysis.Bytes(), 0o644))
}

// allOrNothing reports what is wrong with a tree in which some of the project's
// sets are applied: a file that is neither as before nor as after, a set of
// which only a part is there, a file too many or too few. With crashed, what
// only recovery settles is no fault: parts of sets, and temporary files.
func (p *project) allOrNothing(tree map[string]string, crashed bool) (wrong []string) {
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if _, ok := p.base[path]; !ok && !(crashed && strings.Contains(path, ".kaiak-")) {
			wrong = append(wrong, path+" is left over")
		}
	}
	for _, set := range p.sets {
		before, after := 0, 0
		for _, path := range set {
			switch tree[path] {
			case p.base[path]:
				before++
			case p.final[path]:
				after++
			default:
				wrong = append(wrong, fmt.Sprintf("%s is half-written: %q", path, tree[path]))
			}
		}
		if before > 0 && after > 0 && !crashed {
			wrong = append(wrong, fmt.Sprintf("of the set %s only %d of %d files are changed", strings.Join(set, " "), after, len(set)))
		}
	}
	return wrong
}
