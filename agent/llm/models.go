package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// A Model is what an endpoint lists.
type Model struct {
	ID            string
	ContextWindow int // tokens, 0 when the endpoint does not say
}

// Models returns the models that the endpoint lists, sorted by name.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w, headers := newWatch(c.clock, c.limits, cancel)
	defer w.stop()
	resp, e := c.send(ctx, http.MethodGet, "/models", nil)
	if e != nil {
		return nil, e
	}
	defer resp.Body.Close()
	headers()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, c.transportError(err)
	}
	o, ok := asObject(body)
	if !ok || o["data"] == nil && o["models"] == nil {
		return nil, &Error{Kind: KindBadResponse, Host: c.url.Host, Status: resp.StatusCode, Message: "its list of models is " + describe(resp, body)}
	}
	list := asList(o["data"])
	if list == nil {
		list = asList(o["models"])
	}
	var out []Model
	for _, raw := range list {
		m, ok := asObject(raw)
		if !ok {
			continue
		}
		id := asString(m["id"])
		if id == "" {
			id = asString(m["name"])
		}
		if id != "" {
			out = append(out, Model{id, contextOf(m)})
		}
	}
	slices.SortFunc(out, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// contextOf finds the context window among the names servers give it.
func contextOf(m object) int {
	for _, name := range []string{"context_length", "max_model_len", "context_window", "max_context_length", "loaded_context_length"} {
		if n, ok := asInt(m[name]); ok && n > 0 {
			return n
		}
	}
	if meta, ok := asObject(m["meta"]); ok { // llama.cpp
		for _, name := range []string{"n_ctx", "n_ctx_train"} {
			if n, ok := asInt(meta[name]); ok && n > 0 {
				return n
			}
		}
	}
	return 0
}

// ResolveModel returns the model that requests name: the profile's, else the
// only one that the endpoint lists.
func (c *Client) ResolveModel(ctx context.Context) (string, error) {
	c.mu.Lock()
	model := c.model
	c.mu.Unlock()
	if model != "" {
		return model, nil
	}
	models, err := c.Models(ctx)
	if err != nil {
		return "", fmt.Errorf("no model is set, and the endpoint's list cannot be read: set %s or the model setting: %w", EnvModel, err)
	}
	if len(models) != 1 {
		var names []string
		for _, m := range models[:min(len(models), 10)] {
			names = append(names, m.ID)
		}
		return "", &Error{Kind: KindMisconfigured, Host: c.url.Host,
			Message: fmt.Sprintf("no model is set and the endpoint lists %d (%s): set %s or the model setting", len(models), strings.Join(names, ", "), EnvModel)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model = models[0].ID
	if c.memory.context == 0 {
		c.learnContext(models[0].ContextWindow)
	}
	return c.model, nil
}

// A Report is what [Client.Probe] found, with what to do about it.
type Report struct {
	Host          string
	Model         string
	ContextWindow int  // tokens, 0 unknown
	ToolCalls     bool // the model calls a tool when asked to
	Findings      []Finding
}

// A Finding is one check of a [Report].
type Finding struct {
	Check  string // "endpoint", "model", "tools", "context"
	OK     bool
	Detail string // what was found; when not OK, what to do
}

// smallContext is the window in tokens below which context has to be cut hard.
const smallContext = 16_000

// Probe checks that the endpoint answers, which model it serves, whether that
// calls tools, and how much context it has. It sends two requests, neither with
// anything of the user's.
func (c *Client) Probe(ctx context.Context) Report {
	rep := Report{Host: c.url.Host}
	add := func(check string, ok bool, format string, args ...any) {
		rep.Findings = append(rep.Findings, Finding{check, ok, fmt.Sprintf(format, args...)})
	}
	models, listErr := c.Models(ctx)
	if listErr == nil {
		add("endpoint", true, "%s lists %d models", rep.Host, len(models))
	}
	model, err := c.ResolveModel(ctx)
	if err != nil {
		add("model", false, "%v", err)
		return rep
	}
	rep.Model = model
	for _, m := range models {
		if m.ID == model {
			rep.ContextWindow = m.ContextWindow
		}
	}
	resp, err := c.Chat(ctx, Request{
		Messages:   []Message{User("Call the tool ping with the argument text set to \"pong\".")},
		Tools:      []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "ping", Description: "Answers.", Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}}},
		ToolChoice: "auto", MaxOutput: 512,
	}, nil)
	var e *Error
	switch {
	case errors.As(err, &e) && (e.Kind == KindRejected || e.Kind == KindServer) && strings.Contains(strings.ToLower(e.Message), "tool"):
		add("tools", false, "%s does not support tool calls (%s); edits will be asked for as text blocks", model, e.Message)
		return rep
	case err != nil:
		add("endpoint", false, "%v", err)
		return rep
	}
	if listErr != nil {
		add("endpoint", true, "%s answers", rep.Host)
	}
	add("model", true, "%s", resp.Model)
	rep.ToolCalls = len(resp.Calls) == 1 && resp.Calls[0].Invalid == ""
	if rep.ToolCalls {
		add("tools", true, "%s calls tools", model)
	} else {
		add("tools", false, "%s answered without calling the tool; use a model that is trained for tool calls, or edits will be asked for as text blocks", model)
	}
	if rep.ContextWindow == 0 {
		rep.ContextWindow = c.ContextWindow()
	}
	switch {
	case rep.ContextWindow == 0:
		add("context", true, "the endpoint does not say how large its context window is; for Ollama set OLLAMA_CONTEXT_LENGTH to at least %d", smallContext)
	case rep.ContextWindow < smallContext:
		add("context", false, "the context window of %d tokens is small; raise it to at least %d (llama.cpp: -c, Ollama: OLLAMA_CONTEXT_LENGTH)", rep.ContextWindow, smallContext)
	default:
		add("context", true, "%d tokens", rep.ContextWindow)
	}
	return rep
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
