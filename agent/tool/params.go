package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/kaiak/kaiak/workspace"
)

// schema makes the JSON schema of a parameter struct: every member described,
// none beyond them.
func schema(params any) json.RawMessage {
	r := &jsonschema.Reflector{Anonymous: true, DoNotReference: true}
	s := r.Reflect(params)
	s.Version = ""
	js, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return js
}

// aliases are names that models write instead of the schema's, for every tool.
var aliases = map[string]string{
	"file": "path", "file_path": "path", "filePath": "path", "filename": "path", "uri": "path",
	"pattern": "query", "text": "query", "q": "query", "regexp": "query",
	"include": "glob", "files": "glob",
	"start": "start_line", "from": "start_line", "line_start": "start_line", "startLine": "start_line",
	"end": "end_line", "to": "end_line", "line_end": "end_line", "endLine": "end_line",
	"id": "artifact_id", "artifactId": "artifact_id", "options": "choices", "prompt": "question",
	"identifier": "name", "symbol": "name",
}

// decode reads arguments into a struct of strings, ints, bools and string lists.
// It accepts other names for a member, numbers in quotes and one string where a
// list belongs, and ignores what it does not know. A member without omitempty
// has to be there.
func decode[P any](args json.RawMessage) (P, error) {
	var p P
	var raw map[string]any
	if err := json.Unmarshal(args, &raw); err != nil {
		return p, errors.New("they are not a JSON object")
	}
	v := reflect.ValueOf(&p).Elem()
	known := map[string]bool{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		known[name] = true
	}
	for alias, name := range aliases {
		if value, ok := raw[alias]; ok && known[name] && !known[alias] {
			if _, has := raw[name]; !has {
				raw[name] = value
			}
		}
	}
	for i := range v.NumField() {
		name, opts, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		value, ok := raw[name]
		if !ok || value == nil {
			if !strings.Contains(opts, "omitempty") {
				return p, fmt.Errorf("%s is missing", name)
			}
			continue
		}
		if err := set(v.Field(i), value); err != nil {
			return p, fmt.Errorf("%s %w", name, err)
		}
	}
	return p, nil
}

func set(field reflect.Value, value any) error {
	switch field.Kind() {
	case reflect.String:
		switch x := value.(type) {
		case string:
			field.SetString(x)
		case float64, bool:
			field.SetString(fmt.Sprint(x))
		default:
			return errors.New("must be a string")
		}
	case reflect.Int:
		switch x := value.(type) {
		case float64:
			if x != float64(int(x)) {
				return errors.New("must be a whole number")
			}
			field.SetInt(int64(x))
		case string:
			n, err := strconv.Atoi(strings.TrimSpace(x))
			if err != nil {
				return errors.New("must be a whole number")
			}
			field.SetInt(int64(n))
		default:
			return errors.New("must be a whole number")
		}
	case reflect.Bool:
		switch x := value.(type) {
		case bool:
			field.SetBool(x)
		case string:
			b, err := strconv.ParseBool(x)
			if err != nil {
				return errors.New("must be true or false")
			}
			field.SetBool(b)
		default:
			return errors.New("must be true or false")
		}
	case reflect.Slice:
		if s, ok := value.(string); ok {
			value = []any{s}
		}
		list, ok := value.([]any)
		if !ok {
			return errors.New("must be a list of strings")
		}
		for _, v := range list {
			s, ok := v.(string)
			if !ok {
				return errors.New("must be a list of strings")
			}
			field.Set(reflect.Append(field, reflect.ValueOf(s)))
		}
	default:
		return fmt.Errorf("has a type that is not supported: %v", field.Kind())
	}
	return nil
}

// denied reports whether the workspace refused a path for its safety.
func denied(err error) bool {
	var p *workspace.PathError
	if !errors.As(err, &p) {
		return false
	}
	switch p.Kind {
	case workspace.Escapes, workspace.DeniedPath, workspace.Symlink, workspace.HardLink, workspace.NotRegular, workspace.BadName, workspace.NotFileURI:
		return true
	}
	return false
}
