package llm

import (
	"bytes"
	"errors"
	"io"
)

// Limits of what a server may send.
const (
	maxLine  = 8 << 20  // bytes of one line of the stream
	maxEvent = 16 << 20 // bytes of one event's data
	maxReply = 16 << 20 // bytes of text, reasoning and arguments of one reply
	maxBody  = 16 << 20 // bytes of a body that is not a stream
)

var errTooLarge = errors.New("too large")

// An event is one event of a text/event-stream. A comment comes as an event
// without data whose Comment is set, so that the reader of the stream learns
// that the line is alive.
type event struct {
	Type    string
	Data    []byte // lines joined by \n; valid until the next call
	Comment bool
}

// An sseReader reads a text/event-stream: LF, CRLF and CR line ends, a byte
// order mark, comments, fields with and without the space after the colon, data
// of several lines, and a last event that the end of the stream cuts off before
// its blank line.
type sseReader struct {
	src    io.Reader
	alive  func() // called after every read that brought bytes
	buf    []byte
	at     int // next unread byte of buf
	err    error
	begun  bool // a byte order mark has been looked for
	skipLF bool // the last line ended in CR: an LF that follows belongs to it
	line   []byte
	data   []byte
}

func newSSEReader(src io.Reader, alive func()) *sseReader {
	if alive == nil {
		alive = func() {}
	}
	return &sseReader{src: src, alive: alive, buf: make([]byte, 0, 32<<10)}
}

// fill reads more bytes when none are left. It reports whether there are any.
func (s *sseReader) fill() bool {
	for s.at == len(s.buf) {
		if s.err != nil {
			return false
		}
		s.buf, s.at = s.buf[:0], 0
		n, err := s.src.Read(s.buf[:cap(s.buf)])
		s.buf, s.err = s.buf[:n], err
		if n > 0 {
			s.alive()
		}
	}
	return true
}

// readLine reads one line without its end. ok is false at the end of the
// stream; a line that the end cuts off counts as one.
func (s *sseReader) readLine() (line []byte, ok bool, err error) {
	s.line = s.line[:0]
	for s.fill() {
		if s.skipLF {
			s.skipLF = false
			if s.buf[s.at] == '\n' {
				s.at++
				continue
			}
		}
		rest := s.buf[s.at:]
		i := bytes.IndexAny(rest, "\r\n")
		if i < 0 {
			i = len(rest)
		}
		s.line = append(s.line, rest[:i]...)
		s.at += i
		if len(s.line) > maxLine {
			return nil, false, errTooLarge
		}
		if i < len(rest) {
			s.skipLF = rest[i] == '\r'
			s.at++
			return s.line, true, nil
		}
	}
	if len(s.line) > 0 {
		return s.line, true, nil
	}
	return nil, false, nil
}

var byteOrderMark = []byte("\ufeff")

// next returns the next event with data, or a comment; io.EOF at a clean end, the
// transport's error or errTooLarge otherwise. Data that the end of the stream
// leaves undispatched comes before the error.
func (s *sseReader) next() (event, error) {
	var ev event
	s.data = s.data[:0]
	has := false
	for {
		line, ok, err := s.readLine()
		if err != nil {
			return event{}, err
		}
		if !s.begun {
			s.begun = true
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		switch {
		case !ok && has:
			ev.Data = s.data
			return ev, nil
		case !ok:
			return event{}, s.err
		case len(line) == 0:
			if has && len(s.data) > 0 {
				ev.Data = s.data
				return ev, nil
			}
			ev, has = event{}, false
			continue
		case line[0] == ':':
			if !has {
				return event{Comment: true}, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			ev.Type = string(value)
			continue
		case "error": // old llama.cpp: "error: {…}" instead of "data: {…}"
			ev.Type = "error"
		case "data":
		default:
			continue
		}
		if has {
			s.data = append(s.data, '\n')
		}
		has = true
		s.data = append(s.data, value...)
		if len(s.data) > maxEvent {
			return event{}, errTooLarge
		}
	}
}
