package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/konveyor"
	"github.com/kaiak/kaiak/workspace"
)

// OwnRules is where a workspace keeps its own rules, relative to its root.
const OwnRules = ".kaiak/rules"

// DefaultSources are the rules of a workspace that names none: its own and the
// built-in packs that concern it.
func DefaultSources(ws *workspace.Workspace) []string {
	sources := []string{rules.Builtin}
	dir := filepath.Join(ws.RealDir(), filepath.FromSlash(OwnRules))
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		sources = append([]string{dir}, sources...)
	}
	return sources
}

// split parts sources into those of pattern rules and those of Konveyor rules.
func split(sources []string, dir string) (patterns, rulesets []string, err error) {
	for _, s := range sources {
		if s == rules.Builtin || strings.HasPrefix(s, rules.Builtin+":") {
			patterns = append(patterns, s)
			continue
		}
		path := s
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		is, err := isKonveyor(path)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("rules %s: %w", s, err)
		case is:
			rulesets = append(rulesets, path)
		default:
			patterns = append(patterns, s)
		}
	}
	return patterns, rulesets, nil
}

// ruleID is the key that every Konveyor rule has and no pattern rule may have.
var ruleID = regexp.MustCompile(`(?m)^\s*(- )?\s*ruleID:`)

// isKonveyor reports whether a file, or the first rule file of a folder that
// tells, is one of Konveyor's.
func isKonveyor(path string) (bool, error) {
	found := false
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ext := filepath.Ext(p)
		if d.IsDir() || ext != ".yaml" && ext != ".yml" {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == "ruleset.yaml" || ruleID.Match(text):
			found = true
			return filepath.SkipAll
		case bytes.Contains(text, []byte("\nrule:")) || d.Name() == "sgconfig.yml":
			return filepath.SkipAll
		}
		return nil
	})
	return found, err
}

// ReadBaseline reads the incidents that are not to be reported again: what
// `kaiak check --format json` wrote.
func ReadBaseline(file string) (map[string]bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	return ParseBaseline(file, text)
}

// ParseBaseline reads what a baseline file holds; name is for errors.
func ParseBaseline(name string, text []byte) (map[string]bool, error) {
	var list []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("baseline %s is not a list of incidents as `kaiak check --format json` writes it: %w", name, err)
	}
	hidden := make(map[string]bool, len(list))
	for _, in := range list {
		hidden[in.ID] = true
	}
	return hidden, nil
}

// Root finds the workspace for paths given on a command line, and the paths
// relative to it: the current directory where they are below it, a single
// folder itself, else the nearest folder above them all.
func Root(paths []string) (root string, under []string, err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	if len(paths) == 0 {
		return cwd, nil, nil
	}
	abs := make([]string, len(paths))
	for i, p := range paths {
		if abs[i], err = filepath.Abs(p); err != nil {
			return "", nil, err
		}
		if _, err := os.Stat(abs[i]); err != nil {
			return "", nil, err
		}
	}
	root = cwd
	if !all(abs, cwd) {
		root = abs[0]
		if info, err := os.Stat(root); err == nil && !info.IsDir() {
			root = filepath.Dir(root)
		}
		for !all(abs, root) {
			root = filepath.Dir(root)
		}
	}
	for _, p := range abs {
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return "", nil, err
		}
		if rel == "." {
			return root, nil, nil
		}
		under = append(under, filepath.ToSlash(rel))
	}
	return root, under, nil
}

func all(paths []string, root string) bool {
	for _, p := range paths {
		if p != root && !strings.HasPrefix(p, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return false
		}
	}
	return true
}

// under reports whether a path is one of, or below one of, folders; none means all.
func under(path string, folders []string) bool {
	for _, f := range folders {
		if path == f || strings.HasPrefix(path, strings.TrimSuffix(f, "/")+"/") {
			return true
		}
	}
	return len(folders) == 0
}

// Lint loads rule sources and returns what is wrong with them, one problem
// each with its place: rules that cannot be loaded, and the known traps of
// Konveyor's rules. rules counts those that can run.
func Lint(ctx context.Context, sources []string, dir string) (problems []incidents.Problem, count int, err error) {
	patterns, rulesets, err := split(sources, dir)
	if err != nil {
		return nil, 0, err
	}
	if len(patterns) > 0 {
		set, found, err := rules.Load(ctx, patterns, rules.LoadOptions{Dir: dir})
		if err != nil {
			return nil, 0, err
		}
		problems, count = found, len(set.Rules())
	}
	if len(rulesets) > 0 {
		set, _ := konveyor.Load(rulesets...) // its problems are among the findings
		count += len(set.Rules())
		for _, f := range set.Findings() {
			problems = append(problems, f.Problem())
		}
	}
	return problems, count, nil
}
