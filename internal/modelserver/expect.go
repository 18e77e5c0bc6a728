package modelserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Received is one request as it came.
type Received struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
	Step   int // index of the step that served it, -1 for none
}

// JSON returns the value at a path of the body ("messages.0.role"; a negative
// index counts from the end), and whether there is one.
func (r Received) JSON(path string) (any, bool) {
	var v any
	if json.Unmarshal(r.Body, &v) != nil {
		return nil, false
	}
	return lookup(v, path)
}

// Text returns the text of all messages of the body, joined by newlines.
func (r Received) Text() string {
	var body struct {
		Messages []struct {
			Content any `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(r.Body, &body) // not JSON: no messages
	var parts []string
	for _, m := range body.Messages {
		if s, ok := m.Content.(string); ok {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

func lookup(v any, path string) (any, bool) {
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[part]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(part)
			if i < 0 {
				i += len(x)
			}
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// check reports how r differs from what is expected, nil for not at all.
func (e Expect) check(r Received) error {
	if e.Method != "" && e.Method != r.Method {
		return fmt.Errorf("method is %s, expected %s", r.Method, e.Method)
	}
	if e.Path != "" && e.Path != r.Path {
		return fmt.Errorf("path is %s, expected %s", r.Path, e.Path)
	}
	for _, name := range sortedKeys(e.Headers) {
		if got := r.Header.Get(name); got != e.Headers[name] {
			return fmt.Errorf("header %s is %q, expected %q", name, got, e.Headers[name])
		}
	}
	if e.BodySHA256 != "" {
		sum := sha256.Sum256(r.Body)
		if got := hex.EncodeToString(sum[:]); got != e.BodySHA256 {
			return fmt.Errorf("the body's sha256 is %s, expected %s", got, e.BodySHA256)
		}
	}
	for _, path := range sortedKeys(e.Body) {
		if err := checkValue(r, path, e.Body[path]); err != nil {
			return err
		}
	}
	return nil
}

func checkValue(r Received, path string, want any) error {
	got, ok := r.JSON(path)
	if op, isOp := want.(map[string]any); isOp && len(op) == 1 {
		for name, arg := range op {
			switch name {
			case "$absent":
				if ok {
					return fmt.Errorf("body has %s = %v, expected none", path, got)
				}
				return nil
			case "$contains":
				if text, isText := got.(string); !isText || !strings.Contains(text, fmt.Sprint(arg)) {
					return fmt.Errorf("body's %s does not contain %q: %v", path, arg, got)
				}
				return nil
			case "$len":
				if list, isList := got.([]any); !isList || fmt.Sprint(len(list)) != fmt.Sprint(arg) {
					return fmt.Errorf("body's %s does not have %v elements: %v", path, arg, got)
				}
				return nil
			}
		}
	}
	if !ok {
		return fmt.Errorf("body has no %s, expected %v", path, want)
	}
	if !reflect.DeepEqual(got, normal(want)) {
		return fmt.Errorf("body's %s is %v, expected %v", path, got, want)
	}
	return nil
}

// normal turns a Go value into what encoding/json would decode it to.
func normal(v any) any {
	js, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(js, &out) != nil {
		return v
	}
	return out
}

// capture returns what the groups of e.Capture matched.
func (e Expect) capture(r Received) (map[string]string, error) {
	if len(e.Capture) == 0 {
		return nil, nil
	}
	text := r.Text()
	out := map[string]string{}
	for _, name := range sortedKeys(e.Capture) {
		re, err := regexp.Compile(e.Capture[name])
		if err != nil {
			return nil, fmt.Errorf("capture %s: %w", name, err)
		}
		m := re.FindStringSubmatch(text)
		if len(m) != 2 {
			return nil, fmt.Errorf("capture %s: %s has no match with one group in the messages", name, re)
		}
		out[name] = m[1]
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
