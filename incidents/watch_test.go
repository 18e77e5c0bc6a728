package incidents

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kaiak/kaiak/workspace"
)

// awaitFile receives batches until a file has the wanted content, "" for gone.
func awaitFile(t *testing.T, w *Watcher, name, content string) {
	t.Helper()
	want := ""
	if content != "" {
		want = workspace.SHA256([]byte(content))
	}
	deadline := time.After(20 * time.Second)
	for {
		select {
		case batch, ok := <-w.Events():
			if !ok {
				t.Fatal("the watcher ended")
			}
			for _, e := range batch {
				if e.Path == name && e.SHA256 == want {
					return
				}
			}
		case <-deadline:
			t.Fatalf("%s with content %q was not reported", name, content)
		}
	}
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWatcherReportsChanges(t *testing.T) {
	for name, maxDirs := range map[string]int{"system": 0, "polling": -1, "capped": 1} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "there.sarif", "0")
			write(t, root, "sub/deep/old.sarif", "old")
			w, err := NewWatcher(WatchOptions{
				Root:     root,
				Match:    func(p string) bool { return strings.HasSuffix(p, ".sarif") },
				Enter:    func(p string) bool { return path.Base(p) != "node_modules" },
				Debounce: time.Millisecond, Poll: time.Millisecond, MaxDirs: maxDirs,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			first := <-w.Events()
			if len(first) != 2 || first[0].Path != "sub/deep/old.sarif" || first[1].Path != "there.sarif" {
				t.Fatalf("the first batch is %+v, want the two files that are there", first)
			}

			write(t, root, "there.sarif", "1")
			awaitFile(t, w, "there.sarif", "1")

			// An atomic save: the target is only ever created.
			write(t, root, "there.sarif.tmp", "2")
			if err := os.Rename(filepath.Join(root, "there.sarif.tmp"), filepath.Join(root, "there.sarif")); err != nil {
				t.Fatal(err)
			}
			awaitFile(t, w, "there.sarif", "2")

			write(t, root, "node_modules/x.sarif", "never")
			write(t, root, "new/folder/a.sarif", "a")
			awaitFile(t, w, "new/folder/a.sarif", "a")
			write(t, root, "new/folder/a.sarif", "aa")
			awaitFile(t, w, "new/folder/a.sarif", "aa")

			if err := os.RemoveAll(filepath.Join(root, "new")); err != nil {
				t.Fatal(err)
			}
			awaitFile(t, w, "new/folder/a.sarif", "")
			if err := os.Remove(filepath.Join(root, "there.sarif")); err != nil {
				t.Fatal(err)
			}
			awaitFile(t, w, "there.sarif", "")
			write(t, root, "there.sarif", "back")
			awaitFile(t, w, "there.sarif", "back")
		})
	}
}

func TestWatcherComparesContent(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.sarif", "same")
	w, err := NewWatcher(WatchOptions{Root: root, Match: func(p string) bool { return strings.HasSuffix(p, ".sarif") }, Debounce: time.Millisecond, Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	<-w.Events()
	write(t, root, "a.tmp", "same")
	if err := os.Rename(filepath.Join(root, "a.tmp"), filepath.Join(root, "a.sarif")); err != nil {
		t.Fatal(err)
	}
	write(t, root, "b.sarif", "marker")
	for batch := range w.Events() {
		for _, e := range batch {
			if e.Path == "a.sarif" {
				t.Fatalf("%s was replaced by the same bytes and is reported with %s", e.Path, e.SHA256)
			}
			if e.Path == "b.sarif" && e.SHA256 == workspace.SHA256([]byte("marker")) {
				return
			}
		}
	}
}

func TestWatcherEnds(t *testing.T) {
	root := t.TempDir()
	w, err := NewWatcher(WatchOptions{Root: root, Match: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "nobody-receives", "x")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal("a second Close:", err)
	}
	if _, ok := <-w.Events(); ok {
		if _, ok := <-w.Events(); ok {
			t.Error("events after Close")
		}
	}
	if _, err := NewWatcher(WatchOptions{Root: filepath.Join(root, "missing")}); err == nil {
		t.Error("a root that is not there: no error")
	}
}
