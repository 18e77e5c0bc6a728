// Package langref answers go.referenced, nodejs.referenced, python.referenced
// and csharp.referenced: where source refers to a name.
//
// [NewQuery] compiles a pattern, [Extract] reads a syntax tree once for all
// queries, [File.Find] returns the places. Names are resolved by the imports of
// the one file; nothing is known of other files or of libraries.
package langref

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// A Match is a place, in bytes.
type Match struct{ Start, End int }

// language is what is particular to one language.
type language struct {
	name       string
	grammars   map[string]string // file extension → grammar
	extract    func(*File, *treesitter.Tree)
	fits       func(*Query, *reference) bool
	expression bool // patterns are always regular expressions
}

var languages = []language{
	{"go", map[string]string{".go": "go"}, extractGo, fitsGo, false},
	{"nodejs", map[string]string{".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
		".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}, extractNode, fitsNode, false},
	{"python", map[string]string{".py": "python", ".pyi": "python"}, extractPython, fitsPython, false},
	{"csharp", map[string]string{".cs": "csharp"}, extractCSharp, fitsCSharp, true},
}

func lookup(name string) *language {
	for i := range languages {
		if languages[i].name == name {
			return &languages[i]
		}
	}
	return nil
}

// ForPath returns the name of the language of a path, "" for none.
func ForPath(p string) string {
	ext := path.Ext(p)
	for i := range languages {
		if languages[i].grammars[ext] != "" {
			return languages[i].name
		}
	}
	return ""
}

// Grammar returns the grammar for a path of a language.
func Grammar(name, p string) *treesitter.Language {
	l := lookup(name)
	if l == nil {
		return nil
	}
	return treesitter.Lookup(l.grammars[path.Ext(p)])
}

// A Query is a compiled pattern.
type Query struct {
	lang      *language
	pattern   string
	location  string         // csharp
	namespace string         // csharp
	re        *regexp.Regexp // nil: the pattern is a plain name
	path      string         // go: import path
	name      string         // go: name in it; "": the package as such
}

// NewQuery compiles a pattern of a language ("go", "nodejs", "python",
// "csharp"). location and namespace are csharp's.
func NewQuery(lang, pattern, location, namespace string) (*Query, error) {
	l := lookup(lang)
	if l == nil {
		return nil, fmt.Errorf("language %q is unknown", lang)
	}
	q := &Query{lang: l, pattern: pattern, location: location, namespace: namespace}
	if l.expression || strings.ContainsAny(pattern, `\^$*+?()[]{}|`) {
		re, err := regexp.Compile(pattern)
		if err != nil && l.expression {
			return nil, err
		}
		q.re = re
	}
	if lang == "go" {
		q.path, q.name = splitGo(pattern)
	}
	return q, nil
}

// Literals returns strings a file must contain for the query to match in it: of
// each inner list at least one.
func (q *Query) Literals() [][]string {
	if q.re != nil {
		return nil
	}
	switch {
	case q.lang.name == "go" && q.name != "" && q.path != "":
		return [][]string{{lastElement(q.path)}, {q.name}}
	case q.lang.name == "go" && q.path != "":
		return [][]string{{q.path}}
	}
	return [][]string{{q.pattern[strings.LastIndexByte(q.pattern, '.')+1:]}}
}

// MayMatch reports whether a text that holds the query's literals holds its name
// as a word; without one it need not be parsed.
func (q *Query) MayMatch(text []byte) bool {
	if q.re != nil || q.lang.name == "go" {
		return true
	}
	word := []byte(q.pattern[strings.LastIndexByte(q.pattern, '.')+1:])
	for at := 0; ; {
		i := bytes.Index(text[at:], word)
		if i < 0 {
			return false
		}
		start := at + i
		end := start + len(word)
		if (start == 0 || !isWord(text[start-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
		at = end
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// refKind is what a reference is.
type refKind uint8

const (
	refName   refKind = iota // a name in an expression
	refImport                // an import
	refCall                  // a called member
	refMember                // a member that is not called
	refType                  // a type or attribute
	refClass                 // a declaration of a class
)

// A reference is one use of a name.
type reference struct {
	kind  refKind
	full  []string // what the name can mean, qualified
	plain string   // as written
	spans Match
}

// A File is the references of one file. It is immutable after [Extract].
type File struct {
	lang *language
	refs []reference
}

// Extract reads a tree of a language's grammar.
func Extract(lang string, tree *treesitter.Tree) *File {
	f := &File{lang: lookup(lang)}
	if f.lang != nil && !tree.Root().IsZero() {
		f.lang.extract(f, tree)
	}
	return f
}

func (f *File) add(kind refKind, n treesitter.Node, plain string, full ...string) {
	f.refs = append(f.refs, reference{kind, full, plain, Match{n.Start(), n.End()}})
}

// Find returns what the query matches, in the order of the file.
func (f *File) Find(q *Query) []Match {
	if f.lang != q.lang || f.lang == nil {
		return nil
	}
	var out []Match
	for i := range f.refs {
		if f.lang.fits(q, &f.refs[i]) {
			out = append(out, f.refs[i].spans)
		}
	}
	slices.SortFunc(out, func(a, b Match) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return slices.Compact(out)
}

// children returns the named children that are no comments.
func children(n treesitter.Node) []treesitter.Node {
	var out []treesitter.Node
	for c := range n.NamedChildren() {
		if !c.Extra() {
			out = append(out, c)
		}
	}
	return out
}

// unquote strips the quotes of a simple string literal.
func unquote(s string) string { return strings.Trim(s, "\"'`") }

// lastElement is the part of a path after its last slash.
func lastElement(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// whole reports whether re matches all of s, or s is the plain pattern.
func (q *Query) whole(s string) bool {
	if q.re == nil {
		return s == q.pattern
	}
	for _, m := range q.re.FindAllStringIndex(s, -1) {
		if m[0] == 0 && m[1] == len(s) {
			return true
		}
	}
	return false
}
