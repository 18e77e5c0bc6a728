package lsp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/kaiak/kaiak/internal/fakeeditor"
)

// TestDeadParent checks that the death of the client's process ends the
// connection within two seconds, although its streams stay open.
func TestDeadParent(t *testing.T) {
	parent := exec.Command("cat")
	stdin, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Skipf("no process to be a parent: %v", err)
	}
	defer func() { _ = stdin.Close() }()
	p := dial(t, newTestEngine())
	p.call("1", "initialize", fmt.Sprintf(`{"processId":%d,"rootUri":null,"capabilities":{}}`, parent.Process.Pid))
	p.alive()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	begun := time.Now()
	if err := p.wait(); !errors.Is(err, ErrNoShutdown) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestForeignParent checks that a process number that means nothing here (the
// client lives in another container) is not watched, and no process twice.
func TestForeignParent(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Skipf("no process: %v", err)
	}
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	s := newServer(ctx, newTestEngine(), stdStream(theirs, theirs), Options{})
	if s.watchParent(dead.Process.Pid) {
		t.Error("a process that is not there is watched")
	}
	if !s.watchParent(os.Getpid()) {
		t.Error("a process that is there is not watched")
	}
	if s.watchParent(os.Getpid()) {
		t.Error("a process is watched twice")
	}
	cancel()
	s.conn.group.Wait()
}

// listening serves a test engine on a socket until the test ends.
func listening(t *testing.T, e engine, path string) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- listenAndServe(ctx, e, path, Options{}) }()
	t.Cleanup(cancel)
	for begun := time.Now(); ; { // until it listens
		c, err := net.Dial("unix", path)
		if err == nil {
			_ = c.Close()
			break
		}
		select {
		case err := <-done:
			done <- err
			t.Fatalf("it does not listen: %v", err)
		default:
			runtime.Gosched()
		}
		if time.Since(begun) > patience {
			t.Fatal("it does not listen")
		}
	}
	return func() error {
		cancel()
		return <-done
	}
}

// TestSocket serves two clients on one socket with the right modes.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "kaiak.sock")
	stop := listening(t, newTestEngine(), path)
	if runtime.GOOS != "windows" {
		for file, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v (%v), want %v", file, info.Mode().Perm(), err, want)
			}
		}
	}
	first := fakeeditor.Open(t, fakeeditor.Options{Start: fakeeditor.Dial(path), Files: "-- a.txt --\nold\n"})
	second := fakeeditor.Open(t, fakeeditor.Options{Start: fakeeditor.Dial(path), Profile: fakeeditor.Helix, Files: "-- a.txt --\nold old\n"})
	first.OpenFile("a.txt")
	second.OpenFile("a.txt")
	first.Await(fakeeditor.HasDiagnostics("a.txt", 1))
	second.Await(fakeeditor.HasDiagnostics("a.txt", 2))
	first.Close() // the other goes on
	second.Replace("a.txt", "old old", "old old old")
	second.Await(fakeeditor.HasDiagnostics("a.txt", 3))
	second.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// TestSocketTakeover checks that a living server is not robbed of its socket, a
// dead one is, and that a file is never removed.
func TestSocketTakeover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kaiak.sock")
	stop := listening(t, newTestEngine(), path)
	if err := listenAndServe(t.Context(), newTestEngine(), path, Options{}); !errors.Is(err, ErrSocketInUse) {
		t.Errorf("beside a living server: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	_ = stale.Close() // the socket stays, as after a crash
	stop = listening(t, newTestEngine(), path)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := listenAndServe(t.Context(), newTestEngine(), path, Options{}); err == nil {
		t.Error("a file was taken for a stale socket")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
		t.Errorf("the file is %q, %v", data, err)
	}
}

// TestShutdownAnswersWhatCameBefore holds that a client which says shutdown
// while others of its requests run gets an answer to each of them first.
func TestShutdownAnswersWhatCameBefore(t *testing.T) {
	c := &conn{ctx: t.Context(), inflight: map[string]*pending{}}
	for _, id := range []string{"1", "2", "3"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		c.inflight[id] = &pending{ctx: ctx, cancel: cancel}
	}
	done := make(chan struct{})
	first := c.inflight["1"]
	go func() {
		defer close(done)
		c.settle(time.Minute)
	}()
	answer := func(id string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.answeredLocked(id)
	}
	answer("1")
	select {
	case <-done:
		t.Fatal("it did not wait for the second request")
	default:
	}
	answer("2")
	<-done
	if first.ctx.Err() != nil {
		t.Error("a request that was answered in time was ended")
	}
}
