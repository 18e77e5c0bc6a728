package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// A reading is the reading of one response.
type reading struct {
	acc   *accumulator
	think thinkSplitter
	emit  func(Delta)

	answer, reasoning strings.Builder
	finish            string
	sawFinish         bool
	sawDone           bool
	sawDelta          bool
	usage             *wireUsage
	model             string
}

// A watch cancels an attempt that takes too long, with the kind of timeout as
// the cause.
type watch struct {
	limits   Timeouts
	idle     Timer
	progress Timer
	all      []Timer
}

// timeout is the cause of a cancelled attempt.
type timeout struct {
	kind  Kind
	after time.Duration
}

func (t timeout) Error() string { return "no answer within " + t.after.String() }

// newWatch sets the timers that run until the response's headers are there.
func newWatch(clock Clock, limits Timeouts, cancel context.CancelCauseFunc) (w *watch, headers func()) {
	w = &watch{limits: limits}
	set := func(kind Kind, d time.Duration) Timer {
		t := clock.AfterFunc(d, func() { cancel(timeout{kind, d}) })
		w.all = append(w.all, t)
		return t
	}
	set(KindTotal, limits.Total)
	first := set(KindFirstByte, limits.FirstByte)
	return w, func() {
		first.Stop()
		w.idle = set(KindIdle, limits.Idle)
		w.progress = set(KindProgress, limits.Progress)
	}
}

func (w *watch) alive() { w.idle.Reset(w.limits.Idle) }

func (w *watch) moved() { w.progress.Reset(w.limits.Progress) }

func (w *watch) stop() {
	for _, t := range w.all {
		t.Stop()
	}
}

// read reads the body of a response with status 200 to its end.
func (c *Client) read(resp *http.Response, w *watch, r *reading) *Error {
	sse := newSSEReader(resp.Body, w.alive)
	if whole, err := notAStream(sse); err != nil {
		return c.transportError(err)
	} else if whole {
		return c.readWhole(resp, sse, r)
	}
	for {
		ev, err := sse.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTooLarge):
			return &Error{Kind: KindTooLarge, Message: "a line of the stream is longer than any reply", Err: err}
		case err != nil:
			return c.transportError(err)
		case ev.Comment:
			continue
		}
		values, done, ok := splitValues(ev.Data)
		for _, raw := range values {
			if e := c.readChunk(resp.Header, raw, ev.Type, w, r); e != nil {
				return e
			}
		}
		if done {
			r.sawDone = true
			return nil
		}
		if !ok {
			if ev.Type == "error" {
				return c.failed(resp.StatusCode, resp.Header, &wireError{Message: string(ev.Data)})
			}
			if _, err := sse.next(); errors.Is(err, io.EOF) || err != nil && !errors.Is(err, errTooLarge) {
				return &Error{Kind: KindTruncated, Message: "the stream ended in the middle of a chunk"}
			}
			return &Error{Kind: KindBadResponse, Message: "a chunk of the stream is not JSON: " + clip(string(ev.Data[:min(len(ev.Data), 200)]))}
		}
	}
}

// readChunk takes in one JSON value.
func (c *Client) readChunk(h http.Header, raw []byte, eventType string, w *watch, r *reading) *Error {
	ch, ok := decodeChunk(raw)
	if !ok {
		if eventType == "error" {
			return c.failed(200, h, &wireError{Message: asString(raw)})
		}
		return nil // a bare null or number: no server means anything by it
	}
	if ch.Err == nil && eventType == "error" {
		var o object
		_ = json.Unmarshal(raw, &o) // decodeChunk did it already
		ch.Err = errorFrom(o)
	}
	if ch.Model != "" {
		r.model = ch.Model
	}
	if ch.Usage != nil {
		r.usage = ch.Usage // the last one wins: servers repeat it, and some send it with every chunk
	}
	for _, choice := range ch.Choices {
		d := choice.Delta
		if d.Content != "" || d.Reasoning != "" || d.Refusal != "" || len(d.Calls) > 0 {
			r.sawDelta = true
			w.moved()
		}
		if err := r.acc.add(d); err != nil {
			return &Error{Kind: KindTooLarge, Message: "the reply does not end", Err: err}
		}
		r.take(d)
		// Servers send "" and "null" for "not yet", and some a second reason in the
		// usage chunk: the first real one counts.
		if choice.Finish != "" && choice.Finish != "null" && (!r.sawFinish || choice.Finish == "error") {
			r.sawFinish, r.finish = true, choice.Finish
		}
	}
	if ch.Err != nil {
		return c.failed(200, h, ch.Err)
	}
	return nil
}

// take splits a delta into answer and reasoning and passes both on.
func (r *reading) take(d delta) {
	answer, thought := r.think.add(d.Content)
	r.put(answer, d.Reasoning+thought)
	if len(d.Calls) > 0 {
		r.emit(Delta{Kind: DeltaCall})
	}
}

func (r *reading) put(answer, thought string) {
	if thought != "" {
		r.reasoning.WriteString(thought)
		r.emit(Delta{DeltaReasoning, thought})
	}
	if answer != "" {
		r.answer.WriteString(answer)
		r.emit(Delta{DeltaText, answer})
	}
}

// notAStream peeks at the body: no line of an event stream begins with a brace,
// a bracket or an angle bracket, and every JSON or HTML body does.
func notAStream(s *sseReader) (bool, error) {
	if s.fill() {
		s.buf = append(s.buf[:0:cap(s.buf)], s.buf...)
		rest := bytes.TrimPrefix(s.buf[s.at:], byteOrderMark)
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if len(rest) == 0 && len(s.buf) < len(byteOrderMark)+1 {
			return false, nil // too little to tell; an event stream copes with anything
		}
		return len(rest) > 0 && (rest[0] == '{' || rest[0] == '<' || rest[0] == '['), nil
	}
	if errors.Is(s.err, io.EOF) {
		return false, nil
	}
	return false, s.err
}

// readWhole reads a body that is not a stream although one was asked for: a
// completion is taken, an error or a web page is not.
func (c *Client) readWhole(resp *http.Response, s *sseReader, r *reading) *Error {
	body, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(s.buf[s.at:]), s.src), maxBody+1))
	if err != nil {
		return c.transportError(err)
	}
	if len(body) > maxBody {
		return &Error{Kind: KindTooLarge, Message: "the body is larger than any reply", Err: errTooLarge}
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	ch, ok := decodeChunk(bytes.TrimSpace(body))
	switch {
	case !ok:
		return &Error{Kind: KindBadResponse, Status: resp.StatusCode, Message: "it answered with " + describe(resp, body)}
	case ch.Err != nil:
		return c.failed(resp.StatusCode, resp.Header, ch.Err)
	case len(ch.Choices) == 0:
		return &Error{Kind: KindBadResponse, Status: resp.StatusCode, Message: "it answered with JSON that is no completion"}
	}
	r.sawDone = true
	return c.readChunk(resp.Header, bytes.TrimSpace(body), "", &watch{progress: noTimer{}, idle: noTimer{}}, r)
}

type noTimer struct{}

func (noTimer) Reset(time.Duration) bool { return false }
func (noTimer) Stop() bool               { return false }

// describe says what a body is, with its title when it is a web page.
func describe(resp *http.Response, body []byte) string {
	lower := bytes.ToLower(body)
	if i := bytes.Index(lower, []byte("<title>")); i >= 0 {
		if j := bytes.Index(lower[i:], []byte("</title>")); j > 0 {
			return "a web page titled " + string(quote(clip(string(body[i+7:i+j]))))
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(lower), []byte("<")) {
		return "a web page"
	}
	t := resp.Header.Get("Content-Type")
	if t == "" {
		t = "unknown content"
	}
	return t + " " + string(quote(clip(string(body[:min(len(body), 200)]))))
}
