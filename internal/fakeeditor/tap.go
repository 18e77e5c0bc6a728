package fakeeditor

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/kaiak/kaiak/internal/wirecheck"
)

// A tap passes a byte stream through and shows every message in it to a
// checker, the server's before the editor sees it.
type tap struct {
	io.ReadWriteCloser
	in  splitter // the server's; only Read uses it
	mu  sync.Mutex
	out splitter // the editor's; guarded by mu
}

func newTap(stream io.ReadWriteCloser, check *wirecheck.Checker) *tap {
	return &tap{
		ReadWriteCloser: stream,
		in:              splitter{message: check.FromServer, fault: check.Fault},
		out:             splitter{message: check.ToServer, fault: func(string) {}},
	}
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	t.in.feed(p[:n])
	return n, err
}

func (t *tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.out.feed(p) // before the server can answer it
	t.mu.Unlock()
	return t.ReadWriteCloser.Write(p)
}

// A splitter finds the messages in a stream of frames.
type splitter struct {
	message func([]byte)
	fault   func(string)
	buf     []byte
	broken  bool
}

func (s *splitter) feed(p []byte) {
	if s.broken {
		return
	}
	s.buf = append(s.buf, p...)
	for {
		head, rest, ok := bytes.Cut(s.buf, []byte("\r\n\r\n"))
		if !ok {
			if len(s.buf) > 4096 {
				s.fail("no end of a header in %d bytes: %.80q", len(s.buf), s.buf)
			}
			return
		}
		value, ok := strings.CutPrefix(string(head), "Content-Length: ")
		size, err := strconv.Atoi(value)
		if !ok || err != nil {
			s.fail("a header that is none: %.80q", head)
			return
		}
		if len(rest) < size {
			return
		}
		s.message(rest[:size])
		s.buf = rest[size:]
	}
}

func (s *splitter) fail(format string, args ...any) {
	s.broken = true
	s.fault("framing: " + fmt.Sprintf(format, args...))
}
