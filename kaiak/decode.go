package kaiak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// decodeParams reads the params of one operation into P, a struct with the
// wire's member names. A member without omitempty is required. The error is
// a -32602 that names the member ("params.incidents[3].line_number"), what it
// should be and what it is. Members that P does not have are ignored: a newer
// client may send them.
func decodeParams[P any](raw json.RawMessage) (P, error) {
	var p P
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = json.RawMessage("{}")
	}
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return p, Errorf(InvalidParams, "params are not JSON: %w", err)
	}
	if e := (checker{code: InvalidParams}).check("params", value, reflect.TypeFor[P]()); e != nil {
		return p, e
	}
	// Names are matched exactly, as check did; encoding/json alone would also
	// take "Session_ID" for "session_id".
	if m, ok := value.(map[string]any); ok {
		dropStrangers(m, reflect.TypeFor[P]())
		exact, err := json.Marshal(m)
		if err != nil {
			return p, Errorf(InvalidParams, "params: %w", err)
		}
		raw = exact
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, Errorf(InvalidParams, "params: %w", err)
	}
	return p, nil
}

// A checker compares decoded JSON with the Go types that it is meant for.
type checker struct {
	code   Code // of what does not fit
	strict bool // an object's unknown members do not fit either
	sparse bool // no member is required
}

func (c checker) mismatch(path, want string, got any) *Error {
	return Errorf(c.code, "%s must be %s, not %s", path, want, describe(got)).With("member", path)
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	case string:
		if len(v) > 40 {
			return "a string"
		}
		return fmt.Sprintf("%q", v)
	case []any:
		return "an array"
	}
	return "an object"
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// check compares one value, which stands at path.
func (c checker) check(path string, v any, t reflect.Type) *Error {
	if t == rawMessage || t.Kind() == reflect.Interface {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		if v == nil {
			return nil
		}
		return c.check(path, v, t.Elem())
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil // it reports for itself
	}
	switch t.Kind() {
	case reflect.Struct:
		m, ok := v.(map[string]any)
		if !ok {
			return c.mismatch(path, "an object", v)
		}
		known := members(t)
		if c.strict {
			for _, key := range sortedKeys(m) {
				if !slices.ContainsFunc(known, func(f member) bool { return f.name == key }) {
					return c.unknown(path, key, known)
				}
			}
		}
		for _, f := range known {
			value, present := m[f.name]
			switch {
			case !present && f.required && !c.sparse:
				return Errorf(c.code, "%s.%s is missing", path, f.name).With("member", path+"."+f.name)
			case !present || value == nil && (!f.required || c.sparse):
				continue
			}
			if e := c.check(path+"."+f.name, value, f.typ); e != nil {
				return e
			}
		}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			if _, ok := v.(string); !ok {
				return c.mismatch(path, "a base64 string", v)
			}
			return nil
		}
		list, ok := v.([]any)
		if !ok {
			return c.mismatch(path, "an array", v)
		}
		for i, item := range list {
			if e := c.check(fmt.Sprintf("%s[%d]", path, i), item, t.Elem()); e != nil {
				return e
			}
		}
	case reflect.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return c.mismatch(path, "an object", v)
		}
		for _, key := range sortedKeys(m) {
			if e := c.check(path+"."+key, m[key], t.Elem()); e != nil {
				return e
			}
		}
	case reflect.String:
		if _, ok := v.(string); !ok {
			return c.mismatch(path, "a string", v)
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			return c.mismatch(path, "true or false", v)
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, ok := v.(json.Number)
		if !ok {
			return c.mismatch(path, "an integer", v)
		}
		i, err := n.Int64()
		if err != nil || t.Kind() == reflect.Int32 && (i > math.MaxInt32 || i < math.MinInt32) {
			return c.mismatch(path, "an integer", v)
		}
	case reflect.Float64:
		if _, ok := v.(json.Number); !ok {
			return c.mismatch(path, "a number", v)
		}
	}
	return nil
}

// A member is one JSON member of a struct.
type member struct {
	name     string
	required bool
	typ      reflect.Type
}

// members lists the JSON members of a struct type in the order of its fields.
// Embedded structs are part of it.
func members(t reflect.Type) []member {
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _ := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			out = append(out, members(f.Type)...)
		case name == "-" || !f.IsExported():
		default:
			if name == "" {
				name = f.Name
			}
			optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			out = append(out, member{name, !optional, f.Type})
		}
	}
	return out
}

// dropStrangers removes from m, and from the objects in it, what t has no
// member for.
func dropStrangers(m map[string]any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	known := members(t)
	for key, value := range m {
		i := slices.IndexFunc(known, func(f member) bool { return f.name == key })
		if i < 0 {
			delete(m, key)
			continue
		}
		dropFrom(value, known[i].typ)
	}
}

func dropFrom(v any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind() == reflect.Map {
			for _, item := range v {
				dropFrom(item, t.Elem())
			}
			return
		}
		if !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			dropStrangers(v, t)
		}
	case []any:
		if t.Kind() == reflect.Slice {
			for _, item := range v {
				dropFrom(item, t.Elem())
			}
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// unknown is the error for a member that nobody knows; it names the nearest
// one that there is.
func (c checker) unknown(path, key string, known []member) *Error {
	e := Errorf(c.code, "there is no key %q in %s", key, path)
	best, distance := "", len(key)/2+1
	for _, f := range known {
		if d := editDistance(key, f.name); d < distance {
			best, distance = f.name, d
		}
	}
	if best != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", best)
		e = e.With("nearest", best)
	}
	return e.With("member", path+"."+key)
}

// editDistance is how many bytes have to be inserted, deleted or replaced to
// make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
