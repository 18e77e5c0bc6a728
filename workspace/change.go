package workspace

import (
	"context"
	"io/fs"
)

// A File is one file as the user sees it at one moment: the open buffer where
// there is one, else the bytes on disk. It is immutable.
type File struct {
	Path    string      // relative to the root, slash-separated
	Text    []byte      // exact bytes; never modify
	SHA256  string      // of Text
	Open    bool        // true: Text is the editor's buffer
	Version int32       // LSP version of the buffer; 0 when not open
	Mode    fs.FileMode // permission bits of the file on disk; 0 when it is not there

	LanguageID string // as the editor named it; "" when not open
}

// ChangeKind says what a [Change] does to its file.
type ChangeKind string

// The kinds of change; "edit" is the contract's change_type for it.
const (
	EditFile   ChangeKind = "edit"
	CreateFile ChangeKind = "create"
	DeleteFile ChangeKind = "delete"
)

// A Change is what happens to one file of a [Set]. It binds bytes: it applies
// only where the file's hash is BaseSHA256, and its outcome has ProposedSHA256.
type Change struct {
	Path           string     `json:"path"`
	Kind           ChangeKind `json:"kind"`
	BaseSHA256     string     `json:"base_sha256"`     // "" for CreateFile
	ProposedSHA256 string     `json:"proposed_sha256"` // "" for DeleteFile
	Edits          []Edit     `json:"edits,omitempty"` // EditFile: against the base
	Text           []byte     `json:"text,omitempty"`  // CreateFile: the whole content
}

// A Set is the changes that are applied together, all or nothing.
type Set struct {
	ID      string   `json:"id"` // unique; an applied set is undone by it
	Changes []Change `json:"changes"`
}

// Buffers changes documents that are open in an editor. A front implements it
// (LSP: workspace/applyEdit, one call per file). A nil error says only that the
// editor was asked: [Workspace.Apply] believes the hash of the buffer, which
// the front reports by [Workspace.ChangeBuffer], and nothing else.
type Buffers interface {
	// EditBuffer asks the editor to apply edits, which are against text, the
	// buffer's content at version.
	EditBuffer(ctx context.Context, path string, version int32, text []byte, edits []Edit) error
}

// ApplyState says how far an applied set has come to the disk.
type ApplyState string

// The states of a set that was applied.
const (
	Applied        ApplyState = "applied"         // every file is on disk
	AppliedUnsaved ApplyState = "applied_unsaved" // some are in unsaved buffers
)
