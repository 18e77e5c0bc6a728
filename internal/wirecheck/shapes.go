package wirecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"go.lsp.dev/protocol"
)

// What a server of our kind may send. nil stands for a request without params.
var serverRequests = map[string]reflect.Type{
	"client/registerCapability":      reflect.TypeFor[protocol.RegistrationParams](),
	"client/unregisterCapability":    reflect.TypeFor[protocol.UnregistrationParams](),
	"window/showMessageRequest":      reflect.TypeFor[protocol.ShowMessageRequestParams](),
	"window/showDocument":            reflect.TypeFor[protocol.ShowDocumentParams](),
	"window/workDoneProgress/create": reflect.TypeFor[protocol.WorkDoneProgressCreateParams](),
	"workspace/applyEdit":            reflect.TypeFor[protocol.ApplyWorkspaceEditParams](),
	"workspace/configuration":        reflect.TypeFor[protocol.ConfigurationParams](),
	"workspace/workspaceFolders":     nil,
	"workspace/diagnostic/refresh":   nil,
	"workspace/codeLens/refresh":     nil,
}

var serverNotifications = map[string]reflect.Type{
	"$/cancelRequest":                 reflect.TypeFor[protocol.CancelParams](),
	"$/logTrace":                      reflect.TypeFor[protocol.LogTraceParams](),
	"$/progress":                      reflect.TypeFor[protocol.ProgressParams](),
	"window/showMessage":              reflect.TypeFor[protocol.ShowMessageParams](),
	"window/logMessage":               reflect.TypeFor[protocol.LogMessageParams](),
	"textDocument/publishDiagnostics": reflect.TypeFor[protocol.PublishDiagnosticsParams](),
}

var progressKinds = map[string]reflect.Type{
	"begin":  reflect.TypeFor[protocol.WorkDoneProgressBegin](),
	"report": reflect.TypeFor[protocol.WorkDoneProgressReport](),
	"end":    reflect.TypeFor[protocol.WorkDoneProgressEnd](),
}

// results judges the result of each standard request that we answer.
var results = map[string]func(json.RawMessage) []string{
	"initialize":              of[protocol.InitializeResult](),
	"shutdown":                isNull,
	"textDocument/codeAction": listOf(codeActionOrCommand),
	"codeAction/resolve":      of[protocol.CodeAction](),
	"textDocument/codeLens":   listOf(of[protocol.CodeLens]()),
	"textDocument/diagnostic": diagnosticReport,
}

func of[T any]() func(json.RawMessage) []string {
	return func(raw json.RawMessage) []string { return roundTrip(raw, reflect.TypeFor[T]()) }
}

func isNull(raw json.RawMessage) []string {
	if string(raw) != "null" {
		return []string{fmt.Sprintf("is %s, not null", raw)}
	}
	return nil
}

// listOf wants an array: null would be allowed by LSP in some places, but an
// empty list is written as [].
func listOf(item func(json.RawMessage) []string) func(json.RawMessage) []string {
	return func(raw json.RawMessage) []string {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil || list == nil {
			return []string{fmt.Sprintf("is not an array: %.200s", raw)}
		}
		var faults []string
		for i, one := range list {
			for _, f := range item(one) {
				faults = append(faults, fmt.Sprintf("[%d]%s", i, f))
			}
		}
		return faults
	}
}

// codeActionOrCommand tells the two arms by "command", a string in one and an
// object in the other.
func codeActionOrCommand(raw json.RawMessage) []string {
	var probe struct {
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(raw, &probe) == nil && bytes.HasPrefix(probe.Command, []byte(`"`)) {
		return roundTrip(raw, reflect.TypeFor[protocol.Command]())
	}
	return roundTrip(raw, reflect.TypeFor[protocol.CodeAction]())
}

func diagnosticReport(raw json.RawMessage) []string {
	var probe struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(raw, &probe) == nil && probe.Kind == "unchanged" {
		return roundTrip(raw, reflect.TypeFor[protocol.RelatedUnchangedDocumentDiagnosticReport]())
	}
	return roundTrip(raw, reflect.TypeFor[protocol.RelatedFullDocumentDiagnosticReport]())
}

// roundTrip decodes raw into one of go.lsp.dev's types and encodes it again.
// What is lost on the way is a member that the type does not have; what
// appears is a required member that was missing.
func roundTrip(raw json.RawMessage, t reflect.Type) []string {
	if raw == nil {
		return []string{"is missing"}
	}
	v := reflect.New(t).Interface()
	if err := protocol.Unmarshal(raw, v); err != nil {
		return []string{fmt.Sprintf("does not fit: %v: %.200s", err, raw)}
	}
	again, err := protocol.Marshal(v)
	if err != nil {
		return []string{fmt.Sprintf("cannot be encoded again: %v", err)}
	}
	return compare(raw, again)
}

// strict does the same for a type of ours, by encoding/json.
func strict(raw json.RawMessage, t reflect.Type) []string {
	if raw == nil {
		return []string{"is missing"}
	}
	v := reflect.New(t).Interface()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return []string{fmt.Sprintf("does not fit: %v: %.200s", err, raw)}
	}
	again, err := json.Marshal(v)
	if err != nil {
		return []string{fmt.Sprintf("cannot be encoded again: %v", err)}
	}
	return compare(raw, again)
}

// compare reports the differences between a message and its second encoding.
func compare(sent, again []byte) []string {
	a, errA := tree(sent)
	b, errB := tree(again)
	if errA != nil || errB != nil {
		return []string{fmt.Sprintf("is not JSON: %.200s", sent)}
	}
	var faults []string
	differ("", a, b, &faults)
	return faults
}

func tree(raw []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func differ(path string, sent, again any, faults *[]string) {
	add := func(format string, args ...any) {
		*faults = append(*faults, path+" "+fmt.Sprintf(format, args...))
	}
	switch s := sent.(type) {
	case map[string]any:
		a, ok := again.(map[string]any)
		if !ok {
			add("is an object, which it may not be")
			return
		}
		for _, key := range keys(s, a) {
			sv, inSent := s[key]
			av, inAgain := a[key]
			switch {
			case !inAgain:
				add("has the member %q = %.100s, which the type does not have or not with that value", key, fmt.Sprint(sv))
			case !inSent:
				add("lacks the required member %q", key)
			default:
				differ(path+"."+key, sv, av, faults)
			}
		}
	case []any:
		a, ok := again.([]any)
		if !ok || len(a) != len(s) {
			add("is an array, which it may not be, or not with %d elements", len(s))
			return
		}
		for i := range s {
			differ(fmt.Sprintf("%s[%d]", path, i), s[i], a[i], faults)
		}
	default:
		if !reflect.DeepEqual(sent, again) {
			add("is %.100v, read as %.100v", sent, again)
		}
	}
}

func keys(maps ...map[string]any) []string {
	var out []string
	for _, m := range maps {
		for k := range m {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
