package kaiak

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"
)

// Schemas returns the JSON schema of everything on the wire, by name: a
// method's "<method> params" and "<method> result", a notification's content by
// its method, and "configuration" for the settings.
func Schemas() map[string]*jsonschema.Schema {
	out := map[string]*jsonschema.Schema{"configuration": schemaOf(reflect.TypeFor[Config]())}
	for _, o := range operations.rows {
		if !o.Supported {
			continue
		}
		out[o.Method+" params"] = schemaOf(o.Params)
		out[o.Method+" result"] = schemaOf(o.Result)
	}
	for _, n := range Notifications {
		out[n.Method] = schemaOf(reflect.TypeOf(n.Content))
	}
	return out
}

// schemaOf reflects one type. What a newer version adds is allowed everywhere,
// as the wire rules have it.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	r := &jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, DoNotReference: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		switch t {
		case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
			return &jsonschema.Schema{}
		}
		return nil
	}}
	return r.ReflectFromType(t)
}
