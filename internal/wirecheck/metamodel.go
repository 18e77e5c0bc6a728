package wirecheck

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
)

// MetamodelEnv names the environment variable with the path of LSP's
// metaModel.json, which Microsoft publishes with the specification.
const MetamodelEnv = "KAIAK_LSP_METAMODEL"

// A Metamodel is LSP's own description of its messages.
type Metamodel struct {
	requests      map[string]*mmMethod
	notifications map[string]*mmMethod
	structures    map[string]*mmStructure
	enumerations  map[string]*mmEnumeration
	aliases       map[string]*mmType
}

type mmMethod struct {
	Method    string  `json:"method"`
	Direction string  `json:"messageDirection"`
	Params    *mmType `json:"params"`
	Result    *mmType `json:"result"`
}

type mmStructure struct {
	Name       string       `json:"name"`
	Properties []mmProperty `json:"properties"`
	Extends    []mmType     `json:"extends"`
	Mixins     []mmType     `json:"mixins"`
}

type mmProperty struct {
	Name     string `json:"name"`
	Type     mmType `json:"type"`
	Optional bool   `json:"optional"`
}

type mmEnumeration struct {
	Name   string `json:"name"`
	Type   mmType `json:"type"`
	Values []struct {
		Value any `json:"value"`
	} `json:"values"`
	Custom bool `json:"supportsCustomValues"`
}

type mmType struct {
	Kind    string          `json:"kind"`
	Name    string          `json:"name"`
	Items   []mmType        `json:"items"`
	Element *mmType         `json:"element"`
	Key     *mmType         `json:"key"`
	Value   json.RawMessage `json:"value"` // of a map a type, of a literal its value
}

// LoadMetamodel reads the metamodel that [MetamodelEnv] names; nil when it
// names none.
func LoadMetamodel() (*Metamodel, error) {
	path := os.Getenv(MetamodelEnv)
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the LSP metamodel that %s names: %w", MetamodelEnv, err)
	}
	return ParseMetamodel(data)
}

// ParseMetamodel reads a metaModel.json.
func ParseMetamodel(data []byte) (*Metamodel, error) {
	var raw struct {
		Requests      []mmMethod      `json:"requests"`
		Notifications []mmMethod      `json:"notifications"`
		Structures    []mmStructure   `json:"structures"`
		Enumerations  []mmEnumeration `json:"enumerations"`
		Aliases       []struct {
			Name string `json:"name"`
			Type mmType `json:"type"`
		} `json:"typeAliases"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("the LSP metamodel: %w", err)
	}
	mm := &Metamodel{
		requests:      map[string]*mmMethod{},
		notifications: map[string]*mmMethod{},
		structures:    map[string]*mmStructure{},
		enumerations:  map[string]*mmEnumeration{},
		aliases:       map[string]*mmType{},
	}
	for i := range raw.Requests {
		mm.requests[raw.Requests[i].Method] = &raw.Requests[i]
	}
	for i := range raw.Notifications {
		mm.notifications[raw.Notifications[i].Method] = &raw.Notifications[i]
	}
	for i := range raw.Structures {
		mm.structures[raw.Structures[i].Name] = &raw.Structures[i]
	}
	for i := range raw.Enumerations {
		mm.enumerations[raw.Enumerations[i].Name] = &raw.Enumerations[i]
	}
	for i := range raw.Aliases {
		mm.aliases[raw.Aliases[i].Name] = &raw.Aliases[i].Type
	}
	return mm, nil
}

// Params judges the params of a request or notification that the server sends.
func (mm *Metamodel) Params(method string, params json.RawMessage) []string {
	m := mm.requests[method]
	if m == nil {
		m = mm.notifications[method]
	}
	switch {
	case m == nil:
		return []string{"the metamodel does not have it"}
	case m.Direction == "clientToServer":
		return []string{"only a client may send it"}
	case m.Params == nil && params != nil:
		return []string{"it takes no params"}
	case m.Params == nil:
		return nil
	}
	return mm.judge(*m.Params, params)
}

// Result judges the result of a request of the client.
func (mm *Metamodel) Result(method string, result json.RawMessage) []string {
	m := mm.requests[method]
	if m == nil || m.Result == nil {
		return nil
	}
	return mm.judge(*m.Result, result)
}

func (mm *Metamodel) judge(t mmType, raw json.RawMessage) []string {
	v, err := tree(raw)
	if err != nil {
		return []string{"is not JSON"}
	}
	j := &judgement{mm: mm}
	j.check(t, v, "")
	return j.faults
}

// properties returns the members of a structure, its parents' first.
func (mm *Metamodel) properties(name string) map[string]mmProperty {
	out := map[string]mmProperty{}
	s := mm.structures[name]
	if s == nil {
		return out
	}
	for _, parent := range slices.Concat(s.Extends, s.Mixins) {
		for k, p := range mm.properties(parent.Name) {
			out[k] = p
		}
	}
	for _, p := range s.Properties {
		out[p.Name] = p
	}
	return out
}

// A judgement collects what is wrong with one value.
type judgement struct {
	mm     *Metamodel
	faults []string
}

func (j *judgement) bad(path, format string, args ...any) {
	j.faults = append(j.faults, path+" "+fmt.Sprintf(format, args...))
}

func (j *judgement) check(t mmType, v any, path string) {
	switch t.Kind {
	case "base":
		if reason := base(t.Name, v); reason != "" {
			j.bad(path, "%s", reason)
		}
	case "reference":
		j.reference(t, v, path)
	case "array":
		list, ok := v.([]any)
		if !ok {
			j.bad(path, "must be an array")
			return
		}
		for i, item := range list {
			j.check(*t.Element, item, fmt.Sprintf("%s[%d]", path, i))
		}
	case "map":
		j.mapping(t, v, path)
	case "tuple":
		list, ok := v.([]any)
		if !ok || len(list) != len(t.Items) {
			j.bad(path, "must be an array of %d", len(t.Items))
			return
		}
		for i, item := range list {
			j.check(t.Items[i], item, fmt.Sprintf("%s[%d]", path, i))
		}
	case "literal":
		var value struct {
			Properties []mmProperty `json:"properties"`
		}
		if err := json.Unmarshal(t.Value, &value); err != nil {
			j.bad(path, "the metamodel cannot be read: %v", err)
			return
		}
		props := map[string]mmProperty{}
		for _, p := range value.Properties {
			props[p.Name] = p
		}
		j.object(props, v, path)
	case "stringLiteral", "integerLiteral", "booleanLiteral":
		if again, _ := json.Marshal(v); string(again) != string(t.Value) {
			j.bad(path, "must be %s", t.Value)
		}
	case "and":
		props := map[string]mmProperty{}
		for _, item := range t.Items {
			for k, p := range j.mm.properties(item.Name) {
				props[k] = p
			}
		}
		j.object(props, v, path)
	case "or":
		j.or(t, v, path)
	default:
		j.bad(path, "the metamodel has a kind %q that is not known", t.Kind)
	}
}

func (j *judgement) reference(t mmType, v any, path string) {
	switch t.Name {
	case "LSPAny", "LSPObject", "LSPArray":
		return
	}
	if alias := j.mm.aliases[t.Name]; alias != nil {
		j.check(*alias, v, path)
		return
	}
	if enum := j.mm.enumerations[t.Name]; enum != nil {
		before := len(j.faults)
		j.check(enum.Type, v, path)
		if len(j.faults) > before || enum.Custom {
			return
		}
		for _, allowed := range enum.Values {
			if fmt.Sprint(allowed.Value) == fmt.Sprint(v) {
				return
			}
		}
		j.bad(path, "%v is no %s", v, t.Name)
		return
	}
	j.object(j.mm.properties(t.Name), v, path)
}

func (j *judgement) mapping(t mmType, v any, path string) {
	m, ok := v.(map[string]any)
	if !ok {
		j.bad(path, "must be an object")
		return
	}
	var value mmType
	if err := json.Unmarshal(t.Value, &value); err != nil {
		j.bad(path, "the metamodel cannot be read: %v", err)
		return
	}
	for _, k := range keys(m) {
		if t.Key != nil && t.Key.Kind == "base" && t.Key.Name != "integer" {
			j.check(*t.Key, k, path+" key")
		}
		j.check(value, m[k], path+"["+strconv.Quote(k)+"]")
	}
}

func (j *judgement) object(props map[string]mmProperty, v any, path string) {
	m, ok := v.(map[string]any)
	if !ok {
		j.bad(path, "must be an object")
		return
	}
	names := make([]string, 0, len(props))
	for name := range props {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, present := m[name]
		switch {
		case present:
			j.check(props[name].Type, value, path+"."+name)
		case !props[name].Optional:
			j.bad(path, "lacks the required member %q", name)
		}
	}
	for _, k := range keys(m) {
		if _, known := props[k]; !known {
			j.bad(path, "has the member %q, which LSP does not define", k)
		}
	}
}

// or wants one of the alternatives to fit, and reports the faults of the
// nearest when none does.
func (j *judgement) or(t mmType, v any, path string) {
	var nearest []string
	for i, item := range t.Items {
		one := &judgement{mm: j.mm}
		one.check(item, v, path)
		if len(one.faults) == 0 {
			return
		}
		if i == 0 || len(one.faults) < len(nearest) {
			nearest = one.faults
		}
	}
	j.faults = append(j.faults, nearest...)
}

var uriStart = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)

// base returns what is wrong with a value of a base type, "" when nothing is.
func base(name string, v any) string {
	text, isText := v.(string)
	number, isNumber := v.(json.Number)
	integer := func(low, high int64) string {
		n, err := strconv.ParseInt(number.String(), 10, 64)
		if !isNumber || err != nil || n < low || n > high {
			return fmt.Sprintf("%v is no %s", v, name)
		}
		return ""
	}
	ok := false
	switch name {
	case "string", "RegExp":
		ok = isText
	case "URI", "DocumentUri":
		ok = isText && uriStart.MatchString(text)
	case "boolean":
		_, ok = v.(bool)
	case "null":
		ok = v == nil
	case "integer":
		return integer(math.MinInt32, math.MaxInt32)
	case "uinteger":
		return integer(0, math.MaxInt32)
	case "decimal":
		ok = isNumber
	}
	if !ok {
		return fmt.Sprintf("%.60v is no %s", v, name)
	}
	return ""
}
