package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// linkTree is a workspace full of links, with a canary outside.
func linkTree(t *testing.T) (w *Workspace, outside string) {
	t.Helper()
	dir := writeTree(t, map[string]string{
		"a.go": "package a", "d/b.go": "package b", ".git/config": "[core] secret", "key.pem": "secret",
		"d/.env": "secret", "big": strings.Repeat("x", DefaultMaxFileSize+1), "edge": strings.Repeat("x", DefaultMaxFileSize),
		"nul": "a\x00b",
	})
	check(t, os.Remove(filepath.Join(dir, "nul")))
	outside = writeTree(t, map[string]string{"canary": "outside", "sub/canary": "outside"})
	for name, target := range map[string]string{
		"leaf.go": "a.go", "d/up.go": "../a.go", "abs-in.go": filepath.Join(dir, "a.go"), "dirlink": "d", "chain": "leaf.go",
		"abs-out": filepath.Join(outside, "canary"), "rel-out": "../" + filepath.Base(outside) + "/canary",
		"dir-out": outside, "dangling": "nowhere", "dangling-out": "/nowhere/at/all", "loop": "loop2", "loop2": "loop", "self": ".",
		"git": ".git", "config": ".git/config", "pem.txt": "key.pem", "proc": "/proc/self/root", "env.txt": "d/.env", "root": "..",
	} {
		check(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	return openWorkspace(t, dir, Options{}), outside
}

func TestReadLinks(t *testing.T) {
	w, _ := linkTree(t)
	for path, want := range map[string]any{
		"a.go": "package a", "leaf.go": "package a", "d/up.go": "package a", "abs-in.go": "package a", "chain": "package a",
		"dirlink/b.go": "package b", "self/a.go": "package a", "edge": strings.Repeat("x", DefaultMaxFileSize),
		"abs-out": Escapes, "rel-out": Escapes, "dir-out/canary": Escapes, "dir-out/sub/canary": Escapes, "proc/etc/passwd": Escapes,
		"root/x": Escapes, "dangling-out": Escapes, "dangling": NotFound, "missing": NotFound, "a.go/x": IOFailure,
		"loop": Symlink, "git/config": DeniedPath, "config": DeniedPath, "pem.txt": DeniedPath, "env.txt": DeniedPath,
		"dirlink/.env": DeniedPath, "d": NotRegular, "dirlink": NotRegular, "self": NotRegular, ".": NotRegular, "big": TooLarge,
	} {
		f, err := w.Read(path)
		if text, ok := want.(string); ok {
			if err != nil || string(f.Text) != text || f.SHA256 != SHA256([]byte(text)) || f.Open || f.Path != path {
				t.Errorf("Read(%q): %v %v", path, f, err)
			}
			continue
		}
		if kind := kindOf(t, err); kind != want {
			t.Errorf("Read(%q): %v: kind %q, want %q", path, err, kind, want)
		}
	}
	if _, err := w.Read("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Both ways of opening agree on every path.
func TestOpenNoFollowPortable(t *testing.T) {
	w, _ := linkTree(t)
	paths := []string{"missing", "a.go/x", "d", "d/b.go", "a.go", "dirlink/b.go"}
	entries, err := os.ReadDir(w.Dir())
	check(t, err)
	for _, e := range entries {
		paths = append(paths, e.Name())
	}
	for _, p := range paths {
		f, err := w.tree.openNoFollow(p)
		g, err2 := w.tree.openNoFollowPortable(p)
		if err == nil {
			if info, _ := f.Stat(); !info.Mode().IsRegular() {
				err = notRegular(p, info.Mode()) // this way says so after opening
			}
			f.Close()
		}
		if err2 == nil {
			g.Close()
		}
		if (err == nil) != (err2 == nil) || errors.Is(err, errSymlink) != errors.Is(err2, errSymlink) ||
			errors.Is(err, fs.ErrNotExist) != errors.Is(err2, fs.ErrNotExist) {
			t.Errorf("%s: %v, portable: %v", p, err, err2)
		}
	}
}

// While a link is exchanged for a folder and back, no read sees what is behind it.
func TestReadRace(t *testing.T) {
	for _, portable := range []bool{false, true} {
		w, outside := linkTree(t)
		victim := filepath.Join(w.Dir(), "victim")
		staged := filepath.Join(w.Dir(), "staged")
		check(t, os.Mkdir(staged, 0o755))
		check(t, os.WriteFile(filepath.Join(staged, "canary"), []byte("inside"), 0o644))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if n%2 == 0 {
					_ = os.Rename(staged, victim)
					_ = os.Rename(victim, staged)
				} else {
					_ = os.Symlink(outside, victim)
					_ = os.Remove(victim)
				}
			}
		})
		inside := 0
		for range 10_000 {
			var f *os.File
			var err error
			if portable {
				f, err = w.tree.openNoFollowPortable("victim/canary")
			} else {
				f, err = w.tree.openNoFollow("victim/canary")
			}
			if err != nil {
				continue
			}
			file, err := readRegular(f, "victim/canary", -1)
			f.Close()
			if err == nil && string(file.Text) != "inside" {
				t.Fatalf("portable %v: read %q", portable, file.Text)
			}
			inside++
		}
		close(stop)
		wg.Wait()
		t.Logf("portable %v: %d of 10000 reads hit the folder", portable, inside)
	}
}

func TestReadText(t *testing.T) {
	w := newWorkspace(t, map[string]string{"b": "x\x00y", "t": "text"})
	if _, err := w.ReadText("b"); kindOf(t, err) != Binary {
		t.Error(err)
	}
	if f, err := w.ReadText("t"); err != nil || string(f.Text) != "text" {
		t.Error(f, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := writeTree(t, map[string]string{"f": ""})
	if _, err := Open(filepath.Join(dir, "missing"), Options{}); kindOf(t, err) != NotFound {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(dir, "f"), Options{}); kindOf(t, err) != NotRegular {
		t.Error(err)
	}
}

func BenchmarkRead(b *testing.B) {
	w := newWorkspace(b, map[string]string{"src/main/java/com/example/A.java": strings.Repeat("class A {}\n", 400)})
	for b.Loop() {
		if _, err := w.Read("src/main/java/com/example/A.java"); err != nil {
			b.Fatal(err)
		}
	}
}
