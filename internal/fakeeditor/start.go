package fakeeditor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"
)

// A Starter starts a server for one editor.
type Starter func(t testing.TB) (Server, error)

// InProcess runs serve in this process on a pipe.
func InProcess(serve func(ctx context.Context, in io.Reader, out io.Writer) error) Starter {
	return func(testing.TB) (Server, error) {
		ours, theirs := net.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		var result error
		var gone atomic.Bool
		go func() { // ends with serve
			defer close(done)
			result = serve(ctx, theirs, theirs)
			gone.Store(true)
			_ = theirs.Close()
		}()
		return Server{
			Stream: ours,
			Wait: func() error {
				defer cancel()
				return await(done, func() error { return result })
			},
			Kill: func() { cancel(); _ = theirs.Close(); _ = await(done, func() error { return nil }) },
			Gone: gone.Load,
		}, nil
	}
}

// Child runs a command that speaks on its stdin and stdout. What it writes to
// stderr is shown when the test fails.
func Child(name string, args ...string) Starter {
	return func(t testing.TB) (Server, error) {
		cmd := exec.Command(name, args...)
		in, err := cmd.StdinPipe()
		if err != nil {
			return Server{}, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return Server{}, err
		}
		var log bytes.Buffer
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			return Server{}, err
		}
		done := make(chan struct{})
		var result error
		var gone atomic.Bool
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the server's log:\n%s", log.String())
			}
		})
		// Wait closes the pipes it made, so it must come after the last read:
		// the stream reports its end.
		ended := make(chan struct{})
		go func() { // ends with the process
			<-ended
			result = cmd.Wait()
			gone.Store(true)
			close(done)
		}()
		return Server{
			Stream: &childStream{ReadCloser: out, w: in, ended: ended},
			Wait:   func() error { return await(done, func() error { return result }) },
			Kill:   func() { _ = cmd.Process.Kill(); _ = await(done, func() error { return nil }) },
			Gone:   gone.Load,
		}, nil
	}
}

// childStream is a child's stdin and stdout.
type childStream struct {
	io.ReadCloser
	w     io.WriteCloser
	ended chan struct{}
	over  atomic.Bool
}

func (c *childStream) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && c.over.CompareAndSwap(false, true) {
		close(c.ended)
	}
	return n, err
}

func (c *childStream) Write(p []byte) (int, error) { return c.w.Write(p) }

func (c *childStream) Close() error { return c.w.Close() }

// Dial connects to a server that listens on a Unix socket; its end is not the
// editor's business.
func Dial(path string) Starter {
	return func(testing.TB) (Server, error) {
		conn, err := net.Dial("unix", path)
		if err != nil {
			return Server{}, err
		}
		nothing := func() error { return nil }
		return Server{Stream: conn, Wait: nothing, Kill: func() { _ = conn.Close() }, Gone: func() bool { return false }}, nil
	}
}

// await waits for an end that is due.
func await(done <-chan struct{}, result func() error) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return result()
	case <-timer.C:
		return fmt.Errorf("it did not end within %v", patience)
	}
}
