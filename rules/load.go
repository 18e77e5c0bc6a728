package rules

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/matcher"
	"github.com/kaiak/kaiak/rules/internal/sgconfig"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
	"github.com/kaiak/kaiak/workspace"
)

// LoadOptions say where and for what [Load] loads rules. The zero value loads
// relative to the current directory, for no project in particular.
type LoadOptions struct {
	// Dir is what sources are relative to; "" is the current directory.
	Dir string

	// Workspace is the project that the rules are for: built-in packs that were
	// not named apply only where they concern it, and fixes ask its go.mod for
	// the language version. nil: all default packs apply, versions are unknown.
	Workspace *workspace.Workspace

	// Off names rules to switch off; * stands for anything.
	Off []string

	// Generated makes fixes change files that say they are generated.
	Generated bool
}

// Builtin is the source that stands for the built-in packs; a pack of its own is
// Builtin + ":" + its id.
const Builtin = "builtin"

// Load compiles the rules of sources. A source is a rule file, a directory
// (with sgconfig.yml or of rule files), "builtin" for the built-in packs that
// concern the project, or "builtin:PACK", which applies always.
//
// A rule that cannot be loaded costs only itself: it is one Problem, with file,
// line and column. The error is for a source that cannot be read at all, and
// for ctx.
func Load(ctx context.Context, sources []string, opts LoadOptions) (*Set, []incidents.Problem, error) {
	l := &loader{opts: opts, seen: map[string]*Rule{}, sum: sha256.New()}
	addBinary(l.sum)
	fmt.Fprintf(l.sum, "%q %v", opts.Off, opts.Generated)
	for _, source := range sources {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := l.source(ctx, source); err != nil {
			return nil, nil, err
		}
	}
	set := newSet(l.rules, opts, hex.EncodeToString(l.sum.Sum(nil)))
	set.globs = l.globs
	return set, l.problems, nil
}

// loader collects rules in the order of the sources.
type loader struct {
	opts     LoadOptions
	rules    []*Rule
	seen     map[string]*Rule // by id and language
	problems []incidents.Problem
	facts    *projectFacts // of the workspace; read on first use
	sum      hash.Hash     // of all that was read
	globs    []sgconfig.Glob
}

// read adds a text that rules come from to the sum.
func (l *loader) read(source string, text []byte) {
	fmt.Fprintf(l.sum, "%q %d ", source, len(text))
	l.sum.Write(text)
}

func (l *loader) problem(source string, err error) {
	p := incidents.Problem{Source: source, Where: "the file", Reason: err.Error()}
	var at *yamldoc.Error
	if errors.As(err, &at) {
		p.Reason = at.Msg
		if at.Line > 0 {
			p.Where = fmt.Sprintf("line %d, column %d", at.Line, at.Col)
		}
	}
	l.problems = append(l.problems, p)
}

func (l *loader) source(ctx context.Context, source string) error {
	if source == Builtin || strings.HasPrefix(source, Builtin+":") {
		return l.builtin(ctx, source)
	}
	name := source
	if !filepath.IsAbs(name) && l.opts.Dir != "" {
		name = filepath.Join(l.opts.Dir, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("rules %s: %w; a source is a rule file, a directory, builtin or builtin:PACK", source, reason(err))
	}
	if info.IsDir() {
		return l.dir(os.DirFS(name), ".", source, "")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("rules %s: %w", source, reason(err))
	}
	l.file(source, text, nil, "")
	return nil
}

// reason takes the path off a file system's error: the message has it already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// dir loads a directory of fsys: the rules that its sgconfig.yml names, else
// every rule file below it. shown is how the directory is called in messages.
func (l *loader) dir(fsys fs.FS, root, shown, pack string) error {
	for _, name := range sgconfig.Names {
		text, err := fs.ReadFile(fsys, path.Join(root, name))
		if err == nil {
			return l.project(fsys, root, path.Join(shown, name), text)
		}
	}
	files, err := ruleFiles(fsys, root)
	if err != nil {
		return fmt.Errorf("rules %s: %w", shown, reason(err))
	}
	return l.files(fsys, files, nil, root, shown, pack)
}

// ruleFiles lists the YAML files below root, by name, without tests, snapshots
// and hidden folders.
func ruleFiles(fsys fs.FS, root string) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(base, ".") || base == "__snapshots__" || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		stem, isYAML := cutYAML(base)
		if !isYAML || base == "pack.yml" || slices.Contains(sgconfig.Names, base) || strings.HasSuffix(stem, "-test") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, "-snapshot") {
			return nil
		}
		files = append(files, p)
		return nil
	})
	return files, err
}

func cutYAML(name string) (stem string, ok bool) {
	if stem, ok = strings.CutSuffix(name, ".yml"); ok {
		return stem, true
	}
	return strings.CutSuffix(name, ".yaml")
}

// files loads rule files of fsys with the global utilities they may use.
func (l *loader) files(fsys fs.FS, files []string, globals matcher.Globals, root, shown, pack string) error {
	for _, f := range files {
		text, err := fs.ReadFile(fsys, f)
		if err != nil {
			return fmt.Errorf("rules %s: %s: %w", shown, f, reason(err))
		}
		l.file(path.Join(shown, strings.TrimPrefix(f, root+"/")), text, globals, pack)
	}
	return nil
}

// file loads the rules of one text.
func (l *loader) file(source string, text []byte, globals matcher.Globals, pack string) {
	l.read(source, text)
	docs, err := yamldoc.Parse(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if err != nil {
		l.problem(source, err)
		return
	}
	stem, _ := cutYAML(path.Base(filepath.ToSlash(source)))
	for i, doc := range docs {
		if isKonveyor(doc) {
			l.problem(source, doc.Errorf("these are Konveyor rules; they are run by kaiak check --rules with their own folder"))
			continue
		}
		defaultID := stem
		if i > 0 {
			defaultID = fmt.Sprintf("%s-%d", stem, i+1)
		}
		r, err := newRule(doc, source, defaultID, globals)
		if err != nil {
			l.problem(source, err)
			continue
		}
		r.Pack, r.Text = pack, documentText(text, doc.Line)
		l.add(r, doc)
	}
}

// documentText returns the YAML document that the given 1-based line is in.
func documentText(text []byte, line int) string {
	lines := strings.SplitAfter(string(text), "\n")
	from := min(line-1, len(lines))
	for from > 0 && !strings.HasPrefix(lines[from-1], "---") {
		from--
	}
	to := from
	for to < len(lines) && !strings.HasPrefix(lines[to], "---") {
		to++
	}
	return strings.TrimSpace(strings.Join(lines[from:to], "")) + "\n"
}

// isKonveyor tells Konveyor's rule files, which are lists, from ast-grep's.
func isKonveyor(doc *yamldoc.Node) bool {
	return doc.Kind == yamldoc.Sequence && slices.ContainsFunc(doc.Items, func(n *yamldoc.Node) bool { return n.Get("ruleID") != nil })
}

// add adds a rule unless one of its id and language is there already: the
// source that is named first wins, the same file twice is no problem.
func (l *loader) add(r *Rule, doc *yamldoc.Node) {
	key := r.Language + "\x00" + r.ID
	if first := l.seen[key]; first != nil {
		if first.Source != r.Source {
			l.problem(strings.TrimSuffix(r.Source, fmt.Sprintf(":%d", doc.Line)), doc.Errorf("rule %q is already loaded from %s; ids are unique for each language", r.ID, first.Source))
		}
		return
	}
	l.seen[key] = r
	for _, off := range l.opts.Off {
		if off == r.ID || wildcard(off, r.ID) {
			r.Off = true
		}
	}
	l.rules = append(l.rules, r)
}
