package kaiak

import (
	"encoding/json"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// Notification names one stream of the contract.
type Notification struct {
	Method  string
	Summary string
	Content any // a zero value of the content's type
}

// The streams' names.
const (
	StreamProgress         = "kaiak/stream/progress"
	StreamAIResponse       = "kaiak/stream/ai_response"
	StreamToolCall         = "kaiak/stream/tool_call"
	StreamThinking         = "kaiak/stream/thinking"
	StreamUserInteraction  = "kaiak/stream/user_interaction"
	StreamFileModification = "kaiak/stream/file_modification"
	StreamError            = "kaiak/stream/error"
	StreamSystem           = "kaiak/stream/system"
)

// Notifications lists every notification that the service sends. There is no
// ninth: a new kind of event is a kaiak/stream/system with another event name.
var Notifications = []Notification{
	{StreamProgress, "How far a request has come.", ProgressContent{}},
	{StreamAIResponse, "Text of the model's answer.", AIResponseContent{}},
	{StreamToolCall, "A tool that the model uses: operation is start, update, complete, failed or denied.", ToolCallContent{}},
	{StreamThinking, "Text of the model's reasoning.", ThinkingContent{}},
	{StreamUserInteraction, "A question for the user; kaiak/interaction/respond answers it.", InteractionContent{}},
	{StreamFileModification, "One file of a proposal; set_size of them with the same set_id belong together.", FileModificationContent{}},
	{StreamError, "A failure that the request survives (recoverable) or not.", ErrorContent{}},
	{StreamSystem, "Life cycle of sessions, requests and proposals: event names it.", SystemContent{}},
}

// An Event is the params of one stream notification, as it is stored and sent.
// The first members are the contract's.
type Event struct {
	SessionID     string          `json:"session_id"`
	RequestID     string          `json:"request_id,omitempty"`
	MessageID     string          `json:"message_id"`
	Timestamp     time.Time       `json:"timestamp"`
	InteractionID string          `json:"interaction_id,omitempty"`
	ProposalID    string          `json:"proposal_id,omitempty"`
	Content       json.RawMessage `json:"content"`
	Sequence      int64           `json:"sequence"` // gap-free per session, from 1
}

// ProgressContent is the content of kaiak/stream/progress.
type ProgressContent struct {
	Percentage  int    `json:"percentage"`
	Phase       string `json:"phase"`
	Description string `json:"description"`
}

// AIResponseContent is the content of kaiak/stream/ai_response.
type AIResponseContent struct {
	Text       string   `json:"text"`
	Partial    bool     `json:"partial"`
	Confidence *float64 `json:"confidence,omitempty"` // absent: a model's word about itself is no evidence
}

// ToolCallContent is the content of kaiak/stream/tool_call.
type ToolCallContent struct {
	ToolName   string            `json:"tool_name"`
	Operation  string            `json:"operation"`
	Parameters json.RawMessage   `json:"parameters"`
	Result     *agent.ToolResult `json:"result,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
}

// ThinkingContent is the content of kaiak/stream/thinking.
type ThinkingContent struct {
	Text string `json:"text"`
}

// InteractionContent is the content of kaiak/stream/user_interaction.
type InteractionContent struct {
	InteractionType string   `json:"interaction_type"` // approval, choice, input, confirmation
	Prompt          string   `json:"prompt"`
	ProposalID      string   `json:"proposal_id,omitempty"`
	Timeout         int      `json:"timeout"` // seconds
	Choices         []string `json:"choices,omitempty"`
	SetID           string   `json:"set_id,omitempty"`
}

// FileModificationContent is the content of kaiak/stream/file_modification.
// Where both texts are too long for one message they are absent, edits and
// diff are there, and kaiak/proposal/get has the rest.
type FileModificationContent struct {
	FilePath        string               `json:"file_path"`
	ChangeType      workspace.ChangeKind `json:"change_type"`
	Description     string               `json:"description"`
	OriginalContent *string              `json:"original_content,omitempty"`
	ProposedContent *string              `json:"proposed_content,omitempty"`
	Confidence      float64              `json:"confidence"`

	URI            string           `json:"uri"`
	SetID          string           `json:"set_id"`
	SetSize        int              `json:"set_size"`
	BaseSHA256     string           `json:"base_sha256"`
	ProposedSHA256 string           `json:"proposed_sha256"`
	Edits          []TextEdit       `json:"edits"`
	Diff           string           `json:"diff,omitempty"`
	Truncated      bool             `json:"truncated,omitempty"` // something was left out for its length
	Hunks          []Hunk           `json:"hunks"`
	Evidence       agent.Evidence   `json:"evidence"`
	Source         agent.EngineName `json:"source"`
	RuleIDs        []string         `json:"rule_ids"`
	IncidentIDs    []string         `json:"incident_ids"`
	DependsOn      string           `json:"depends_on,omitempty"` // the proposal that has to be applied first
}

// A TextEdit is an edit on the wire: half-open, 0-based lines, UTF-16 code
// units, against the base.
type TextEdit struct {
	Range   incidents.Range `json:"range"`
	NewText string          `json:"new_text"`
}

// A Hunk is the smallest part of a proposal that can be accepted by itself.
type Hunk struct {
	Index       int        `json:"index"` // what proposal/apply's hunks names, over all files of the proposal
	FilePath    string     `json:"file_path"`
	Edits       []TextEdit `json:"edits"`
	IncidentIDs []string   `json:"incident_ids"` // empty: upkeep that comes with the others (imports)
	RuleID      string     `json:"rule_id"`
}

// ErrorContent is the content of kaiak/stream/error.
type ErrorContent struct {
	ErrorCode   string `json:"error_code"`
	Message     string `json:"message"`
	Details     string `json:"details"`
	Recoverable bool   `json:"recoverable"`
	IncidentID  string `json:"incident_id,omitempty"`
	FilePath    string `json:"file_path,omitempty"`
}

// SystemContent is the content of kaiak/stream/system. Which members beside
// Event are there depends on the event.
type SystemContent struct {
	Event       string         `json:"event"`
	RequestID   string         `json:"request_id,omitempty"`
	Status      string         `json:"status,omitempty"`
	Summary     *Summary       `json:"summary,omitempty"`
	ProposalID  string         `json:"proposal_id,omitempty"`
	Interaction string         `json:"interaction_id,omitempty"`
	Results     []IncidentRow  `json:"results,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	Data        map[string]any `json:"data,omitempty"`
}

// Summary is what a request came to.
type Summary struct {
	IncidentsProcessed int   `json:"incidents_processed"`
	ProposalsGenerated int   `json:"proposals_generated"`
	UserInteractions   int   `json:"user_interactions"`
	ProcessingTimeMS   int64 `json:"processing_time_ms"`
	ProposalsApplied   int   `json:"proposals_applied"`
	Fixed              int   `json:"fixed"`
	Skipped            int   `json:"skipped"`
	Unfixed            int   `json:"unfixed"`
}

// An IncidentRow is the state of one incident of a request: a line of the
// session's todo list and of a batch's report.
type IncidentRow struct {
	IncidentID string            `json:"incident_id"`
	RuleID     string            `json:"rule_id"`
	FilePath   string            `json:"file_path"`
	LineNumber int               `json:"line_number"`
	State      string            `json:"state"` // pending, processing, proposed, or a verdict
	Kind       rules.RefusalKind `json:"kind,omitempty"`
	Reason     string            `json:"reason,omitempty"`
	ProposalID string            `json:"proposal_id,omitempty"`
	Engine     agent.EngineName  `json:"engine,omitempty"`
}
