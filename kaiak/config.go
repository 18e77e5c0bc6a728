package kaiak

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/kaiak/kaiak/workspace"
)

// Config is every setting there is. The same keys stand in the editor's
// settings, in initializationOptions, in .kaiak/config.yaml and in
// config.update; the command line's flags set the same ones.
type Config struct {
	Rules         []string          `json:"rules" jsonschema:"description=Rule sources: files\\, directories\\, builtin or builtin:PACK. Empty: the workspace's .kaiak/rules and builtin"`
	DisabledRules []string          `json:"disabled_rules" jsonschema:"description=Ids of rules that are switched off"`
	Severity      map[string]string `json:"severity" jsonschema:"description=Severity by rule id: error\\, warning\\, info or hint"`
	Baseline      string            `json:"baseline" jsonschema:"description=A file of incidents that are not shown\\, as kaiak check --format json writes it"`
	AnalysisFiles []string          `json:"analysis_files" jsonschema:"description=Globs of SARIF and Konveyor files whose incidents are shown and watched"`
	Engine        string            `json:"engine" jsonschema:"enum=recipes,enum=auto,enum=model,description=recipes: rules only; auto: rules\\, then the model; model: the model only"`
	Model         ModelConfig       `json:"model"`
	Approval      string            `json:"approval" jsonschema:"enum=ask,enum=defer,description=ask puts a question for each proposal; defer leaves it pending"`
	Timeout       int               `json:"timeout" jsonschema:"description=Seconds that a question waits for its answer"`
	Generated     bool              `json:"generated" jsonschema:"description=Also fix files that say they are generated"`
	Deny          []string          `json:"deny" jsonschema:"description=Names and paths of further files that are neither read nor written; * stands for anything. Takes effect when the workspace is opened"`
	Trusted       bool              `json:"trusted" jsonschema:"description=The user trusts this workspace. Never read from the workspace itself"`
}

// ModelConfig chooses the model. Endpoints and keys are not part of it: they
// come from the user's environment and profiles only.
type ModelConfig struct {
	Profile  string `json:"profile" jsonschema:"description=Name of a profile in the user's own configuration"`
	Name     string `json:"name" jsonschema:"description=The model's name at the endpoint"`
	MaxTurns int    `json:"max_turns" jsonschema:"description=How often the model may be asked for one file"`

	// Caps are looked at before a call: what could exceed one asks, or stops
	// where there is nobody to ask.
	MaxTokens  int     `json:"max_tokens" jsonschema:"description=How many tokens one request may use; 0: any number"`
	MaxCostUSD float64 `json:"max_cost_usd" jsonschema:"description=How many US dollars one request may cost where the price of the model is known; 0: any amount"`

	Hints bool `json:"hints" jsonschema:"description=Keep accepted fixes of the model and show them to it as hints when it fixes the same rule in the same workspace"`
}

// The values of Config.Approval and of fix.generate's approval.
const (
	approvalAsk   = "ask"
	approvalDefer = "defer"
)

// configFile is where a workspace keeps its settings.
const configFile = ".kaiak/config.yaml"

// defaultConfig returns the settings of somebody who set none.
func defaultConfig() Config {
	return Config{
		Rules: []string{}, DisabledRules: []string{}, Severity: map[string]string{}, AnalysisFiles: []string{}, Deny: []string{},
		Engine: "recipes", Approval: approvalAsk, Timeout: 300, Model: ModelConfig{MaxTurns: 8, MaxTokens: 400_000, Hints: true},
	}
}

// settings is one source's part of the configuration: only the keys it sets.
type settings map[string]any

// parseSettings reads settings from JSON and checks every key and type. They
// may be wrapped in {"kaiak": {…}}, as editors send them.
func parseSettings(raw json.RawMessage, where string) (settings, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return settings{}, nil
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, Errorf(ConfigurationError, "%s: not JSON: %w", where, err)
	}
	if m, ok := v.(map[string]any); ok && len(m) == 1 && m["kaiak"] != nil {
		v = m["kaiak"]
	}
	return checkSettings(v, where)
}

func checkSettings(v any, where string) (settings, error) {
	if e := (checker{code: ConfigurationError, strict: true, sparse: true}).check(where, v, reflect.TypeFor[Config]()); e != nil {
		return nil, e
	}
	m, _ := v.(map[string]any)
	for key, value := range m {
		if value == nil {
			delete(m, key) // null is how editors say "not set"
		}
	}
	bad := func(key, want string, got any) error {
		return Errorf(ConfigurationError, "%s.%s must be %s, not %s", where, key, want, describe(got)).With("member", where+"."+key)
	}
	for key, allowed := range map[string][]string{"engine": {"recipes", "auto", "model"}, "approval": {approvalAsk, approvalDefer}} {
		if s, ok := m[key].(string); ok && !slices.Contains(allowed, s) {
			return nil, bad(key, "one of "+strings.Join(allowed, ", "), s)
		}
	}
	if levels, ok := m["severity"].(map[string]any); ok {
		for _, rule := range sortedKeys(levels) {
			if s, _ := levels[rule].(string); !validSeverity(s) {
				return nil, bad("severity."+rule, "error, warning, info or hint", levels[rule])
			}
		}
	}
	if n, ok := m["timeout"].(json.Number); ok {
		if i, err := n.Int64(); err != nil || i <= 0 {
			return nil, bad("timeout", "a positive number of seconds", n)
		}
	}
	return m, nil
}

// readProjectConfig reads the workspace's own settings; there may be none. An
// error names file, line and column. What only the user may decide is refused.
func readProjectConfig(ws *workspace.Workspace) (settings, error) {
	file, err := ws.ReadText(configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	if err != nil {
		return nil, Errorf(ConfigurationError, "%s: %w", configFile, err)
	}
	var v any
	if err := readYAML(file.Text, &v); err != nil {
		return nil, Errorf(ConfigurationError, "%s: %s", configFile, yaml.FormatError(err, false, false)).With("file", configFile)
	}
	if v == nil {
		return settings{}, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, Errorf(ConfigurationError, "%s: its keys must be text: %w", configFile, err).With("file", configFile)
	}
	m, err := parseSettings(raw, "config")
	if err == nil && m["trusted"] != nil {
		err = Errorf(ConfigurationError, "config.trusted cannot be set here: a workspace cannot vouch for itself; set it in your own settings").With("member", "config.trusted")
	}
	var e *Error
	if errors.As(err, &e) {
		member, _ := e.Data["member"].(string)
		line, column := yamlPosition(file.Text, strings.TrimPrefix(member, "config."))
		located := e.With("file", configFile).With("line", line).With("column", column)
		located.Message = fmt.Sprintf("%s:%d:%d: %s", configFile, line, column, e.Message)
		return nil, located
	}
	return m, err
}

// ProjectConfig returns the settings of a workspace for a program that has no
// client: what .kaiak/config.yaml sets, over the defaults. An error is a
// [ConfigurationError] that names file, line and column.
func ProjectConfig(ws *workspace.Workspace) (Config, error) {
	project, err := readProjectConfig(ws)
	if err != nil {
		return Config{}, err
	}
	return mergeSettings(project), nil
}

// yamlPosition returns the 1-based line and column of a key given as "a.b[0]",
// the file's start where it cannot be found.
func yamlPosition(text []byte, key string) (line, column int) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil || len(file.Docs) == 0 {
		return 1, 1
	}
	at := file.Docs[0].Body
	place := at
	for at != nil && key != "" {
		at, key = step(at, key, &place)
	}
	if place == nil || place.GetToken() == nil || place.GetToken().Position == nil {
		return 1, 1
	}
	return place.GetToken().Position.Line, place.GetToken().Position.Column
}

// step descends from a node by the first part of key, and notes where that
// part stands. The node it returns is nil when there is none.
func step(at ast.Node, key string, place *ast.Node) (ast.Node, string) {
	switch n := at.(type) {
	case *ast.MappingValueNode:
		return stepInto([]*ast.MappingValueNode{n}, key, place)
	case *ast.MappingNode:
		return stepInto(n.Values, key, place)
	case *ast.SequenceNode:
		var i int
		if _, err := fmt.Sscanf(key, "[%d]", &i); err != nil || i < 0 || i >= len(n.Values) {
			return nil, ""
		}
		_, rest, _ := strings.Cut(key, "]")
		*place = n.Values[i]
		return n.Values[i], strings.TrimPrefix(rest, ".")
	}
	return nil, ""
}

// stepInto finds the longest key of a mapping with which key begins: keys may
// have dots of their own.
func stepInto(values []*ast.MappingValueNode, key string, place *ast.Node) (ast.Node, string) {
	var best *ast.MappingValueNode
	length := -1
	for _, v := range values {
		if v.Key == nil || v.Key.GetToken() == nil {
			continue
		}
		name := v.Key.GetToken().Value
		rest, ok := strings.CutPrefix(key, name)
		if ok && len(name) > length && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			best, length = v, len(name)
		}
	}
	if best == nil {
		return nil, ""
	}
	*place = best.Key
	return best.Value, strings.TrimPrefix(key[length:], ".")
}

// readYAML decodes a file of the workspace. The decoder's own panics become
// errors: whoever can write the file must not be able to end the server.
func readYAML(text []byte, v any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not YAML that can be read (%v)", r)
		}
	}()
	return yaml.Unmarshal(text, v)
}

// mergeSettings lays layers over the defaults, later ones over earlier ones.
// Objects are merged member by member, everything else is replaced.
func mergeSettings(layers ...settings) Config {
	merged := map[string]any{}
	for _, layer := range layers {
		mergeInto(merged, layer)
	}
	conf := defaultConfig()
	// Every layer was checked, so this cannot fail.
	if err := json.Unmarshal(mustJSON(merged), &conf); err != nil {
		panic(fmt.Sprintf("checked settings do not fit: %v", err))
	}
	return conf
}

func mergeInto(dst map[string]any, src map[string]any) {
	for key, value := range src {
		if object, ok := value.(map[string]any); ok {
			old, ok := dst[key].(map[string]any)
			if !ok {
				old = map[string]any{}
			}
			into := map[string]any{}
			mergeInto(into, old)
			mergeInto(into, object)
			dst[key] = into
			continue
		}
		dst[key] = value
	}
}

// engines returns the engines that a setting stands for.
func (c Config) engines() []string {
	switch c.Engine {
	case "auto":
		return []string{"recipe", "model"}
	case "model":
		return []string{"model"}
	}
	return []string{"recipe"}
}
