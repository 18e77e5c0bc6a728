package kaiak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
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
