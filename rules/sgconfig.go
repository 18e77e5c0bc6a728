package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/sgconfig"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// project loads the rules that an sgconfig.yml in root names.
func (l *loader) project(fsys fs.FS, root, shown string, text []byte) error {
	l.read(shown, text)
	config, unsupported, err := sgconfig.Read(text)
	if err != nil {
		l.problem(shown, err)
		return nil
	}
	for _, u := range unsupported {
		l.problem(shown, u)
	}
	l.globs = append(l.globs, config.Globs...)
	globals, err := l.globals(fsys, root, shown, config.UtilDirs)
	if err != nil {
		return err
	}
	for _, dir := range config.RuleDirs {
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
			l.read(name, text)
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
