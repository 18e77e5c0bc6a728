package incidents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// WatchOptions say what a [Watcher] watches.
type WatchOptions struct {
	Root string // absolute path of the workspace

	// Match says which files are wanted, by their path relative to Root. They
	// are read whole to be compared, so it names few: analysis files, rules,
	// configuration.
	Match func(path string) bool

	// Enter says which folders can hold such files; nil: all of them. A folder
	// that is a symbolic link is never entered.
	Enter func(path string) bool

	// Debounce is how long a folder must be quiet before it is looked at; 0
	// means 100 ms. A folder that is never quiet is looked at after ten times that.
	Debounce time.Duration

	// MaxDirs is how many folders are watched through the system; 0 means
	// 4,096, negative none. The others are polled, and so is every folder that
	// the system refuses to watch.
	MaxDirs int

	// Poll is the time between two looks at what is polled; 0 means 2 s.
	Poll time.Duration
}

// A FileEvent says that a file is there with other bytes than before, or gone.
type FileEvent struct {
	Path   string // relative to the root, slash-separated
	SHA256 string // of the bytes; "" when the file is gone
}

// A Watcher tells which of the wanted files changed. It watches folders, not
// files, so that an atomic save (write beside, rename over) is seen as what it
// is, and compares hashes, so that a file that is written with the same bytes is
// not reported. Its owner receives from [Watcher.Events] and ends it with Close.
type Watcher struct {
	opts    WatchOptions
	root    *os.Root
	notify  *fsnotify.Watcher // nil: everything is polled
	events  chan []FileEvent
	done    chan struct{}
	stopped chan struct{}
	close   sync.Once

	// What follows belongs to run.
	dirs    map[string]*watchedDir
	watched int
	dirty   map[string]bool   // folders to look at
	pending map[string]string // changes that nobody received yet: hash by path
}

type watchedDir struct {
	system bool // watched by the system, not polled
	files  map[string]fileState
	subs   map[string]bool
}

type fileState struct {
	size int64
	mod  time.Time
	hash string
}

// NewWatcher begins to watch. The first batch of events is the wanted files
// that are already there, if there are any.
func NewWatcher(opts WatchOptions) (*Watcher, error) {
	root, err := os.OpenRoot(opts.Root)
	if err != nil {
		return nil, err
	}
	if opts.Debounce <= 0 {
		opts.Debounce = 100 * time.Millisecond
	}
	if opts.Poll <= 0 {
		opts.Poll = 2 * time.Second
	}
	if opts.MaxDirs == 0 {
		opts.MaxDirs = 4096
	}
	w := &Watcher{
		opts: opts, root: root,
		events: make(chan []FileEvent), done: make(chan struct{}), stopped: make(chan struct{}),
		dirs: map[string]*watchedDir{}, dirty: map[string]bool{}, pending: map[string]string{},
	}
	if opts.MaxDirs > 0 {
		// No watcher to be had (the user's instances are used up): all is polled.
		w.notify, _ = fsnotify.NewWatcher()
	}
	go w.run()
	return w, nil
}

// Events gives batches of changes, each sorted by path. Changes that come while
// nobody receives are merged. The channel is closed after Close.
func (w *Watcher) Events() <-chan []FileEvent { return w.events }

// Close ends the watcher and waits for its goroutine.
func (w *Watcher) Close() error {
	w.close.Do(func() { close(w.done) })
	<-w.stopped
	return nil
}

func (w *Watcher) run() {
	defer close(w.stopped)
	defer close(w.events)
	defer w.root.Close()
	var system <-chan fsnotify.Event
	var failures <-chan error
	if w.notify != nil {
		defer func() { _ = w.notify.Close() }() // nothing follows from a failure here
		system, failures = w.notify.Events, w.notify.Errors
	}
	w.look(".")

	quiet := time.NewTimer(w.opts.Debounce)
	quiet.Stop()
	poll := time.NewTicker(w.opts.Poll)
	defer quiet.Stop()
	defer poll.Stop()
	var since time.Time // when the oldest of dirty came
	for {
		var out chan []FileEvent
		batch := w.batch()
		if len(batch) > 0 {
			out = w.events
		}
		select {
		case <-w.done:
			return
		case out <- batch:
			clear(w.pending)
		case e, ok := <-system:
			if !ok {
				system = nil
				continue
			}
			if w.mark(e.Name) {
				if since.IsZero() {
					since = time.Now()
				}
				if time.Since(since) < 10*w.opts.Debounce {
					quiet.Reset(w.opts.Debounce)
				}
			}
		case err, ok := <-failures:
			if !ok {
				failures = nil
				continue
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) { // something was missed: look everywhere
				for dir := range w.dirs {
					w.dirty[dir] = true
				}
				quiet.Reset(w.opts.Debounce)
			}
		case <-quiet.C:
			since = time.Time{}
			for _, dir := range slices.Sorted(maps.Keys(w.dirty)) {
				w.look(dir)
			}
			clear(w.dirty)
		case <-poll.C:
			for _, dir := range slices.Sorted(maps.Keys(w.dirs)) {
				if d := w.dirs[dir]; d != nil && !d.system {
					w.look(dir)
				}
			}
		}
	}
}

// mark notes the folder that an event of the system is about.
func (w *Watcher) mark(name string) bool {
	rel, err := filepath.Rel(w.opts.Root, name)
	if err != nil {
		return false
	}
	dir := path.Dir(filepath.ToSlash(rel))
	if w.dirs[dir] == nil {
		return false
	}
	w.dirty[dir] = true
	return true
}

func (w *Watcher) batch() []FileEvent {
	out := make([]FileEvent, 0, len(w.pending))
	for _, p := range slices.Sorted(maps.Keys(w.pending)) {
		out = append(out, FileEvent{p, w.pending[p]})
	}
	return out
}

// look compares a folder with what is known of it, and the folders below that
// are new. The folder is watched before it is read, so that nothing falls
// between.
func (w *Watcher) look(dir string) {
	d := w.dirs[dir]
	if d == nil {
		d = &watchedDir{files: map[string]fileState{}, subs: map[string]bool{}}
		w.dirs[dir] = d
	}
	if !d.system {
		w.watch(dir, d)
	}
	entries, err := w.read(dir)
	if err != nil {
		w.forget(dir)
		return
	}
	files, subs := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if w.opts.Enter == nil || w.opts.Enter(name) {
				subs[name] = true
			}
		case e.Type().IsRegular() && w.opts.Match(name):
			if state, ok := w.state(name, e, d.files[name]); ok {
				files[name] = true
				if d.files[name].hash != state.hash {
					w.pending[name] = state.hash
				}
				d.files[name] = state
			}
		}
	}
	for name := range d.files {
		if !files[name] {
			delete(d.files, name)
			w.pending[name] = ""
		}
	}
	for name := range d.subs {
		if !subs[name] {
			w.forget(name)
		}
	}
	known := d.subs
	d.subs = subs
	for _, name := range slices.Sorted(maps.Keys(subs)) {
		if !known[name] {
			w.look(name)
		}
	}
}

func (w *Watcher) watch(dir string, d *watchedDir) {
	if w.notify == nil || w.watched >= w.opts.MaxDirs {
		return
	}
	if w.notify.Add(filepath.Join(w.opts.Root, filepath.FromSlash(dir))) == nil {
		d.system = true
		w.watched++
	} // else the system has no more watches to give: the folder is polled
}

// forget drops a folder that is gone, with everything below.
func (w *Watcher) forget(dir string) {
	d := w.dirs[dir]
	if d == nil {
		return
	}
	for name := range d.files {
		w.pending[name] = ""
	}
	for name := range d.subs {
		w.forget(name)
	}
	if d.system {
		w.watched--
		// The system drops the watch of a folder that was deleted by itself;
		// one that was moved away still has it.
		_ = w.notify.Remove(filepath.Join(w.opts.Root, filepath.FromSlash(dir)))
	}
	delete(w.dirs, dir)
}

func (w *Watcher) read(dir string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// state returns the file's state. Its bytes are read only if something tells
// that they may be others than before, or it was written so recently that its
// time of change need not tell.
func (w *Watcher) state(name string, e fs.DirEntry, known fileState) (fileState, bool) {
	info, err := e.Info()
	if err != nil {
		return fileState{}, false
	}
	const recent = 2 * time.Second // the coarsest time stamps of file systems in use
	if known.hash != "" && known.size == info.Size() && known.mod.Equal(info.ModTime()) && time.Since(known.mod) > recent {
		return known, true
	}
	f, err := w.root.Open(name)
	if err != nil {
		return fileState{}, false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return known, known.hash != "" // unreadable now: as it was
	}
	return fileState{info.Size(), info.ModTime(), hex.EncodeToString(h.Sum(nil))}, true
}
