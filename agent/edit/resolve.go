package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kaiak/kaiak/workspace"
)

// A Span is a half-open range of bytes.
type Span struct{ Start, End int }

// A Base is a file that may change.
type Base struct {
	File *workspace.File
	// Regions are where edits are expected: the incidents' declarations and the
	// imports. nil means everywhere.
	Regions []Span
}

// Limits of one proposal.
const (
	MaxFiles        = 20
	MaxChangedLines = 2000
	MinHash         = 8  // hex digits of base_sha256
	SmallFile       = 60 // lines up to which a whole file is accepted
)

// Options say what a proposal may do.
type Options struct {
	Files      map[string]Base
	Create     func(path string) error // nil: no file may be created
	Occurrence bool                    // accept Replacement.Occurrence: an ambiguity was reported before
	Whole      bool                    // accept the whole text of any file, not only of a small one
	Protected  func(text string) bool  // reports text that must not be written, such as redaction placeholders
}

// resolving is the state of one [Resolve].
type resolving struct {
	opts     Options
	proposal Proposal
	failures []Failure
	result   Result
}

func (r *resolving) fail(path string, edit int, kind Kind, format string, args ...any) {
	r.failures = append(r.failures, Failure{path, edit, kind, fmt.Sprintf(format, args...)})
}

// Resolve finds every edit of a proposal in the text it is meant for. The error
// is a [*Rejection] that lists all failures; then nothing of the proposal holds.
func Resolve(p Proposal, opts Options) (Result, error) {
	r := &resolving{opts: opts, proposal: p}
	if n := len(p.Files) + len(p.NewFiles); n > MaxFiles {
		r.fail("proposal", 0, TooLarge, "it changes %d files; at most %d may change at a time", n, MaxFiles)
	}
	seen := map[string]bool{}
	lines := 0
	for _, f := range merge(p.Files) {
		f.Path = clean(f.Path)
		base, ok := opts.Files[f.Path]
		switch {
		case !ok:
			r.fail(f.Path, 0, NotAllowed, "this file may not change; the files that may: %s", strings.Join(names(opts.Files), ", "))
			continue
		case !p.fromText && !sameHash(f.BaseSHA256, base.File.SHA256):
			r.fail(f.Path, 0, StaleBase, "base_sha256 %q is not the hash of the text as it is now, %s; read the file again and base the edits on that text", f.BaseSHA256, base.File.SHA256[:12])
			continue
		}
		seen[f.Path] = true
		if out, ok := r.file(f, base); ok {
			lines += out.Lines
			r.result.Files = append(r.result.Files, out)
		}
	}
	for _, f := range p.NewFiles {
		f.Path = clean(f.Path)
		lines += strings.Count(f.Content, "\n") + 1
		switch {
		case seen[f.Path] || opts.Files[f.Path].File != nil:
			r.fail(f.Path, 0, NotAllowed, "the file exists; edit it instead of creating it")
		case opts.Create == nil:
			r.fail(f.Path, 0, NotAllowed, "no file may be created here")
		case r.opts.Create(f.Path) != nil:
			r.fail(f.Path, 0, NotAllowed, "%v", r.opts.Create(f.Path))
		case r.badText(f.Path, 0, "", f.Content):
		default:
			seen[f.Path] = true
			r.result.Created = append(r.result.Created, f)
		}
	}
	if lines > MaxChangedLines {
		r.fail("proposal", 0, TooLarge, "it changes %d lines; at most %d may change at a time", lines, MaxChangedLines)
	}
	if len(r.failures) > 0 {
		return Result{}, &Rejection{r.failures}
	}
	slices.SortFunc(r.result.Files, func(a, b FileResult) int { return cmp.Compare(a.Path, b.Path) })
	return r.result, nil
}

// merge joins entries for the same file, which some models send one per edit.
func merge(files []FileEdits) []FileEdits {
	var out []FileEdits
	at := map[string]int{}
	for _, f := range files {
		p := clean(f.Path)
		if i, ok := at[p]; ok && out[i].BaseSHA256 == f.BaseSHA256 && f.Whole == nil && out[i].Whole == nil {
			out[i].Edits = append(slices.Clone(out[i].Edits), f.Edits...)
			continue
		}
		at[p] = len(out)
		out = append(out, f)
	}
	return out
}

func clean(p string) string {
	return strings.TrimPrefix(path.Clean(strings.ReplaceAll(strings.TrimSpace(p), "\\", "/")), "./")
}

func names(files map[string]Base) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func sameHash(prefix, hash string) bool {
	prefix = strings.ToLower(strings.TrimSpace(prefix))
	return len(prefix) >= MinHash && strings.HasPrefix(hash, prefix)
}

// A hit is a replacement with its place in the text with LF line ends.
type hit struct {
	edit       int
	start, end int
	text       string // what comes there
}

// file resolves the edits of one file.
func (r *resolving) file(f FileEdits, base Base) (FileResult, bool) {
	before := len(r.failures)
	view := newView(base.File.Text)
	var hits []hit
	switch {
	case f.Whole != nil:
		if h, ok := r.whole(f, view); ok {
			hits = append(hits, h)
		}
	case len(f.Edits) == 0:
		r.fail(f.Path, 0, NoChange, "there are no edits for this file")
	}
	for i, e := range f.Edits {
		if h, ok := r.find(f.Path, i+1, e, view); ok {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	for i := 1; i < len(hits); i++ {
		if hits[i].start < hits[i-1].end {
			r.fail(f.Path, hits[i].edit, Overlap, "it touches the same lines as edit %d; make one edit of both", hits[i-1].edit)
		}
	}
	if len(r.failures) > before {
		return FileResult{}, false
	}
	out := FileResult{Path: f.Path, Base: base.File}
	for _, h := range hits {
		out.Edits = append(out.Edits, view.edits(h)...)
	}
	var err error
	if out.Text, err = workspace.ApplyEdits(base.File.Text, out.Edits); err != nil {
		r.fail(f.Path, 0, Overlap, "%v", err)
		return FileResult{}, false
	}
	if bytes.Equal(out.Text, base.File.Text) {
		r.fail(f.Path, 0, NoChange, "the edits change nothing")
		return FileResult{}, false
	}
	for _, e := range out.Edits {
		out.Lines += bytes.Count(base.File.Text[e.Start:e.End], []byte("\n")) + strings.Count(e.New, "\n") + 1
		if !within(e, base.Regions) {
			out.OutOfRegion = true
		}
	}
	if out.OutOfRegion && strings.TrimSpace(r.proposal.Reason) == "" {
		r.fail(f.Path, 0, OutOfRegion, "it changes code away from the incidents; leave that alone, or say in \"reason\" why it has to change")
		return FileResult{}, false
	}
	return out, true
}

func within(e workspace.Edit, regions []Span) bool {
	if regions == nil {
		return true
	}
	for _, s := range regions {
		if s.Start <= e.Start && e.End <= s.End {
			return true
		}
	}
	return false
}

// find finds the one place of a replacement.
func (r *resolving) find(path string, n int, e Replacement, v *view) (hit, bool) {
	old, text := lf(e.OldText), lf(e.NewText)
	if stripped, ok := stripGutter(old); ok {
		old = stripped
		text, _ = stripGutter(text)
		r.result.Notes = append(r.result.Notes, Note{Path: path, Edit: n, Text: "line numbers were taken off"})
	}
	switch {
	case strings.TrimSpace(old) == "" && len(bytes.TrimSpace(v.text)) > 0:
		r.fail(path, n, EmptyOld, "old_text is empty; quote the lines around the place, and repeat them in new_text")
		return hit{}, false
	case old == text:
		r.fail(path, n, NoChange, "old_text and new_text are the same")
		return hit{}, false
	case r.badText(path, n, old, text):
		return hit{}, false
	}
	if len(bytes.TrimSpace(v.text)) == 0 { // an empty file takes anything
		return hit{n, 0, len(v.text), text}, true
	}
	places := v.exact(old)
	level := Level("")
	if len(places) == 0 {
		places, level = v.relaxed(old, text)
	}
	switch {
	case len(places) == 0:
		r.fail(path, n, NotFound, "old_text does not occur in the file%s", v.nearest(old))
		return hit{}, false
	case len(places) > 1 && r.opts.Occurrence && e.Occurrence >= 1 && e.Occurrence <= len(places):
		places = places[e.Occurrence-1:][:1]
	case len(places) > 1:
		var at []string
		for _, p := range places {
			at = append(at, fmt.Sprint(v.line(p.start)))
		}
		r.fail(path, n, Ambiguous, "old_text occurs %d times, at lines %s; quote more of the lines around the one you mean, or add \"occurrence\"", len(places), strings.Join(at, ", "))
		return hit{}, false
	}
	h := places[0]
	h.edit = n
	if level == "" {
		h.text = text
	} else {
		r.result.Notes = append(r.result.Notes, Note{path, n, level, fmt.Sprintf("old_text was found at line %d only by ignoring %s", v.line(h.start), levelWords[level])})
	}
	return h, true
}

var levelWords = map[Level]string{
	TrailingBlanks: "blanks at line ends",
	IndentShift:    "a shift of the indentation",
	Punctuation:    "typographic punctuation",
}

// whole makes one hit of a whole new text.
func (r *resolving) whole(f FileEdits, v *view) (hit, bool) {
	text := lf(*f.Whole)
	if n := bytes.Count(v.text, []byte("\n")); n > SmallFile && !r.opts.Whole {
		r.fail(f.Path, 0, WholeFile, "the file has %d lines; send edits instead of the whole file", n)
		return hit{}, false
	}
	if bytes.HasSuffix(v.text, []byte("\n")) && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if r.badText(f.Path, 0, string(v.text), text) {
		return hit{}, false
	}
	return hit{0, 0, len(v.text), text}, true
}

// badText reports text that must not be written.
func (r *resolving) badText(path string, n int, old, text string) bool {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		r.fail(path, n, BadText, "new_text is not UTF-8 text")
	case mergeMarker.MatchString(text) && !mergeMarker.MatchString(old):
		r.fail(path, n, BadText, "new_text has merge conflict markers")
	case r.opts.Protected != nil && (r.opts.Protected(old) || r.opts.Protected(text)):
		r.fail(path, n, Placeholder, "it touches a secret that was hidden from you; leave those lines alone")
	default:
		if line, ok := elided(path, old, text); ok {
			r.fail(path, n, Elided, "new_text leaves code out (%q); write every line that is to be in the file", line)
			return true
		}
		return false
	}
	return true
}
