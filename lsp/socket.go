package lsp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kaiak/kaiak/kaiak"
)

// ErrSocketInUse is returned by [ListenAndServe] when a living server listens
// on the socket already.
var ErrSocketInUse = errors.New("another server listens on the socket")

// lingerTimeout is how long the end of a client is waited for after ours.
const lingerTimeout = time.Second

// ListenAndServe serves every client that connects to the Unix socket at path,
// until ctx ends; it returns nil then. The socket has mode 0600 and only its
// owner's processes are let in; a directory that is missing is made with mode
// 0700. A socket whose server is dead is taken over.
//
// A client's exit or death ends its own connection only.
func ListenAndServe(ctx context.Context, svc *kaiak.Service, path string, opts Options) error {
	return listenAndServe(ctx, service{svc}, path, opts)
}

func listenAndServe(ctx context.Context, e engine, path string, opts Options) error {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	opts.ClientPID = 0 // of several clients none is the parent
	ln, release, err := listen(path)
	if err != nil {
		return err
	}
	defer release()
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer stop()

	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		c, err := ln.AcceptUnix()
		if ctx.Err() != nil {
			if err == nil {
				_ = c.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("accepting on %s: %w", path, err)
		}
		if err := checkPeer(c); err != nil {
			opts.Log.Warn("refused a connection", "error", err)
			_ = c.Close()
			continue
		}
		clients.Go(func() {
			st := stream{in: c, out: c, closeIn: func() { _ = c.Close() }, closeOut: func() { _ = c.CloseWrite() }, linger: lingerTimeout}
			if err := serve(ctx, e, st, opts); err != nil && !errors.Is(err, ErrNoShutdown) && ctx.Err() == nil {
				opts.Log.Warn("a connection ended", "error", err)
			}
		})
	}
}

// listen binds the socket. release frees it.
func listen(path string) (ln *net.UnixListener, release func(), err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("the directory of the socket: %w", err)
	}
	unlock, err := lockSocket(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	if err := removeStale(path); err != nil {
		return nil, nil, err
	}
	// Bound in a private directory and then moved, the socket is at no moment
	// open to others.
	private, err := os.MkdirTemp(dir, ".k")
	if err != nil {
		return nil, nil, fmt.Errorf("the directory of the socket: %w", err)
	}
	defer func() { _ = os.RemoveAll(private) }()
	born := filepath.Join(private, "s")
	ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: born, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("the socket %s: %w", path, err)
	}
	ln.SetUnlinkOnClose(false) // it does not stay where it was born
	if err = errors.Join(os.Chmod(born, 0o600), os.Rename(born, path)); err != nil {
		_ = ln.Close()
		return nil, nil, fmt.Errorf("the socket %s: %w", path, err)
	}
	return ln, func() {
		_ = ln.Close()
		_ = os.Remove(path)
		unlock()
	}, nil
}

// removeStale removes a socket that nobody listens on. Anything but a socket is
// left alone.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the socket %s: %w", path, err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is not a socket; choose another path or move it away", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return fmt.Errorf("%s: %w", path, ErrSocketInUse)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("the socket %s of a dead server: %w", path, err)
	}
	return nil
}
