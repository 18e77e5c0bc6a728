package kaiak

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

//go:generate go test -run TestProtocolDocument -update .

// WriteProtocol writes docs/protocol.md: the wire as the tables of this package
// have it.
func WriteProtocol(w io.Writer) error {
	d := &reference{}
	d.intro()
	d.operations()
	d.notifications()
	d.errors()
	d.limits()
	d.configuration()
	d.missing()
	_, err := io.WriteString(w, d.String())
	return err
}

// reference is the protocol reference while it is written.
type reference struct{ strings.Builder }

func (d *reference) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *reference) intro() {
	d.line(`<!-- Generated from the tables in package kaiak by "make generate". -->

# The wire

Kaiak speaks JSON-RPC 2.0 in LSP's framing (Content-Length headers) over stdio
or a unix socket, in the same connection as the Language Server Protocol. The
methods and notifications marked "004" are a frozen contract: their names,
members and numbers never change. Everything else is added beside them, and a
client must ignore members that it does not know.

The capability ` + "`experimental.kaiak`" + ` of the initialize response lists what this
server has: ` + "`protocol_version`, `methods`, `notifications`, `limits` and `features`" + `,
where a feature that is not there has ` + "`supported: false`" + ` and the reason.

Every method is also a command of ` + "`workspace/executeCommand`" + `, with the params as
its only argument.

Paths may be relative to the workspace, absolute inside it, or file URIs.
` + "`line_number`" + ` counts from 1; a ` + "`range`" + ` counts lines from 0 and columns from 0 in
UTF-16 code units. Hashes are SHA-256 of the exact bytes, in lower-case hex.
Times are RFC 3339 in UTC.
`)
}

func (d *reference) operations() {
	d.line("## Methods\n")
	d.line("| method | since | what it does |\n|---|---|---|")
	for _, o := range operations.rows {
		if o.Supported {
			d.line("| [`%s`](#%s) | %s | %s |", o.Method, anchor(o.Method), o.Since, o.Summary)
		}
	}
	d.line("")
	for _, o := range operations.rows {
		if !o.Supported {
			continue
		}
		d.line("### `%s`\n\n%s\n", o.Method, o.Summary)
		d.members("Params", o.Params, "required")
		d.members("Result", o.Result, "always")
		if len(o.Errors) > 0 {
			var codes []string
			for _, c := range o.Errors {
				codes = append(codes, fmt.Sprintf("`%d` %s", c.Number, c.Title))
			}
			d.line("Errors: %s.\n", strings.Join(codes, ", "))
		}
	}
}

// anchor is the id that a heading gets.
func anchor(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// members writes the table of a struct's members; required says of a member
// that it is.
func (d *reference) members(title string, t reflect.Type, required string) {
	if t.Kind() != reflect.Struct || len(members(t)) == 0 {
		d.line("%s: none.\n", title)
		return
	}
	d.line("| %s | type | |\n|---|---|---|", strings.ToLower(title))
	d.rows("", t, required, nil)
	d.line("")
}

// rows writes a struct's members, and below them those of the structs in it.
func (d *reference) rows(prefix string, t reflect.Type, required string, above []reflect.Type) {
	if slices.Contains(above, t) {
		return
	}
	above = append(above, t)
	for _, f := range fieldsOf(t) {
		note := ""
		if f.member.required {
			note = required
		}
		if f.doc != "" {
			note = strings.TrimPrefix(note+". "+f.doc, ". ")
		}
		d.line("| `%s%s` | %s | %s |", prefix, f.member.name, typeName(f.member.typ), note)
		if inner, array := structIn(f.member.typ); inner != nil {
			d.rows(prefix+f.member.name+array+".", inner, required, above)
		}
	}
}

type field struct {
	member member
	doc    string
}

// fieldsOf lists a struct's members with what their tags say about them.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Tag.Get("json") == "" {
			out = append(out, fieldsOf(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		out = append(out, field{member{name, !strings.Contains(options, "omit"), f.Type}, docOf(f.Tag.Get("jsonschema"))})
	}
	return out
}

// docOf reads description and enum of a jsonschema tag, in which a comma that
// is part of the text is escaped.
func docOf(tag string) string {
	var doc string
	var enum []string
	for _, part := range strings.Split(strings.ReplaceAll(tag, `\,`, "\x00"), ",") {
		key, value, _ := strings.Cut(strings.ReplaceAll(part, "\x00", ","), "=")
		switch key {
		case "description":
			doc = value
		case "enum":
			enum = append(enum, "`"+value+"`")
		}
	}
	if len(enum) > 0 && doc == "" {
		doc = "One of " + strings.Join(enum, ", ")
	}
	return strings.ReplaceAll(doc, "|", "\\|")
}

// structIn returns the struct that a type is or holds several of.
func structIn(t reflect.Type) (inner reflect.Type, array string) {
	for {
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
			continue
		case reflect.Slice:
			t, array = t.Elem(), array+"[]"
			continue
		case reflect.Struct:
			if strings.HasPrefix(t.PkgPath(), "github.com/kaiak/") {
				return t, array
			}
		}
		return nil, ""
	}
}

// typeName is a type in the words of JSON.
func typeName(t reflect.Type) string {
	switch t {
	case rawMessage:
		return "any"
	case reflect.TypeFor[time.Time]():
		return "time"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64"
		}
		return "array of " + typeName(t.Elem())
	case reflect.Map:
		return "object of " + typeName(t.Elem())
	case reflect.Struct:
		return "object"
	case reflect.Interface:
		return "any"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return "integer"
}

func (d *reference) notifications() {
	d.line("## Notifications\n")
	d.line("Every one has the members below; `content` depends on the method. It is stored before it is sent, and `kaiak/session/events` replays it byte for byte.\n")
	d.members("Params", reflect.TypeFor[Event](), "always")
	for _, n := range Notifications {
		d.line("### `%s`\n\n%s\n", n.Method, n.Summary)
		d.members("Content", reflect.TypeOf(n.Content), "always")
	}
}

func (d *reference) errors() {
	d.line("## Errors\n")
	d.line("`error.data` always has `kind` and `retryable`; other members name what the error is about. The kind tells numbers apart that LSP uses for something else.\n")
	d.line("| code | `data.kind` | |\n|---|---|---|")
	for _, c := range Codes {
		d.line("| `%d` | `%s` | %s |", c.Number, c.Kind, c.Title)
	}
	d.line("")
}

func (d *reference) limits() {
	d.line("## Limits\n")
	d.line("They hold for `kaiak/*`; the editor's own traffic is never refused for its size.\n")
	d.line("| limit | value | of | answer | |\n|---|---|---|---|---|")
	for _, l := range Limits {
		answer := ""
		if l.Code.Number != 0 {
			answer = fmt.Sprintf("`%d`", l.Code.Number)
		}
		d.line("| `%s` | %d %s | %s | %s | %s |", l.Name, l.Value, l.Unit, l.Scope, answer, l.Doc)
	}
	d.line("")
}

func (d *reference) configuration() {
	d.line("## Settings\n")
	d.line("The same keys in `initializationOptions`, `workspace/configuration` (section `kaiak`), `.kaiak/config.yaml` and `kaiak/config/update`; what comes later in this list wins over what comes before.\n")
	d.line("| key | type | |\n|---|---|---|")
	d.rows("", reflect.TypeFor[Config](), "", nil)
	d.line("")
}

func (d *reference) missing() {
	d.line("## Not supported\n")
	d.line("| operation | why |\n|---|---|")
	for _, o := range operations.rows {
		if !o.Supported {
			d.line("| `%s` | %s |", o.Method, o.Reason)
		}
		for _, part := range slices.Sorted(maps.Keys(o.Lacks)) {
			d.line("| `%s`: %s | %s |", o.Method, part, o.Lacks[part])
		}
	}
}
