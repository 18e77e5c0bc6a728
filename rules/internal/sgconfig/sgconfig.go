// Package sgconfig reads ast-grep's project file.
package sgconfig

import (
	"fmt"
	"path"

	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/treesitter"
)

// Names are the names that the file may have.
var Names = []string{"sgconfig.yml", "sgconfig.yaml"}

// DefaultSnapshots is the folder of snapshots, in that of the tests.
const DefaultSnapshots = "__snapshots__"

// Config is what sgconfig.yml says.
type Config struct {
	RuleDirs []string
	UtilDirs []string
	Tests    []Test

	Globs []Glob // in the order of the file; the first that fits decides
}

// Glob gives the files whose base name it matches to a language.
type Glob struct {
	Pattern  string
	Language *treesitter.Language
}

// Test is where the tests of rules and their snapshots are.
type Test struct{ Dir, Snapshots string }

// configKeys are the keys of sgconfig.yml. The last two are about grammars and
// are not supported: the grammars are those in the binary.
var configKeys = []string{"ruleDirs", "utilDirs", "testConfigs", "languageGlobs", "customLanguages", "languageInjections"}

// Read reads sgconfig.yml. unsupported says what of it is not done.
func Read(text []byte) (c Config, unsupported []error, err error) {
	docs, err := yamldoc.Parse(text)
	if err != nil {
		return c, nil, err
	}
	if len(docs) != 1 {
		return c, nil, &yamldoc.Error{Msg: fmt.Sprintf("must be one document, not %d", len(docs))}
	}
	doc := docs[0]
	if err := doc.Keys("sgconfig.yml", configKeys...); err != nil {
		return c, nil, err
	}
	for key, into := range map[string]*[]string{"ruleDirs": &c.RuleDirs, "utilDirs": &c.UtilDirs} {
		if n := doc.Get(key); n != nil && n.Kind != yamldoc.Null {
			if *into, err = n.Strs("`" + key + "`"); err != nil {
				return c, nil, err
			}
		}
	}
	if n := doc.Get("testConfigs"); n != nil && n.Kind == yamldoc.Sequence {
		for _, item := range n.Items {
			if err := item.Keys("an entry of `testConfigs`", "testDir", "snapshotDir"); err != nil {
				return c, nil, err
			}
			t := Test{Snapshots: DefaultSnapshots}
			if dir := item.Get("testDir"); dir != nil {
				t.Dir = dir.Text
			} else {
				return c, nil, item.Errorf("an entry of `testConfigs` must have `testDir`")
			}
			if dir := item.Get("snapshotDir"); dir != nil && dir.Text != "" {
				t.Snapshots = dir.Text
			}
			c.Tests = append(c.Tests, t)
		}
	}
	if n := doc.Get("languageGlobs"); n != nil && n.Kind != yamldoc.Null {
		if c.Globs, err = readGlobs(n); err != nil {
			return c, nil, err
		}
	}
	for _, key := range configKeys[4:] {
		if n := doc.Get(key); n != nil && n.Kind != yamldoc.Null {
			unsupported = append(unsupported, n.Errorf("`%s` is not supported: the grammars are those that `kaiak version` lists; the rest of the file is used", key))
		}
	}
	return c, unsupported, nil
}

func readGlobs(doc *yamldoc.Node) ([]Glob, error) {
	if doc.Kind != yamldoc.Mapping {
		return nil, doc.Errorf("`languageGlobs` must be a mapping of languages to globs, not %s", doc.Kind)
	}
	var out []Glob
	for _, p := range doc.Pairs {
		lang := treesitter.Lookup(p.Key.Text)
		if lang == nil {
			return nil, p.Key.Errorf("there is no language %q", p.Key.Text)
		}
		patterns, err := p.Value.Strs("`languageGlobs`")
		if err != nil {
			return nil, err
		}
		for i, pattern := range patterns {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, p.Value.Items[i].Errorf("%q is not a glob", pattern)
			}
			out = append(out, Glob{pattern, lang})
		}
	}
	return out, nil
}
