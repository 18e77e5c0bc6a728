package incidents

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A Filter says which incidents are wanted. Empty fields want all.
type Filter struct {
	Paths      []string   `json:"paths,omitempty"` // doublestar globs against the path
	RuleIDs    []string   `json:"rule_ids,omitempty"`
	Severities []Severity `json:"severities,omitempty"`
	Sources    []string   `json:"sources,omitempty"`
	IDs        []string   `json:"ids,omitempty"`
	Text       string     `json:"text,omitempty"` // in rule id, path, message or description, in any case
}

// A Page is a part of the answer to a query.
type Page struct {
	Incidents []Incident `json:"incidents"`
	Total     int        `json:"total"`                 // of all pages, now
	Next      string     `json:"next_cursor,omitempty"` // "" on the last page
}

// Counts are how many incidents there are, by each of their properties.
type Counts struct {
	Total      int              `json:"total"`
	ByFile     map[string]int   `json:"by_file"`
	ByRule     map[string]int   `json:"by_rule"`
	BySeverity map[Severity]int `json:"by_severity"`
	BySource   map[string]int   `json:"by_source"`
}

// cursor is the place of the last incident of a page. What changes between two
// pages neither repeats nor skips an incident that stays where it is.
type cursor struct {
	Path  string `json:"p"`
	Line  int    `json:"l"`
	Start int    `json:"s"`
	ID    string `json:"i"`
}

func cursorOf(in *Incident) cursor {
	return cursor{in.FilePath, in.LineNumber, in.Span.Start, in.ID}
}

func (c cursor) compare(d cursor) int {
	return cmp.Or(strings.Compare(c.Path, d.Path), cmp.Compare(c.Line, d.Line), cmp.Compare(c.Start, d.Start), strings.Compare(c.ID, d.ID))
}

// Query returns the incidents that f wants, in the order of file, line and
// column, from the page that after (a [Page]'s Next; "" the first) begins.
// limit <= 0 is no limit. An error says which part of the query is wrong.
func (x *Index) Query(f Filter, after string, limit int) (Page, error) {
	match, err := f.compile()
	if err != nil {
		return Page{}, err
	}
	var from cursor
	if after != "" {
		raw, err := base64.RawURLEncoding.DecodeString(after)
		if err == nil {
			err = json.Unmarshal(raw, &from)
		}
		if err != nil {
			return Page{}, fmt.Errorf("the cursor %q is not one that a page gave", after)
		}
	}
	page := Page{Incidents: []Incident{}}
	x.each(match, func(in *Incident) {
		page.Total++
		switch at := cursorOf(in); {
		case after != "" && at.compare(from) <= 0:
		case limit > 0 && len(page.Incidents) == limit:
			if page.Next == "" {
				raw, _ := json.Marshal(cursorOf(&page.Incidents[limit-1])) // strings and numbers: cannot fail
				page.Next = base64.RawURLEncoding.EncodeToString(raw)
			}
		default:
			page.Incidents = append(page.Incidents, *in)
		}
	})
	return page, nil
}

// Count counts the incidents that f wants.
func (x *Index) Count(f Filter) (Counts, error) {
	match, err := f.compile()
	if err != nil {
		return Counts{}, err
	}
	c := Counts{ByFile: map[string]int{}, ByRule: map[string]int{}, BySeverity: map[Severity]int{}, BySource: map[string]int{}}
	x.each(match, func(in *Incident) {
		c.Total++
		c.ByFile[in.FilePath]++
		c.ByRule[in.RuleID]++
		c.BySeverity[in.Severity]++
		c.BySource[in.Source]++
	})
	return c, nil
}

// File returns the incidents of one file, in its order.
func (x *Index) File(path string) []Incident {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.file(path)
}

// file merges what the sources of one file found, each id once.
func (x *Index) file(path string) []Incident {
	var out []Incident
	seen := map[string]bool{}
	for _, source := range sortedMapKeys(x.files[path]) {
		for _, e := range x.files[path][source] {
			if !seen[e.ID] {
				seen[e.ID] = true
				out = append(out, e.Incident)
			}
		}
	}
	slices.SortFunc(out, func(a, b Incident) int { return cursorOf(&a).compare(cursorOf(&b)) })
	return out
}

// each calls fn for every incident that matches, in order. fn must not keep
// the pointer.
func (x *Index) each(match func(*Incident) bool, fn func(*Incident)) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, path := range sortedMapKeys(x.files) {
		list := x.file(path)
		for i := range list {
			if match(&list[i]) {
				fn(&list[i])
			}
		}
	}
}

func (f Filter) compile() (func(*Incident) bool, error) {
	for _, glob := range f.Paths {
		if !doublestar.ValidatePattern(glob) {
			return nil, fmt.Errorf("paths: %q is not a glob", glob)
		}
	}
	for _, s := range f.Severities {
		if !slices.Contains([]Severity{Error, Warning, Info, Hint}, s) {
			return nil, fmt.Errorf("severities: %q is not one of error, warning, info and hint", s)
		}
	}
	text := strings.ToLower(f.Text)
	contains := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return func(in *Incident) bool {
		return among(f.RuleIDs, in.RuleID) && among(f.Severities, in.Severity) && among(f.Sources, in.Source) && among(f.IDs, in.ID) &&
			(len(f.Paths) == 0 || slices.ContainsFunc(f.Paths, func(g string) bool { ok, _ := doublestar.Match(g, in.FilePath); return ok })) &&
			(text == "" || contains(in.RuleID) || contains(in.FilePath) || contains(in.Message) || contains(in.Description))
	}, nil
}

func among[T comparable](wanted []T, v T) bool { return len(wanted) == 0 || slices.Contains(wanted, v) }

func sortedMapKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
