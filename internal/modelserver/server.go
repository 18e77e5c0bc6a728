package modelserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Server plays a script.
type Server struct {
	URL string // base URL of the endpoint, ends in "/v1"

	script Script
	http   *http.Server
	done   chan struct{} // closed when Serve has returned

	mu       sync.Mutex // guards what follows
	served   []int      // how often each step was served
	received []Received
	gates    map[string]*gate
	problems []error
}

// A gate is a named place where replies stall.
type gate struct {
	reached, open   chan struct{}
	arrive, release sync.Once
	gone            chan struct{} // closed when a client hung up here
	leave           sync.Once
}

// New starts a server for a test. When the test ends the server is closed and
// its script must have been played to the end.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	s, err := Start(script, "127.0.0.1:0")
	if err != nil {
		t.Fatalf("modelserver: %v", err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := s.Check(); err != nil {
			t.Errorf("modelserver: %v", err)
		}
	})
	return s
}

// Start starts a server on a loopback address such as "127.0.0.1:0".
func Start(script Script, addr string) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s is not a loopback address", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL:    "http://" + l.Addr().String() + "/v1",
		script: script,
		done:   make(chan struct{}),
		served: make([]int, len(script.Steps)),
		gates:  map[string]*gate{},
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always http.ErrServerClosed
	}()
	return s, nil
}

// Close hangs up on everybody and waits until the server has ended.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.done
}

// Check reports the requests that no step expected and the steps that were not asked for.
func (s *Server) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := append([]error(nil), s.problems...)
	for i, step := range s.script.Steps {
		if n := max(step.Times, 1); step.Times >= 0 && s.served[i] != n {
			errs = append(errs, fmt.Errorf("%s was served %d times, expected %d", s.title(i), s.served[i], n))
		}
	}
	return errors.Join(errs...)
}

// Received returns the requests that have come, in order.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

// Reached returns a channel that is closed when a reply stalls at the named gate.
func (s *Server) Reached(name string) <-chan struct{} { return s.gate(name).reached }

// Gone returns a channel that is closed when a client hangs up while its reply
// stalls at the named gate.
func (s *Server) Gone(name string) <-chan struct{} { return s.gate(name).gone }

// Release opens the named gate, now and for later replies.
func (s *Server) Release(name string) {
	g := s.gate(name)
	g.release.Do(func() { close(g.open) })
}

func (s *Server) gate(name string) *gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gates[name]
	if g == nil {
		g = &gate{reached: make(chan struct{}), open: make(chan struct{}), gone: make(chan struct{})}
		s.gates[name] = g
	}
	return g
}

func (s *Server) title(i int) string {
	if name := s.script.Steps[i].Name; name != "" {
		return fmt.Sprintf("step %d (%s)", i, name)
	}
	return fmt.Sprintf("step %d", i)
}

// choose finds the step that serves r and counts it, or records why there is none.
func (s *Server) choose(r *Received) (Step, map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := ""
	if s.script.SessionHeader != "" {
		session = r.Header.Get(s.script.SessionHeader)
	}
	r.Step = -1
	err := fmt.Errorf("%s %s: every step of session %q is used up", r.Method, r.Path, session)
	for i, step := range s.script.Steps {
		if step.Session != session || step.Times >= 0 && s.served[i] >= max(step.Times, 1) {
			continue
		}
		bad := step.Expect.check(*r)
		var vars map[string]string
		if bad == nil {
			vars, bad = step.Expect.capture(*r)
		}
		if bad == nil {
			s.served[i]++
			r.Step = i
			s.received = append(s.received, *r)
			return step, vars, nil
		}
		err = fmt.Errorf("%s: %w", s.title(i), bad)
		if !s.script.Unordered && step.Times >= 0 {
			break
		}
	}
	s.received = append(s.received, *r)
	s.problems = append(s.problems, err)
	return Step{}, nil, err
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client hung up while it was asking
	}
	got := Received{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body}
	step, vars, err := s.choose(&got)
	if err != nil {
		http.Error(w, "modelserver: "+err.Error(), http.StatusNotImplemented)
		return
	}
	reply := step.Reply
	if step.Respond != nil {
		reply = step.Respond(got)
	}
	s.play(req.Context(), w, reply, vars)
}

// play writes one reply.
func (s *Server) play(ctx context.Context, w http.ResponseWriter, reply Reply, vars map[string]string) {
	frames := reply.expand()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	for name, value := range reply.Headers {
		h.Set(name, substitute(value, vars, false))
	}
	var out io.Writer = w
	var zip *gzip.Writer
	if reply.Gzip {
		h.Set("Content-Encoding", "gzip")
		zip = gzip.NewWriter(w)
		out = zip
	}
	flush := func() {
		if zip != nil {
			_ = zip.Flush()
		}
		_ = http.NewResponseController(w).Flush()
	}
	if len(frames) == 0 || frames[0].Wait == "" {
		w.WriteHeader(statusOr200(reply.Status))
	}
	for i, f := range frames {
		switch {
		case f.Reset:
			reset(w)
			return
		case f.Cut:
			panic(http.ErrAbortHandler)
		case f.Wait != "":
			if !s.stall(ctx, f.Wait) {
				return
			}
			if i == 0 {
				w.WriteHeader(statusOr200(reply.Status))
			}
			continue
		}
		text := []byte(f.text(vars))
		for range max(f.Repeat, 1) {
			for _, piece := range split(text, reply.Split) {
				if _, err := out.Write(piece); err != nil {
					return // the client hung up
				}
				if reply.Split != "" {
					flush()
				}
			}
		}
		flush()
	}
	if zip != nil {
		_ = zip.Close()
	}
}

func statusOr200(status int) int {
	if status == 0 {
		return http.StatusOK
	}
	return status
}

// stall waits at a gate. It reports whether the reply goes on.
func (s *Server) stall(ctx context.Context, name string) bool {
	g := s.gate(name)
	g.arrive.Do(func() { close(g.reached) })
	select {
	case <-g.open:
		return true
	case <-ctx.Done():
		g.leave.Do(func() { close(g.gone) })
		return false
	}
}

// reset makes the peer see ECONNRESET instead of an end of file.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (f Frame) text(vars map[string]string) string {
	switch {
	case f.Done:
		return "data: [DONE]\n\n"
	case f.JSON != nil:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(f.JSON); err != nil {
			panic(fmt.Sprintf("modelserver: %v", err)) // a Go caller's script
		}
		return "data: " + substitute(b.String(), vars, true) + "\n"
	}
	return substitute(f.Raw, vars, false)
}

// substitute puts captured values in the place of ${name}, escaped for a JSON
// string inside a JSON string where escape is set.
func substitute(s string, vars map[string]string, escape bool) string {
	for _, name := range sortedKeys(vars) {
		value := vars[name]
		if escape {
			js, _ := json.Marshal(value) // a string always marshals
			value = string(js[1 : len(js)-1])
		}
		s = strings.ReplaceAll(s, "${"+name+"}", value)
	}
	return s
}

func split(text []byte, how string) [][]byte {
	kind, arg, _ := strings.Cut(how, ":")
	n, _ := strconv.Atoi(arg)
	var pieces [][]byte
	switch kind {
	case "bytes":
		for i := range text {
			pieces = append(pieces, text[i:i+1])
		}
	case "at":
		n = min(n, len(text))
		pieces = append(pieces, text[:n], text[n:])
	case "random":
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		for len(text) > 0 {
			k := 1 + rng.IntN(min(len(text), 64))
			pieces = append(pieces, text[:k])
			text = text[k:]
		}
	default:
		pieces = append(pieces, text)
	}
	return pieces
}
