package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links one path may go through, as in [os.Root].
const maxLinks = 8

// errSymlink says that a path has a symbolic link where none may be.
var errSymlink = errors.New("symbolic link")

// Read returns the file as its user sees it: the buffer that is open in an
// editor, else the bytes on disk. What cannot be read is a [*PathError].
//
// On disk only regular files of at most Options.MaxFileSize bytes are read.
// Symbolic links are followed as long as they stay in the root and do not lead
// to a path that a deny rule names.
func (w *Workspace) Read(path string) (*File, error) {
	rel, err := w.Rel(path)
	if err != nil {
		return nil, err
	}
	if f := w.buffer(rel); f != nil {
		return f, nil
	}
	return w.readDisk(rel, w.maxSize)
}

// ReadText is [Workspace.Read] for those who want source code: a file that is
// binary (a NUL in its first 8,000 bytes, as git has it) is a [*PathError].
func (w *Workspace) ReadText(path string) (*File, error) {
	f, err := w.Read(path)
	if err != nil {
		return nil, err
	}
	if IsBinary(f.Text) {
		return nil, &PathError{Path: f.Path, Kind: Binary, Reason: "is a binary file"}
	}
	return f, nil
}

// ReadDisk returns the bytes on disk, also where an editor has other ones.
func (w *Workspace) ReadDisk(path string) (*File, error) {
	rel, err := w.Rel(path)
	if err != nil {
		return nil, err
	}
	return w.readDisk(rel, w.maxSize)
}

// readDisk reads a path that Rel returned. limit < 0 means none.
func (w *Workspace) readDisk(rel string, limit int64) (*File, error) {
	f, err := w.tree.openNoFollow(rel)
	for tries := 0; errors.Is(err, errSymlink) && tries < 2; tries++ {
		// The links are resolved first and the result opened without
		// following any, so that a link that changes meanwhile leads nowhere.
		var target string
		if target, err = w.resolve(rel); err != nil {
			return nil, err
		}
		f, err = w.tree.openNoFollow(target)
	}
	if err != nil {
		return nil, openError(rel, err)
	}
	defer f.Close()
	return readRegular(f, rel, limit)
}

// readRegular reads an open file that has to be a regular one.
func readRegular(f *os.File, rel string, limit int64) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, diskError(rel, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(rel, info.Mode())
	}
	if limit >= 0 && info.Size() > limit {
		return nil, tooLarge(rel, limit)
	}
	var text bytes.Buffer
	text.Grow(int(info.Size()) + bytes.MinRead)
	var from io.Reader = f
	if limit >= 0 {
		from = io.LimitReader(f, limit+1) // it may grow while it is read
	}
	if _, err := text.ReadFrom(from); err != nil {
		return nil, diskError(rel, err)
	}
	if limit >= 0 && int64(text.Len()) > limit {
		return nil, tooLarge(rel, limit)
	}
	return &File{Path: rel, Text: text.Bytes(), SHA256: SHA256(text.Bytes()), Mode: info.Mode().Perm()}, nil
}

func tooLarge(rel string, limit int64) *PathError {
	return &PathError{Path: rel, Kind: TooLarge, Reason: "is larger than " + byteSize(limit)}
}

func notRegular(rel string, mode fs.FileMode) *PathError {
	what := "is not a regular file"
	if mode.IsDir() {
		what = "is a directory"
	}
	return &PathError{Path: rel, Kind: NotRegular, Reason: what}
}

func openError(rel string, err error) error {
	var p *PathError
	switch {
	case errors.As(err, &p):
		return err
	case errors.Is(err, errSymlink):
		return &PathError{Path: rel, Kind: Symlink, Reason: "goes through a symbolic link"}
	}
	return diskError(rel, err)
}

// resolve follows the symbolic links of a path and returns the path without
// them. A link out of the root or to a denied path is a [*PathError].
func (w *Workspace) resolve(rel string) (string, error) {
	refuse := func(kind PathErrorKind, reason string) (string, error) {
		return "", &PathError{Path: rel, Kind: kind, Reason: reason}
	}
	var done []string
	rest := strings.Split(rel, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return refuse(Escapes, "is a symbolic link that leads out of the workspace")
			}
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(path.Join(done...), name)
		info, err := w.tree.Lstat(at)
		if err != nil {
			return "", diskError(rel, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = append(done, name)
			continue
		}
		if links++; links > maxLinks {
			return refuse(Symlink, "goes through too many symbolic links")
		}
		target, err := w.tree.Readlink(at)
		if err != nil {
			return "", diskError(rel, err)
		}
		if filepath.IsAbs(target) {
			inside, ok := w.stripRoot(target)
			if !ok {
				return refuse(Escapes, "is a symbolic link that leads out of the workspace")
			}
			done, target = nil, inside
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	if len(done) == 0 {
		return refuse(NotRegular, "is a directory")
	}
	target := strings.Join(done, "/")
	if c := w.table.classify(target); c.Class == Denied {
		return refuse(DeniedPath, "is a symbolic link to "+target+", which is denied: "+c.Why)
	}
	return target, nil
}

// A tree is the confined root with its own folder held open.
type tree struct {
	*os.Root
	top *os.File
}

func openTree(dir string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	top, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &tree{root, top}, nil
}

func (t *tree) Close() error { return errors.Join(t.top.Close(), t.Root.Close()) }

// openDir returns a handle on a folder of the root ("." for the root itself)
// that was reached through no symbolic link: each step's handle is compared
// with what its name was seen to be. The caller closes it.
func (t *tree) openDir(rel string) (*os.Root, error) {
	dir, err := t.OpenRoot(".")
	if err != nil || rel == "." {
		return dir, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		next, err := openSubdir(dir, name)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func openSubdir(dir *os.Root, name string) (*os.Root, error) {
	seen, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if seen.Mode()&fs.ModeSymlink != 0 {
		return nil, errSymlink
	}
	if !seen.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a directory")}
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := next.Stat("."); err != nil {
		next.Close()
		return nil, err
	} else if !os.SameFile(seen, got) {
		next.Close()
		return nil, errSymlink // it was exchanged between the two looks
	}
	return next, nil
}

// openNoFollowPortable opens a file for reading through no symbolic link.
func (t *tree) openNoFollowPortable(rel string) (*os.File, error) {
	dir, err := t.openDir(path.Dir(rel))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := path.Base(rel)
	seen, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if seen.Mode()&fs.ModeSymlink != 0 {
		return nil, errSymlink
	}
	if !seen.Mode().IsRegular() {
		return nil, notRegular(rel, seen.Mode()) // before opening: a pipe would block, a device would act
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	if got, err := f.Stat(); err != nil {
		f.Close()
		return nil, err
	} else if !os.SameFile(seen, got) {
		f.Close()
		return nil, errSymlink
	}
	return f, nil
}
