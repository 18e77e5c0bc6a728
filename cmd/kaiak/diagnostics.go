package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/diagnose"
)

// diagnosticsFile is the user's choice of a command that judges fixes. It never
// lies in a workspace: a project must not start programs.
type diagnosticsFile struct {
	Command []string `yaml:"command"`
	Timeout string   `yaml:"timeout"` // "90s"; "": 2 minutes
}

// userDiagnostics reads kaiak/diagnostics.yaml of the user's configuration folder.
// nil means that the rules are the only judge.
func userDiagnostics() (agent.Diagnostics, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, nil // no home, no file
	}
	text, err := os.ReadFile(filepath.Join(dir, "kaiak", "diagnostics.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file diagnosticsFile
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("diagnostics.yaml: %w", err)
	}
	var timeout time.Duration
	if file.Timeout != "" {
		if timeout, err = time.ParseDuration(file.Timeout); err != nil {
			return nil, fmt.Errorf("diagnostics.yaml: timeout %q is no duration such as 90s", file.Timeout)
		}
	}
	c, err := diagnose.New(file.Command, timeout, os.Environ())
	if err != nil {
		return nil, fmt.Errorf("diagnostics.yaml: %w", err)
	}
	return c, nil
}
