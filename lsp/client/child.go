package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// Start starts command as a child that serves its stdin and stdout, and
// performs the handshake. What the child writes to stderr goes to where the
// command says. The child is not started in ctx, which is the handshake's.
func Start(ctx context.Context, command *exec.Cmd, opts Options) (*Client, error) {
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("the server %s cannot be started: %w", command.Path, err)
	}
	ch := &child{command: command, in: in, exited: make(chan struct{})}
	return newClient(ctx, &pipes{Reader: out, Writer: in, child: ch}, opts, ch)
}

// A child is a server process that we started.
type child struct {
	command *exec.Cmd
	in      io.Closer
	exited  chan struct{}
	err     error // of Wait; valid when exited is closed
}

// pipes is a child's stdin and stdout as one stream. The end of its output is
// also when it is waited for: Wait must not come before everything was read.
type pipes struct {
	io.Reader
	io.Writer
	child *child
	over  bool // touched by the reader only
}

func (p *pipes) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && !p.over {
		p.over = true
		go func() {
			p.child.err = p.child.command.Wait()
			close(p.child.exited)
		}()
	}
	return n, err
}

func (p *pipes) Close() error { return p.child.in.Close() }

// wait waits for the child's end. When ctx ends first the child is killed.
func (ch *child) wait(ctx context.Context) error {
	// A server that missed exit ends with its input.
	_ = ch.in.Close()
	select {
	case <-ch.exited:
	case <-ctx.Done():
		_ = ch.command.Process.Kill() // it may have ended by now
		<-ch.exited
		return fmt.Errorf("the server was killed: %w", context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(ch.err, &exit) {
		return fmt.Errorf("the server ended with %s", exit.ProcessState)
	}
	return ch.err
}
