package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kaiak/kaiak/kaiak"
)

// Bounds of what one message may look like.
const (
	maxDepth    = 512     // nesting of arrays and objects; real messages stay below 40
	maxID       = 256     // bytes of a request id that is echoed
	maxMethod   = 256     // bytes of a method name
	maxBatch    = 100     // messages in one batch
	maxKeyBytes = 16      // longest envelope key we know is 7 bytes
	nullID      = "null"  // id of an answer to a message whose own id is unknown
	version     = `"2.0"` // the only value of "jsonrpc"
)

// An envelope is what the top level of one JSON-RPC message says. It is filled
// by [envelope.feed]ing it the message, whole or piece by piece, so
// that the method and id of a message that is too big to keep are still known.
//
// It is not a validator: of malformed JSON it may report anything, but it never
// fails and never keeps more than a few hundred bytes.
type envelope struct {
	batch    bool // the top level is an array
	notJSON  bool // the top level is neither object nor array
	deep     bool // nested beyond maxDepth
	twice    string
	unknown  bool // a member that JSON-RPC does not define
	jsonrpc  []byte
	id       []byte // raw JSON; nil when there is none or it was too long
	method   []byte // raw JSON string
	hasID    bool
	longID   bool
	hasMeth  bool
	params   byte // first byte of the value, 0: absent
	hasReply bool // "result" or "error"

	started  bool
	depth    int
	inString bool
	escaped  bool
	key      []byte
	keyLong  bool
	inKey    bool
	inValue  bool
	seen     [6]bool // by the order of members
	capture  *[]byte
	limit    int
}

// members is the envelope's vocabulary, in the order of envelope.seen.
var members = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

// parseEnvelope reads the envelope of a whole message.
func parseEnvelope(msg []byte) *envelope {
	e := new(envelope)
	e.feed(msg)
	return e
}

// feed takes the next bytes of the message.
func (e *envelope) feed(p []byte) {
	for _, c := range p {
		if e.notJSON {
			return
		}
		e.next(c)
	}
}

func (e *envelope) next(c byte) {
	if e.inString {
		e.keep(c)
		switch {
		case e.escaped:
			e.escaped = false
		case c == '\\':
			e.escaped = true
		case c == '"':
			e.inString = false
			e.inKey = false
		}
		return
	}
	switch c {
	case ' ', '\t', '\r', '\n':
		return
	}
	if !e.started {
		e.started = true
		e.batch = c == '['
		e.notJSON = c != '{' && c != '['
		e.depth = 1
		return
	}
	top := e.depth == 1 && !e.batch
	switch c {
	case '"':
		if top && !e.inValue {
			e.key, e.keyLong, e.inKey = e.key[:0], false, true
		} else if top {
			e.begin(c)
		}
		e.inString = true
		if !e.inKey {
			e.keep(c)
		}
	case ':':
		if top {
			e.value()
		}
	case ',':
		if top {
			e.end()
		}
	case '{', '[':
		if top {
			e.begin(c)
		}
		e.depth++
		if e.depth > maxDepth {
			e.deep = true
		}
	case '}', ']':
		if top {
			e.end()
		}
		if e.depth > 0 {
			e.depth--
		}
	default:
		if top {
			e.begin(c)
			e.keep(c)
		}
	}
}

// keep records c for the key or the value that is being captured.
func (e *envelope) keep(c byte) {
	switch {
	case e.inKey && len(e.key) < maxKeyBytes:
		e.key = append(e.key, c)
	case e.inKey:
		e.keyLong = true
	case e.capture != nil && len(*e.capture) < e.limit:
		*e.capture = append(*e.capture, c)
	case e.capture == &e.id:
		e.longID = true
	}
}

// value is called at the colon after a key of the top level.
func (e *envelope) value() {
	e.inValue = true
	name := string(bytes.TrimSuffix(e.key, []byte{'"'}))
	member := -1
	for i, m := range members {
		if m == name && !e.keyLong {
			member = i
		}
	}
	if member < 0 {
		e.unknown = true
		return
	}
	if e.seen[member] {
		e.twice = name
	}
	e.seen[member] = true
	switch name {
	case "jsonrpc":
		e.capture, e.limit = &e.jsonrpc, len(version)+1
	case "id":
		e.hasID = true
		e.capture, e.limit = &e.id, maxID
	case "method":
		e.hasMeth = true
		e.capture, e.limit = &e.method, maxMethod
	case "result", "error":
		e.hasReply = true
	}
	if e.capture != nil {
		*e.capture = (*e.capture)[:0]
	}
}

// begin is called at the first byte of a value of the top level.
func (e *envelope) begin(c byte) {
	if e.seen[3] && e.params == 0 && string(e.key) == `params"` {
		e.params = c
	}
	if e.capture != nil && (c == '{' || c == '[') {
		*e.capture = append((*e.capture)[:0], c) // not a scalar: only its kind matters
		e.capture = nil
	}
}

// end is called after a value of the top level.
func (e *envelope) end() { e.inValue, e.capture = false, nil }

// reply reports whether the message answers one of our own requests.
func (e *envelope) reply() bool { return !e.hasMeth && e.hasReply }

// request reports whether the message asks for an answer.
func (e *envelope) request() bool { return e.hasMeth && e.hasID }

// name returns the method, "" when there is none or it is not a string.
func (e *envelope) name() string {
	var s string
	if len(e.method) >= maxMethod || json.Unmarshal(e.method, &s) != nil {
		return ""
	}
	return s
}

// echo returns the id to answer with: the message's own where it is one that
// JSON-RPC allows, else null.
func (e *envelope) echo() json.RawMessage {
	if e.hasID && !e.longID && len(e.id) > 0 && json.Valid(e.id) {
		switch c := e.id[0]; {
		case c == '"', c == '-', c >= '0' && c <= '9':
			return bytes.Clone(e.id)
		}
	}
	return json.RawMessage(nullID)
}

// check reports what is wrong with a message that is valid JSON, nil when it
// can be dispatched. Replies are not checked here.
func (e *envelope) check() *fault {
	bad := func(format string, args ...any) *fault {
		return &fault{code: kaiak.InvalidRequest, id: e.echo(), reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case e.notJSON:
		return bad("a message is a JSON object")
	case e.deep:
		return bad("the message is nested more than %d levels deep", maxDepth)
	case e.twice != "":
		return bad("the member %q occurs twice", e.twice)
	case string(e.jsonrpc) != version:
		return bad(`the member "jsonrpc" must be "2.0"`)
	case e.hasMeth && e.hasReply:
		return bad(`a message has either "method" or a "result" or "error", not both`)
	case !e.hasMeth && !e.hasReply:
		return bad(`the message has neither "method" nor "result" nor "error"`)
	case e.hasMeth && e.name() == "":
		return bad(`the member "method" must be a string of 1 to %d bytes`, maxMethod-2)
	case e.hasID && string(e.echo()) == nullID:
		return bad(`the member "id" must be a number or a string of at most %d bytes; a notification has none`, maxID)
	case e.params != 0 && e.params != '{' && e.params != '[' && e.params != 'n':
		return bad(`the member "params" must be an object or an array`)
	}
	return nil
}

// idKey returns the form of an id by which requests are told apart: 1 and "1"
// differ, "a" and "\u0061" do not.
func idKey(id json.RawMessage) string {
	var s string
	if json.Unmarshal(id, &s) == nil {
		return `"` + s
	}
	return string(bytes.TrimSpace(id))
}
