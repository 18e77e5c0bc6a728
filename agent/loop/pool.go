package loop

import (
	"context"
	"log/slog"
	"sync"

	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/redact"
)

// PoolOptions are what a [Pool] needs.
type PoolOptions struct {
	Profiles llm.Profiles // the first is the default
	Environ  []string     // "NAME=value": values of names that say secret are hidden from models
	// Transport wraps the network of every endpoint, e.g. by a cassette; nil: none.
	Transport llm.Wrapper
	Prices    llm.PriceTable // nil: llm.Prices
	Log       *slog.Logger   // nil: none
}

// A Pool shares endpoints between requests, so that what one request learns of
// an endpoint (how much it bears, what it refuses) the next one knows. It is safe
// for concurrent use.
type Pool struct {
	opts    PoolOptions
	secrets *redact.Rules

	mu      sync.Mutex // guards what follows
	clients map[poolKey]*llm.Client
}

type poolKey struct{ profile, model string }

// NewPool returns a pool. Nothing is sent by it.
func NewPool(opts PoolOptions) *Pool {
	var keys []string
	for _, p := range opts.Profiles {
		keys = append(keys, p.Key.Reveal())
	}
	return &Pool{opts: opts, secrets: redact.New(redact.Options{Values: keys, Environ: opts.Environ}), clients: map[poolKey]*llm.Client{}}
}

// Secrets returns the rules by which the pool's engines hide secrets.
func (p *Pool) Secrets() *redact.Rules { return p.secrets }

// Client returns the client of a profile; profile "" means the first, model ""
// the profile's.
func (p *Pool) Client(profile, model string) (*llm.Client, error) {
	prof, err := p.opts.Profiles.Get(profile)
	if err != nil {
		return nil, err
	}
	if model != "" {
		prof.Model = model
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := poolKey{prof.Name, prof.Model}
	if c := p.clients[key]; c != nil {
		return c, nil
	}
	c, err := llm.New(prof, llm.Options{Transport: p.opts.Transport, Prices: p.opts.Prices, Scrub: p.secrets.Text, Log: p.opts.Log})
	if err != nil {
		return nil, err
	}
	p.clients[key] = c
	return c, nil
}

// Engine makes the engine of one request. It finds out the model's name, which
// may ask the endpoint for its list; the error says for people what is missing.
// Model, Secrets and TextEdits of opts are filled in.
func (p *Pool) Engine(ctx context.Context, profile, model string, opts Options) (*Engine, error) {
	c, err := p.Client(profile, model)
	if err != nil {
		return nil, err
	}
	if _, err := c.ResolveModel(ctx); err != nil {
		return nil, err
	}
	opts.Model, opts.Secrets = c, p.secrets
	opts.TextEdits = opts.TextEdits || c.Profile().TextEdits
	return New(opts), nil
}

// Close waits for what runs and closes connections.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.Close()
	}
}
