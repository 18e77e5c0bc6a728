package konveyor

import (
	"regexp"

	"github.com/kaiak/kaiak/rules/konveyor/javaref"
	"github.com/kaiak/kaiak/treesitter"
)

// What a Java file declares, roughly: enough to find the file for a name.
var (
	javaPackage = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;`)
	javaType    = regexp.MustCompile(`\b(?:class|interface|enum|record)\s+([A-Za-z_$][\w$]*)`)
)

// javaFile parses a file that some condition may match in, and remembers what
// the others declare.
func (w *worker) javaFile() {
	var leaves []*leaf
	for _, l := range w.plan.java {
		if l.need.Met(w.found) && l.wants(&w.match) {
			leaves = append(leaves, l)
		}
	}
	if len(leaves) == 0 {
		w.declare()
		return
	}
	f := w.extract(w.path, w.text)
	if f == nil {
		return
	}
	w.project.Add(f)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.java[w.index] = &javaFile{file: f, leaves: leaves, text: w.text}
}

func (w *worker) declare() {
	pkg := ""
	if m := javaPackage.FindSubmatch(w.text); m != nil {
		pkg = string(m[1]) + "."
	}
	var names []string
	for _, m := range javaType.FindAllSubmatch(w.text, 64) {
		names = append(names, pkg+string(m[1]))
	}
	if len(names) == 0 {
		return
	}
	file, text := w.path, w.text
	w.project.Declare(names, func() *javaref.File { return w.extract(file, text) })
}

// extract parses Java; nil when that fails.
func (s *scan) extract(file string, text []byte) *javaref.File {
	tree, err := treesitter.Parse(s.ctx, treesitter.Lookup("java"), text)
	if err != nil {
		return nil
	}
	return javaref.Extract(file, tree)
}

// javaQueries evaluates the Java conditions on one file.
func (w *worker) javaQueries(index int) {
	f := w.java[index]
	w.index, w.path, w.text, w.lines = index, w.paths[index], f.text, nil
	w.local = map[int]bool{}
	for _, l := range f.leaves {
		var hits []hit
		for _, m := range w.project.Find(f.file, l.java) {
			hits = append(hits, placed(w.mapper(), w.text, m.Span.Start, m.Span.End, map[string]any{
				"file": w.files.URI(w.path), "kind": m.Kind, "name": m.Name, "package": f.file.Package,
			}))
			if w.limit > 0 && len(hits) > w.limit {
				break
			}
		}
		w.put(l, hits)
	}
}
