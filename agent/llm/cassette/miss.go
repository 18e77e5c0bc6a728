package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A MissError is a request that was not recorded.
type MissError struct {
	Nearest     string   // key of the most similar recording, "" when there is none
	Differences []string // where it differs, at most five
}

func (e *MissError) Error() string { return e.ReplayMiss() }

// ReplayMiss says what is missing; package llm tells the error by this method.
func (e *MissError) ReplayMiss() string {
	if e.Nearest == "" {
		return "this request was not recorded, and there is no recording that is like it"
	}
	return fmt.Sprintf("this request was not recorded; the nearest recording, %s, differs in: %s", e.Nearest[:24], strings.Join(e.Differences, "; "))
}

// miss finds the recording that has most in common with a request.
func (c *Cassette) miss(req request) error {
	want := leaves(req.Body)
	best, bestScore := "", -1
	var bestLeaves map[string]string
	for _, key := range slices.Sorted(maps.Keys(c.tape)) {
		rec := c.tape[key][0]
		if rec.Request.Method != req.Method || rec.Request.Path != req.Path {
			continue
		}
		have := leaves(rec.Request.Body)
		score := 0
		for path, value := range want {
			score += common(value, have[path])
		}
		if score > bestScore {
			best, bestScore, bestLeaves = key, score, have
		}
	}
	e := &MissError{Nearest: best}
	if best == "" {
		return e
	}
	paths := map[string]bool{}
	for p := range want {
		paths[p] = true
	}
	for p := range bestLeaves {
		paths[p] = true
	}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		a, b := bestLeaves[p], want[p]
		if a == b {
			continue
		}
		if len(e.Differences) == 5 {
			break
		}
		e.Differences = append(e.Differences, fmt.Sprintf("%s: recorded %s, asked %s", p, around(a, b), around(b, a)))
	}
	return e
}

// common is how many leading bytes two values share.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// around shows a value where it begins to differ from another.
func around(s, other string) string {
	if s == "" {
		return "nothing"
	}
	at := common(s, other)
	from, to := max(at-15, 0), min(at+40, len(s))
	return fmt.Sprintf("%q", strings.ToValidUTF8(s[from:to], ""))
}

// leaves maps every path of a JSON text to its value.
func leaves(raw json.RawMessage) map[string]string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch x := v.(type) {
		case map[string]any:
			for k := range x {
				walk(path+"."+k, x[k])
			}
		case []any:
			for i := range x {
				walk(fmt.Sprintf("%s.%d", path, i), x[i])
			}
		default:
			out[strings.TrimPrefix(path, ".")] = fmt.Sprint(x)
		}
	}
	walk("", v)
	return out
}
