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

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// defaultRuleSet is the name of rules that lie beside no ruleset.yaml.
const defaultRuleSet = "konveyor-analysis"

// Load reads rules from files and directories of the machine. Sub-directories
// are rulesets of their own. Tests (*.test.yaml) and the input beside them are
// left out.
//
// A rule that cannot be loaded costs only itself: it is one [incidents.Problem],
// with its place and what to do. So is a YAML file that holds no rules.
func Load(paths ...string) (*Set, []incidents.Problem) {
	l := loader{sets: map[string]*RuleSet{}, seen: map[string]string{}}
	for _, p := range paths {
		l.load(p)
	}
	set := l.set()
	return set, problems(set.findings)
}

// LoadFS reads rules from root in fsys, as [Load] does.
func LoadFS(fsys fs.FS, root string) (*Set, []incidents.Problem) {
	l := loader{sets: map[string]*RuleSet{}, seen: map[string]string{}}
	l.dir(fsys, root, "")
	set := l.set()
	return set, problems(set.findings)
}

// problems returns what keeps a rule or file from being used.
func problems(findings []Finding) []incidents.Problem {
	var out []incidents.Problem
	for _, f := range findings {
		if f.Level == LevelError {
			out = append(out, f.Problem())
		}
	}
	return out
}

type loader struct {
	sets     map[string]*RuleSet
	seen     map[string]string // rule id → where it was first seen
	findings []Finding
}

func (l *loader) set() *Set {
	set := &Set{findings: l.findings}
	for _, rs := range l.sets {
		if len(rs.Rules) > 0 {
			set.RuleSets = append(set.RuleSets, rs)
		}
	}
	slices.SortFunc(set.RuleSets, func(a, b *RuleSet) int { return strings.Compare(a.Name, b.Name) })
	for _, rs := range set.RuleSets {
		slices.SortStableFunc(rs.Rules, compareRules)
	}
	return set
}

func (l *loader) fail(file, format string, args ...any) {
	l.findings = append(l.findings, Finding{File: file, Level: LevelError, Code: "unreadable", Message: fmt.Sprintf(format, args...)})
}

// load reads one path of the machine.
func (l *loader) load(p string) {
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.fail(p, "there is no such file or directory; give a rule file or a directory of rules")
	case err != nil:
		l.fail(p, "%v", err)
	case info.IsDir():
		l.dir(os.DirFS(p), ".", filepath.ToSlash(p))
	default:
		dir, name := filepath.Split(filepath.Clean(p))
		if dir == "" {
			dir = "."
		}
		fsys := os.DirFS(dir)
		at := filepath.ToSlash(filepath.Clean(dir))
		l.file(fsys, name, path.Join(at, name), l.header(fsys, ".", at))
	}
}

// dir reads the rules of a directory and of those below it. shown is how the
// directory is named to the user.
func (l *loader) dir(fsys fs.FS, dir, shown string) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		l.fail(shown, "%v", err)
		return
	}
	hasTests := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isTestFile(e.Name()) })
	var h *header
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		at := path.Join(shown, e.Name())
		switch {
		case e.IsDir():
			if strings.HasPrefix(e.Name(), ".") || hasTests && e.Name() == "data" {
				continue // the input of tests holds YAML of every kind
			}
			l.dir(fsys, name, at)
		case isRuleFile(e.Name()):
			if h == nil {
				h = l.header(fsys, dir, shown)
			}
			l.file(fsys, name, at, h)
		}
	}
}

func isTestFile(name string) bool {
	return strings.HasSuffix(name, ".test.yaml") || strings.HasSuffix(name, ".test.yml")
}

func isRuleFile(name string) bool {
	return (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")) && !isTestFile(name) &&
		name != "ruleset.yaml" && name != "ruleset.yml" && name != "testing-config.yaml" && name != "testing-config.yml"
}

// header reads the ruleset.yaml of a directory, or makes up the default one.
// Directories that name the same ruleset share it; their labels stay their own.
func (l *loader) header(fsys fs.FS, dir, shown string) *header {
	h := &header{set: &RuleSet{Name: defaultRuleSet}}
	for _, name := range []string{"ruleset.yaml", "ruleset.yml"} {
		src, err := fs.ReadFile(fsys, path.Join(dir, name))
		if err == nil {
			l.parseHeader(path.Join(shown, name), src, h.set)
			break
		}
	}
	h.labels = h.set.Labels
	if known := l.sets[h.set.Name]; known != nil {
		known.Labels = unique(append(known.Labels, h.labels...))
		h.set = known
	} else {
		l.sets[h.set.Name] = h.set
	}
	return h
}

// A header is the ruleset that a directory's rules belong to, and the labels
// that the directory gives them.
type header struct {
	set    *RuleSet
	labels []string
}

func (l *loader) parseHeader(file string, src []byte, rs *RuleSet) {
	docs, err := yamldoc.Parse(src)
	if err != nil || len(docs) == 0 || docs[0].Kind != yamldoc.Mapping {
		l.fail(file, "is no mapping with name, description and labels: %v", err)
		return
	}
	p := parser{file: file, loader: l}
	p.known(docs[0], "ruleset.yaml", "name", "description", "labels", "tags", "source", "target")
	if n := docs[0].Get("name"); n != nil && n.Text != "" {
		rs.Name = n.Text
	}
	if n := docs[0].Get("description"); n != nil {
		rs.Description = n.Text
	}
	rs.Labels = p.labels(docs[0].Get("labels"))
	rs.Tags = p.strings(docs[0].Get("tags"), "tags")
}

// file reads the rules of one file into its ruleset.
func (l *loader) file(fsys fs.FS, name, shown string, h *header) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		l.fail(shown, "%v", err)
		return
	}
	for _, r := range parseFile(l, shown, src) {
		r.RuleSet = h.set.Name
		r.Labels = unique(append(r.Labels, h.labels...))
		h.set.Rules = append(h.set.Rules, r)
	}
}
