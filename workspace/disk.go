package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// stage makes the folders and writes every new text to a temporary file beside
// its target, down to the disk. No file of the user has changed yet.
func (w *Workspace) stage(p *plan) error {
	for _, rel := range p.made {
		parent, name := splitPath(rel)
		if err := w.ops.mkdir(p.dirs[parent], name); err != nil {
			return diskError(rel, err)
		}
		dir, err := openSubdir(p.dirs[parent], name)
		if err != nil {
			return openError(rel, err)
		}
		p.dirs[rel] = dir
		if err := w.ops.sync(p.dirs[parent]); err != nil {
			return diskError(parent, err)
		}
	}
	for _, s := range p.steps {
		if s.file != nil || s.kind == DeleteFile {
			continue
		}
		if err := w.writeTemp(p.dirs[s.dir], s.temp, s.text, s.mode, s.info); err != nil {
			return diskError(s.path, err)
		}
	}
	return w.syncDirs(p, func(s *step) bool { return s.kind != DeleteFile })
}

// writeTemp writes a new file with everything its target will have. mode 0 is
// the user's usual one.
func (w *Workspace) writeTemp(dir *os.Root, name string, text []byte, mode fs.FileMode, like fs.FileInfo) error {
	first := mode & 0o600 // until it is complete and has its owner
	if mode == 0 {
		first = 0o666
	}
	f, err := w.ops.create(dir, name, first)
	if err != nil {
		return err
	}
	err = func() error {
		if _, err := f.Write(text); err != nil {
			return err
		}
		if like != nil {
			if err := keepOwner(f, like); err != nil {
				return err
			}
		}
		if mode != 0 {
			if err := f.Chmod(mode); err != nil {
				return err
			}
		}
		return f.Sync()
	}()
	return errors.Join(err, f.Close())
}

// syncDirs makes the entries of the folders durable in which steps that want it
// work on the disk.
func (w *Workspace) syncDirs(p *plan, want func(*step) bool) error {
	var synced []string
	for _, s := range p.steps {
		if s.file != nil || !want(s) || slices.Contains(synced, s.dir) {
			continue
		}
		synced = append(synced, s.dir)
		if err := w.ops.sync(p.dirs[s.dir]); err != nil {
			return diskError(s.dir, err)
		}
	}
	return nil
}

// exchange puts the new files in the place of the old ones.
func (w *Workspace) exchange(p *plan) error {
	for _, s := range p.steps {
		if s.file != nil {
			continue
		}
		if err := w.recheck(p, s); err != nil {
			return err
		}
		dir := p.dirs[s.dir]
		var err error
		if s.kind == DeleteFile {
			err = w.ops.remove(dir, s.name)
		} else {
			err = w.ops.rename(dir, s.temp, s.name)
		}
		if err != nil {
			return diskError(s.path, err)
		}
		s.done = true
	}
	return w.syncDirs(p, func(s *step) bool { return s.done })
}

// recheck looks once more, immediately before a file is exchanged, whether it is
// still the one that was checked.
func (w *Workspace) recheck(p *plan, s *step) error {
	conflict := func(got, reason string) error {
		return &ConflictError{p.id, []Conflict{{s.path, s.baseSum, got, reason}}}
	}
	if f := w.buffer(s.path); f != nil {
		return conflict(f.SHA256, "was opened in an editor meanwhile")
	}
	info, err := p.dirs[s.dir].Lstat(s.name)
	switch {
	case s.kind == CreateFile && errors.Is(err, fs.ErrNotExist):
		return nil
	case s.kind == CreateFile && err == nil:
		return conflict("", "exists meanwhile")
	case errors.Is(err, fs.ErrNotExist):
		return conflict("", "was deleted meanwhile")
	case err != nil:
		return diskError(s.path, err)
	}
	if os.SameFile(info, s.info) && info.Size() == s.info.Size() && info.ModTime().Equal(s.info.ModTime()) && info.Mode() == s.info.Mode() {
		return nil
	}
	if err := writable(s.path, info); err != nil {
		return err
	}
	f, err := w.readDisk(s.path, -1)
	if err != nil {
		return err
	}
	if f.SHA256 != s.baseSum {
		return conflict(f.SHA256, "has changed meanwhile")
	}
	return nil
}

// putBack restores what exchange changed, latest first. A file that somebody
// changed since is left as it is, and returned.
func (w *Workspace) putBack(p *plan) (left []Conflict, err error) {
	for _, s := range slices.Backward(p.steps) {
		if s.file != nil || !s.done {
			continue
		}
		conflict, err := w.restore(p.dirs[s.dir], s)
		if err != nil {
			return left, diskError(s.path, err)
		}
		if conflict != nil {
			left = append(left, *conflict)
		}
		s.done = false
		if err := w.ops.sync(p.dirs[s.dir]); err != nil {
			return left, diskError(s.dir, err)
		}
	}
	return left, nil
}

// restore brings the file of one step back to its base, if it is what the step
// made of it. The base goes through the step's temporary file.
func (w *Workspace) restore(dir *os.Root, s *step) (*Conflict, error) {
	got, info, err := sumIn(dir, s.name)
	if err != nil {
		return nil, err
	}
	if got == s.baseSum {
		return nil, nil
	}
	if got != s.newSum {
		return &Conflict{s.path, s.newSum, got, "was changed by somebody else and is left so"}, nil
	}
	if s.kind == CreateFile {
		return nil, w.ops.remove(dir, s.name)
	}
	if s.info == nil {
		s.info = info
	}
	if err := removeTemp(w.ops, dir, s.temp); err != nil {
		return nil, err
	}
	if err := w.writeTemp(dir, s.temp, s.base, s.mode, s.info); err != nil {
		return nil, err
	}
	return nil, w.ops.rename(dir, s.temp, s.name)
}

// sumIn returns the hash of the regular file that is called name in an open
// folder, "" when there is none, and something that is no hash for anything else.
func sumIn(dir *os.Root, name string) (string, fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() {
		return "not a regular file", info, nil
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	file, err := readRegular(f, name, -1)
	if err != nil {
		return "", nil, err
	}
	return file.SHA256, info, nil
}

// cleanUp removes the temporary files, and the folders that were made and are
// empty, down to the disk: afterwards nobody knows of them.
func (w *Workspace) cleanUp(p *plan) error {
	for _, s := range p.steps {
		if s.temp == "" || p.dirs[s.dir] == nil {
			continue
		}
		if err := removeTemp(w.ops, p.dirs[s.dir], s.temp); err != nil {
			return diskError(s.path, err)
		}
	}
	if err := w.syncDirs(p, func(s *step) bool { return s.temp != "" && p.dirs[s.dir] != nil }); err != nil {
		return err
	}
	return w.removeDirs(p, p.made)
}

func removeTemp(ops diskOps, dir *os.Root, name string) error {
	if _, err := dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return ops.remove(dir, name)
}

// removeDirs removes those of some folders (outermost first) that are empty.
func (w *Workspace) removeDirs(p *plan, rels []string) error {
	for _, rel := range slices.Backward(rels) {
		parentRel, name := splitPath(rel)
		parent := p.dirs[parentRel]
		if parent == nil {
			continue
		}
		dir, err := openSubdir(parent, name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errSymlink) {
			continue
		}
		if err != nil {
			return diskError(rel, err)
		}
		entries, err := listDir(dir)
		_ = dir.Close()
		if err != nil {
			return diskError(rel, err)
		}
		if len(entries) > 0 {
			continue
		}
		if err := w.ops.remove(parent, name); err != nil {
			return diskError(rel, err)
		}
		if err := w.ops.sync(parent); err != nil {
			return diskError(rel, err)
		}
	}
	return nil
}
