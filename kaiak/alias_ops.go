package kaiak

import (
	"context"
	"encoding/json"
	"time"
)

// This file holds the names of a later wire, each a thin projection of the
// operations of this one.

// GenerateFixParams are the params of kaiak/generate_fix.
type GenerateFixParams struct {
	SessionID        string          `json:"session_id,omitempty" jsonschema:"description=Absent: a session is created"`
	Incidents        []IncidentParam `json:"incidents"`
	MigrationContext map[string]any  `json:"migration_context,omitempty"`
	AgentConfig      AgentConfig     `json:"agent_config"`
}

// AgentConfig is what that wire says about the session with each call.
type AgentConfig struct {
	Workspace          any                  `json:"workspace" jsonschema:"description=A path\\, or an object with working_dir"`
	Session            map[string]any       `json:"session,omitempty"`
	OverrideBaseConfig *AgentConfigOverride `json:"override_base_config,omitempty"`
}

// AgentConfigOverride overrides the session's model.
type AgentConfigOverride struct {
	Model           *AliasModel       `json:"model,omitempty"`
	ToolPermissions map[string]string `json:"tool_permissions,omitempty"`
}

// AliasModel is a model as that wire names it.
type AliasModel struct {
	Provider    string   `json:"provider"`
	Model       string   `json:"model"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
}

// GenerateFixResult is the result of kaiak/generate_fix.
type GenerateFixResult struct {
	RequestID string    `json:"request_id"`
	SessionID string    `json:"session_id"`
	CreatedAt time.Time `json:"created_at"`
}

// workingDir reads a workspace given as a path or as {working_dir}.
func workingDir(v any, member string) (string, error) {
	switch w := v.(type) {
	case string:
		return w, nil
	case map[string]any:
		if dir, ok := w["working_dir"].(string); ok {
			return dir, nil
		}
	}
	return "", Errorf(InvalidParams, "%s must be a path or an object with working_dir", member).With("member", member)
}

func aliasGenerateFix(ctx context.Context, c *Client, p GenerateFixParams) (GenerateFixResult, error) {
	id := p.SessionID
	if id == "" {
		dir, err := workingDir(p.AgentConfig.Workspace, "params.agent_config.workspace")
		if err != nil {
			return GenerateFixResult{}, err
		}
		create := SessionCreateParams{WorkspacePath: dir}
		if o := p.AgentConfig.OverrideBaseConfig; o != nil && o.Model != nil {
			create.Configuration.Provider, create.Configuration.Model = o.Model.Provider, o.Model.Model
		}
		s, err := c.createSession(ctx, create)
		if err != nil {
			return GenerateFixResult{}, err
		}
		id = s.id
	}
	r, err := fixGenerate(ctx, c, FixGenerateParams{SessionID: id, Incidents: p.Incidents, MigrationContext: p.MigrationContext})
	if err != nil {
		return GenerateFixResult{}, err
	}
	return GenerateFixResult{r.RequestID, r.SessionID, r.CreatedAt}, nil
}

// DeleteSessionParams are the params of kaiak/delete_session.
type DeleteSessionParams struct {
	SessionID      string         `json:"session_id"`
	CleanupOptions CleanupOptions `json:"cleanup_options,omitzero"`
}

// CleanupOptions say how a session goes. There are no temporary files between
// requests, so nothing is ever left to clean up.
type CleanupOptions struct {
	Force            bool    `json:"force,omitempty"`
	CleanupTempFiles bool    `json:"cleanup_temp_files,omitempty"`
	PreserveLogs     bool    `json:"preserve_logs,omitempty" jsonschema:"description=Terminate the session instead of removing it"`
	GracePeriod      float64 `json:"grace_period,omitempty"`
}

// DeleteSessionResult is the result of kaiak/delete_session.
type DeleteSessionResult struct {
	SessionID      string         `json:"session_id"`
	Status         string         `json:"status"`
	CleanupResults CleanupResults `json:"cleanup_results"`
	DeletedAt      time.Time      `json:"deleted_at"`
}

// CleanupResults say what was removed.
type CleanupResults struct {
	SessionRemoved   bool     `json:"session_removed"`
	TempFilesCleaned int      `json:"temp_files_cleaned"`
	LogsPreserved    bool     `json:"logs_preserved"`
	Warnings         []string `json:"warnings"`
	FilesRemoved     []string `json:"files_removed"`
}

func aliasDeleteSession(ctx context.Context, c *Client, p DeleteSessionParams) (DeleteSessionResult, error) {
	result := DeleteSessionResult{SessionID: p.SessionID, Status: "deleted", CleanupResults: CleanupResults{
		SessionRemoved: !p.CleanupOptions.PreserveLogs, LogsPreserved: p.CleanupOptions.PreserveLogs, Warnings: []string{}, FilesRemoved: []string{}}}
	s, err := c.service.session(ctx, p.SessionID, true)
	if err != nil {
		return result, err
	}
	if n := len(s.active()); n > 0 && !p.CleanupOptions.Force {
		return result, Errorf(SessionInUse, "session %q works on %s; cancel them, or delete it with force", s.id, countOf(n, "request")).With("session_id", s.id)
	}
	if p.CleanupOptions.PreserveLogs {
		t, err := sessionTerminate(ctx, c, SessionParams{p.SessionID})
		result.DeletedAt = t.TerminatedAt
		return result, err
	}
	d, err := sessionDelete(ctx, c, SessionDeleteParams{p.SessionID, p.CleanupOptions.Force})
	result.DeletedAt = d.DeletedAt
	return result, err
}

// UserMessageParams are the params of kaiak/client/user_message.
type UserMessageParams struct {
	SessionID   string          `json:"session_id"`
	Kind        string          `json:"kind,omitempty" jsonschema:"enum=user_input,enum=control_signal,enum=tool_confirmation,enum=elicitation_response"`
	MessageType string          `json:"message_type,omitempty" jsonschema:"description=Another name of kind"`
	Timestamp   string          `json:"timestamp,omitempty"`
	Payload     json.RawMessage `json:"payload"`
}

// UserMessageResult is the result of kaiak/client/user_message.
type UserMessageResult struct {
	Success        bool   `json:"success"`
	Message        string `json:"message"`
	NotificationID string `json:"notification_id,omitempty"`
}

func aliasUserMessage(ctx context.Context, c *Client, p UserMessageParams) (UserMessageResult, error) {
	if _, err := c.service.session(ctx, p.SessionID, true); err != nil {
		return UserMessageResult{}, err
	}
	switch kind := first(p.Kind, p.MessageType); kind {
	case "tool_confirmation":
		payload, err := decodeParams[struct {
			RequestID string `json:"request_id"`
			Action    string `json:"action"`
		}](p.Payload)
		if err != nil {
			return UserMessageResult{}, err
		}
		return c.confirm(ctx, p.SessionID, payload.RequestID, payload.Action)
	case "elicitation_response", "user_input":
		payload, err := decodeParams[struct {
			InteractionID string         `json:"interaction_id,omitempty"`
			RequestID     string         `json:"request_id,omitempty"`
			ResponseType  string         `json:"response_type,omitempty"`
			ResponseData  map[string]any `json:"response_data,omitempty"`
			Text          string         `json:"text,omitempty"`
		}](p.Payload)
		if err != nil {
			return UserMessageResult{}, err
		}
		id := first(payload.InteractionID, payload.RequestID)
		if id == "" {
			return UserMessageResult{}, Errorf(InvalidParams, "params.payload.interaction_id is missing: there is no question that this could answer").With("member", "params.payload.interaction_id")
		}
		data := payload.ResponseData
		if data == nil {
			data = map[string]any{"input": payload.Text}
		}
		r, err := interactionRespond(ctx, c, InteractionRespondParams{id, first(payload.ResponseType, askInput), data})
		return UserMessageResult{err == nil, r.Status, r.InteractionID}, err
	case "control_signal":
		payload, err := decodeParams[struct {
			Signal    string `json:"signal"`
			RequestID string `json:"request_id,omitempty"`
		}](p.Payload)
		if err != nil {
			return UserMessageResult{}, err
		}
		if payload.Signal != "cancel" && payload.Signal != "interrupt" {
			return UserMessageResult{}, Errorf(InvalidParams, "params.payload.signal must be cancel, not %q", payload.Signal).With("member", "params.payload.signal")
		}
		return c.cancelAll(ctx, p.SessionID, payload.RequestID)
	default:
		return UserMessageResult{}, Errorf(InvalidParams, "params.kind must be user_input, control_signal, tool_confirmation or elicitation_response, not %q", kind).With("member", "params.kind")
	}
}

// confirm answers the approval that a tool_confirmation names.
func (c *Client) confirm(ctx context.Context, sessionID, id, action string) (UserMessageResult, error) {
	if action != "allow_once" && action != "always_allow" && action != "deny" {
		return UserMessageResult{}, Errorf(InvalidParams, "params.payload.action must be allow_once, always_allow or deny, not %q", action).With("member", "params.payload.action")
	}
	if action == "always_allow" {
		s, err := c.service.session(ctx, sessionID, true)
		if err != nil {
			return UserMessageResult{}, err
		}
		rules, err := s.space.permissionRules(ctx)
		if err != nil {
			return UserMessageResult{}, err
		}
		rules = append(rules, PermissionRule{Action: PermissionAllow, Session: sessionID, Reason: "the user allowed everything in this session"})
		if _, err := permissionRuleUpdate(ctx, c, PermissionRuleUpdateParams{SessionID: sessionID, Rules: rules}); err != nil {
			return UserMessageResult{}, err
		}
	}
	r, err := interactionRespond(ctx, c, InteractionRespondParams{id, askApproval, map[string]any{"approved": action != "deny"}})
	return UserMessageResult{err == nil, r.Status, r.InteractionID}, err
}

// cancelAll cancels one request of a session, or all of them.
func (c *Client) cancelAll(ctx context.Context, sessionID, requestID string) (UserMessageResult, error) {
	ids := []string{requestID}
	if requestID == "" {
		s, err := c.service.session(ctx, sessionID, true)
		if err != nil {
			return UserMessageResult{}, err
		}
		ids = nil
		for _, r := range s.active() {
			ids = append(ids, r.id)
		}
	}
	for _, id := range ids {
		if _, err := fixCancel(ctx, c, RequestParams{id}); err != nil {
			return UserMessageResult{}, err
		}
	}
	return UserMessageResult{Success: true, Message: "cancelled " + countOf(len(ids), "request")}, nil
}

// ConfigureParams are the params of kaiak/configure.
type ConfigureParams struct {
	Configuration AliasConfiguration `json:"configuration"`
	ResetExisting bool               `json:"reset_existing,omitempty"`
}

// AliasConfiguration is the configuration of that wire.
type AliasConfiguration struct {
	Workspace   any               `json:"workspace" jsonschema:"description=A path\\, or an object with working_dir"`
	Model       *AliasModel       `json:"model,omitempty"`
	Tools       any               `json:"tools,omitempty"`
	Session     any               `json:"session,omitempty"`
	Permissions *AliasPermissions `json:"permissions,omitempty"`
}

// AliasPermissions are the permissions of that wire: allow, deny or approve by tool.
type AliasPermissions struct {
	ToolPermissions map[string]string `json:"tool_permissions,omitempty"`
}

// ConfigureResult is the result of kaiak/configure.
type ConfigureResult struct {
	Status               string    `json:"status"`
	Message              string    `json:"message"`
	ConfigurationApplied Config    `json:"configuration_applied"`
	Warnings             []string  `json:"warnings"`
	Timestamp            time.Time `json:"timestamp"`
}

func aliasConfigure(ctx context.Context, c *Client, p ConfigureParams) (ConfigureResult, error) {
	dir, err := workingDir(p.Configuration.Workspace, "params.configuration.workspace")
	if err != nil {
		return ConfigureResult{}, err
	}
	sp, done, err := c.spaceOf(ctx, "", dir)
	if err != nil {
		return ConfigureResult{}, err
	}
	defer done()
	given, warnings := settings{}, []string{}
	if m := p.Configuration.Model; m != nil {
		given["model"] = map[string]any{"name": m.Model}
		if m.Temperature != nil || m.MaxTokens != 0 {
			warnings = append(warnings, "temperature and max_tokens are set in the user's model profile")
		}
	}
	if p.Configuration.Tools != nil || p.Configuration.Session != nil {
		warnings = append(warnings, "tools and session are not settings of this server; they are ignored")
	}
	if err := sp.overrideWith(ctx, given, p.ResetExisting); err != nil {
		return ConfigureResult{}, err
	}
	if perms := p.Configuration.Permissions; perms != nil {
		action := map[string]string{"allow": PermissionAllow, "deny": PermissionDeny, "approve": PermissionAsk}
		rules := []PermissionRule{}
		for _, tool := range sortedKeys(perms.ToolPermissions) {
			a, ok := action[perms.ToolPermissions[tool]]
			if !ok {
				member := "params.configuration.permissions.tool_permissions." + tool
				return ConfigureResult{}, Errorf(InvalidParams, "%s must be allow, deny or approve, not %q", member, perms.ToolPermissions[tool]).With("member", member)
			}
			rules = append(rules, PermissionRule{Action: a, Reason: "tool " + tool})
		}
		if _, err := permissionRuleUpdate(ctx, c, PermissionRuleUpdateParams{WorkspacePath: dir, Rules: rules}); err != nil {
			return ConfigureResult{}, err
		}
	}
	return ConfigureResult{"configured", "the configuration is in effect until the server ends", sp.config(), warnings, c.service.now()}, nil
}
