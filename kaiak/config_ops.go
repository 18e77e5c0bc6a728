package kaiak

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/treesitter"
)

// WorkspaceParams name a workspace, by one of its sessions or its path.
type WorkspaceParams struct {
	SessionID     string `json:"session_id,omitempty"`
	WorkspacePath string `json:"workspace_path,omitempty"`
}

// ConfigGetResult is the result of config.get. There are no secrets in it: keys
// and endpoints are never part of the configuration.
type ConfigGetResult struct {
	WorkspacePath string         `json:"workspace_path"`
	Configuration Config         `json:"configuration"`
	Project       map[string]any `json:"project"`  // what .kaiak/config.yaml sets
	Override      map[string]any `json:"override"` // what config.update set
	Problem       string         `json:"problem,omitempty"`
}

func configGet(ctx context.Context, c *Client, p WorkspaceParams) (ConfigGetResult, error) {
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return ConfigGetResult{}, err
	}
	defer done()
	return sp.configView(), nil
}

func (sp *space) configView() ConfigGetResult {
	result := ConfigGetResult{WorkspacePath: sp.ws.Dir(), Configuration: sp.config(), Project: map[string]any{}}
	project, err := readProjectConfig(sp.ws)
	if err != nil {
		result.Problem = err.Error()
	}
	for key, value := range project {
		result.Project[key] = value
	}
	sp.mu.Lock()
	result.Override = sp.override
	sp.mu.Unlock()
	return result
}

// ConfigUpdateParams are the params of config.update.
type ConfigUpdateParams struct {
	SessionID     string          `json:"session_id,omitempty"`
	WorkspacePath string          `json:"workspace_path,omitempty"`
	Configuration json.RawMessage `json:"configuration"`
	Reset         bool            `json:"reset,omitempty" jsonschema:"description=Forget what earlier updates set"`
}

func configUpdate(ctx context.Context, c *Client, p ConfigUpdateParams) (ConfigGetResult, error) {
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return ConfigGetResult{}, err
	}
	defer done()
	given, err := parseSettings(p.Configuration, "params.configuration")
	if err != nil {
		return ConfigGetResult{}, err
	}
	if err := sp.overrideWith(ctx, given, p.Reset); err != nil {
		return ConfigGetResult{}, err
	}
	return sp.configView(), nil
}

// overrideWith lays settings over all others, until the workspace is closed.
func (sp *space) overrideWith(ctx context.Context, given settings, reset bool) error {
	sp.mu.Lock()
	next := settings{}
	if !reset {
		mergeInto(next, sp.override)
	}
	mergeInto(next, given)
	before := sp.override
	sp.override = next
	sp.mu.Unlock()
	if err := sp.configure(ctx); err != nil {
		sp.mu.Lock()
		sp.override = before
		sp.mu.Unlock()
		return err
	}
	sp.announceAll()
	return nil
}

func configReload(ctx context.Context, c *Client, p WorkspaceParams) (ConfigGetResult, error) {
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return ConfigGetResult{}, err
	}
	defer done()
	if err := sp.configure(ctx); err != nil {
		return ConfigGetResult{}, err
	}
	sp.announceAll()
	return sp.configView(), nil
}

// WorkspaceValidateParams are the params of workspace.validate.
type WorkspaceValidateParams struct {
	WorkspacePath string `json:"workspace_path"`
}

// WorkspaceValidateResult is the result of workspace.validate.
type WorkspaceValidateResult struct {
	WorkspacePath string `json:"workspace_path"` // with every symbolic link resolved
	Valid         bool   `json:"valid"`
	Writable      bool   `json:"writable"`
	Problem       string `json:"problem,omitempty"` // of its configuration
}

func workspaceValidate(ctx context.Context, c *Client, p WorkspaceValidateParams) (WorkspaceValidateResult, error) {
	sp, err := c.service.openSpace(ctx, p.WorkspacePath, c)
	if err != nil {
		return WorkspaceValidateResult{}, err
	}
	defer c.service.releaseSpace(sp)
	return WorkspaceValidateResult{sp.ws.RealDir(), true, writable(sp.ws.RealDir()), sp.configView().Problem}, nil
}

// writable reports whether the directory's mode lets its owner write; only an
// attempt could know, and a look must not change anything.
func writable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

// WorkspaceInfoResult is the result of workspace.info.
type WorkspaceInfoResult struct {
	WorkspacePath string   `json:"workspace_path"`
	RealPath      string   `json:"real_path"`
	Name          string   `json:"name"`
	Writable      bool     `json:"writable"`
	Trusted       bool     `json:"trusted"`
	Rules         int      `json:"rules"`
	RuleProblems  []string `json:"rule_problems"` // rules that could not be loaded
	OpenDocuments []string `json:"open_documents"`
	Incidents     int      `json:"incidents"` // that are known now
	Languages     []string `json:"languages"`
}

func workspaceInfo(ctx context.Context, c *Client, p WorkspaceParams) (WorkspaceInfoResult, error) {
	sp, done, err := c.spaceOf(ctx, p.SessionID, p.WorkspacePath)
	if err != nil {
		return WorkspaceInfoResult{}, err
	}
	defer done()
	set, err := sp.rules(ctx)
	if err != nil {
		return WorkspaceInfoResult{}, err
	}
	info := WorkspaceInfoResult{WorkspacePath: sp.ws.Dir(), RealPath: sp.ws.RealDir(), Name: filepath.Base(sp.ws.Dir()), Writable: writable(sp.ws.RealDir()),
		Trusted: sp.config().Trusted, Rules: len(set.Rules()), RuleProblems: []string{}, OpenDocuments: []string{}, Languages: []string{}}
	sp.mu.Lock()
	for _, problem := range sp.problems {
		info.RuleProblems = append(info.RuleProblems, problem.String())
	}
	sp.mu.Unlock()
	for _, file := range sp.ws.Buffers() {
		info.OpenDocuments = append(info.OpenDocuments, file.Path)
	}
	for _, lang := range treesitter.All() {
		info.Languages = append(info.Languages, lang.Name)
	}
	all, err := sp.index.Query(incidents.Filter{}, "", 1)
	info.Incidents = all.Total
	return info, err
}

// realDirectory is directory with every symbolic link resolved.
func realDirectory(dir string) (string, error) {
	path, err := directory(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, nil // it is gone; its sessions are not
	}
	return real, nil
}
