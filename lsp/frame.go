package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kaiak/kaiak/kaiak"
)

// Sizes of frames. Sizes are bytes of the body as Content-Length counts them.
const (
	// maxMessage is the most that is ever held in memory for one message. A
	// document that is larger cannot be opened; no editor sends one.
	maxMessage = 256 << 20
	// maxDeclared is the largest Content-Length that is believed. A frame up to
	// it is read to its end, so that the next one is found; beyond it the header
	// is taken for garbage and the next header is looked for.
	maxDeclared = 2 << 30
	// maxHeaderLine bounds one line of a header.
	maxHeaderLine = 8 << 10
	// chunk is how much of a body is read at a time: memory grows with what
	// arrives, not with what the header promises.
	chunk = 64 << 10
)

// maxRequest is the contract's limit of one kaiak/* request.
var maxRequest = int64(kaiak.LimitRequestBytes.Value)

// A fault is why a frame or a message in it cannot be dispatched.
type fault struct {
	code   kaiak.Code
	id     json.RawMessage // to answer with
	reason string          // for people
	silent bool            // it was a notification: there is nobody to answer
}

// wire returns the fault as the error of an answer.
func (f *fault) wire() *kaiak.Error {
	return &kaiak.Error{Code: f.code, Message: f.code.Title + ": " + f.reason}
}

// A frameReader splits a stream into the bodies of its frames. It survives
// anything: after a header it cannot read it looks for the next one.
type frameReader struct {
	in     *bufio.Reader
	prefix string // the header name that resync has consumed already
	lost   bool   // the last header could not be read: look for the next
}

func newFrameReader(in io.Reader) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(in, chunk)}
}

// next returns the body of the next frame, or a fault to answer. The error is
// the stream's own: after it there is nothing more to read.
func (r *frameReader) next() ([]byte, *fault, error) {
	if r.lost {
		if err := r.resync(); err != nil {
			return nil, nil, err
		}
		r.lost = false
	}
	size, bad, err := r.header()
	if err != nil {
		return nil, nil, err
	}
	if bad != "" {
		r.lost = true
		return nil, &fault{code: kaiak.ParseError, id: json.RawMessage(nullID), reason: bad}, nil
	}
	return r.body(size)
}

// header reads the header of a frame. bad is why it is none.
func (r *frameReader) header() (size int64, bad string, err error) {
	size = -1
	for {
		line, long, err := r.line()
		if err != nil {
			return 0, "", err
		}
		if long {
			return 0, fmt.Sprintf("a header line is longer than %d bytes", maxHeaderLine), nil
		}
		if line == "" {
			if size >= 0 {
				return size, "", nil
			}
			continue // blank lines before a header mean nothing
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return 0, "expected a header line like Content-Length: 42", nil
		}
		value = strings.Trim(value, " \t")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "content-length":
			n, bad := parseLength(value)
			if bad != "" {
				return 0, bad, nil
			}
			if size >= 0 && n != size {
				return 0, "Content-Length is given twice and differs", nil
			}
			size = n
		case "content-type":
			if !utf8Charset(value) {
				return 0, "the only charset is utf-8", nil
			}
		}
	}
}

// parseLength reads the value of Content-Length: decimal digits, nothing else.
// bad is why it is none.
func parseLength(s string) (n int64, bad string) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, "Content-Length must be a decimal number of bytes"
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > maxDeclared {
		return 0, fmt.Sprintf("Content-Length is larger than %d", int64(maxDeclared))
	}
	return n, ""
}

// utf8Charset reports whether a Content-Type leaves the charset open or says utf-8.
func utf8Charset(value string) bool {
	_, charset, ok := strings.Cut(strings.ToLower(value), "charset=")
	if !ok {
		return true
	}
	charset = strings.Trim(strings.TrimSpace(charset), `"`)
	return charset == "utf-8" || charset == "utf8"
}

// line reads one header line without its end. A bare LF ends a line too. A line
// that is too long is not read further than it fits.
func (r *frameReader) line() (line string, long bool, err error) {
	raw, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", true, nil
	}
	if err != nil {
		return "", false, err
	}
	if len(raw) > maxHeaderLine {
		return "", true, nil
	}
	line = r.prefix + strings.TrimRight(string(raw), "\r\n")
	r.prefix = ""
	return line, false, nil
}

// resync skips to the next Content-Length header, wherever in a line it is: the
// body before it need not end with a line break. A JSON body cannot contain a
// header by accident, because its line breaks are escaped.
func (r *frameReader) resync() error {
	const token = "content-length:"
	matched := 0
	for matched < len(token) {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		switch {
		case c == token[matched]:
			matched++
		case c == token[0]: // occurs nowhere else in the token
			matched = 1
		default:
			matched = 0
		}
	}
	r.prefix = token
	return nil
}

// body reads the body of a frame. What may not be kept is read to its end in
// constant memory, and its method and id are found all the same.
func (r *frameReader) body(size int64) ([]byte, *fault, error) {
	if size <= maxRequest {
		buf, err := r.whole(size)
		return buf, nil, err
	}
	var (
		env  envelope
		buf  []byte
		keep = size <= maxMessage
		part = make([]byte, chunk)
	)
	for left := size; left > 0; {
		n, err := io.ReadFull(r.in, part[:min(left, chunk)])
		if err != nil {
			return nil, nil, truncated(err)
		}
		left -= int64(n)
		env.feed(part[:n])
		if keep && !mayBeLarge(&env) {
			keep, buf = false, nil
		}
		if keep {
			buf = append(buf, part[:n]...)
		}
	}
	if keep {
		return buf, nil, nil
	}
	return nil, tooLarge(&env, size), nil
}

// whole reads a body of an acceptable size.
func (r *frameReader) whole(size int64) ([]byte, error) {
	buf := make([]byte, 0, min(size, chunk))
	for int64(len(buf)) < size {
		n := int(min(size-int64(len(buf)), int64(max(len(buf), chunk))))
		at := len(buf)
		buf = append(buf, make([]byte, n)...)
		if _, err := io.ReadFull(r.in, buf[at:]); err != nil {
			return nil, truncated(err)
		}
	}
	return buf, nil
}

// truncated says that the stream ended inside a frame, which is an end like any other.
func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// mayBeLarge reports whether a message that is larger than maxRequest may still
// be wanted, as far as its beginning tells. The limit is kaiak/*'s own: a large
// document is never refused.
func mayBeLarge(e *envelope) bool {
	return !e.notJSON && !e.batch && !e.deep && !strings.HasPrefix(e.name(), "kaiak/")
}

// tooLarge is the fault of a message that was read but not kept.
func tooLarge(e *envelope, size int64) *fault {
	f := &fault{code: kaiak.InvalidRequest, id: e.echo()}
	switch name := e.name(); {
	case e.notJSON:
		f.code = kaiak.ParseError
		f.reason = "the message is not a JSON object"
	case strings.HasPrefix(name, "kaiak/"):
		f.reason = fmt.Sprintf("%s: the request has %d bytes, the limit is %d; send fewer incidents at a time", name, size, maxRequest)
	default:
		f.reason = fmt.Sprintf("the message has %d bytes, which is more than can be held", size)
		f.silent = e.hasMeth && !e.hasID
	}
	return f
}

// checkBody reports why a body is not JSON text, nil when it is.
func checkBody(body []byte) *fault {
	bad := func(reason string) *fault {
		return &fault{code: kaiak.ParseError, id: json.RawMessage(nullID), reason: reason}
	}
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return bad("the message is empty")
	case !utf8.Valid(body):
		return bad("the message is not UTF-8")
	case !json.Valid(body):
		if env := parseEnvelope(body); env.deep {
			return env.check() // the decoder's own limit of depth
		}
		return bad("the message is not JSON")
	}
	return nil
}

// appendFrame appends body with its header to dst.
func appendFrame(dst, body []byte) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, body...)
}
