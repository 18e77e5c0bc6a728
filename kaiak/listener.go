package kaiak

import (
	"context"
	"encoding/json"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/store"
	"github.com/kaiak/kaiak/workspace"
)

// listener passes what the agent does to the session's stream.
type listener struct {
	request   *request
	progress  Progress
	leftovers []agent.Leftover
	failed    error
	lastPhase string
	lastShown int
}

func (l *listener) Progress(percentage int, phase, description string) {
	if l.progress != nil {
		l.progress.Report(description, percentage)
	}
	// A thousand files need not be a thousand messages.
	if phase == l.lastPhase && percentage < l.lastShown+5 && percentage < 100 {
		return
	}
	l.lastPhase, l.lastShown = phase, percentage
	l.request.session.emit(outgoing{method: StreamProgress, requestID: l.request.id, content: ProgressContent{percentage, phase, description}})
}

func (l *listener) Candidate(c agent.Candidate) {
	if l.failed != nil || l.request.ctx.Err() != nil {
		return
	}
	if err := l.request.propose(c); err != nil {
		l.failed = err
	}
}

func (l *listener) Leftover(left agent.Leftover) { l.leftovers = append(l.leftovers, left) }

// Response and its siblings make the listener an [agent.ModelListener].
func (l *listener) Response(text string, partial bool) {
	l.request.session.emit(outgoing{method: StreamAIResponse, requestID: l.request.id, content: AIResponseContent{Text: text, Partial: partial}})
}

func (l *listener) Thinking(text string) {
	l.request.session.emit(outgoing{method: StreamThinking, requestID: l.request.id, content: ThinkingContent{text}})
}

func (l *listener) ToolCall(id, tool, operation string, parameters json.RawMessage, result *agent.ToolResult) {
	if !json.Valid(parameters) {
		parameters = json.RawMessage("{}")
	}
	r := l.request
	var keep func(*store.Tx) error
	if result != nil && result.Full != "" {
		// The message has only the beginning; tool.output.get gives the rest.
		shown := *result
		shown.ArtifactID = "toolout-" + workspace.SHA256([]byte(r.id + "\x00" + result.Full))[:24]
		result = &shown
		keep = func(tx *store.Tx) error {
			return tx.PutArtifact(store.Artifact{ID: shown.ArtifactID, SessionID: r.session.id, RequestID: r.id, Name: tool,
				MediaType: "text/plain; charset=utf-8", Created: r.session.service.now(), Data: []byte(shown.Full)})
		}
	}
	err := r.session.commit(store.Quick, keep, outgoing{method: StreamToolCall, requestID: r.id,
		content: ToolCallContent{ToolName: tool, Operation: operation, Parameters: parameters, Result: result, ToolCallID: id}})
	if err != nil {
		r.session.service.log.Error("a tool call is lost", "session", r.session.id, "error", err)
	}
}

func (l *listener) Usage(u agent.Usage) {
	data := map[string]any{"usage": u}
	if u.Context != nil {
		data["context"] = u.Context
	}
	l.request.session.emit(outgoing{method: StreamSystem, requestID: l.request.id,
		content: SystemContent{Event: "context_snapshot", RequestID: l.request.id, Data: data}})
}

func (l *listener) Error(code, message, details string, recoverable bool) {
	if code == budgetExceeded {
		l.request.session.emit(outgoing{method: StreamSystem, requestID: l.request.id,
			content: SystemContent{Event: budgetExceeded, RequestID: l.request.id, Reason: message}})
		return
	}
	l.request.session.emit(outgoing{method: StreamError, requestID: l.request.id, content: ErrorContent{ErrorCode: code, Message: message, Details: details, Recoverable: recoverable}})
}

func (l *listener) Ask(ctx context.Context, q agent.Question) (string, bool) {
	return l.request.askUser(ctx, q)
}
