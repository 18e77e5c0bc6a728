package konveyor

import (
	"errors"
	"sync"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/konveyor/classfile"
	"github.com/kaiak/kaiak/rules/konveyor/javaref"
	"github.com/kaiak/kaiak/workspace"
)

// maxArchives bounds what the archives of a project may hold together, in bytes
// as they lie on disk.
const maxArchives = 512 << 20

// libraries are the classes in the project's own archives, read when the first
// of them is asked for.
type libraries struct {
	scan  *scan
	once  sync.Once
	types map[string]*javaref.LibraryType
}

func (l *libraries) lookup(name string) *javaref.LibraryType {
	l.once.Do(l.read)
	return l.types[name]
}

func (l *libraries) read() {
	l.types = map[string]*javaref.LibraryType{}
	size := 0
	for _, p := range l.scan.paths {
		if !classfile.IsArchive(p) || l.scan.ctx.Err() != nil {
			continue
		}
		data, err := l.scan.files.Read(p)
		var refused *workspace.PathError
		if errors.As(err, &refused) && refused.Kind == workspace.TooLarge {
			continue // the list of files has said so
		}
		if size += len(data); err == nil && size > maxArchives {
			err = errors.New("the project's archives are too large")
		}
		if err == nil {
			err = classfile.ReadArchive(data, l.add)
		}
		if err != nil {
			l.scan.mu.Lock()
			l.scan.notes = append(l.scan.notes, incidents.Problem{Source: p, Where: "the file", Reason: "cannot be read, so what its classes inherit is not known: " + err.Error()})
			l.scan.mu.Unlock()
		}
		if size > maxArchives {
			return
		}
	}
}

func (l *libraries) add(c *classfile.Class) {
	if _, ok := l.types[c.Name]; ok {
		return
	}
	t := &javaref.LibraryType{Fields: c.Fields, Methods: c.Methods}
	if c.Super != "" {
		t.Supertypes = append(t.Supertypes, c.Super)
	}
	t.Supertypes = append(t.Supertypes, c.Interfaces...)
	l.types[c.Name] = t
}
