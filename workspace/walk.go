package workspace

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// WalkOptions tune [Workspace.Walk].
type WalkOptions struct {
	// Under lists the files and folders to walk, in this order; empty is the
	// whole root. What is named here is walked even when it is ignored.
	Under []string

	// All walks what git ignores too.
	All bool
}

// An Entry is one file that [Workspace.Walk] came across.
type Entry struct {
	Path    string     // relative to the root
	Size    int64      // bytes, of the buffer where one is open
	Skipped *PathError // not nil: the file is not to be read, and why
	Stamp   Stamp      // of the file on disk; zero where a buffer is open or the file is skipped
}

// A Stamp tells whether a file is the one that was read before without reading
// it: two equal stamps that are not zero are of the same bytes, unless the file
// was changed again within the clock tick of ModTime.
type Stamp struct {
	Size       int64
	ModTime    int64  // nanoseconds since 1970
	ChangeTime int64  // the same, of the last change of the file's metadata; 0 where it is not known
	Inode      uint64 // 0 where it is not known
}

// Walk calls fn for every file below the root, ordered by name within each
// folder, and returns the first error of fn or ctx. It lists names and reads no
// file but the .gitignores, so that callers can hand the entries to workers;
// binary files are found by [Workspace.ReadText].
//
// Version control folders and what git ignores (see [Workspace.Ignored]) are
// left out silently. Files that are too large, denied or not regular, folders
// that cannot be listed and all symbolic links come with Skipped set; links are
// never followed, their targets come under their own names. Documents that are
// open in an editor and not on disk yet are included.
func (w *Workspace) Walk(ctx context.Context, opts WalkOptions, fn func(Entry) error) error {
	under := opts.Under
	if len(under) == 0 {
		under = []string{"."}
	}
	walk := walker{w: w, ctx: ctx, all: opts.All, fn: fn, unsaved: w.unsavedByDir()}
	for _, p := range under {
		rel, err := w.Rel(p)
		if err != nil {
			return err
		}
		if err := walk.from(rel); err != nil {
			return err
		}
	}
	return nil
}

type walker struct {
	w       *Workspace
	ctx     context.Context
	all     bool
	fn      func(Entry) error
	unsaved map[string][]string // folder → names of open documents in it
}

// unsavedByDir lists the open documents by the folder they are in.
func (w *Workspace) unsavedByDir() map[string][]string {
	byDir := map[string][]string{}
	for _, f := range w.Buffers() {
		dir, name := splitPath(f.Path)
		byDir[dir] = append(byDir[dir], name)
	}
	return byDir
}

// splitPath parts a clean path into its folder ("." for the root) and its name.
func splitPath(rel string) (dir, name string) {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i], rel[i+1:]
	}
	return ".", rel
}

func joinPath(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// from walks one starting point.
func (k *walker) from(rel string) error {
	ignores := k.w.rootIgnores()
	for i := range len(rel) {
		if rel[i] == '/' {
			if f := k.w.readIgnore(rel[:i]+"/.gitignore", rel[:i]); f != nil {
				ignores = append(ignores, f)
			}
		}
	}
	if rel != "." {
		dirName, name := splitPath(rel)
		dir, err := k.w.tree.openDir(dirName)
		if err != nil {
			return openError(rel, err)
		}
		defer dir.Close()
		info, err := dir.Lstat(name)
		switch {
		case err != nil && k.w.buffer(rel) != nil:
			return k.file(rel, name, nil)
		case err != nil:
			return diskError(rel, err)
		case !info.IsDir():
			return k.file(rel, name, fs.FileInfoToDirEntry(info))
		}
		if f := k.w.readIgnore(rel+"/.gitignore", rel); f != nil {
			ignores = append(ignores, f)
		}
	}
	dir, err := k.w.tree.openDir(rel)
	if err != nil {
		return openError(rel, err)
	}
	defer dir.Close()
	return k.dir(dir, rel, ignores)
}

// dir walks one folder. ignores are those in force in it, its own included.
func (k *walker) dir(dir *os.Root, rel string, ignores []*ignoreFile) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	entries, err := listDir(dir)
	if err != nil {
		return k.fn(Entry{Path: rel, Skipped: diskError(rel, err)})
	}
	names := make(map[string]fs.DirEntry, len(entries))
	order := make([]string, 0, len(entries))
	for _, e := range entries {
		names[e.Name()] = e
		order = append(order, e.Name())
	}
	for _, name := range k.unsaved[rel] {
		if _, onDisk := names[name]; !onDisk {
			order = append(order, name)
		}
	}
	slices.Sort(order)

	for _, name := range order {
		path, entry := joinPath(rel, name), names[name]
		isDir := entry != nil && entry.IsDir()
		if isVCS(name) || !k.all && ignored(ignores, path, isDir) {
			continue
		}
		if !isDir {
			if err := k.file(path, name, entry); err != nil {
				return err
			}
			continue
		}
		if err := k.subdir(dir, path, name, ignores); err != nil {
			return err
		}
	}
	return nil
}

// isVCS reports whether a folder or file holds version control data, which
// nobody expects to hear about.
func isVCS(name string) bool {
	switch foldName(name) {
	case ".git", ".hg", ".svn", ".bzr", ".jj":
		return true
	}
	return false
}

func (k *walker) subdir(dir *os.Root, path, name string, ignores []*ignoreFile) error {
	if reason := k.refusal(path, name, true); reason != nil {
		return k.fn(Entry{Path: path, Skipped: reason})
	}
	sub, err := openSubdir(dir, name)
	if err != nil {
		return k.fn(Entry{Path: path, Skipped: openError(path, err).(*PathError)})
	}
	defer sub.Close()
	if _, err := sub.Lstat(".gitignore"); err == nil {
		if f := k.w.readIgnore(path+"/.gitignore", path); f != nil {
			ignores = append(slices.Clip(ignores), f)
		}
	}
	return k.dir(sub, path, ignores)
}

// file calls fn for what is not a folder. entry is nil for what is only open in
// an editor.
func (k *walker) file(path, name string, entry fs.DirEntry) error {
	e := Entry{Path: path, Skipped: k.refusal(path, name, false)}
	if f := k.w.buffer(path); f != nil {
		e.Size = int64(len(f.Text))
		return k.fn(e)
	}
	if e.Skipped != nil || entry == nil {
		return k.fn(e)
	}
	switch kind := entry.Type(); {
	case kind&fs.ModeSymlink != 0:
		e.Skipped = &PathError{Path: path, Kind: Symlink, Reason: "is a symbolic link"}
	case !kind.IsRegular():
		e.Skipped = notRegular(path, kind)
	default:
		info, err := entry.Info() // in a confined root it is there already
		if err != nil {
			e.Skipped = diskError(path, err)
			break
		}
		e.Size, e.Stamp = info.Size(), stampOf(info)
		if k.w.maxSize >= 0 && e.Size > k.w.maxSize {
			e.Skipped, e.Stamp = tooLarge(path, k.w.maxSize), Stamp{}
		}
	}
	return k.fn(e)
}

// refusal is what Rel would say of a name that was found on disk.
func (k *walker) refusal(path, name string, isDir bool) *PathError {
	if reason := badComponent(name); reason != "" {
		return &PathError{Path: path, Kind: BadName, Reason: reason}
	}
	if c := k.w.table.classifyAs(path, isDir); c.Class == Denied {
		return &PathError{Path: path, Kind: DeniedPath, Reason: "is denied: " + c.Why + " (" + c.Pattern + ")"}
	}
	return nil
}

// listDir lists a folder through its handle.
func listDir(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
