package kaiak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/protocol.md")

func TestProtocolDocument(t *testing.T) {
	const file = "../docs/protocol.md"
	var b bytes.Buffer
	if err := WriteProtocol(&b); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("docs/protocol.md is not what the tables say; run make generate\n%s", diff)
	}
}

// Every method that is listed answers something else than "method not found",
// and every handler is listed.
func TestCapabilitiesListWhatThereIs(t *testing.T) {
	e := newEnv(t, nil)
	caps := e.service.Capabilities()
	methods := caps["methods"].([]string)
	for _, method := range methods {
		_, err := e.client.Call(context.Background(), method, json.RawMessage(`{"session_id":"none"}`))
		var wire *Error
		if errors.As(err, &wire) && (wire.Code == MethodNotFound || wire.Code == InternalError) {
			t.Errorf("%s is listed and answers %v", method, err)
		}
	}
	features := caps["features"].(map[string]Feature)
	for method, row := range operations.byMethod {
		for part := range row.Lacks {
			if f := features[row.ID+"."+part]; f.Supported || f.Reason == "" {
				t.Errorf("feature %s.%s: %+v", row.ID, part, f)
			}
		}
		if row.Supported != slices.Contains(methods, method) {
			t.Errorf("%s: supported is %v, and the list says otherwise", method, row.Supported)
		}
		if f := features[row.ID]; f.Supported != row.Supported || (f.Reason == "") != f.Supported {
			t.Errorf("feature %s: %+v", row.ID, f)
		}
		if row.Supported && row.Summary == "" {
			t.Errorf("%s has no summary", method)
		}
	}
	if n := len(caps["notifications"].([]string)); n != 8 {
		t.Errorf("%d notifications, the contract has 8", n)
	}
	limits := caps["limits"].(map[string]int)
	for _, l := range Limits {
		if limits[l.Name] != l.Value {
			t.Errorf("limit %s is %d", l.Name, limits[l.Name])
		}
	}
}

// What is not there says so, and why; it is not a method that nobody knows.
func TestWhatIsNotThereSaysWhy(t *testing.T) {
	e := newEnv(t, nil)
	for _, row := range operations.rows {
		if row.Supported {
			continue
		}
		_, err := e.client.Call(context.Background(), row.Method, json.RawMessage(`{}`))
		if got := wantError(t, err, RequestFailed, "NOT_SUPPORTED"); row.Reason == "" || !strings.Contains(got.Error(), row.Reason) {
			t.Errorf("%s answers %v, its reason is %q", row.Method, got, row.Reason)
		}
	}
	if f, ok := Capabilities()["features"].(map[string]Feature)["request.prompt.steer"]; !ok || f.Supported || f.Reason != steerReason {
		t.Errorf("feature request.prompt.steer: %+v", f)
	}
}

// A comma in a description does not end it.
func TestDescriptionsAreWhole(t *testing.T) {
	for tag, want := range map[string]string{
		`jsonschema:"enum=a,enum=b,description=a: one\\, two; b: three"`: "a: one, two; b: three",
		`jsonschema:"description=First line\\, from 1"`:                  "First line, from 1",
		`jsonschema:"enum=a,enum=b"`:                                     "One of `a`, `b`",
		``:                                                               "",
	} {
		if got := docOf(reflect.StructTag(tag).Get("jsonschema")); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

func TestEveryTypeHasASchema(t *testing.T) {
	for name, schema := range Schemas() {
		raw, err := json.Marshal(schema)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasSuffix(name, "params") && !bytes.Contains(raw, []byte(`"properties"`)) {
			t.Errorf("%s: the schema says nothing: %s", name, raw)
		}
	}
}

func TestCodesAreDistinct(t *testing.T) {
	kinds := map[string]bool{}
	for _, c := range Codes {
		if kinds[c.Kind] || c.Title == "" {
			t.Errorf("code %+v", c)
		}
		kinds[c.Kind] = true
	}
}
