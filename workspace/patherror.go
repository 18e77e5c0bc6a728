package workspace

import (
	"errors"
	"fmt"
	"io/fs"
)

// PathErrorKind is the reason of a [PathError], for programs.
type PathErrorKind string

// The reasons for which a path is refused.
const (
	Escapes    PathErrorKind = "escapes"     // leads out of the workspace
	DeniedPath PathErrorKind = "denied"      // a deny rule names it
	ReadOnly   PathErrorKind = "read_only"   // may be read, is never written
	BadName    PathErrorKind = "bad_name"    // control bytes, trailing slash, reserved name, …
	NotFileURI PathErrorKind = "not_file"    // a URI of another scheme or host
	Symlink    PathErrorKind = "symlink"     // a symbolic link is on the way
	HardLink   PathErrorKind = "hard_link"   // has a second name, perhaps outside
	NotRegular PathErrorKind = "not_regular" // a directory, pipe, socket or device
	TooLarge   PathErrorKind = "too_large"
	Binary     PathErrorKind = "binary"
	NotUTF8    PathErrorKind = "encoding"  // text, but not UTF-8
	NotFound   PathErrorKind = "not_found" // errors.Is(err, fs.ErrNotExist) holds too
	NotOpen    PathErrorKind = "not_open"  // no editor has it open
	IOFailure  PathErrorKind = "io"        // the operating system said no; Err has its words
)

// A PathError says which path cannot be used, and why.
type PathError struct {
	Path   string // as it was given
	Kind   PathErrorKind
	Reason string // a clause for people: "is denied: private keys (*.pem)"
	Err    error  // the cause, where there is one
}

func (e *PathError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%q: %s: %v", e.Path, e.Reason, cause(e.Err))
	}
	return fmt.Sprintf("%q: %s", e.Path, e.Reason)
}

// Unwrap returns the cause.
func (e *PathError) Unwrap() error { return e.Err }

// diskError is what the operating system said about path.
func diskError(path string, err error) *PathError {
	if errors.Is(err, fs.ErrNotExist) {
		return &PathError{Path: path, Kind: NotFound, Reason: "does not exist", Err: fs.ErrNotExist}
	}
	return &PathError{Path: path, Kind: IOFailure, Reason: "cannot be used", Err: cause(err)}
}

// cause strips the names of temporary or absolute paths from an error of
// package os: the PathError around it has the name that the user knows.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
