package kaiak

import (
	"errors"
	"fmt"
	"maps"
)

// A Code is a number of the wire with the kind that tells numbers apart which
// LSP uses for something else. Codes is the one table of them.
type Code struct {
	Number int
	Kind   string // error.data.kind
	Title  string // the contract's words
}

// Codes lists every error code that the wire can carry, in the contract's order.
var Codes = []Code{
	ParseError, InvalidRequest, MethodNotFound, InvalidParams, InternalError,
	SessionCreationFailed, WorkspaceAccessDenied, SessionNotFound, SessionTerminated, SessionNotReady,
	AgentInitFailed, RequestNotFound, RequestCompleted, InteractionNotFound, InteractionResponded,
	ResponseInvalid, FileModificationFailed, ToolTimeout, ConfigurationError, ResourceExhausted,
	SessionInUse, ServerNotInitialized, RequestCancelled, ContentModified, RequestFailed,
}

// The error codes: JSON-RPC's, the contract's fifteen, what later wires add,
// and LSP's own.
var (
	ParseError     = Code{-32700, "PARSE_ERROR", "Parse error"}
	InvalidRequest = Code{-32600, "INVALID_REQUEST", "Invalid Request"}
	MethodNotFound = Code{-32601, "METHOD_NOT_FOUND", "Method not found"}
	InvalidParams  = Code{-32602, "INVALID_PARAMS", "Invalid params"}
	InternalError  = Code{-32603, "INTERNAL_ERROR", "Internal error"}

	SessionCreationFailed  = Code{-32001, "SESSION_CREATION_FAILED", "Session creation failed"}
	WorkspaceAccessDenied  = Code{-32002, "WORKSPACE_ACCESS_DENIED", "Workspace access denied"}
	SessionNotFound        = Code{-32003, "SESSION_NOT_FOUND", "Session not found"}
	SessionTerminated      = Code{-32004, "SESSION_ALREADY_TERMINATED", "Session already terminated"}
	SessionNotReady        = Code{-32005, "SESSION_NOT_READY", "Session not ready"}
	AgentInitFailed        = Code{-32006, "AGENT_INITIALIZATION_FAILED", "Agent initialization failed"}
	RequestNotFound        = Code{-32007, "REQUEST_NOT_FOUND", "Request not found"}
	RequestCompleted       = Code{-32008, "REQUEST_ALREADY_COMPLETED", "Request already completed"}
	InteractionNotFound    = Code{-32009, "INTERACTION_NOT_FOUND", "Interaction not found"}
	InteractionResponded   = Code{-32010, "INTERACTION_ALREADY_RESPONDED", "Interaction already responded"}
	ResponseInvalid        = Code{-32011, "RESPONSE_VALIDATION_FAILED", "Response validation failed"}
	FileModificationFailed = Code{-32012, "FILE_MODIFICATION_FAILED", "File modification failed"}
	ToolTimeout            = Code{-32013, "TOOL_EXECUTION_TIMEOUT", "Tool execution timeout"}
	ConfigurationError     = Code{-32014, "CONFIGURATION_ERROR", "Configuration error"}
	ResourceExhausted      = Code{-32015, "RESOURCE_EXHAUSTED", "Resource exhausted"}
	SessionInUse           = Code{-32016, "SESSION_IN_USE", "Session in use"}

	ServerNotInitialized = Code{-32002, "SERVER_NOT_INITIALIZED", "Server not initialized"}
	RequestCancelled     = Code{-32800, "REQUEST_CANCELLED", "Request cancelled"}
	ContentModified      = Code{-32801, "CONTENT_MODIFIED", "Content modified"}
	RequestFailed        = Code{-32803, "REQUEST_FAILED", "Request failed"}
)

// An Error is a failure as the wire tells it: a number, a sentence for people,
// and data that names the kind and whether trying again can help.
type Error struct {
	Code      Code
	Kind      string // "" means Code.Kind; e.g. "WORKSPACE_BUSY" for a -32005
	Message   string // what happened, where, what to do
	Retryable bool
	Data      map[string]any // further members of error.data
	Err       error          // the cause, for logs and errors.Is; not sent
}

// Errorf makes an [*Error] whose message is formatted; a %w operand becomes Err.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// With returns e with one more member in its data.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Data = maps.Clone(e.Data)
	if c.Data == nil {
		c.Data = map[string]any{}
	}
	c.Data[key] = value
	return &c
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// WireData returns the error.data object: kind, retryable and Data's members.
func (e *Error) WireData() map[string]any {
	d := maps.Clone(e.Data)
	if d == nil {
		d = map[string]any{}
	}
	d["kind"] = e.Code.Kind
	if e.Kind != "" {
		d["kind"] = e.Kind
	}
	d["retryable"] = e.Retryable
	return d
}
