package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestBuffers(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.go": "disk"})
	read := func() string {
		f, err := w.Read("a.go")
		check(t, err)
		return fmt.Sprintf("%s v%d open=%v", f.Text, f.Version, f.Open)
	}
	if got := read(); got != "disk v0 open=false" {
		t.Error(got)
	}
	text := []byte("hello")
	f, err := w.OpenBuffer(w.URI("a.go"), 1, text, "go")
	check(t, err)
	text[0] = 'X'
	if got := read(); got != "hello v1 open=true" || f.LanguageID != "go" || f.Mode == 0 {
		t.Error(got, f)
	}
	g, err := w.ChangeBuffer("a.go", 2, []Edit{{0, 0, "oh, "}, {4, 5, "H"}})
	check(t, err)
	if got := read(); got != "oh, Hello v2 open=true" || g.SHA256 != SHA256([]byte("oh, Hello")) {
		t.Error(got)
	}
	var bad *EditError
	if _, err := w.ChangeBuffer("a.go", 3, []Edit{{0, 2, ""}, {0, 99, ""}}); !errors.As(err, &bad) || bad.Index != 1 {
		t.Error(err)
	}
	if got := read(); got != "oh, Hello v2 open=true" {
		t.Errorf("a change that failed left %s", got)
	}
	if string(f.Text) != "hello" || f.Version != 1 {
		t.Errorf("a snapshot changed to %s", f.Text)
	}
	if d, err := w.ReadDisk("a.go"); err != nil || string(d.Text) != "disk" {
		t.Error(d, err)
	}
	_, err = w.ReplaceBuffer("a.go", 4, []byte("new"))
	check(t, err)
	_, err = w.OpenBuffer("unsaved/new.go", 1, nil, "go")
	check(t, err)
	if all := w.Buffers(); len(all) != 2 || all[0].Path != "a.go" || all[1].Path != "unsaved/new.go" {
		t.Error(all)
	}
	check(t, w.CloseBuffer("a.go"))
	if got := read(); got != "disk v0 open=false" {
		t.Error(got)
	}
	for op, err := range map[string]error{
		"close": w.CloseBuffer("a.go"), "change": second(w.ChangeBuffer("a.go", 1, nil)), "await": second(w.AwaitBuffer(canceled(), "x", "")),
	} {
		if op != "await" && kindOf(t, err) != NotOpen || err == nil {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A state that lasts only until the next keystroke is seen by who waits for it.
func TestAwaitBuffer(t *testing.T) {
	w := newWorkspace(t, nil)
	_, err := w.OpenBuffer("a", 1, []byte("0"), "")
	check(t, err)
	if f, err := w.AwaitBuffer(canceled(), "a", SHA256([]byte("0"))); err != nil || f.Version != 1 {
		t.Errorf("what is so already: %v %v", f, err)
	}
	var ready, done sync.WaitGroup
	for i := range 50 {
		want := SHA256(fmt.Appendf(nil, "%d", i+1))
		watch := w.watch("a", func(f *File) bool { return f != nil && f.SHA256 == want })
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			f := <-watch.hit
			if f.Version != int32(i+2) {
				t.Errorf("%d: %v", i, f)
			}
		})
	}
	ready.Wait()
	for i := range 50 {
		_, err := w.ReplaceBuffer("a", int32(i+2), fmt.Appendf(nil, "%d", i+1))
		check(t, err)
	}
	done.Wait()

	closed := make(chan error)
	go func() {
		_, err := w.AwaitBuffer(context.Background(), "a", "never")
		closed <- err
	}()
	for { // until the wait has begun
		w.mu.Lock()
		n := len(w.watches)
		w.mu.Unlock()
		if n > 0 {
			break
		}
	}
	check(t, w.CloseBuffer("a"))
	if err := <-closed; kindOf(t, err) != NotOpen {
		t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.watches) != 0 {
		t.Errorf("%d watches are left", len(w.watches))
	}
}
