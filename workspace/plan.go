package workspace

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// A SetError says what is wrong with a set, whatever the files are like.
type SetError struct {
	ID     string
	Reason string
}

func (e *SetError) Error() string { return fmt.Sprintf("set %q %s", e.ID, e.Reason) }

// A ConflictError says which files are not what a set was made for. Nothing was
// changed.
type ConflictError struct {
	SetID string
	Files []Conflict
}

// A Conflict is one such file.
type Conflict struct {
	Path   string `json:"path"`
	Want   string `json:"want_sha256"` // "" : no file
	Got    string `json:"got_sha256"`  // "" : no file
	Reason string `json:"reason"`
}

func (e *ConflictError) Error() string {
	var reasons []string
	for _, c := range e.Files {
		reasons = append(reasons, c.Path+" "+c.Reason)
	}
	return fmt.Sprintf("set %q does not fit any more, nothing was changed: %s", e.SetID, strings.Join(reasons, "; "))
}

// A plan is a set that was checked against the files and is ready to be carried
// out. Its folders are open until it is closed.
type plan struct {
	id     string
	undoes string // the set that this one undoes
	steps  []*step
	dirs   map[string]*os.Root // the folders of the files on disk
	made   []string            // folders that have to be made, outermost first
}

// A step is what happens to one file.
type step struct {
	path, dir, name string
	kind            ChangeKind
	base, text      []byte // exact bytes before and after
	baseSum, newSum string
	edits           []Edit
	mode            fs.FileMode // to give it; 0: what the user usually gives
	info            fs.FileInfo // of the file on disk as it was checked
	temp            string      // name of the temporary file
	file            *File       // not nil: the document that is open
	asked           bool        // the editor was asked to change the document
	done            bool        // the file on disk was exchanged, or the document has the new text
}

func (p *plan) close() {
	for _, dir := range p.dirs {
		if dir != nil {
			_ = dir.Close()
		}
	}
}

// journal is the plan as the journal keeps it.
func (p *plan) journal() *journalSet {
	set := &journalSet{Dirs: p.made}
	for _, s := range p.steps {
		set.Files = append(set.Files, journalFile{
			Path: s.path, Kind: s.kind, Base: s.baseSum, New: s.newSum, Mode: s.mode, Temp: s.temp, Open: s.file != nil, Edits: s.edits,
		})
	}
	return set
}

// makePlan checks a set: that it says one thing about each file, that every
// file may be changed and is what the set was made for, and that the outcome is
// what was proposed. It changes nothing. modes are for files that are created
// with another mode than the usual one. The caller closes the plan.
func (w *Workspace) makePlan(set Set, undoes string, modes map[string]fs.FileMode) (_ *plan, err error) {
	if set.ID == "" {
		return nil, &SetError{set.ID, "has no id"}
	}
	if len(set.Changes) == 0 {
		return nil, &SetError{set.ID, "changes nothing"}
	}
	p := &plan{id: set.ID, undoes: undoes, dirs: map[string]*os.Root{}}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	seen := map[string]string{}
	var conflicts []Conflict
	for _, c := range set.Changes {
		s, err := w.makeStep(set.ID, c)
		if err != nil {
			return nil, err
		}
		if undoes == "" && s.kind == CreateFile { // what an undo brings back may be anything
			if err := CheckEditable(s.path, s.text); err != nil {
				return nil, err
			}
		}
		folded := foldName(s.path)
		if other, twice := seen[folded]; twice {
			return nil, &SetError{set.ID, fmt.Sprintf("changes %s twice (%s)", s.path, other)}
		}
		seen[folded] = s.path
		if mode := modes[s.path]; mode != 0 {
			s.mode = mode
		}
		conflict, err := w.checkStep(p, s, c)
		if err != nil {
			return nil, err
		}
		if conflict != nil {
			conflicts = append(conflicts, *conflict)
		}
		p.steps = append(p.steps, s)
	}
	if len(conflicts) > 0 {
		return nil, &ConflictError{set.ID, conflicts}
	}
	return p, nil
}

// makeStep checks what can be checked without looking at the file.
func (w *Workspace) makeStep(id string, c Change) (*step, error) {
	rel, err := w.Rel(c.Path)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		return nil, notRegular(c.Path, fs.ModeDir)
	}
	if class := w.table.classify(rel); class.Class == ReadOnlyFile {
		return nil, &PathError{Path: c.Path, Kind: ReadOnly, Reason: "is never written: " + class.Why + " (" + class.Pattern + ")"}
	}
	s := &step{path: rel, kind: c.Kind, baseSum: c.BaseSHA256, newSum: c.ProposedSHA256, edits: c.Edits}
	s.dir, s.name = splitPath(rel)
	switch c.Kind {
	case EditFile:
		if c.BaseSHA256 == "" || c.ProposedSHA256 == "" {
			return nil, &SetError{id, "does not name the bytes before and after its edit of " + rel}
		}
	case CreateFile:
		if c.BaseSHA256 != "" || SHA256(c.Text) != c.ProposedSHA256 {
			return nil, &SetError{id, "creates " + rel + " with other bytes than it proposes"}
		}
		s.text = c.Text
	case DeleteFile:
		if c.BaseSHA256 == "" || c.ProposedSHA256 != "" {
			return nil, &SetError{id, "does not name the bytes of " + rel + ", which it deletes"}
		}
	default:
		return nil, &SetError{id, fmt.Sprintf("has a change of unknown kind %q", c.Kind)}
	}
	s.temp = tempName(s.name)
	return s, nil
}

// checkStep looks at the file: where its text is, and whether that is the base.
func (w *Workspace) checkStep(p *plan, s *step, c Change) (*Conflict, error) {
	if f := w.buffer(s.path); f != nil {
		return w.checkOpen(p, s, f)
	}
	if err := p.openDir(w.tree, s.dir, s.kind == CreateFile); err != nil {
		return nil, openError(s.path, err)
	}
	dir := p.dirs[s.dir]
	if dir == nil { // it will be made
		return nil, nil
	}
	info, err := dir.Lstat(s.name)
	if errors.Is(err, fs.ErrNotExist) {
		if s.kind == CreateFile {
			return nil, nil
		}
		return &Conflict{s.path, s.baseSum, "", "does not exist any more"}, nil
	}
	if err != nil {
		return nil, diskError(s.path, err)
	}
	if err := writable(s.path, info); err != nil {
		return nil, err
	}
	f, err := w.readDisk(s.path, -1)
	if err != nil {
		return nil, err
	}
	if s.kind == CreateFile {
		return &Conflict{s.path, "", f.SHA256, "exists already"}, nil
	}
	s.base, s.info = f.Text, info
	s.mode = info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	return s.checkBase(p.id, f)
}

// checkOpen checks a step on a document that is open in an editor.
func (w *Workspace) checkOpen(p *plan, s *step, f *File) (*Conflict, error) {
	switch s.kind {
	case CreateFile:
		return &Conflict{s.path, "", f.SHA256, "is open in an editor already"}, nil
	case DeleteFile:
		return &Conflict{s.path, s.baseSum, f.SHA256, "is open in an editor, close it there first"}, nil
	}
	s.file, s.base, s.temp = f, f.Text, ""
	if f.Mode != 0 {
		s.mode = f.Mode
	}
	return s.checkBase(p.id, f)
}

// checkBase checks that f is what the step was made for, and makes its outcome.
func (s *step) checkBase(id string, f *File) (*Conflict, error) {
	if f.SHA256 != s.baseSum {
		return &Conflict{s.path, s.baseSum, f.SHA256, "has changed"}, nil
	}
	if s.kind != EditFile {
		return nil, nil
	}
	if err := CheckEditable(s.path, f.Text); err != nil {
		return nil, err
	}
	text, err := ApplyEdits(f.Text, s.edits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	if SHA256(text) != s.newSum {
		return nil, &SetError{id, "proposes other bytes for " + s.path + " than its edits give"}
	}
	if err := CheckEditable(s.path, text); err != nil {
		return nil, err
	}
	s.text = text
	return nil, nil
}

// writable says why a file on disk is not exchanged.
func writable(rel string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return &PathError{Path: rel, Kind: Symlink, Reason: "is a symbolic link, and those are not written through"}
	case !mode.IsRegular():
		return notRegular(rel, mode)
	case mode.Perm()&0o200 == 0:
		return &PathError{Path: rel, Kind: ReadOnly, Reason: "is marked read-only on disk"}
	}
	if n := linkCount(info); n != 1 {
		return &PathError{Path: rel, Kind: HardLink, Reason: fmt.Sprintf("has %d names (hard links), so writing it could change a file elsewhere", n)}
	}
	return nil
}

// openDir opens the folder of a file. With mayMake, what is missing of it is
// noted to be made.
func (p *plan) openDir(t *tree, rel string, mayMake bool) error {
	if _, open := p.dirs[rel]; open {
		return nil
	}
	dir, err := t.openDir(rel)
	if err == nil {
		p.dirs[rel] = dir
		return nil
	}
	if !mayMake || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent, _ := splitPath(rel)
	if err := p.openDir(t, parent, true); err != nil {
		return err
	}
	p.dirs[rel] = nil
	p.made = append(p.made, rel)
	return nil
}

// tempName is a new name beside a file, hidden and recognisable.
func tempName(name string) string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	suffix := ".kaiak-" + hex.EncodeToString(random[:])
	if room := 255 - 1 - len(suffix); len(name) > room {
		name = strings.ToValidUTF8(name[:room], "")
	}
	return "." + name + suffix
}
