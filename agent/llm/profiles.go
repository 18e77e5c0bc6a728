package llm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// profileFile is the user's file of named endpoints. It never lies in a
// workspace: a project must not choose where its source is sent.
type profileFile struct {
	Profiles []profileEntry `yaml:"profiles"`
}

type profileEntry struct {
	Name          string            `yaml:"name"`
	BaseURL       string            `yaml:"base_url"`
	Model         string            `yaml:"model"`
	KeyEnv        string            `yaml:"key_env"`  // name of an environment variable
	KeyFile       string            `yaml:"key_file"` // 0600; relative to the file of profiles
	Headers       map[string]string `yaml:"headers"`
	Proxy         string            `yaml:"proxy"`
	CAFile        string            `yaml:"ca_file"`
	ContextWindow int               `yaml:"context_window"`
	MaxOutput     int               `yaml:"max_output"`
	Concurrency   int               `yaml:"concurrency"`
	TextToolCalls bool              `yaml:"text_tool_calls"`
	TextEdits     bool              `yaml:"text_edits"`
	Timeouts      struct {
		Connect   duration `yaml:"connect"`
		FirstByte duration `yaml:"first_byte"`
		Idle      duration `yaml:"idle"`
		Progress  duration `yaml:"progress"`
		Total     duration `yaml:"total"`
	} `yaml:"timeouts"`
}

// A duration is written as in Go: "90s", "5m".
type duration time.Duration

// UnmarshalYAML implements the YAML decoder's interface.
func (d *duration) UnmarshalYAML(text []byte) error {
	v, err := time.ParseDuration(strings.Trim(strings.TrimSpace(string(text)), `"'`))
	if err != nil || v <= 0 {
		return fmt.Errorf("%s is no duration such as 90s or 5m", strings.TrimSpace(string(text)))
	}
	*d = duration(v)
	return nil
}

// ReadProfiles reads named endpoints from a YAML file of the user. Keys are not
// in it: it names the variable or the private file that holds one. A file that is
// not there has none.
func ReadProfiles(path string, getenv func(string) string) (Profiles, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("model profiles: %w", err)
	}
	name := filepath.Base(path)
	var file profileFile
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out Profiles
	seen := map[string]bool{}
	for i, e := range file.Profiles {
		p := Profile{
			Name: e.Name, BaseURL: e.BaseURL, Model: e.Model, Headers: e.Headers, Proxy: e.Proxy, CAFile: e.CAFile,
			ContextWindow: e.ContextWindow, MaxOutput: e.MaxOutput, Concurrency: e.Concurrency, TextToolCalls: e.TextToolCalls, TextEdits: e.TextEdits,
			Timeouts: Timeouts{time.Duration(e.Timeouts.Connect), time.Duration(e.Timeouts.FirstByte), time.Duration(e.Timeouts.Idle), time.Duration(e.Timeouts.Progress), time.Duration(e.Timeouts.Total)},
		}
		switch {
		case p.Name == "":
			return nil, fmt.Errorf("%s: profile %d has no name", name, i+1)
		case seen[p.Name]:
			return nil, fmt.Errorf("%s: there are two profiles named %s", name, p.Name)
		}
		seen[p.Name] = true
		if _, err := p.endpoint(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case e.KeyEnv != "" && e.KeyFile != "":
			return nil, fmt.Errorf("%s: profile %s has both key_env and key_file; keep one", name, p.Name)
		case e.KeyEnv != "":
			p.Key = Secret(getenv(e.KeyEnv))
		case e.KeyFile != "":
			file := e.KeyFile
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(path), file)
			}
			if p.Key, err = KeyFromFile(file); err != nil {
				return nil, fmt.Errorf("%s: profile %s: %w", name, p.Name, err)
			}
		}
		out = append(out, p)
	}
	return out, nil
}
