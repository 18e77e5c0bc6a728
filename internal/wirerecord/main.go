// Command wirerecord stands between an editor and a language server on stdio
// and writes every message of both into a log, for the checks that run after a
// test in a real editor:
//
//	wirerecord LOG SERVER ARGS…
//
// The bytes pass through untouched; the log has one JSON object per line:
// {"t":ms,"dir":"c2s"|"s2c","msg":{…}}, {"t":ms,"dir":…,"fault":"…"} for bytes
// that are no message, and {"t":ms,"dir":"-","event":"exit","code":n} at the
// end. It ends with the server's exit code.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: wirerecord LOG SERVER ARGS…")
		os.Exit(2)
	}
	code, err := record(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "wirerecord:", err)
		os.Exit(2)
	}
	os.Exit(code)
}

func record(logFile, server string, args []string) (int, error) {
	f, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	l := &log{out: f, start: time.Now()}

	cmd := exec.Command(server, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // a process that is gone needs no signal
		}
	}()

	// A message is in the log before it is passed on, so that no answer stands
	// before its question. Stdin may stay open after the server has ended; then only the process's
	// end ends this copy.
	go func() {
		_, _ = io.Copy(io.MultiWriter(l.frames("c2s"), in), os.Stdin)
		_ = in.Close()
	}()
	toClient := l.frames("s2c")
	_, copyErr := io.Copy(io.MultiWriter(toClient, os.Stdout), out)
	err = cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	l.write(map[string]any{"dir": "-", "event": "exit", "code": code})
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return code, err
	}
	return code, errors.Join(copyErr, l.err)
}

// A log is the file that both directions write to.
type log struct {
	start time.Time

	mu  sync.Mutex // guards out and err
	out io.Writer
	err error // the first failure to write
}

func (l *log) write(entry map[string]any) {
	entry["t"] = float64(time.Since(l.start).Microseconds()) / 1000
	line, err := json.Marshal(entry)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		_, err = l.out.Write(append(line, '\n'))
	}
	if l.err == nil {
		l.err = err
	}
}

// frames returns a writer that takes one direction's bytes in any pieces and
// logs the messages in them. It never fails, so that the copy goes on.
func (l *log) frames(dir string) io.Writer { return &framer{log: l, dir: dir} }

type framer struct {
	log *log
	dir string
	buf []byte
}

// maxHeader is how long a header may be before the bytes are taken for no header.
const maxHeader = 4096

func (f *framer) Write(p []byte) (int, error) {
	f.buf = append(f.buf, p...)
	for {
		end := bytes.Index(f.buf, []byte("\r\n\r\n"))
		if end < 0 {
			if len(f.buf) > maxHeader {
				f.fault("no header terminator", f.buf[:80])
				f.buf = nil
			}
			return len(p), nil
		}
		size, err := contentLength(f.buf[:end])
		if err != nil {
			f.fault("bad header: "+err.Error(), f.buf[:end])
			f.buf = f.buf[end+4:]
			continue
		}
		if len(f.buf) < end+4+size {
			return len(p), nil
		}
		body := f.buf[end+4 : end+4+size]
		f.buf = f.buf[end+4+size:]
		if !json.Valid(body) {
			f.fault("bad JSON", body[:min(len(body), 200)])
			continue
		}
		f.log.write(map[string]any{"dir": f.dir, "msg": json.RawMessage(bytes.Clone(body))})
	}
}

func (f *framer) fault(what string, head []byte) {
	f.log.write(map[string]any{"dir": f.dir, "fault": what, "head": string(head)})
}

func contentLength(header []byte) (int, error) {
	lines := bufio.NewScanner(bytes.NewReader(header))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.EqualFold(name, "Content-Length") {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 0 {
				return 0, fmt.Errorf("Content-Length %q", value)
			}
			return n, nil
		}
	}
	return 0, errors.New("no Content-Length")
}
