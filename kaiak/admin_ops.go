package kaiak

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/kaiak/kaiak/store"
)

// NoParams are the params of operations that have none.
type NoParams struct{}

// ServerStatusResult is the result of server.status.
type ServerStatusResult struct {
	Version         string    `json:"version"`
	ProtocolVersion int       `json:"protocol_version"`
	PID             int       `json:"pid"`
	StartedAt       time.Time `json:"started_at"`
	UptimeSeconds   int64     `json:"uptime_seconds"`
	StateDir        string    `json:"state_dir"`
	Clients         int       `json:"clients"`
	Sessions        int       `json:"sessions"` // that are loaded
	ActiveRequests  int       `json:"active_requests"`
	Workspaces      []string  `json:"workspaces"`
	MemoryBytes     uint64    `json:"memory_bytes"` // of the Go heap
	Goroutines      int       `json:"goroutines"`
	ModelEngine     Feature   `json:"model_engine"`
}

func serverStatus(ctx context.Context, c *Client, _ NoParams) (ServerStatusResult, error) {
	s := c.service
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	now := s.opts.Now()
	r := ServerStatusResult{Version: s.opts.Version, ProtocolVersion: ProtocolVersion, PID: os.Getpid(), StartedAt: s.since.UTC(), UptimeSeconds: int64(now.Sub(s.since).Seconds()),
		StateDir: s.store.Dir(), Workspaces: []string{}, MemoryBytes: mem.HeapAlloc, Goroutines: runtime.NumGoroutine(), ModelEngine: Feature{Supported: s.opts.Model != nil}}
	if s.opts.Model == nil {
		r.ModelEngine.Reason = "this server was started without a model engine"
	}
	s.mu.Lock()
	r.Clients, r.Sessions = len(s.clients), len(s.sessions)
	sessions := make([]*session, 0, len(s.sessions))
	for _, ses := range s.sessions {
		sessions = append(sessions, ses)
	}
	for _, dir := range sortedKeys(s.spaces) {
		r.Workspaces = append(r.Workspaces, s.spaces[dir].ws.Dir())
	}
	s.mu.Unlock()
	for _, ses := range sessions {
		r.ActiveRequests += len(ses.active())
	}
	return r, nil
}

// AuditListParams are the params of audit.list.
type AuditListParams struct {
	AfterSequence int64 `json:"after_sequence,omitempty"`
	Limit         int   `json:"limit,omitempty"`
}

// AuditListResult is the result of audit.list.
type AuditListResult struct {
	Records []store.AuditRecord `json:"records"`
	Head    store.AuditAnchor   `json:"head"`
}

func auditList(ctx context.Context, c *Client, p AuditListParams) (AuditListResult, error) {
	limit, err := page(p.Limit, 100)
	if err != nil {
		return AuditListResult{}, err
	}
	records, err := c.service.store.AuditRecords(ctx, p.AfterSequence, limit)
	if err != nil {
		return AuditListResult{}, err
	}
	head, err := c.service.store.AuditHead(ctx)
	return AuditListResult{orEmpty(records), head}, err
}

// AuditVerifyParams are the params of audit.verify.
type AuditVerifyParams struct {
	Anchor *store.AuditAnchor `json:"anchor,omitempty" jsonschema:"description=A head that was kept elsewhere"`
}

func auditVerify(ctx context.Context, c *Client, p AuditVerifyParams) (store.AuditReport, error) {
	return c.service.store.VerifyAudit(ctx, p.Anchor)
}

// ToolListResult is the result of tool.list.
type ToolListResult struct {
	Tools []ToolInfo `json:"tools"`
}

// ToolInfo is one tool that a model may use.
type ToolInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      any    `json:"schema"`
}

func toolList(ctx context.Context, c *Client, _ NoParams) (ToolListResult, error) {
	return ToolListResult{orEmpty(c.service.opts.Tools)}, nil
}

// ToolOutputGetParams are the params of tool.output.get.
type ToolOutputGetParams struct {
	ArtifactID string `json:"artifact_id"`
	Query      string `json:"query,omitempty" jsonschema:"description=Only lines that contain this\\, in any case"`
	Offset     int    `json:"offset,omitempty" jsonschema:"description=First line\\, from 1"`
	Limit      int    `json:"limit,omitempty" jsonschema:"description=At most so many lines; 120 by default"`
}

// ToolOutputGetResult is the result of tool.output.get.
type ToolOutputGetResult struct {
	ArtifactID string `json:"artifact_id"`
	Name       string `json:"name"`
	Size       int64  `json:"size"` // of the whole output, in bytes
	Lines      int    `json:"lines"`
	Text       string `json:"text"`
	Next       int    `json:"next,omitempty"` // offset of the first line that is not here
}

// maxToolOutput bounds one answer, whatever the length of its lines.
const maxToolOutput = 256 << 10

func toolOutputGet(ctx context.Context, c *Client, p ToolOutputGetParams) (ToolOutputGetResult, error) {
	a, err := c.service.store.Artifact(ctx, p.ArtifactID)
	if errors.Is(err, store.ErrNotFound) {
		return ToolOutputGetResult{}, Errorf(InvalidParams, "params.artifact_id: there is no tool output %q", p.ArtifactID).With("member", "params.artifact_id")
	}
	if err != nil {
		return ToolOutputGetResult{}, err
	}
	limit, err := page(p.Limit, 120)
	if err != nil {
		return ToolOutputGetResult{}, err
	}
	lines := strings.SplitAfter(strings.ToValidUTF8(string(a.Data), "\uFFFD"), "\n")
	result := ToolOutputGetResult{ArtifactID: a.ID, Name: a.Name, Size: a.Size, Lines: len(lines)}
	var b strings.Builder
	taken := 0
	for i, line := range lines {
		if i+1 < p.Offset || p.Query != "" && !strings.Contains(strings.ToLower(line), strings.ToLower(p.Query)) {
			continue
		}
		if taken == limit || b.Len()+len(line) > maxToolOutput && taken > 0 {
			result.Next = i + 1
			break
		}
		b.WriteString(split(line, maxToolOutput)[0])
		taken++
	}
	result.Text = b.String()
	return result, nil
}
