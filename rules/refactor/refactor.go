// Package refactor is the refactorings that patterns express badly: they need
// a file's imports, its scopes, or the structure of a build or configuration
// file. Each is a [Step]: parameters that decode from a rule's YAML, and a
// function from one text to edits.
//
// Call [New] to make a step by its name in a rule, or use the parameter types
// ([RenameType], [ReplaceDependency], …) directly.
//
// A step never touches a byte that it need not: comments, white space and order
// stay as the file has them. Where it cannot show that an edit is right it
// makes none and returns a [*Refusal]. It reads nothing but the text it is
// given, and a text that it does not concern gets no edits and no error.
package refactor

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// An Input is one text that a step may change.
type Input struct {
	Path string           // says what kind of file it is; slash-separated
	Text []byte           // not modified
	Tree *treesitter.Tree // of Text; nil: the step parses if it needs to
	// [Start, End) is the span in bytes that a rule matched, to which a step
	// keeps that can: End 0 stands for the whole text.
	Start, End int
}

// A Step is one refactoring with its parameters.
type Step interface {
	// Edits returns the step's edits of in.Text in source order. Its error is a
	// [*Refusal], or ctx's.
	Edits(ctx context.Context, in Input) ([]workspace.Edit, error)
	// validate reports which parameter is missing or wrong.
	validate() error
}

// A Refusal says why a step makes no edits although the text concerns it. Kind
// is one of the kinds of the rules package.
type Refusal struct {
	Kind   string
	Detail string // what was found, where, and what to do instead
}

func (r *Refusal) Error() string { return r.Detail }

// The kinds of refusal that a step gives.
const (
	Shadowed = "shadowed_name"
	Unsafe   = "unsafe"
	BadParse = "new_parse_error"
)

func refuse(kind, format string, args ...any) error {
	return &Refusal{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// A Spec describes a step to people and to rule linters.
type Spec struct {
	Name  string // as it stands in a rule
	Doc   string // one sentence
	Files string // what it works on
	New   func() Step
}

// Steps is the table of steps, by name.
var Steps = []Spec{
	{"changeAnnotation", "Rename an annotation, or add, change, rename and remove its attributes.", "Java", func() Step { return new(ChangeAnnotation) }},
	{"findReplace", "Replace what a regular expression (RE2) matches.", "any text", func() Step { return new(FindReplace) }},
	{"imports", "Add imports, remove them, and remove them where nothing uses them.", "Go, Java, Python, JavaScript, TypeScript", func() Step { return new(Imports) }},
	{"removeMatch", "Delete what the rule matched, with the line or the white space that would be left.", "any text", func() Step { return new(RemoveMatch) }},
	{"renameImported", "Rename what a module exports, in the import and wherever the file uses it.", "JavaScript, TypeScript, Python", func() Step { return new(RenameImported) }},
	{"renameMethod", "Rename the calls of a method where the receiver's type is known from imports and declarations.", "Java", func() Step { return new(RenameMethod) }},
	{"renamePackage", "Rename a package, and what is below it, in imports and qualified names.", "Java", func() Step { return new(RenamePackage) }},
	{"renameProperty", "Rename a key of a properties or YAML file; its value and its comments stay.", "*.properties, YAML", func() Step { return new(RenameProperty) }},
	{"renameType", "Rename or move a type: its import, qualified names and simple names.", "Java", func() Step { return new(RenameType) }},
	{"replaceDependency", "Replace one dependency by another, or remove it.", "pom.xml, build.gradle(.kts), package.json, go.mod", func() Step { return new(ReplaceDependency) }},
	{"setVersion", "Set the version of a dependency or plugin where it is written down, be it a property.", "pom.xml, build.gradle(.kts), package.json, go.mod", func() Step { return new(SetVersion) }},
	{"xmlSetAttribute", "Set, add or remove an attribute of XML elements.", "XML", func() Step { return new(XMLSetAttribute) }},
}

// New makes the step with the given name. decode fills the parameter struct
// that it is handed, which has yaml and json tags; it should refuse keys that
// the struct does not have.
func New(name string, decode func(params any) error) (Step, error) {
	i := slices.IndexFunc(Steps, func(s Spec) bool { return s.Name == name })
	if i < 0 {
		names := make([]string, len(Steps))
		for j, s := range Steps {
			names[j] = s.Name
		}
		return nil, fmt.Errorf("no step is named %q; there are %s", name, strings.Join(names, ", "))
	}
	step := Steps[i].New()
	if err := decode(step); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := step.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return step, nil
}

// tree returns in's tree, parsed if need be, when the file is in one of the
// given languages (any, if none is given); else nil.
func (in Input) tree(ctx context.Context, languages ...string) (*treesitter.Tree, error) {
	lang := treesitter.ForPath(in.Path)
	if in.Tree != nil {
		lang = in.Tree.Language()
	}
	if lang == nil || len(languages) > 0 && !slices.Contains(languages, lang.Name) {
		return nil, nil
	}
	if in.Tree != nil {
		return in.Tree, nil
	}
	return treesitter.Parse(ctx, lang, in.Text)
}

// covers reports whether n touches the span to which the step keeps.
func (in Input) covers(n treesitter.Node) bool {
	return in.End == 0 || n.Start() < in.End && in.Start < n.End()
}

func (in Input) base() string { return path.Base(in.Path) }

// replace returns the edit that replaces n's text.
func replace(n treesitter.Node, text string) workspace.Edit {
	return workspace.Edit{Start: n.Start(), End: n.End(), New: text}
}

func insert(at int, text string) workspace.Edit { return workspace.Edit{Start: at, End: at, New: text} }

// eol returns the line end that text uses: that of its first line.
func eol(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// top returns the offset of the first character: a byte order mark is none.
func top(text []byte) int {
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}

// lineStart returns the offset of the line that offset is on.
func lineStart(text []byte, offset int) int {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	if start == 0 {
		return min(top(text), offset)
	}
	return start
}

// lineEnd returns the offset after the line that offset is on, its end included.
func lineEnd(text []byte, offset int) int {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// indentOf returns the white space at the start of the line that offset is on.
func indentOf(text []byte, offset int) string {
	start := lineStart(text, offset)
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:end])
}

// cutLines returns the edit that deletes [start, end) together with the rest of
// its lines when nothing but white space (or a line comment behind it) is on
// them; else just [start, end).
func cutLines(text []byte, start, end int) workspace.Edit {
	from, to := lineStart(text, start), lineEnd(text, end)
	before := strings.TrimSpace(string(text[from:start]))
	after := strings.TrimSpace(string(text[end:to]))
	if before == "" && (after == "" || strings.HasPrefix(after, "//") || strings.HasPrefix(after, "#")) {
		return workspace.Edit{Start: from, End: to}
	}
	return workspace.Edit{Start: start, End: end}
}

// blankLine reports whether the line that begins at offset is blank.
func blankLine(text []byte, offset int) bool {
	return offset < len(text) && len(bytes.TrimSpace(text[offset:lineEnd(text, offset)])) == 0
}

// cutListItem returns the edit that deletes n from the list of items between
// brackets that it is part of, with one of the commas beside it.
func cutListItem(text []byte, n treesitter.Node) workspace.Edit {
	start, end := n.Start(), n.End()
	next, prev := n.NextSibling(), n.PrevSibling()
	if !next.IsZero() && next.Kind() == "," {
		end = next.End()
		if cut := cutLines(text, start, end); cut.Start != start || cut.End != end {
			return cut // the item has its own line
		}
		for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
			end++
		}
		return workspace.Edit{Start: start, End: end}
	}
	if !prev.IsZero() && prev.Kind() == "," {
		start = prev.Start()
	}
	return workspace.Edit{Start: start, End: end}
}

// sortEdits puts edits in source order; two at one place keep their order.
func sortEdits(edits []workspace.Edit) []workspace.Edit {
	slices.SortStableFunc(edits, func(a, b workspace.Edit) int { return a.Start - b.Start })
	return edits
}
