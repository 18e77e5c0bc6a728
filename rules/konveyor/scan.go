package konveyor

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/literal"
	"github.com/kaiak/kaiak/rules/konveyor/deps"
	"github.com/kaiak/kaiak/rules/konveyor/javaref"
	"github.com/kaiak/kaiak/rules/konveyor/langref"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// A hit is one place that a leaf matched in a file.
type hit struct {
	line  int            // 1-based, as the analyzer reports it; 0: the whole file
	place *place         // where it really is; nil: the whole file
	vars  map[string]any // of the message
	text  string         // the source line that the analyzer shows, trimmed
}

// A place is a range of a file.
type place struct {
	span    incidents.Span
	rng     incidents.Range
	snippet string
}

// scan is one pass over the files. It lives as long as one run, and so does ctx.
type scan struct {
	ctx   context.Context
	plan  *plan
	files Files
	paths []string
	limit int // of the lines of one file that a leaf may hit; see RunOptions.Limit

	mu      sync.Mutex          // guards what follows, while workers run
	hits    []map[int][]hit     // by leaf, by index of the file
	java    map[int]*javaFile   // by index of the file
	depText map[string][]byte   // build files, by path
	notes   []incidents.Problem // what no rule could look at

	project   *javaref.Project
	libraries libraries
}

// A javaFile is a Java file that some condition may match in.
type javaFile struct {
	file   *javaref.File
	leaves []*leaf
	text   []byte
}

// newScan lists the files.
func newScan(ctx context.Context, p *plan, files Files, limit int) (*scan, error) {
	paths, left, err := files.List(ctx)
	if err != nil {
		return nil, err
	}
	s := &scan{ctx: ctx, plan: p, files: files, paths: paths, notes: left, limit: limit,
		java: map[int]*javaFile{}, depText: map[string][]byte{}, project: javaref.NewProject()}
	s.libraries.scan = s
	s.project.Library = s.libraries.lookup
	s.hits = make([]map[int][]hit, len(p.leaves))
	for i := range s.hits {
		s.hits[i] = map[int][]hit{}
	}
	return s, nil
}

// run evaluates every leaf over every file: first what a file tells by itself,
// then what depends on what other files declare.
func (s *scan) run(workers int) error {
	if err := s.each(workers, len(s.paths), (*worker).file); err != nil {
		return err
	}
	java := slices.Sorted(maps.Keys(s.java))
	if err := s.each(workers, len(java), func(w *worker, i int) { w.javaQueries(java[i]) }); err != nil {
		return err
	}
	s.dependencies()
	slices.SortFunc(s.notes, func(a, b incidents.Problem) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Reason, b.Reason))
	})
	return s.ctx.Err()
}

// each calls work for 0 to n-1 on workers goroutines, which have ended when it
// returns. It stops early when the run is cancelled.
func (s *scan) each(workers, n int, work func(w *worker, i int)) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var g errgroup.Group
	for range min(workers, n) {
		g.Go(func() error {
			w := &worker{scan: s, match: pathMatcher{patterns: &s.plan.paths}}
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := s.ctx.Err(); err != nil {
					return err
				}
				work(w, i)
			}
		})
	}
	return g.Wait()
}

// A worker evaluates leaves, one file at a time.
type worker struct {
	*scan
	match pathMatcher // of the current path
	found literal.Found
	index int
	path  string
	text  []byte
	lines *workspace.Mapper
	local map[int]bool // leaves that matched in the current file
}

// note says what no rule could look at in the current file.
func (w *worker) note(where, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, incidents.Problem{Source: w.path, Where: where, Reason: reason})
}

// put keeps the hits of a leaf in the current file.
func (w *worker) put(l *leaf, hits []hit) {
	if len(hits) == 0 {
		return
	}
	w.local[l.id] = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hits[l.id][w.index] = hits
}

// open reports whether the scope of a leaf lets it look at the current file.
func (w *worker) open(l *leaf) bool {
	return len(l.within) == 0 || slices.ContainsFunc(l.within, func(source *leaf) bool { return w.local[source.id] })
}

// file evaluates all leaves on one file.
func (w *worker) file(index int) {
	w.index, w.path = index, w.paths[index]
	w.text, w.lines = nil, nil
	w.local = map[int]bool{}
	w.match.reset(w.path)
	for _, l := range w.plan.names {
		if w.match.match(l.name) && l.wants(&w.match) {
			w.put(l, []hit{{}})
		}
	}
	var leaves []*leaf
	for _, l := range w.plan.contents {
		if l.wants(&w.match) {
			leaves = append(leaves, l)
		}
	}
	for _, l := range w.plan.xml {
		if l.wantsXML(&w.match) {
			leaves = append(leaves, l)
		}
	}
	ext := path.Ext(w.path)
	if ext == ".json" {
		leaves = append(leaves, w.plan.json...)
	}
	language := langref.ForPath(w.path)
	leaves = append(leaves, w.plan.lang[language]...)
	isJava := ext == ".java" && len(w.plan.java) > 0
	isBuild := len(w.plan.deps) > 0 && deps.IsBuildFile(w.path)
	if len(leaves) == 0 && !isJava && !isBuild || isBinaryName(w.path) {
		return
	}
	text, err := readText(w.files, w.path)
	if errors.Is(err, errBinary) {
		return
	}
	if err != nil {
		w.note("the file", "cannot be read, no rule looked at it: "+err.Error())
		return
	}
	w.text = text
	w.found = w.plan.literals.Scan(text, w.found)
	if isBuild {
		w.mu.Lock()
		w.depText[w.path] = text
		w.mu.Unlock()
	}
	if isJava {
		w.javaFile()
	}
	w.evaluate(leaves, language)
}

// evaluate runs the leaves that the file's literals let match, sources of
// scopes first.
func (w *worker) evaluate(leaves []*leaf, language string) {
	slices.SortFunc(leaves, func(a, b *leaf) int { return a.id - b.id })
	doc := xmlFile{w: w}
	var source *langref.File
	for _, l := range leaves {
		if !l.need.Met(w.found) || !w.open(l) {
			continue
		}
		switch {
		case l.text != nil:
			w.content(l)
		case l.lang != nil:
			if !l.lang.MayMatch(w.text) {
				continue
			}
			if source == nil {
				source = w.langFile(language)
			}
			if source != nil {
				w.put(l, w.langHits(source, l))
			}
		case l.xpath != nil:
			if _, ok := l.spec.(*JSON); ok {
				w.put(l, w.jsonHits(l))
			} else {
				w.put(l, doc.hits(l))
			}
		}
	}
}

func (w *worker) mapper() *workspace.Mapper {
	if w.lines == nil {
		w.lines = workspace.NewMapper(w.text, workspace.UTF16)
	}
	return w.lines
}

// Bounds of what is kept of the source, in bytes.
const (
	maxLine    = 4096 // of a line, and of a match that goes into a message
	maxSnippet = 512
)

// clip returns at most limit bytes of text as valid UTF-8: it goes into
// messages, JSON and YAML, and source may be in any encoding.
func clip(text []byte, limit int) string {
	return strings.ToValidUTF8(string(text[:min(len(text), limit)]), "\uFFFD")
}

// lineText returns a 1-based line, trimmed and bounded.
func lineText(lines *workspace.Mapper, text []byte, line int) string {
	if line < 1 || line > lines.Lines() {
		return ""
	}
	start, end := lines.Line(line - 1)
	return strings.TrimSpace(clip(text[start:end], maxLine))
}

// placed returns the hit of a span; its line is that of the span's start.
func placed(lines *workspace.Mapper, text []byte, start, end int, vars map[string]any) hit {
	from, to := lines.Position(start), lines.Position(end)
	return hit{
		line: from.Line + 1,
		text: lineText(lines, text, from.Line+1),
		vars: vars,
		place: &place{
			span:    incidents.Span{Start: start, End: end},
			rng:     incidents.Range{Start: from, End: to},
			snippet: strings.TrimSpace(clip(text[start:end], maxSnippet)),
		},
	}
}

// content evaluates builtin.filecontent.
func (w *worker) content(l *leaf) {
	var hits []hit
	lines := map[int]int{} // line → matches
	err := l.text.find(w.text, func(start, end int) bool {
		h := placed(w.mapper(), w.text, start, end, map[string]any{"matchingText": clip(w.text[start:end], maxLine)})
		lines[h.line]++
		// Matches on one line differ in the matching text alone.
		if lines[h.line] <= 20 {
			hits = append(hits, h)
		}
		return w.limit <= 0 || len(lines) <= w.limit
	})
	if err != nil {
		w.note("pattern "+l.spec.(*FileContent).Pattern, "the search was given up after "+backtrackLimit.String()+"; matches behind that point are missing")
	}
	w.put(l, hits)
}

// langFile parses the current file for the conditions of other languages.
func (w *worker) langFile(language string) *langref.File {
	tree, err := treesitter.Parse(w.ctx, langref.Grammar(language, w.path), w.text)
	if err != nil {
		return nil
	}
	return langref.Extract(language, tree)
}

func (w *worker) langHits(f *langref.File, l *leaf) []hit {
	var hits []hit
	for _, m := range f.Find(l.lang) {
		hits = append(hits, placed(w.mapper(), w.text, m.Start, m.End, map[string]any{"file": w.files.URI(w.path)}))
		if w.limit > 0 && len(hits) > w.limit {
			break
		}
	}
	return hits
}
