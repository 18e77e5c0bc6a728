package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Mode says what is done with recordings.
type Mode string

// The modes.
const (
	Off    Mode = "off"
	Record Mode = "record"
	Replay Mode = "replay"
)

// Schema is the version of the files.
const Schema = "kaiak-cassette/1"

// A recording is one exchange as it lies in a file.
type recording struct {
	Schema  string   `json:"schema"`
	Key     string   `json:"key"`     // sha256 of the canonical request
	Ordinal int      `json:"ordinal"` // 1-based among the exchanges with this key
	Request request  `json:"request"`
	Reply   response `json:"response"`
}

type request struct {
	Method string          `json:"method"`
	Path   string          `json:"path"` // the last two elements; the host does not matter
	Body   json.RawMessage `json:"body,omitempty"`
}

type response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"headers"`
	Body   string            `json:"body,omitempty"`
	Base64 string            `json:"body_base64,omitempty"` // instead of Body, where that is not UTF-8
	SHA256 string            `json:"sha256"`                // of the body's bytes
}

// kept are the response headers that are recorded.
var kept = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry"}

// A Cassette records or replays. It is safe for concurrent use.
type Cassette struct {
	mode  Mode
	dir   string
	clean func(string) string

	mu     sync.Mutex // guards what follows
	played map[string]int
	tape   map[string][]recording // by key, in order; Replay only
	err    error                  // the first failure to write
}

// Open makes a cassette of a folder. clean hides secrets in what is written; nil
// means that there are none. Replaying a folder that cannot be read, or that
// holds a damaged recording, is an error.
func Open(mode Mode, dir string, clean func(string) string) (*Cassette, error) {
	if clean == nil {
		clean = func(s string) string { return s }
	}
	c := &Cassette{mode: mode, dir: dir, clean: clean, played: map[string]int{}, tape: map[string][]recording{}}
	switch mode {
	case Off:
	case Record:
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
	case Replay:
		if err := c.load(); err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
	default:
		return nil, fmt.Errorf("%q is no mode; the modes are off, record and replay", mode)
	}
	return c, nil
}

func (c *Cassette) load() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.dir, e.Name()))
		if err != nil {
			return err
		}
		var r recording
		if err := json.Unmarshal(text, &r); err != nil || r.Schema != Schema {
			return fmt.Errorf("%s is not a recording of version %s", e.Name(), Schema)
		}
		body, err := r.Reply.bytes()
		if err != nil || sum(body) != r.Reply.SHA256 {
			return fmt.Errorf("%s is damaged: its body does not have the hash it names", e.Name())
		}
		c.tape[r.Key] = append(c.tape[r.Key], r)
	}
	for _, list := range c.tape {
		slices.SortFunc(list, func(a, b recording) int { return a.Ordinal - b.Ordinal })
	}
	return nil
}

func (r response) bytes() ([]byte, error) {
	if r.Base64 != "" {
		return base64.StdEncoding.DecodeString(r.Base64)
	}
	return []byte(r.Body), nil
}

// Err returns the first failure to write a recording.
func (c *Cassette) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Wrap puts the cassette between a client and the network.
func (c *Cassette) Wrap(network http.RoundTripper) http.RoundTripper {
	if c.mode == Off {
		return network
	}
	return &transport{c, network}
}

type transport struct {
	cassette *Cassette
	network  http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	req := request{Method: r.Method, Path: tail(r.URL.Path), Body: canonical(body)}
	key := sum([]byte(req.Method + " " + req.Path + "\n" + string(req.Body)))
	if t.cassette.mode == Replay {
		return t.cassette.replay(r, req, key)
	}
	next := r.Clone(r.Context())
	next.Body, next.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	next.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	resp, err := t.network.RoundTrip(next)
	if err != nil {
		return nil, err
	}
	resp.Body = &tee{body: resp.Body, save: func(got []byte, whole bool) {
		if whole || bytes.Contains(got, []byte("[DONE]")) {
			t.cassette.write(req, key, resp, got)
		}
	}}
	return resp, nil
}

// tail keeps the end of a path, by which the operation is told.
func tail(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return strings.Join(parts[max(len(parts)-2, 0):], "/")
}

// canonical writes a JSON text with sorted members; other text stays as a string.
func canonical(body []byte) json.RawMessage {
	if len(body) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		v = string(body)
	}
	return marshal(v)
}

func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // it came from JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// write stores one exchange, 0600, by a rename.
func (c *Cassette) write(req request, key string, resp *http.Response, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.played[key]++
	rec := recording{Schema: Schema, Key: key, Ordinal: c.played[key], Request: req, Reply: response{Status: resp.StatusCode, Header: map[string]string{}}}
	if clean := c.clean(string(req.Body)); json.Valid([]byte(clean)) {
		rec.Request.Body = json.RawMessage(clean)
	} else {
		rec.Request.Body = nil
	}
	text := c.clean(string(body))
	if utf8.ValidString(text) {
		rec.Reply.Body = text
	} else {
		rec.Reply.Base64 = base64.StdEncoding.EncodeToString([]byte(text))
	}
	rec.Reply.SHA256 = sum([]byte(text))
	for _, name := range kept {
		if v := resp.Header.Get(name); v != "" {
			rec.Reply.Header[name] = v
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(rec)
	name := filepath.Join(c.dir, fmt.Sprintf("%s-%d.json", key[:24], rec.Ordinal))
	if err == nil {
		err = os.WriteFile(name+".tmp", out.Bytes(), 0o600)
	}
	if err == nil {
		err = os.Rename(name+".tmp", name)
	}
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("record: %w", err)
	}
}

// replay answers from the tape.
func (c *Cassette) replay(r *http.Request, req request, key string) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.tape[key]
	if len(list) == 0 {
		return nil, c.miss(req)
	}
	rec := list[min(c.played[key], len(list)-1)] // asked again: the last answer holds
	c.played[key]++
	body, err := rec.Reply.bytes()
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for name, value := range rec.Reply.Header {
		h.Set(name, value)
	}
	return &http.Response{
		Status: http.StatusText(rec.Reply.Status), StatusCode: rec.Reply.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// A tee hands the body on and keeps what went through.
type tee struct {
	body io.ReadCloser
	got  bytes.Buffer
	once sync.Once
	save func(got []byte, whole bool)
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	t.got.Write(p[:n])
	if err == io.EOF {
		t.once.Do(func() { t.save(t.got.Bytes(), true) })
	}
	return n, err
}

func (t *tee) Close() error {
	t.once.Do(func() { t.save(t.got.Bytes(), false) })
	return t.body.Close()
}
