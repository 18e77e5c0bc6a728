package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// projectConfig is what sgconfig.yml says.
type projectConfig struct {
	ruleDirs []string
	utilDirs []string
	tests    []testConfig
}

// testConfig is where the tests of rules and their snapshots are.
type testConfig struct{ dir, snapshots string }

// configKeys are the keys of sgconfig.yml. The last three are about grammars
// and are not supported: the grammars are those in the binary.
var configKeys = []string{"ruleDirs", "utilDirs", "testConfigs", "languageGlobs", "customLanguages", "languageInjections"}

// readConfig reads sgconfig.yml. unsupported says what of it is not done.
func readConfig(text []byte) (c projectConfig, unsupported []error, err error) {
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
	for key, into := range map[string]*[]string{"ruleDirs": &c.ruleDirs, "utilDirs": &c.utilDirs} {
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
			t := testConfig{snapshots: "__snapshots__"}
			if dir := item.Get("testDir"); dir != nil {
				t.dir = dir.Text
			} else {
				return c, nil, item.Errorf("an entry of `testConfigs` must have `testDir`")
			}
			if dir := item.Get("snapshotDir"); dir != nil && dir.Text != "" {
				t.snapshots = dir.Text
			}
			c.tests = append(c.tests, t)
		}
	}
	for _, key := range configKeys[3:] {
		if n := doc.Get(key); n != nil && n.Kind != yamldoc.Null {
			unsupported = append(unsupported, n.Errorf("`%s` is not supported: grammars and the names of their files are those that `kaiak version` lists; the rest of the file is used", key))
		}
	}
	return c, unsupported, nil
}

// project loads the rules that an sgconfig.yml in root names.
func (l *loader) project(fsys fs.FS, root, shown string, text []byte) error {
	config, unsupported, err := readConfig(text)
	if err != nil {
		l.problem(shown, err)
		return nil
	}
	for _, u := range unsupported {
		l.problem(shown, u)
	}
	globals, err := l.globals(fsys, root, shown, config.utilDirs)
	if err != nil {
		return err
	}
	for _, dir := range config.ruleDirs {
		at := path.Join(root, dir)
		files, err := l.below(fsys, at, shown)
		if err != nil {
			return err
		}
		if err := l.files(fsys, files, globals, at, path.Join(path.Dir(shown), dir), ""); err != nil {
			return err
		}
	}
	return nil
}

// below lists the rule files of a directory that sgconfig.yml names.
func (l *loader) below(fsys fs.FS, dir, shown string) ([]string, error) {
	if !fs.ValidPath(dir) {
		l.problem(shown, fmt.Errorf("folder %s is outside the folder of sgconfig.yml", dir))
		return nil, nil
	}
	files, err := ruleFiles(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		l.problem(shown, fmt.Errorf("folder %s, which it names, is not there", dir))
		return nil, nil
	}
	return files, err
}

// globals compiles the utilities of utilDirs.
func (l *loader) globals(fsys fs.FS, root, shown string, dirs []string) (matcher.Globals, error) {
	var sources []matcher.GlobalSource
	var names []string
	for _, dir := range dirs {
		files, err := l.below(fsys, path.Join(root, dir), shown)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			text, err := fs.ReadFile(fsys, f)
			if err != nil {
				return nil, fmt.Errorf("rules %s: %s: %w", shown, f, reason(err))
			}
			name := path.Join(path.Dir(shown), strings.TrimPrefix(f, root+"/"))
			docs, err := yamldoc.Parse(text)
			if err != nil {
				l.problem(name, err)
				continue
			}
			for _, doc := range docs {
				src, err := globalSource(doc)
				if err != nil {
					l.problem(name, err)
					continue
				}
				sources = append(sources, src)
				names = append(names, name)
			}
		}
	}
	globals, errs := matcher.CompileGlobals(sources)
	for i := range sources {
		if err := errs[i]; err != nil {
			l.problem(names[i], err)
		}
	}
	return globals, nil
}

func globalSource(doc *yamldoc.Node) (matcher.GlobalSource, error) {
	if err := doc.Keys("the utility", append([]string{"id", "language"}, matcher.CoreKeys...)...); err != nil {
		return matcher.GlobalSource{}, err
	}
	id := doc.Get("id")
	if id == nil || id.Text == "" {
		return matcher.GlobalSource{}, doc.Errorf("a utility must have an `id`")
	}
	lang, err := language(doc)
	return matcher.GlobalSource{Doc: doc, Lang: lang, ID: id.Text}, err
}
