package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kaiak/kaiak/workspace"
)

// A Proposal is what a model wants to change, in its own words.
type Proposal struct {
	Summary  string      `json:"summary"`
	Files    []FileEdits `json:"files"`
	NewFiles []NewFile   `json:"new_files,omitempty"`
	Reason   string      `json:"reason,omitempty"` // why code away from the incidents has to change

	fromText bool // read from text blocks, which quote no hash
}

// FileEdits are the replacements in one file.
type FileEdits struct {
	Path       string        `json:"path"`
	BaseSHA256 string        `json:"base_sha256"` // at least 8 hex digits of the hash that was shown
	Edits      []Replacement `json:"edits"`
	Whole      *string       `json:"content,omitempty"` // the whole new text instead of Edits
}

// A Replacement exchanges OldText, which must occur exactly once, for NewText.
type Replacement struct {
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	Occurrence int    `json:"occurrence,omitempty"` // 1-based; only in answer to an ambiguity
}

// A NewFile is a file to create.
type NewFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// aliases are names that models write instead of the schema's.
var aliases = map[string]string{
	"old_string": "old_text", "oldText": "old_text", "search": "old_text", "old": "old_text",
	"new_string": "new_text", "newText": "new_text", "replace": "new_text", "new": "new_text",
	"file": "path", "file_path": "path", "filePath": "path", "filename": "path",
	"sha256": "base_sha256", "base_sha": "base_sha256", "baseSha256": "base_sha256",
	"changes": "edits", "replacements": "edits", "newFiles": "new_files", "description": "summary",
}

// ParseCall reads the arguments of a propose_edits call. It is strict about the
// meaning and tolerant of form: other names for the same members, one object
// where a list belongs, one file's members at the top.
func ParseCall(arguments []byte) (Proposal, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(arguments))
	if err := dec.Decode(&v); err != nil {
		return Proposal{}, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	o, ok := rename(v).(map[string]any)
	if !ok {
		return Proposal{}, errors.New("the arguments are not an object")
	}
	if _, ok := o["files"]; !ok {
		if _, ok := o["path"]; ok {
			o["files"] = []any{map[string]any{"path": o["path"], "base_sha256": o["base_sha256"], "edits": o["edits"], "content": o["content"], "old_text": o["old_text"], "new_text": o["new_text"]}}
		}
	}
	o["files"], o["new_files"] = list(o["files"]), list(o["new_files"])
	for _, f := range o["files"].([]any) {
		if f, ok := f.(map[string]any); ok {
			if f["edits"] == nil && f["old_text"] != nil {
				f["edits"] = []any{map[string]any{"old_text": f["old_text"], "new_text": f["new_text"]}}
			}
			f["edits"] = list(f["edits"])
		}
	}
	js, err := json.Marshal(o)
	if err != nil {
		return Proposal{}, err
	}
	var p Proposal
	if err := json.Unmarshal(js, &p); err != nil {
		var t *json.UnmarshalTypeError
		if errors.As(err, &t) {
			return Proposal{}, fmt.Errorf("%s must be a %v, not a %s", t.Field, t.Type, t.Value)
		}
		return Proposal{}, err
	}
	if len(p.Files) == 0 && len(p.NewFiles) == 0 {
		return Proposal{}, errors.New("files is missing or empty: name at least one file with its edits")
	}
	return p, nil
}

// rename replaces aliases everywhere, unless the proper name is there too.
func rename(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for alias, name := range aliases {
			if value, ok := x[alias]; ok {
				if _, has := x[name]; !has {
					x[name] = value
					delete(x, alias)
				}
			}
		}
		for k := range x {
			x[k] = rename(x[k])
		}
	case []any:
		for i := range x {
			x[i] = rename(x[i])
		}
	}
	return v
}

// list wraps what should be a list; a list that came as a string is decoded.
func list(v any) any {
	switch x := v.(type) {
	case nil:
		return []any{}
	case []any:
		return x
	case string:
		var inner any
		if json.Unmarshal([]byte(x), &inner) == nil {
			return list(rename(inner))
		}
	}
	return []any{v}
}

// A Result is a proposal that can be applied, not yet validated.
type Result struct {
	Files   []FileResult
	Created []NewFile
	Notes   []Note
}

// A FileResult is one file of a [Result].
type FileResult struct {
	Path        string
	Base        *workspace.File
	Edits       []workspace.Edit // against Base.Text; as small as they can be
	Text        []byte           // the outcome
	OutOfRegion bool             // some edit lies outside the regions
	Lines       int              // how many lines are added or removed
}

// Relaxed reports whether an old text was found only by a relaxation.
func (r Result) Relaxed() bool {
	for _, n := range r.Notes {
		if n.Level != "" {
			return true
		}
	}
	return false
}

// OutOfRegion reports whether any file is changed outside its regions.
func (r Result) OutOfRegion() bool {
	for _, f := range r.Files {
		if f.OutOfRegion {
			return true
		}
	}
	return false
}

// A Note records something done to a proposal beyond its words.
type Note struct {
	Path  string
	Edit  int    // 1-based
	Level Level  // the relaxation, "" when it is something else
	Text  string // for people
}

// A Level is a relaxation of the exact match.
type Level string

// The relaxations, in the order in which they are tried.
const (
	TrailingBlanks Level = "trailing_blanks"
	IndentShift    Level = "indent_shift"
	Punctuation    Level = "punctuation"
)

// A Kind says what is wrong with an edit.
type Kind string

// The kinds of failure.
const (
	NotAllowed  Kind = "not_allowed"   // the file may not change
	StaleBase   Kind = "stale_base"    // it is not the text that was shown
	NotFound    Kind = "not_found"     // the old text does not occur
	Ambiguous   Kind = "ambiguous"     // it occurs more than once
	NoChange    Kind = "no_change"     // old and new text are the same
	EmptyOld    Kind = "empty_old"     // no old text
	Overlap     Kind = "overlap"       // two edits touch the same text
	Elided      Kind = "elided"        // the new text leaves something out
	BadText     Kind = "bad_text"      // not text, or with merge markers
	Placeholder Kind = "placeholder"   // a redaction placeholder would be written
	OutOfRegion Kind = "out_of_region" // away from the incidents, without a reason
	TooLarge    Kind = "too_large"     // more than a proposal may change
	WholeFile   Kind = "whole_file"    // the whole file where edits are asked for
)

// A Failure is what is wrong with one edit.
type Failure struct {
	Path    string
	Edit    int // 1-based; 0: the file as a whole
	Kind    Kind
	Message string // what is wrong and what to do, for the model
}

// A Rejection is a proposal of which nothing was applied.
type Rejection struct {
	Failures []Failure
}

// Error lists every failure and says that nothing was changed.
func (r *Rejection) Error() string {
	var b strings.Builder
	b.WriteString("None of the edits were applied; your changes have NOT been made.\n")
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "- %s", f.Path)
		if f.Edit > 0 {
			fmt.Fprintf(&b, ", edit %d", f.Edit)
		}
		fmt.Fprintf(&b, ": %s: %s\n", f.Kind, f.Message)
	}
	b.WriteString("Send one corrected propose_edits call with ALL edits. DO NOT send the same failed edit again.")
	return b.String()
}

// Stale reports whether every failure is a stale base, for which the model is
// not to blame.
func (r *Rejection) Stale() bool {
	for _, f := range r.Failures {
		if f.Kind != StaleBase {
			return false
		}
	}
	return len(r.Failures) > 0
}
