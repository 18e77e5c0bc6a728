package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/prompt"
	"github.com/kaiak/kaiak/agent/redact"
	"github.com/kaiak/kaiak/agent/tool"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// A conversation is the work on one batch. It runs on one goroutine.
type conversation struct {
	engine  *Engine
	job     agent.ModelJob
	file    *workspace.File // the text that proposals are against
	batch   []incidents.Incident
	reasons map[string]string

	tree    *treesitter.Tree
	refs    prompt.References
	prompt  prompt.Prompt
	hide    *redact.Run
	box     *tool.Box
	track   tracker
	history []exchange

	budget                   int // tokens of the prompt
	turns, maxTurns          int
	formats, applies, repair int
	ambiguous                bool
	truncated                bool
	text                     bool // text blocks instead of tool calls

	recorded    int    // how many messages the audit log has
	recordedSum string // of them

	// The outcome: a candidate, or leftovers, or tooLong.
	candidate *agent.Candidate
	outcome   []byte // what the candidate makes of the file
	edits     []workspace.Edit
	leftovers []agent.Leftover
	tooLong   bool
}

// An exchange is one turn of the model and what it was answered.
type exchange []llm.Message

// over reports whether the conversation has an outcome.
func (c *conversation) over() bool {
	return c.candidate != nil || c.leftovers != nil || c.tooLong
}

// stop ends the conversation without a candidate.
func (c *conversation) stop(v agent.Verdict, kind rules.RefusalKind, format string, args ...any) {
	if !c.over() {
		c.leftovers = leave(c.batch, v, kind, format, args...)
	}
}

// converse works off one batch. The error is ctx's or one with which the model
// cannot be used at all.
func (e *Engine) converse(ctx context.Context, job agent.ModelJob, file *workspace.File, batch []incidents.Incident, reasons map[string]string) (*conversation, error) {
	c := &conversation{engine: e, job: job, file: file, batch: batch, reasons: reasons, hide: e.opts.Secrets.Run(), maxTurns: e.opts.Limits.Turns, text: e.opts.TextEdits}
	if lang := treesitter.ForPath(file.Path); lang != nil {
		tree, err := treesitter.Parse(ctx, lang, file.Text)
		if err != nil {
			return nil, err
		}
		c.tree = tree
	}
	var err error
	if c.refs, err = prompt.Gather(ctx, job.Workspace, file, c.tree, batch); err != nil {
		return nil, err
	}
	budget := e.opts.Limits.Prompt
	if window := e.opts.Model.ContextWindow(); window > 0 {
		budget = min(budget, room(window, e.opts.Limits.Output))
	}
	c.budget = budget
	if c.prompt, err = c.build(budget); err != nil {
		return nil, err
	}
	c.truncated = c.prompt.Truncated
	env := tool.Env{
		Workspace: job.Workspace, Overlay: map[string]*workspace.File{file.Path: file},
		Propose: c.propose, Redact: c.hide.Text, Ask: c.askUser,
	}
	c.box = tool.NewBox(env)
	for !c.over() {
		if err := c.turn(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// room returns how many tokens of a context window a prompt may take.
func room(window, output int) int {
	const margin = 1000
	return max(window-min(output, window/2)-margin, window/4)
}

func (c *conversation) build(budget int) (prompt.Prompt, error) {
	var hints []string
	if c.engine.opts.Hints != nil {
		seen := map[string]bool{}
		for _, in := range c.batch {
			if !seen[in.RuleID] {
				seen[in.RuleID] = true
				hints = append(hints, c.engine.opts.Hints(in.RuleID)...)
			}
		}
	}
	return prompt.Build(prompt.Request{
		File: c.file, Tree: c.tree, Incidents: c.batch, Reasons: c.reasons, Context: c.job.Context, Comment: c.job.Comment,
		Hints: hints, References: c.refs, Budget: budget, Text: c.text, Hide: c.hide.Text,
	})
}

// messages returns what is sent: the prompt and as much of the history as fits,
// the newest first. An exchange is kept whole or not at all, because a call
// without its answer is an invalid request.
func (c *conversation) messages(budget int) []llm.Message {
	out := []llm.Message{llm.System(c.prompt.System), llm.User(c.prompt.User)}
	size := c.prompt.Tokens()
	from := len(c.history)
	for from > 0 {
		n := 0
		for _, m := range c.history[from-1] {
			n += llm.RoughTokens(len(m.Content)) + 10
			for _, call := range m.ToolCalls {
				n += llm.RoughTokens(len(call.Function.Arguments)) + 10
			}
		}
		if size += n; size > budget && from < len(c.history) {
			break
		}
		from--
	}
	for _, x := range c.history[from:] {
		out = append(out, x...)
	}
	return out
}

// turn asks the model once and acts on its reply.
func (c *conversation) turn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.turns >= c.maxTurns {
		if !c.goOn(ctx, fmt.Sprintf("the model was asked %d times", c.turns)) {
			return ctx.Err()
		}
		c.maxTurns += c.engine.opts.Limits.Turns
	}
	lim := c.engine.opts.Limits
	// What the tools brought may be half as much again as the prompt.
	r := llm.Request{Messages: c.messages(lim.Prompt * 3 / 2), MaxOutput: lim.Output}
	sent := r.Messages
	r.Shrink = func(window int) ([]llm.Message, bool) {
		shrunk, ok := c.shrink(window)
		if ok {
			sent = shrunk
		}
		return shrunk, ok
	}
	if !c.text {
		r.Tools, r.ToolChoice = c.box.Definitions(), "auto"
	}
	settle, ok := c.afford(ctx, r)
	if !ok {
		return ctx.Err()
	}
	c.turns++
	c.audit("request", "", render(c.news(r.Messages)))
	resp, err := c.engine.opts.Model.Chat(ctx, r, c.stream)
	if err != nil {
		settle(llm.Usage{}, nil)
		return c.failed(ctx, err)
	}
	settle(resp.Usage, resp.Cost)
	r.Messages = sent
	c.job.Stream.Usage(agent.Usage{Model: resp.Model, Input: resp.Usage.Input + resp.Usage.CacheWrite, Output: resp.Usage.Output,
		CacheRead: resp.Usage.CacheRead, Reasoning: resp.Usage.Reasoning, Estimated: resp.Usage.Estimated, CostUSD: resp.Cost,
		Context: c.snapshot(r, resp.Message)})
	c.audit("response", resp.Model, resp.Text+renderCalls(resp.Calls))
	for _, w := range resp.Warnings {
		if w == llm.WarnSilentTruncation || w == llm.WarnShrunk {
			c.truncated = true
		}
	}
	if resp.Text != "" {
		c.job.Stream.Response("", false)
	}
	answer := exchange{resp.Message}
	if len(resp.Calls) > 0 {
		answer = append(answer, c.calls(ctx, resp.Calls)...)
	} else {
		answer = append(answer, c.prose(ctx, resp.Text)...)
	}
	c.history = append(c.history, answer)
	return ctx.Err()
}

// afford reserves what the next call may take. When a cap is in the way it asks
// the user, and stops where there is nobody or the answer is no.
func (c *conversation) afford(ctx context.Context, r llm.Request) (settle func(llm.Usage, *float64), ok bool) {
	size := 0
	for _, m := range r.Messages {
		size += len(m.Content)
		for _, call := range m.ToolCalls {
			size += len(call.Function.Arguments)
		}
	}
	est := llm.Usage{Input: llm.RoughTokens(size), Output: r.MaxOutput}
	ledger := c.engine.opts.Ledger
	tokens, cost := ledger.Caps()
	for {
		settle, err := ledger.Reserve(est.Total(), c.engine.opts.Model.Cost(est))
		if err == nil {
			return settle, true
		}
		if !c.goOn(ctx, err.Error()) {
			return nil, false
		}
		ledger.Raise(max(tokens, est.Total()), cost)
	}
}

// goOn asks whether to go on although a limit is reached.
func (c *conversation) goOn(ctx context.Context, limit string) bool {
	const yes, no = "Continue", "Stop"
	answer, answered := c.job.Stream.Ask(ctx, agent.Question{Kind: "choice", Prompt: fmt.Sprintf("%s: %s. Continue?", c.file.Path, limit), Choices: []string{yes, no}})
	if answered && answer == yes {
		return true
	}
	c.job.Stream.Error(string(BudgetExceeded), c.file.Path+": "+limit, "", true)
	c.stop(agent.Skipped, BudgetExceeded, "stopped at a limit: %s; start the fix again to go on", limit)
	return false
}

// shrink makes the request fit a context window that the endpoint told.
func (c *conversation) shrink(window int) ([]llm.Message, bool) {
	lim := c.engine.opts.Limits
	budget := lim.Prompt / 2 // it did not say how large
	if window > 0 {
		budget = min(room(window, lim.Output), budget*2)
	}
	p, err := c.build(budget)
	if err != nil || p.Tokens() >= c.prompt.Tokens() && len(c.history) == 0 {
		return nil, false
	}
	c.prompt, c.truncated = p, true
	if len(c.history) > 1 { // the last exchange is what it is to answer to
		c.history = c.history[len(c.history)-1:]
	}
	return c.messages(budget), true
}

// noTools finds how endpoints say that a model calls no tools.
var noTools = regexp.MustCompile(`(?i)not support(?:ed)? (?:tool|function)|(?:tool|function)s?(?: call(?:s|ing)?)? (?:is|are) not supported|tool choice requires|no endpoints found that support tool`)

// failed turns a failed call into an outcome, or returns what ends everything.
func (c *conversation) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.KindRejected && !c.text && noTools.MatchString(e.Message) {
		c.text = true
		p, err := c.build(c.budget)
		c.prompt, c.history = p, nil
		return err
	}
	if !errors.As(err, &e) || fatal[e.Kind] {
		c.job.Stream.Error("model_unusable", err.Error(), "", false)
		return err
	}
	c.job.Stream.Error(string(e.Kind), e.Error(), e.Code, true)
	switch e.Kind {
	case llm.KindOutput:
		if c.tooLong = len(c.batch) > 1; !c.tooLong {
			c.stop(agent.Failed, EndpointFailed, "%v", err)
		}
	case llm.KindRefusal, llm.KindFilter:
		c.stop(agent.Unfixed, Declined, "%v", err)
	default:
		c.stop(agent.Failed, EndpointFailed, "%v", err)
	}
	return nil
}

// stream passes the model's deltas on. Its words go to the user as they are, but
// without what looks like a secret.
func (c *conversation) stream(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaText:
		c.job.Stream.Response(c.engine.opts.Secrets.Text(d.Text), true)
	case llm.DeltaReasoning:
		c.job.Stream.Thinking(c.engine.opts.Secrets.Text(d.Text))
	case llm.DeltaRestart:
		c.job.Stream.Error("model_retry", "the request is sent again: "+d.Text, "", true)
	}
}

// calls runs the calls of one turn, in order, and returns one answer for each.
func (c *conversation) calls(ctx context.Context, calls []llm.Call) []llm.Message {
	var out []llm.Message
	bad := false
	for _, call := range calls {
		switch {
		case c.over():
			out = append(out, llm.Tool(call.ID, "not run: the task has ended"))
			continue
		case call.Invalid != "":
			bad = true
			c.job.Stream.ToolCall(call.ID, call.Name, "failed", call.Arguments, &agent.ToolResult{Data: call.Invalid})
			out = append(out, llm.Tool(call.ID, "Error: "+call.Invalid))
			continue
		}
		shown := json.RawMessage(c.engine.opts.Secrets.Text(string(call.Arguments)))
		c.job.Stream.ToolCall(call.ID, call.Name, "start", shown, nil)
		r := c.box.Run(ctx, call.ID, call.Name, call.Arguments)
		operation := "complete"
		switch {
		case r.Denied:
			operation = "denied"
		case !r.OK:
			operation = "failed"
		}
		c.job.Stream.ToolCall(call.ID, call.Name, operation, shown, &agent.ToolResult{Success: r.OK, Data: r.Text, ArtifactID: r.Artifact, Full: c.box.Artifact(r.Artifact)})
		c.audit("tool_call", call.Name, string(shown)+"\n"+r.Text)
		if c.track.call(call.Name, string(call.Arguments), r.Text) && !c.over() {
			c.stop(agent.Unfixed, Looping, "the model repeats itself: it called %s with the same arguments or in a circle %d times", call.Name, repeats)
		}
		text := r.Text
		if call.Name != "propose_edits" {
			text = c.prompt.Fence(text)
		}
		out = append(out, llm.Tool(call.ID, text))
	}
	if bad {
		c.malformed("")
	}
	return out
}

// malformed counts a reply that is no proposal, and stops when it was one too
// many.
func (c *conversation) malformed(why string) {
	if c.formats++; c.formats > c.engine.opts.Limits.Format {
		if why == "" {
			why = "its tool calls were malformed"
		}
		c.stop(agent.Unfixed, Unusable, "the model gave no usable proposal: %s", why)
	}
}

// askUser implements tool.Asker.
func (c *conversation) askUser(ctx context.Context, question string, choices []string) (string, bool) {
	kind := "input"
	if len(choices) > 0 {
		kind = "choice"
	}
	return c.job.Stream.Ask(ctx, agent.Question{Kind: kind, Prompt: prompt.Neutral(question), Choices: choices})
}

func (c *conversation) audit(kind, name, text string) {
	auditor, ok := c.job.Stream.(agent.ModelAuditor)
	if !ok {
		return
	}
	text = c.engine.opts.Secrets.Text(text)
	auditor.Audit(agent.ModelRecord{Kind: kind, Path: c.file.Path, Turn: c.turns, Name: name, SHA256: digest(text), Text: text})
}

// news returns the messages that were not recorded yet: all of them when the
// request does not go on from the one before.
func (c *conversation) news(list []llm.Message) []llm.Message {
	sum := digest(render(list[:min(c.recorded, len(list))]))
	fresh := list
	if c.recorded > 0 && c.recorded <= len(list) && sum == c.recordedSum {
		fresh = list[c.recorded:]
	}
	c.recorded, c.recordedSum = len(list), digest(render(list))
	return fresh
}

// render writes messages for the audit log.
func render(list []llm.Message) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "[%s]\n%s\n", m.Role, m.Content)
		for _, call := range m.ToolCalls {
			fmt.Fprintf(&b, "[call %s %s]\n%s\n", call.ID, call.Function.Name, call.Function.Arguments)
		}
	}
	return b.String()
}

func renderCalls(list []llm.Call) string {
	var b strings.Builder
	for _, call := range list {
		fmt.Fprintf(&b, "\n[call %s %s]\n%s", call.ID, call.Name, call.Arguments)
	}
	return b.String()
}
