package incidents

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A part is one element of a JSON array or one member of an object, unparsed.
type part struct {
	key  string // of a member
	data []byte
	at   int // offset of data in what was split
}

// elements splits a JSON array, members a JSON object, by nesting depth alone.
// They do not validate what the parts hold: a broken record inside is found
// when it is decoded, and the parts after it are still found. whole is false
// when the text ends before the closing bracket; the last part is then what
// there is of it.
func elements(data []byte) (parts []part, whole bool) { return split(data, '[', ']') }

func members(data []byte) (parts []part, whole bool) {
	parts, whole = split(data, '{', '}')
	sound := parts[:0]
	for _, p := range parts {
		key, n, ok := memberKey(p.data)
		if !ok {
			continue
		}
		p.key = key
		p.at += n
		rest := bytes.TrimLeft(p.data[n:], " \t\r\n")
		p.at += len(p.data) - n - len(rest)
		p.data = rest
		sound = append(sound, p)
	}
	return sound, whole
}

// memberKey reads `"key" :` and returns the length of it.
func memberKey(data []byte) (key string, n int, ok bool) {
	if len(data) == 0 || data[0] != '"' {
		return "", 0, false
	}
	end := stringEnd(data, 0)
	if end < 0 || json.Unmarshal(data[:end], &key) != nil {
		return "", 0, false
	}
	colon := bytes.IndexByte(data[end:], ':')
	if colon < 0 || len(bytes.TrimSpace(data[end:end+colon])) > 0 {
		return "", 0, false
	}
	return key, end + colon + 1, true
}

func split(data []byte, open, shut byte) (parts []part, whole bool) {
	i := 0
	for i < len(data) && isSpace(data[i]) {
		i++
	}
	if i == len(data) || data[i] != open {
		return nil, false
	}
	i++
	for {
		end, stop := partEnd(data, i)
		if trimmed := bytes.TrimSpace(data[i:end]); len(trimmed) > 0 {
			lead := bytes.Index(data[i:end], trimmed)
			parts = append(parts, part{data: trimmed, at: i + lead})
		}
		switch {
		case stop == shut:
			return parts, true
		case stop == ',':
			i = end + 1
		default: // the end of the text, or the wrong bracket
			return parts, false
		}
	}
}

// partEnd returns where the part that starts at i ends and the byte that ends
// it: ',' or a closing bracket outside any nesting, 0 at the end of the text.
func partEnd(data []byte, i int) (end int, stop byte) {
	depth := 0
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			n := stringEnd(data, i)
			if n < 0 {
				return len(data), 0
			}
			i = n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i, data[i]
			}
			depth--
		case ',':
			if depth == 0 {
				return i, ','
			}
		}
	}
	return len(data), 0
}

// stringEnd returns the offset after the string literal that starts at i, -1
// when it does not end.
func stringEnd(data []byte, i int) int {
	for j := i + 1; j < len(data); j++ {
		switch data[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// decodeError says in a person's words why a JSON record could not be decoded.
func decodeError(err error) string {
	switch e := err.(type) {
	case *json.UnmarshalTypeError:
		field := e.Field
		if field == "" {
			field = "it"
		}
		return field + " is " + article(e.Value) + " where " + article(strings.TrimPrefix(e.Type.String(), "*")) + " is expected"
	case *json.SyntaxError:
		return "it is not JSON: " + e.Error()
	}
	return err.Error()
}

func article(noun string) string {
	switch {
	case strings.HasPrefix(noun, "incidents."):
		return "an object"
	case strings.HasPrefix(noun, "map["):
		return "an object"
	case strings.HasPrefix(noun, "[]"):
		return "an array"
	case noun == "int":
		return "an integer"
	case noun == "array" || noun == "object":
		return "an " + noun
	}
	return "a " + noun
}
