package incidents

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kaiak/kaiak/workspace"
)

// An Index holds the incidents of a workspace by file, source, rule and
// severity, and keeps an incident's id while edits move it. Make one with
// [NewIndex]. All methods are safe for concurrent use; what they return is the
// caller's own.
//
// The same incident may be found by several sources; it then has one id and is
// listed once, under the source whose name comes first.
type Index struct {
	mu    sync.RWMutex
	files map[string]map[string][]entry // by path and source, in the order of the file; guarded by mu
	byID  map[string]string             // the path that has the id; guarded by mu
	subs  map[*Subscription]struct{}    // guarded by mu
}

// An entry is an incident in the index.
type entry struct {
	Incident

	// touched: an edit changed the incident's own text since its source found
	// it, so that what is found in its place is still it, whatever it says.
	touched bool
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{
		files: map[string]map[string][]entry{},
		byID:  map[string]string{},
		subs:  map[*Subscription]struct{}{},
	}
}

// Replace makes list the incidents that source finds in the file now, and
// returns them in the order of the file, with the ids that the index gives
// them: an incident that was there before keeps its id, wherever it is now. An
// empty list removes what source found there. FilePath and Source of the list's
// incidents are set.
func (x *Index) Replace(path, source string, list []Incident) []Incident {
	x.mu.Lock()
	defer x.mu.Unlock()

	old := x.files[path][source]
	found := slices.Clone(list)
	for i := range found {
		found[i].FilePath, found[i].Source = path, source
	}
	slices.SortStableFunc(found, func(a, b Incident) int { return comparePlaces(&a, &b) })
	AssignIDs(found, nil)
	keepIDs(old, found, func(id string) bool { return x.takenElsewhere(id, path) })

	x.put(path, source, entriesOf(found))
	if len(old) > 0 || len(found) > 0 {
		x.notify(path)
	}
	return found
}

// takenElsewhere reports whether id belongs to an incident of another file.
func (x *Index) takenElsewhere(id, path string) bool {
	p, ok := x.byID[id]
	return ok && p != path
}

// put stores the entries of one source in one file and keeps byID true.
func (x *Index) put(path, source string, list []entry) {
	sources := x.files[path]
	for _, e := range sources[source] {
		delete(x.byID, e.ID)
	}
	if sources == nil {
		sources = map[string][]entry{}
		x.files[path] = sources
	}
	if sources[source] = list; len(list) == 0 {
		delete(sources, source)
	}
	if len(sources) == 0 {
		delete(x.files, path)
	}
	for _, entries := range sources { // ids that another source has, too
		for _, e := range entries {
			x.byID[e.ID] = path
		}
	}
}

func entriesOf(list []Incident) []entry {
	out := make([]entry, len(list))
	for i, in := range list {
		out[i].Incident = in
	}
	return out
}

// Rebase carries the incidents of a file along with edits, which are against
// before and result in after: what lies behind an edit moves, what an edit
// touches stays around it, and every id stays. An incident whose whole text is
// deleted is kept with an empty span until its source is asked again.
func (x *Index) Rebase(path string, before, after []byte, edits []workspace.Edit) {
	x.mu.Lock()
	defer x.mu.Unlock()
	sources := x.files[path]
	if len(sources) == 0 || len(edits) == 0 {
		return
	}
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b workspace.Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	was, now := newLines(before), newLines(after)
	for source, entries := range sources {
		moved := slices.Clone(entries) // what queries returned stays as it is
		for i := range moved {
			moved[i].rebase(was, now, edits)
		}
		sources[source] = moved
	}
	x.notify(path)
}

func (e *entry) rebase(was, now *lines, edits []workspace.Edit) {
	if e.LineNumber <= 0 || e.LineNumber > was.Lines() {
		return // the whole file, or a line that the file did not have
	}
	span := e.Span
	if span == (Span{}) {
		span.Start, span.End = was.Line(e.LineNumber - 1)
		if e.Range != nil {
			span = Span{was.Offset(e.Range.Start), was.Offset(e.Range.End)}
		}
	}
	moved, touched := moveSpan(span, edits)
	moved.Start = min(max(moved.Start, 0), len(now.text))
	moved.End = min(max(moved.End, moved.Start), len(now.text))
	e.Span = moved
	e.touched = e.touched || touched
	start := now.Position(moved.Start)
	e.LineNumber = start.Line + 1
	if e.Range != nil {
		e.Range = &Range{Start: start, End: now.Position(moved.End)}
	}
	if touched {
		e.Snippet = now.snippet(moved)
	}
}

// moveSpan returns where a span of the text before is after edits, which are in
// order, and whether an edit changed something inside it.
func moveSpan(s Span, edits []workspace.Edit) (moved Span, touched bool) {
	delta, deltaEnd := 0, 0
	start, end := s.Start, s.End
	for _, e := range edits {
		shift := len(e.New) - (e.End - e.Start)
		switch {
		case e.End <= s.Start: // before it; an insertion right before it pushes it on
			delta += shift
			deltaEnd += shift
		case e.Start >= s.End: // behind it
		default:
			touched = true
			if e.Start < s.Start { // its beginning is replaced: it begins with what replaces it
				start = e.Start
			}
			deltaEnd += shift
			if e.End > s.End { // its end is replaced: it ends with what replaces it
				end = e.End
			}
		}
	}
	return Span{start + delta, end + deltaEnd}, touched
}

// Remove takes incidents out of the index, whoever found them.
func (x *Index) Remove(ids ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		path, ok := x.byID[id]
		if !ok {
			continue
		}
		for source, entries := range x.files[path] {
			rest := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.ID == id })
			if len(rest) != len(entries) {
				x.put(path, source, rest)
			}
		}
		x.notify(path)
	}
}

// Rename moves the incidents of a file to another path; their ids stay. What
// the other path had is replaced.
func (x *Index) Rename(from, to string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	sources := x.files[from]
	if from == to || len(sources) == 0 {
		return
	}
	for source := range x.files[to] {
		x.put(to, source, nil)
	}
	for source, entries := range sources {
		moved := slices.Clone(entries)
		for i := range moved {
			moved[i].FilePath, moved[i].URI = to, ""
		}
		x.put(from, source, nil)
		x.put(to, source, moved)
	}
	x.notify(from)
	x.notify(to)
}

// Get returns the incident with an id.
func (x *Index) Get(id string) (Incident, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	path, ok := x.byID[id]
	if !ok {
		return Incident{}, false
	}
	for _, source := range sortedMapKeys(x.files[path]) {
		for _, e := range x.files[path][source] {
			if e.ID == id {
				return e.Incident, true
			}
		}
	}
	return Incident{}, false
}
