package incidents

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Options say how an analysis file is read. The zero value reads a file whose
// paths are relative and gives incidents without ranges or snippets where the
// file has none.
type Options struct {
	// Name of the input, for problems; e.g. the file's name.
	Name string

	// Root is the absolute path of the workspace: what lies under it becomes
	// relative to it. Everything else is outside, unless a prefix says otherwise.
	Root string

	// Base is the directory, relative to the workspace, that relative paths of
	// the input start at. "" is the workspace itself.
	Base string

	// Prefixes map where the analysis saw the files to where they are.
	Prefixes []Prefix

	// Text returns the present text of a file of the workspace, and whether
	// there is one. It gives incidents their range, span and snippet, and lets
	// an old analysis find its lines again. nil: no text is known.
	Text func(path string) ([]byte, bool)

	// Declaration names the declaration around a span, for identity. nil: none is known.
	Declaration func(path string, span Span) string

	// NewOnly hides results that the input itself calls unchanged since its baseline.
	NewOnly bool

	// Suppressed shows results that the input itself calls suppressed.
	Suppressed bool
}

// A Prefix maps a path prefix of an analysis to a directory of the workspace:
// {"/opt/input/source", ""} for Konveyor's container.
type Prefix struct {
	From string // absolute slash-separated path, or file URI
	To   string // relative to the workspace
}

// A Report is what was read from one input.
type Report struct {
	Format    Format
	Incidents []Incident // in the order of the input, each with its id
	Problems  []Problem  // records that were not read, and why
	Hidden    int        // results that the input says are not to be acted on: passed, suppressed, absent
}

// maxSnippet bounds the text that an incident carries along, in bytes.
const maxSnippet = 4096

// A reader collects what a converter finds in one input.
type reader struct {
	opts  Options
	rep   Report
	texts map[string]*lines
}

func newReader(opts Options, format Format) *reader {
	if opts.Name == "" {
		opts.Name = string(format)
	}
	opts.Root = strings.TrimSuffix(slashed(opts.Root), "/")
	return &reader{opts: opts, rep: Report{Format: format}, texts: map[string]*lines{}}
}

func (r *reader) problem(where, format string, args ...any) {
	r.rep.Problems = append(r.rep.Problems, Problem{Source: r.opts.Name, Where: where, Reason: fmt.Sprintf(format, args...)})
}

// lines returns the text of a file of the workspace, nil where none is known.
func (r *reader) lines(p string) *lines {
	if l, ok := r.texts[p]; ok {
		return l
	}
	var l *lines
	if r.opts.Text != nil {
		if text, ok := r.opts.Text(p); ok {
			l = newLines(text)
		}
	}
	r.texts[p] = l
	return l
}

// add keeps an incident; its place must be set.
func (r *reader) add(in Incident) {
	if in.Severity == "" {
		in.Severity = Warning
	}
	if r.opts.Root != "" && in.URI == "" {
		in.URI = fileURI(r.opts.Root + "/" + in.FilePath)
	}
	r.rep.Incidents = append(r.rep.Incidents, in)
}

// place gives in its range, span, line and snippet. rng is nil where only the
// line is known. A range that the present text does not have marks the incident
// as stale and leaves it its line.
func (r *reader) place(in *Incident, rng *Range) {
	if rng != nil {
		in.Range = rng
		in.LineNumber = rng.Start.Line + 1
	}
	l := r.lines(in.FilePath)
	if l == nil {
		return
	}
	if in.LineNumber > l.Lines() {
		in.Range = nil
		setMeta(in, MetaStale, true)
		return
	}
	switch {
	case in.Range != nil:
		in.Span = Span{l.Offset(in.Range.Start), l.Offset(in.Range.End)}
		if in.Span.End < in.Span.Start {
			in.Span.End = in.Span.Start
		}
		in.Range = &Range{l.Position(in.Span.Start), l.Position(in.Span.End)}
	case in.LineNumber > 0:
		in.Span.Start, in.Span.End = l.Line(in.LineNumber - 1)
	default:
		return
	}
	in.Snippet = l.snippet(in.Span)
}

// finish assigns the ids.
func (r *reader) finish() *Report {
	var declaration func(*Incident) string
	if r.opts.Declaration != nil {
		declaration = func(in *Incident) string {
			if in.Span == (Span{}) {
				return ""
			}
			return r.opts.Declaration(in.FilePath, in.Span)
		}
	}
	AssignIDs(r.rep.Incidents, declaration)
	return &r.rep
}

// The keys of [Incident.Metadata] that the converters set and the writers know.
const (
	MetaStale      = "stale"     // true: the file no longer has the reported line
	MetaAnchor     = "anchor"    // "moved" or "lost": how an old line was found again
	MetaSubRule    = "sub_rule"  // the whole of a hierarchical SARIF ruleId
	MetaLocations  = "locations" // further locations of one result
	MetaRuleset    = "ruleset"   // Konveyor
	MetaInsight    = "insight"   // Konveyor: reported under insights
	MetaVariables  = "variables" // Konveyor
	MetaDependency = "is_dependency_incident"
	MetaBaseline   = "baseline_state" // SARIF
)

func setMeta(in *Incident, key string, value any) {
	if in.Metadata == nil {
		in.Metadata = map[string]any{}
	}
	in.Metadata[key] = value
}

// rel turns a URI reference of the input (relative, absolute, file URI) into a
// path relative to the workspace. reason is "" when it is inside.
func (r *reader) rel(ref string) (rel, reason string) {
	if ref == "" {
		return "", "it names no file"
	}
	p, reason := uriPath(ref)
	if reason != "" {
		return "", reason
	}
	return r.relPath(p)
}

// relPath does the same for a plain path, in which a percent sign is itself.
func (r *reader) relPath(p string) (rel, reason string) {
	if p == "" {
		return "", "it names no file"
	}
	ref := p
	p = slashed(p)
	if isDrive(p) {
		p = "/" + p
	}
	if !strings.HasPrefix(p, "/") {
		return inside(path.Join(slashed(r.opts.Base), p), ref)
	}
	p = path.Clean(p)
	if rest, ok := under(p, r.opts.Root); ok {
		return inside(rest, ref)
	}
	for _, prefix := range r.opts.Prefixes {
		from, bad := uriPath(prefix.From)
		if bad != "" {
			continue
		}
		if rest, ok := under(p, path.Clean(from)); ok {
			return inside(path.Join(slashed(prefix.To), rest), ref)
		}
	}
	return "", fmt.Sprintf("%s lies outside the workspace; if the analysis ran elsewhere, map its directory with a path prefix", ref)
}

func inside(p, ref string) (string, string) {
	p = path.Clean(p)
	switch {
	case p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/"):
		return "", fmt.Sprintf("%s lies outside the workspace", ref)
	case p == ".":
		return "", fmt.Sprintf("%s is the workspace itself, not a file of it", ref)
	case strings.ContainsRune(p, 0):
		return "", "the path holds a NUL byte"
	}
	return p, ""
}

// under returns the part of p below dir.
func under(p, dir string) (string, bool) {
	if dir == "" || dir == "/" {
		return "", false
	}
	if p == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(p, dir+"/")
	return rest, ok
}

// uriPath returns the path of a URI reference: of a file URI, or of a
// reference without a scheme. Escapes that are not sound are taken literally.
func uriPath(ref string) (p, reason string) {
	ref = slashed(ref)
	if isDrive(ref) {
		return "/" + ref, ""
	}
	p = ref
	if scheme, rest, ok := strings.Cut(ref, ":"); ok && isScheme(scheme) {
		if !strings.EqualFold(scheme, "file") {
			return "", fmt.Sprintf("%s is not a file of the workspace", ref)
		}
		p = rest
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			host, tail, _ := strings.Cut(after, "/")
			if host != "" && !strings.EqualFold(host, "localhost") {
				return "", fmt.Sprintf("%s is on another host", ref)
			}
			p = "/" + tail
		}
	}
	if un, err := url.PathUnescape(p); err == nil {
		p = un
	}
	return p, ""
}

// isScheme reports whether s has the form of a URI scheme; one letter is a drive.
func isScheme(s string) bool {
	if len(s) < 2 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := (c|0x20) >= 'a' && (c|0x20) <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return false
		}
	}
	return true
}

func isDrive(p string) bool {
	return len(p) >= 3 && p[1] == ':' && p[2] == '/' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// slashed turns the separators of a Windows path. A POSIX path may hold
// backslashes, but none that an analysis tool has been seen to write does.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// fileURI returns the file URI of an absolute slash-separated path.
func fileURI(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}
