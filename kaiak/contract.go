package kaiak

import (
	"time"

	"github.com/kaiak/kaiak/incidents"
)

// This file holds the params and results of seed methods of the contract. A
// member without omitempty is required of a client, and always there in an answer.

// SessionCreateParams are the params of session.create.
type SessionCreateParams struct {
	WorkspacePath string               `json:"workspace_path" jsonschema:"description=Absolute path or file URI of the workspace"`
	SessionName   string               `json:"session_name,omitempty"`
	Configuration SessionConfiguration `json:"configuration,omitzero"`
}

// SessionConfiguration is what one session sets for itself.
type SessionConfiguration struct {
	Provider string   `json:"provider,omitempty"`
	Model    string   `json:"model,omitempty"`
	Timeout  int      `json:"timeout,omitempty" jsonschema:"description=Seconds that a question waits for its answer"`
	MaxTurns int      `json:"max_turns,omitempty"`
	Engines  []string `json:"engines,omitempty" jsonschema:"description=recipe and model in the order to try"`
	Approval string   `json:"approval,omitempty" jsonschema:"enum=ask,enum=defer"`
}

// SessionCreateResult is the result of session.create.
type SessionCreateResult struct {
	SessionID string    `json:"session_id"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
}

// SessionParams name a session.
type SessionParams struct {
	SessionID string `json:"session_id"`
}

// SessionTerminateResult is the result of session.terminate.
type SessionTerminateResult struct {
	SessionID    string    `json:"session_id"`
	Status       string    `json:"status"`
	MessageCount int       `json:"message_count"`
	TerminatedAt time.Time `json:"terminated_at"`
}

// SessionStatusResult is the result of session.status.
type SessionStatusResult struct {
	SessionID           string    `json:"session_id"`
	Status              string    `json:"status"` // created, ready, processing, waiting_for_user, completed, failed, terminated
	ActiveRequestID     string    `json:"active_request_id,omitempty"`
	MessageCount        int       `json:"message_count"`
	ErrorCount          int       `json:"error_count"`
	CreatedAt           time.Time `json:"created_at"`
	UpdatedAt           time.Time `json:"updated_at"`
	SessionName         string    `json:"session_name,omitempty"`
	WorkspacePath       string    `json:"workspace_path,omitempty"`
	ActiveRequestIDs    []string  `json:"active_request_ids"`
	PendingProposals    int       `json:"pending_proposals"`
	PendingInteractions int       `json:"pending_interactions"`
	LastSequence        int64     `json:"last_sequence"`
}

// FixGenerateParams are the params of fix.generate.
type FixGenerateParams struct {
	SessionID        string          `json:"session_id"`
	Incidents        []IncidentParam `json:"incidents"`
	MigrationContext map[string]any  `json:"migration_context,omitempty"`
	Approval         string          `json:"approval,omitempty" jsonschema:"enum=ask,enum=defer,description=ask puts a question per proposal (default); defer leaves proposals pending"`
	Engines          []string        `json:"engines,omitempty" jsonschema:"description=recipe and model in the order to try"`
	ClientRequestID  string          `json:"client_request_id,omitempty" jsonschema:"description=The same id again answers the first request instead of starting a second"`
	Alternate        int             `json:"alternate,omitempty" jsonschema:"description=Which of a rule's alternative fixes; 0 is its first choice"`
}

// An IncidentParam is an incident as a client gives it. An id that the service
// knows is enough; otherwise file_path or uri is needed. A path may be
// relative, absolute inside the workspace, or a file URI.
type IncidentParam struct {
	ID          string           `json:"id,omitempty"`
	RuleID      string           `json:"rule_id,omitempty"`
	FilePath    string           `json:"file_path,omitempty"`
	LineNumber  int              `json:"line_number,omitempty" jsonschema:"description=1-based; 0 or absent: the whole file"`
	Severity    string           `json:"severity,omitempty" jsonschema:"enum=error,enum=warning,enum=info,enum=hint"`
	Description string           `json:"description,omitempty"`
	Message     string           `json:"message,omitempty"`
	Category    string           `json:"category,omitempty"`
	Metadata    map[string]any   `json:"metadata,omitempty"`
	URI         string           `json:"uri,omitempty"`
	Range       *incidents.Range `json:"range,omitempty"`
	Source      string           `json:"source,omitempty"`
	Effort      int              `json:"effort,omitempty"`
	Labels      []string         `json:"labels,omitempty"`
	Snippet     string           `json:"snippet,omitempty" jsonschema:"description=The text it was found in"`
	Fixes       []incidents.Fix  `json:"fixes,omitempty" jsonschema:"description=Edits that the incident's source offers; each passes the same gate as a rule's fix"`
}

// FixGenerateResult is the result of fix.generate.
type FixGenerateResult struct {
	RequestID     string    `json:"request_id"`
	SessionID     string    `json:"session_id"`
	Status        string    `json:"status"`
	IncidentCount int       `json:"incident_count"`
	CreatedAt     time.Time `json:"created_at"`
}

// RequestParams name a request.
type RequestParams struct {
	RequestID string `json:"request_id"`
}

// FixCancelResult is the result of fix.cancel.
type FixCancelResult struct {
	RequestID   string    `json:"request_id"`
	Status      string    `json:"status"`
	CancelledAt time.Time `json:"cancelled_at"`
}

// InteractionRespondParams are the params of interaction.respond.
type InteractionRespondParams struct {
	InteractionID string         `json:"interaction_id"`
	ResponseType  string         `json:"response_type"`
	ResponseData  map[string]any `json:"response_data"`
}

// InteractionRespondResult is the result of interaction.respond.
type InteractionRespondResult struct {
	InteractionID string        `json:"interaction_id"`
	Status        string        `json:"status"`
	RespondedAt   time.Time     `json:"responded_at"`
	Verdicts      []IncidentRow `json:"verdicts,omitempty"` // of an approval that was applied
}
