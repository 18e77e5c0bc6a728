package wirecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kaiak/kaiak/kaiak"
)

// Options says what the shapes are judged by, besides go.lsp.dev's types.
type Options struct {
	Metamodel *Metamodel              // nil: not used
	Results   map[string]reflect.Type // kaiak/* method → its result
}

// A Checker judges one connection. Its methods may be called concurrently.
type Checker struct {
	opts Options

	mu         sync.Mutex // guards the fields below
	faults     []string
	asked      map[string]request // the client's unanswered requests
	questions  map[string]string  // the server's unanswered requests, id → method
	used       map[string]bool    // ids that the server has used
	opened     bool               // the initialize answer has passed
	shutdown   bool
	progresses map[string]string // token → "open" or "done"
	created    map[string]bool   // tokens for which the server asked, or the client gave
	sequences  map[string]int64  // session → the newest event's
}

type request struct{ method string }

// New returns a checker for one connection.
func New(opts Options) *Checker {
	return &Checker{
		opts:       opts,
		asked:      map[string]request{},
		questions:  map[string]string{},
		used:       map[string]bool{},
		progresses: map[string]string{},
		created:    map[string]bool{},
		sequences:  map[string]int64{},
	}
}

// message is the envelope of any message. A member that is absent is nil.
type message struct {
	Version json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func (c *Checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// ToServer takes note of a message of the client.
func (c *Checker) ToServer(body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var m message
	if json.Unmarshal(body, &m) != nil {
		return // sent to see what the server makes of it
	}
	switch {
	case m.Method != nil && len(m.ID) > 0:
		c.asked[string(m.ID)] = request{*m.Method}
		var p struct {
			WorkDoneToken json.RawMessage `json:"workDoneToken"`
		}
		if json.Unmarshal(m.Params, &p) == nil && len(p.WorkDoneToken) > 0 {
			c.created[string(p.WorkDoneToken)] = true
		}
	case m.Method == nil:
		delete(c.questions, string(m.ID))
	}
}

// Fault records a fault that was seen elsewhere, e.g. in the framing.
func (c *Checker) Fault(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault("%s", text)
}

// FromServer judges a message of the server.
func (c *Checker) FromServer(body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) && json.Unmarshal(body, &parts) == nil {
		for _, part := range parts {
			c.one(part)
		}
		return
	}
	c.one(body)
}

func (c *Checker) one(body []byte) {
	var m message
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		c.fault("not a message: %v: %.200s", err, body)
		return
	}
	if string(m.Version) != `"2.0"` {
		c.fault("jsonrpc is %s: %.200s", m.Version, body)
	}
	switch {
	case m.Method != nil && (m.Result != nil || m.Error != nil):
		c.fault("both a request and an answer: %.200s", body)
	case m.Method != nil && m.ID != nil:
		c.question(*m.Method, m)
	case m.Method != nil:
		c.notification(*m.Method, m)
	default:
		c.answer(m, body)
	}
}

// early are the methods that LSP allows before the initialize answer.
var early = []string{"window/showMessage", "window/logMessage", "telemetry/event", "window/showMessageRequest", "$/progress", "$/logTrace"}

func (c *Checker) timely(method string) {
	if !c.opened && !slices.Contains(early, method) {
		c.fault("%s before the answer to initialize", method)
	}
}

func (c *Checker) question(method string, m message) {
	c.timely(method)
	id := string(m.ID)
	if c.used[id] {
		c.fault("%s uses the id %s again", method, id)
	}
	c.used[id] = true
	c.questions[id] = method
	if method == "window/workDoneProgress/create" {
		var p struct{ Token json.RawMessage }
		if json.Unmarshal(m.Params, &p) == nil {
			c.created[string(p.Token)] = true
		}
	}
	c.params(serverRequests, method, m.Params)
}

func (c *Checker) notification(method string, m message) {
	c.timely(method)
	if strings.HasPrefix(method, "kaiak/") {
		c.stream(method, m.Params)
		return
	}
	c.params(serverNotifications, method, m.Params)
	if method == "$/progress" {
		c.progress(m.Params)
	}
}

// stream judges a stream notification: its envelope, its content, and its place
// in the session's sequence, which has no gap.
func (c *Checker) stream(method string, params json.RawMessage) {
	i := slices.IndexFunc(kaiak.Notifications, func(n kaiak.Notification) bool { return n.Method == method })
	if i < 0 {
		c.fault("%s is no notification of the contract", method)
		return
	}
	c.report(method+" params", strict(params, reflect.TypeFor[kaiak.Event]()))
	var e kaiak.Event
	if json.Unmarshal(params, &e) != nil {
		return // reported
	}
	c.report(method+" content", strict(e.Content, reflect.TypeOf(kaiak.Notifications[i].Content)))
	last, seen := c.sequences[e.SessionID]
	if e.Sequence < 1 || seen && e.Sequence != last+1 {
		c.fault("%s of session %s has the sequence %d after %d", method, e.SessionID, e.Sequence, last)
	}
	c.sequences[e.SessionID] = e.Sequence
	if len(params) > kaiak.LimitStreamBytes.Value {
		c.fault("%s has params of %d bytes", method, len(params))
	}
}

// params judges the params of a message of the server.
func (c *Checker) params(table map[string]reflect.Type, method string, params json.RawMessage) {
	t, known := table[method]
	if !known {
		c.fault("%s is nothing that a server may send", method)
		return
	}
	if t == nil {
		if params != nil {
			c.fault("%s has params, but takes none: %s", method, params)
		}
	} else {
		c.report(method+" params", roundTrip(params, t))
	}
	if c.opts.Metamodel != nil {
		c.report(method+" params", c.opts.Metamodel.Params(method, params))
	}
}

func (c *Checker) report(where string, faults []string) {
	for _, f := range faults {
		c.fault("%s: %s", where, f)
	}
}

func (c *Checker) answer(m message, body []byte) {
	if (m.Result != nil) == (m.Error != nil) {
		c.fault("an answer has a result or an error, one of them: %.200s", body)
	}
	if m.Error != nil {
		c.failure(m.Error)
	}
	id := string(m.ID)
	asked, ok := c.asked[id]
	if !ok {
		if id != "null" {
			c.fault("an answer to the id %s, which is not waiting for one: %.200s", id, body)
		}
		return
	}
	delete(c.asked, id)
	if m.Result == nil {
		return
	}
	switch asked.method {
	case "initialize":
		c.opened = true
	case "shutdown":
		c.shutdown = true
	}
	if t, ok := c.opts.Results[asked.method]; ok {
		c.report(asked.method+" result", strict(m.Result, t))
	}
	if f, ok := results[asked.method]; ok {
		c.report(asked.method+" result", f(m.Result))
		if c.opts.Metamodel != nil {
			c.report(asked.method+" result", c.opts.Metamodel.Result(asked.method, m.Result))
		}
	}
}

// failure judges an error object. Ours always say their kind.
func (c *Checker) failure(raw json.RawMessage) {
	var e struct {
		Code    *int    `json:"code"`
		Message *string `json:"message"`
		Data    *struct {
			Kind      *string `json:"kind"`
			Retryable *bool   `json:"retryable"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		c.fault("malformed error: %v: %s", err, raw)
		return
	}
	switch {
	case e.Code == nil || e.Message == nil || *e.Message == "":
		c.fault("an error without code or message: %s", raw)
	case e.Data == nil || e.Data.Kind == nil || *e.Data.Kind == "" || e.Data.Retryable == nil:
		c.fault("an error whose data does not say kind and retryable: %s", raw)
	}
}

func (c *Checker) progress(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value json.RawMessage `json:"value"`
	}
	var value struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Value, &value) != nil {
		c.fault("malformed progress: %s", params)
		return
	}
	t, known := progressKinds[value.Kind]
	if !known {
		c.fault("a progress of the kind %q", value.Kind)
		return
	}
	c.report("$/progress "+value.Kind, roundTrip(p.Value, t))
	token := string(p.Token)
	if !c.created[token] {
		c.fault("progress under the token %s, which neither side has made", token)
	}
	state := c.progresses[token]
	switch {
	case value.Kind == "begin" && state != "":
		c.fault("progress %s is begun twice", token)
	case value.Kind != "begin" && state != "open":
		c.fault("progress %s: %s, but it is not running", token, value.Kind)
	}
	c.progresses[token] = "open"
	if value.Kind == "end" {
		c.progresses[token] = "done"
	}
}

// Finish returns every fault, those of an unfinished connection included. Only
// a connection that was shut down in order must have answered everything.
func (c *Checker) Finish() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shutdown {
		for id, r := range c.asked {
			c.fault("%s (id %s) was never answered", r.method, id)
		}
		for token, state := range c.progresses {
			if state == "open" {
				c.fault("progress %s never ended", token)
			}
		}
	}
	out := c.faults
	c.faults = nil
	slices.Sort(out)
	return out
}
