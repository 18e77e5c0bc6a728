package batch

import (
	"encoding/json"

	"github.com/kaiak/kaiak/incidents"
)

// This file is the wire as a batch sees it: the members it reads and sends of
// the methods in docs/protocol.md, and no others.

const (
	methodScan     = "kaiak/incident/scan"
	methodCreate   = "kaiak/session/create"
	methodResume   = "kaiak/session/resume"
	methodEnd      = "kaiak/session/terminate"
	methodDelete   = "kaiak/session/delete"
	methodGenerate = "kaiak/fix/generate"
	methodStatus   = "kaiak/request/status"
	methodList     = "kaiak/proposal/list"
	methodGet      = "kaiak/proposal/get"
	methodApply    = "kaiak/proposal/apply"

	streamProgress = "kaiak/stream/progress"
	streamModify   = "kaiak/stream/file_modification"
	streamSystem   = "kaiak/stream/system"
)

// codeContentModified is the server's refusal of a proposal that was made for
// another text.
const codeContentModified = -32801

type scanResult struct {
	Incidents []incidents.Incident `json:"incidents"`
	Notes     []string             `json:"notes"`
	Problems  []string             `json:"problems"`
}

type createParams struct {
	WorkspacePath string `json:"workspace_path"`
	SessionName   string `json:"session_name"`
	Configuration struct {
		Timeout  int    `json:"timeout"`
		Approval string `json:"approval"`
	} `json:"configuration"`
}

type sessionResult struct {
	SessionID string `json:"session_id"`
}

type generateParams struct {
	SessionID        string               `json:"session_id"`
	Incidents        []incidents.Incident `json:"incidents"`
	MigrationContext map[string]any       `json:"migration_context,omitempty"`
	Approval         string               `json:"approval"`
	Engines          []string             `json:"engines,omitempty"`
	ClientRequestID  string               `json:"client_request_id"`
}

type generateResult struct {
	RequestID string `json:"request_id"`
}

type requestStatus struct {
	Status    string        `json:"status"`
	Error     string        `json:"error"`
	Incidents []incidentRow `json:"incidents"`
}

// over reports whether nothing more will come of the request.
func (r *requestStatus) over() bool {
	return r.Status == "completed" || r.Status == "failed" || r.Status == "cancelled"
}

// incidentRow is where one incident of a request stands.
type incidentRow struct {
	IncidentID string `json:"incident_id"`
	State      string `json:"state"` // pending, processing, proposed, or a verdict
	Kind       string `json:"kind"`
	Reason     string `json:"reason"`
	ProposalID string `json:"proposal_id"`
	Engine     string `json:"engine"`
}

type proposalPage struct {
	Proposals []proposal `json:"proposals"`
	Cursor    string     `json:"cursor"`
}

// A proposal as proposal/list shows it; proposal/get adds the files.
type proposal struct {
	ProposalID  string             `json:"proposal_id"`
	Status      string             `json:"status"`
	Source      string             `json:"source"`
	Description string             `json:"description"`
	Evidence    Evidence           `json:"evidence"`
	Confidence  float64            `json:"confidence"`
	FilePaths   []string           `json:"file_paths"`
	Asks        string             `json:"asks"` // why a person has to decide
	Reason      string             `json:"reason"`
	Files       []fileModification `json:"files"`
}

// A fileModification is one file of a proposal.
type fileModification struct {
	FilePath        string  `json:"file_path"`
	ChangeType      string  `json:"change_type"`
	OriginalContent *string `json:"original_content"`
	ProposedContent *string `json:"proposed_content"`
	SetSize         int     `json:"set_size"`
	BaseSHA256      string  `json:"base_sha256"`
	ProposedSHA256  string  `json:"proposed_sha256"`
	Diff            string  `json:"diff"`
	Truncated       bool    `json:"truncated"`
}

// Evidence explains the confidence in a fix: which checks it passed.
type Evidence struct {
	Scheme string            `json:"scheme"`
	Tier   string            `json:"tier"`
	Checks map[string]string `json:"checks"`
	Prior  float64           `json:"prior"`
	N      int               `json:"n"`
	K      int               `json:"k"`
}

type applyParams struct {
	ProposalID string      `json:"proposal_id"`
	Files      []boundFile `json:"files"`
}

// A boundFile names the exact bytes that an approval is about.
type boundFile struct {
	FilePath       string `json:"file_path"`
	BaseSHA256     string `json:"base_sha256,omitempty"`
	ProposedSHA256 string `json:"proposed_sha256,omitempty"`
}

// An event is the params of every kaiak/stream/* notification.
type event struct {
	SessionID     string          `json:"session_id"`
	RequestID     string          `json:"request_id"`
	InteractionID string          `json:"interaction_id"`
	ProposalID    string          `json:"proposal_id"`
	Sequence      int64           `json:"sequence"`
	Content       json.RawMessage `json:"content"`
}

type systemContent struct {
	Event     string `json:"event"`
	RequestID string `json:"request_id"`
	Status    string `json:"status"`
	Reason    string `json:"reason"`
}

type progressContent struct {
	Percentage  int    `json:"percentage"`
	Phase       string `json:"phase"`
	Description string `json:"description"`
}
