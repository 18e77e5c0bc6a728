package main

import (
	"errors"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/rules/check"
	"github.com/kaiak/kaiak/workspace"
)

// openProject opens a folder and reads what its .kaiak/config.yaml sets, of
// which the denied files hold at once.
func openProject(root string) (*workspace.Workspace, kaiak.Config, error) {
	ws, err := workspace.Open(root, workspace.Options{})
	if err != nil {
		return nil, kaiak.Config{}, err
	}
	conf, err := kaiak.ProjectConfig(ws)
	if err != nil {
		return nil, conf, errors.Join(err, ws.Close())
	}
	if len(conf.Deny) == 0 {
		return ws, conf, nil
	}
	if err := ws.Close(); err != nil {
		return nil, conf, err
	}
	ws, err = workspace.Open(root, workspace.Options{Deny: conf.Deny})
	return ws, conf, err
}

func severities(conf kaiak.Config) map[string]incidents.Severity {
	by := make(map[string]incidents.Severity, len(conf.Severity))
	for rule, severity := range conf.Severity {
		by[rule] = incidents.Severity(severity)
	}
	return by
}

// projectBaseline returns what the settings' baseline hides, nil without one.
func projectBaseline(ws *workspace.Workspace, conf kaiak.Config) (map[string]bool, error) {
	if conf.Baseline == "" {
		return nil, nil
	}
	file, err := ws.Read(conf.Baseline)
	if err != nil {
		return nil, err
	}
	return check.ParseBaseline(conf.Baseline, file.Text)
}
