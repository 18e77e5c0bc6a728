package konveyor

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// Files is the tree that rules are run over. Paths are relative to its root and
// slash-separated. Implementations are safe for concurrent use.
type Files interface {
	// List returns the paths of all files, and what was left out that a user
	// would want to know of.
	List(ctx context.Context) ([]string, []incidents.Problem, error)
	// Read returns a file's bytes, which are not modified.
	Read(path string) ([]byte, error)
	// URI returns the file URI of a path.
	URI(path string) string
}

// FromWorkspace returns the files of a workspace, or of the given files and
// folders in it: open documents as they are in the editor, without what git
// ignores.
func FromWorkspace(w *workspace.Workspace, under ...string) Files { return workspaceFiles{w, under} }

type workspaceFiles struct {
	w     *workspace.Workspace
	under []string
}

func (f workspaceFiles) List(ctx context.Context) ([]string, []incidents.Problem, error) {
	var paths []string
	var left []incidents.Problem
	err := f.w.Walk(ctx, workspace.WalkOptions{Under: f.under}, func(e workspace.Entry) error {
		if e.Skipped != nil {
			left = append(left, incidents.Problem{Source: e.Path, Where: "the file", Reason: e.Skipped.Reason})
			if e.Skipped.Kind != workspace.TooLarge {
				return nil
			}
		}
		paths = append(paths, e.Path)
		return nil
	})
	slices.Sort(paths)
	return slices.Compact(paths), left, err
}

func (f workspaceFiles) Read(path string) ([]byte, error) {
	file, err := f.w.Read(path)
	if err != nil {
		return nil, err
	}
	return file.Text, nil
}

func (f workspaceFiles) URI(path string) string { return f.w.URI(path) }

// FromFS returns the files of fsys. root is the absolute path that fsys stands
// for; it only appears in URIs.
func FromFS(fsys fs.FS, root string) Files { return fsFiles{fsys, filepath.ToSlash(root)} }

type fsFiles struct {
	fsys fs.FS
	root string
}

func (f fsFiles) List(ctx context.Context) ([]string, []incidents.Problem, error) {
	var paths []string
	err := fs.WalkDir(f.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			paths = append(paths, p)
		}
		return ctx.Err()
	})
	slices.Sort(paths)
	return paths, nil, err
}

func (f fsFiles) Read(path string) ([]byte, error) { return fs.ReadFile(f.fsys, path) }

func (f fsFiles) URI(p string) string { return "file://" + path.Join("/", f.root, p) }

// tooLong is the size above which a file is not read, in bytes.
const tooLong = 64 << 20

var errBinary = errors.New("binary")

// readText reads a file that is text.
func readText(files Files, path string) ([]byte, error) {
	text, err := files.Read(path)
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 || len(text) > tooLong {
		return nil, errBinary
	}
	return text, nil
}

// binaryExtensions are files whose content no condition is about.
var binaryExtensions = strings.Fields(`.jar .war .ear .rar .zip .gz .tgz .xz .bz2 .7z .class .so .dll .exe .dylib .o .a
	.png .jpg .jpeg .gif .ico .bmp .webp .pdf .ttf .otf .woff .woff2 .eot .mp3 .mp4 .avi .mov .jks .keystore .p12 .pyc .wasm`)

func isBinaryName(p string) bool {
	return slices.Contains(binaryExtensions, strings.ToLower(path.Ext(p)))
}
