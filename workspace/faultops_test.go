package workspace

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
)

// faultyOps does what the operating system does, until the at-th operation.
type faultyOps struct {
	n       int        // operations so far
	at      int        // which one fails, from 1; 0: none
	meddle  func()     // not nil: instead of failing, this happens before it
	err     error      // with what; errCrash: the process dies there
	forever bool       // every later one fails as well
	rnd     *rand.Rand // not nil: when it dies, the machine dies too
	pending []unsynced // what is not on the disk yet, oldest first
	files   []*faultyFile
}

// unsynced is a change that a power loss may take back: an entry of dir until
// that is synced, or the content of file until that is.
type unsynced struct {
	dir  *os.Root
	file *faultyFile
	back func()
}

func (o *faultyOps) note(dir *os.Root, file *faultyFile, back func()) {
	o.pending = append(o.pending, unsynced{dir, file, back})
}

// step counts one operation. torn runs before a crash, to leave it half done.
func (o *faultyOps) step(torn func()) error {
	o.n++
	if o.at == 0 || o.n < o.at || o.n > o.at && !o.forever {
		return nil
	}
	if o.meddle != nil {
		o.meddle()
		return nil
	}
	if errors.Is(o.err, errCrash) {
		if torn != nil {
			torn()
		}
		if o.rnd != nil {
			o.powerLoss()
		}
		panic(errCrash)
	}
	return &fs.PathError{Op: "injected", Path: "internal name", Err: o.err}
}

// powerLoss takes back some of what was not synced, latest first: each folder
// and each file for itself, so that they get out of order.
func (o *faultyOps) powerLoss() {
	lost := map[any]bool{}
	for _, u := range o.pending {
		var key any = u.dir
		if u.file != nil {
			key = u.file
		}
		if _, drawn := lost[key]; !drawn {
			lost[key] = o.rnd.IntN(2) == 0
		}
	}
	for _, u := range slices.Backward(o.pending) {
		if u.file != nil && lost[u.file] || u.file == nil && lost[u.dir] {
			u.back()
		}
	}
}

func (o *faultyOps) mkdir(dir *os.Root, name string) error {
	if err := o.step(nil); err != nil {
		return err
	}
	err := rootOps{}.mkdir(dir, name)
	if err == nil {
		o.note(dir, nil, func() { _ = dir.RemoveAll(name) })
	}
	return err
}

func (o *faultyOps) create(dir *os.Root, name string, mode fs.FileMode) (tempFile, error) {
	if err := o.step(nil); err != nil {
		return nil, err
	}
	f, err := rootOps{}.create(dir, name, mode)
	if err != nil {
		return nil, err
	}
	o.note(dir, nil, func() { _ = dir.Remove(name) })
	file := &faultyFile{f, o, dir, name}
	o.files = append(o.files, file)
	return file, nil
}

func (o *faultyOps) rename(dir *os.Root, from, to string) error {
	if err := o.step(nil); err != nil {
		return err
	}
	old, oldErr := dir.ReadFile(to)
	text, err := dir.ReadFile(from)
	if err != nil {
		return err
	}
	if err := (rootOps{}).rename(dir, from, to); err != nil {
		return err
	}
	moved := slices.IndexFunc(o.files, func(f *faultyFile) bool { return f.dir == dir && f.name == from })
	if moved >= 0 { // not by a Recover that finds it
		o.files[moved].name = to
	}
	o.note(dir, nil, func() {
		if moved >= 0 {
			o.files[moved].name = from
		}
		_ = dir.WriteFile(from, text, 0o644)
		if oldErr != nil {
			_ = dir.Remove(to)
		} else {
			_ = dir.WriteFile(to, old, 0o644)
		}
	})
	return nil
}

func (o *faultyOps) remove(dir *os.Root, name string) error {
	if err := o.step(nil); err != nil {
		return err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	text, _ := dir.ReadFile(name)
	if err := (rootOps{}).remove(dir, name); err != nil {
		return err
	}
	o.note(dir, nil, func() {
		if info.IsDir() {
			_ = dir.Mkdir(name, 0o755)
		} else {
			_ = dir.WriteFile(name, text, 0o644)
		}
	})
	return nil
}

// sync makes the entries of one folder safe.
func (o *faultyOps) sync(dir *os.Root) error {
	if err := o.step(nil); err != nil {
		return err
	}
	o.pending = slices.DeleteFunc(o.pending, func(u unsynced) bool { return u.dir == dir && u.file == nil })
	return rootOps{}.sync(dir)
}

type faultyFile struct {
	tempFile
	ops  *faultyOps
	dir  *os.Root
	name string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	half := func() { _, _ = f.tempFile.Write(p[:len(p)/2]) }
	if err := f.ops.step(half); err != nil {
		half() // the disk is full in the middle of it
		return len(p) / 2, err
	}
	f.ops.note(f.dir, f, func() {
		if _, err := f.dir.Lstat(f.name); err == nil { // else the name is lost too
			_ = f.dir.WriteFile(f.name, p[:f.ops.rnd.IntN(len(p)+1)], 0o644)
		}
	})
	return f.tempFile.Write(p)
}

func (f *faultyFile) Chmod(mode fs.FileMode) error {
	if err := f.ops.step(nil); err != nil {
		return err
	}
	return f.tempFile.Chmod(mode)
}

func (f *faultyFile) Sync() error {
	if err := f.ops.step(nil); err != nil {
		return err
	}
	// The content is safe now, the name only with the folder.
	f.ops.pending = slices.DeleteFunc(f.ops.pending, func(u unsynced) bool { return u.file == f })
	return f.tempFile.Sync()
}

func (f *faultyFile) Close() error {
	err := f.ops.step(nil)
	return errors.Join(f.tempFile.Close(), err)
}
