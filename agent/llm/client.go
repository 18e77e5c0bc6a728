package llm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options are what a [Client] needs beside its profile. The zero value works.
type Options struct {
	// Transport carries the requests instead of the network, e.g. a recorder. It
	// gets the profile's own transport to wrap.
	Transport Wrapper
	Clock     Clock               // nil: the system's
	Jitter    func() float64      // in [0, 1); nil: random
	Prices    PriceTable          // nil: Prices
	Scrub     func(string) string // applied to messages of the endpoint; nil: none
	Log       *slog.Logger        // nil: none. Never sees the key or a body
	UserAgent string              // "": "kaiak"
}

// A Wrapper puts something between a client and the network.
type Wrapper func(network http.RoundTripper) http.RoundTripper

// A Client talks to one endpoint. It is safe for concurrent use.
type Client struct {
	profile Profile
	url     *url.URL
	limits  Timeouts
	http    *http.Client
	clock   Clock
	jitter  func() float64
	prices  PriceTable
	scrub   func(string) string
	log     *slog.Logger
	agent   string

	memory  memory
	limiter *Limiter
	flights flights

	mu    sync.Mutex // guards what follows
	model string     // resolved, "" until it is
}

// New makes a client. Nothing is sent by it.
func New(p Profile, opts Options) (*Client, error) {
	u, err := p.endpoint()
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(p.Key.Reveal(), "\r\n\x00") {
		return nil, fmt.Errorf("the key of model profile %q is not one line", p.Name)
	}
	local := isLoopback(u.Hostname())
	c := &Client{
		profile: p, url: u, limits: p.Timeouts.withDefaults(local),
		clock: opts.Clock, jitter: opts.Jitter, prices: opts.Prices, scrub: opts.Scrub, log: opts.Log, agent: opts.UserAgent,
		model: p.Model,
	}
	c.memory.context = p.ContextWindow
	if c.clock == nil {
		c.clock = systemClock{}
	}
	if c.jitter == nil {
		c.jitter = rand.Float64
	}
	if c.prices == nil {
		c.prices = Prices
	}
	if c.scrub == nil {
		c.scrub = func(s string) string { return s }
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.agent == "" {
		c.agent = "kaiak"
	}
	n := p.Concurrency
	if n == 0 {
		n = 4
		if local { // most local servers work off one request after another
			n = 1
		}
	}
	c.limiter = NewLimiter(n)
	network, err := newTransport(p, u, c.limits.Connect)
	if err != nil {
		return nil, err
	}
	if opts.Transport != nil {
		network = opts.Transport(network)
	}
	c.http = &http.Client{Transport: onlyHost{network, u}, CheckRedirect: checkRedirect(u)}
	return c, nil
}

// Close waits for the requests that run and closes idle connections. Cancel
// their contexts first.
func (c *Client) Close() {
	c.flights.wg.Wait()
	c.http.CloseIdleConnections()
}

// Profile returns the profile the client was made with.
func (c *Client) Profile() Profile { return c.profile }

// Cost returns what usage costs in US dollars, nil while the model or its price
// is not known.
func (c *Client) Cost(u Usage) *float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.prices.Cost(c.model, u)
}

// Limiter returns the endpoint's limiter.
func (c *Client) Limiter() *Limiter { return c.limiter }

// ContextWindow returns the endpoint's context window in tokens, 0 while it is
// not known.
func (c *Client) ContextWindow() int {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	return c.memory.context
}

func (c *Client) maxOutput(r Request) int {
	switch {
	case r.MaxOutput > 0:
		return r.MaxOutput
	case c.profile.MaxOutput > 0:
		return c.profile.MaxOutput
	}
	return 4096
}

// Chat does one turn and streams its deltas to sink, which may be nil. Sink is
// called from Chat's goroutine, in order. The error is an [*Error]. The request
// is closed within a second of ctx's end.
func (c *Client) Chat(ctx context.Context, r Request, sink func(Delta)) (*Response, error) {
	if sink == nil {
		sink = func(Delta) {}
	}
	model, err := c.ResolveModel(ctx)
	if err != nil {
		return nil, err
	}
	body, err := c.encode(r, model)
	if err != nil {
		return nil, &Error{Kind: KindMisconfigured, Host: c.url.Host, Message: err.Error(), Err: err}
	}
	sum := sha256.Sum256(body)
	resp, err := c.flights.do(ctx, hex.EncodeToString(sum[:]), sink, func(ctx context.Context, emit func(Delta)) (*Response, error) {
		return c.attempts(ctx, r, model, body, emit)
	})
	if err != nil {
		return resp, c.asError(err)
	}
	return resp, nil
}

// attempts sends a request until it succeeds or must not be sent again.
func (c *Client) attempts(ctx context.Context, r Request, model string, body []byte, emit func(Delta)) (*Response, error) {
	shrunk := false
	retries := map[Kind]int{}
	for sent, retried := 1, 0; ; sent++ {
		resp, e := c.attempt(ctx, r, model, body, emit)
		if e == nil {
			resp.Attempts = sent
			if shrunk {
				resp.Warnings = append(resp.Warnings, WarnShrunk)
			}
			return resp, nil
		}
		e.Attempts = sent
		c.log.Debug("model turn failed", "host", c.url.Host, "kind", e.Kind, "status", e.Status, "attempt", sent)
		again, wait := false, time.Duration(0)
		switch {
		case ctx.Err() != nil:
		case c.memory.learn(e, body):
			again = true
		case e.Kind == KindContext:
			c.learnContext(e.Context)
			if messages, ok := r.shrink(e.Context); ok && !shrunk {
				r.Messages, again, shrunk = messages, true, true
			}
		case retried < 2:
			most := e.Kind.info().Retries
			if e.mustRetry {
				most = max(most, 1)
			}
			if again = !e.noRetry && retries[e.Kind] < most && e.RetryAfter <= longestWait; again {
				wait = c.backoff(retried, e.RetryAfter)
				retries[e.Kind]++
				retried++
			}
		}
		if !again {
			return nil, e
		}
		emit(Delta{DeltaRestart, string(e.Kind)})
		if wait > 0 {
			if err := sleep(ctx, c.clock, wait); err != nil {
				return nil, err
			}
		}
		next, err := c.encode(r, model)
		if err != nil {
			return nil, err
		}
		body = next
	}
}

func (r Request) shrink(window int) ([]Message, bool) {
	if r.Shrink == nil {
		return nil, false
	}
	return r.Shrink(window)
}

func (c *Client) learnContext(window int) {
	if window <= 0 {
		return
	}
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.memory.context = window
}

// backoff returns how long to wait before the next attempt: what the endpoint
// asks for, else half a second, doubled each time, at most 8 s, less up to a
// quarter so that clients do not come back all at once.
func (c *Client) backoff(retried int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	d := min(500*time.Millisecond<<retried, 8*time.Second)
	return d - time.Duration(float64(d)*0.25*c.jitter())
}

// attempt sends a request once and reads its reply.
func (c *Client) attempt(ctx context.Context, r Request, model string, body []byte, emit func(Delta)) (*Response, *Error) {
	release, err := c.limiter.Acquire(ctx)
	if err != nil {
		return nil, c.transportError(err)
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	w, headers := newWatch(c.clock, c.limits, cancel)
	defer w.stop()

	resp, e := c.send(ctx, http.MethodPost, "/chat/completions", body)
	if e != nil {
		cancel(nil)
		if e.Kind == KindRateLimited {
			c.limiter.Overloaded()
		}
		return nil, e
	}
	headers()
	rd := &reading{acc: newAccumulator(r.toolNames()), emit: emit}
	if e := c.read(resp, w, rd); e != nil {
		if cause := context.Cause(ctx); cause != nil {
			e = c.transportError(cause)
		}
		cancel(nil)
		_ = resp.Body.Close()
		e.Host = c.url.Host
		return nil, e
	}
	c.drain(resp.Body, cancel)
	out, e := c.finish(r, model, rd)
	if e != nil {
		e.Host = c.url.Host
		return nil, e
	}
	c.limiter.Succeeded()
	return out, nil
}

// drain reads what a server sends after its reply, in the background and not
// for long, so that the connection can be used again.
func (c *Client) drain(body io.ReadCloser, cancel context.CancelCauseFunc) {
	c.flights.wg.Add(1) // the caller is a flight, so that this is not a race with Wait
	go func() {
		defer c.flights.wg.Done()
		t := time.AfterFunc(drainTime, func() { cancel(context.Canceled) })
		_, _ = io.CopyN(io.Discard, body, 64<<10)
		t.Stop()
		_ = body.Close()
		cancel(nil)
	}()
}

// drainTime is how long a connection is waited for after its reply is complete.
const drainTime = 200 * time.Millisecond

// send sends one request and returns its response when the status is 200.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, *Error) {
	u := *c.url
	u.Path += path
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, c.transportError(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", c.agent)
	for _, name := range sortedNames(c.profile.Headers) {
		req.Header.Set(name, c.profile.Headers[name])
	}
	if key := c.profile.Key.Reveal(); key != "" {
		if strings.HasSuffix(u.Hostname(), ".azure.com") {
			req.Header.Set("Api-Key", key)
		} else {
			req.Header.Set("Authorization", "Bearer "+key)
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		e := c.transportError(err)
		e.Host = c.url.Host
		return nil, e
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // what came of it is all there is to say
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, &Error{Kind: KindRedirect, Host: c.url.Host, Status: resp.StatusCode}
	}
	w := &wireError{}
	if o, ok := asObject(bytes.TrimPrefix(text, byteOrderMark)); ok {
		if w = decodeError(o); w == nil {
			w = errorFrom(o)
		}
	} else if len(bytes.TrimSpace(text)) > 0 {
		w.Message = "it answered with " + describe(resp, text)
	}
	return nil, c.failed(resp.StatusCode, resp.Header, w)
}

func (c *Client) failed(status int, h http.Header, w *wireError) *Error {
	e := classify(status, h, w, c.clock.Now())
	e.Host = c.url.Host
	e.Message = c.clean(e.Message)
	return e
}

// clean takes the key and whatever Scrub knows out of an endpoint's words.
func (c *Client) clean(s string) string {
	if key := c.profile.Key.Reveal(); len(key) >= 4 {
		s = strings.ReplaceAll(s, key, hidden)
	}
	return c.scrub(s)
}

// transportError makes an error of what went wrong between here and there.
func (c *Client) transportError(err error) *Error {
	e := &Error{Host: c.url.Host, Err: err}
	var t timeout
	var replay interface{ ReplayMiss() string }
	switch {
	case errors.As(err, &t):
		e.Kind, e.Message = t.kind, t.Error()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Kind = KindCancelled
	case errors.As(err, &replay):
		e.Kind, e.Message = KindReplayMiss, replay.ReplayMiss()
	case errors.Is(err, errRedirect):
		e.Kind, e.Message = KindRedirect, "it redirects to another place"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Message = KindTruncated, "the connection ended in the middle of the reply"
	default:
		e.Kind, e.Message = KindNetwork, c.clean(rootMessage(err))
	}
	return e
}

// rootMessage drops the URL that net/http puts around every error: it may hold
// a query that is nobody's business.
func rootMessage(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}

func (c *Client) asError(err error) error {
	var e *Error
	if errors.As(err, &e) {
		if e.Host == "" {
			e.Host = c.url.Host
		}
		return e
	}
	return c.transportError(err)
}
