package incidents

import (
	"bytes"
	"fmt"
	"strings"
)

// containerSource is where Konveyor's container sees the analysed sources.
const containerSource = "/opt/input/source"

// ReadKonveyor reads Konveyor analysis output: a list of rulesets in YAML
// (output.yaml) or JSON, or the static report's output.js. Violations and
// insights become incidents; an incident outside the workspace (a decompiled
// dependency, for instance) is reported and left out. Where the file changed
// since, an incident's line is found again by its code snip.
func ReadKonveyor(data []byte, opts Options) *Report {
	opts.Prefixes = append(opts.Prefixes[:len(opts.Prefixes):len(opts.Prefixes)], Prefix{From: containerSource})
	k := &konveyorReader{reader: newReader(opts, Konveyor)}
	if rest, ok := afterAssignment(data); ok {
		k.readApps(repair(rest, recordShapes[Konveyor]))
		return k.finish()
	}
	if c := firstByte(data); c == '[' || c == '{' {
		data = repair(data, recordShapes[Konveyor])
	} else if converted, ok := k.fromYAML(data); ok {
		data = converted
	} else {
		return k.finish()
	}
	k.readRulesets(data, "")
	return k.finish()
}

// afterAssignment returns what follows `window["apps"] =` in an output.js.
func afterAssignment(data []byte) ([]byte, bool) {
	rest := bytes.TrimSpace(data)
	if !bytes.HasPrefix(rest, []byte("window")) {
		return nil, false
	}
	_, rest, ok := bytes.Cut(rest, []byte("="))
	return rest, ok
}

func firstByte(data []byte) byte {
	if t := bytes.TrimSpace(data); len(t) > 0 {
		return t[0]
	}
	return 0
}

type konveyorReader struct {
	*reader
	files map[string]string // texts of the analysed files, by URI; output.js may carry them
}

type konveyorViolation struct {
	Description string
	Category    string
	Labels      []string
	Links       []Link
	Effort      int
	incidents   []part
}

// A konveyorIncident is an incident of the analyzer; the last three members are
// what [WriteKonveyor] adds.
type konveyorIncident struct {
	URI        string         `json:"uri"`
	Message    string         `json:"message"`
	CodeSnip   string         `json:"codeSnip"`
	LineNumber *int           `json:"lineNumber"`
	Variables  map[string]any `json:"variables"`
	Dependency bool           `json:"isDependencyIncident"`

	Column    *int   `json:"column"`
	EndLine   *int   `json:"endLine"`
	EndColumn *int   `json:"endColumn"`
	ID        string `json:"incidentID"`
}

func (k *konveyorReader) readApps(data []byte) {
	apps, whole := elements(data)
	if !whole {
		k.problem(fmt.Sprintf("byte %d", len(data)), "the list of applications ends in the middle; what was readable before is kept")
	}
	for i, app := range apps {
		where := fmt.Sprintf("[%d]", i)
		parts, _ := members(app.data)
		k.files = nil
		for _, m := range parts {
			if m.key == "files" && string(m.data) != "null" {
				k.decode(m.data, &k.files, where+".files")
			}
		}
		for _, m := range parts {
			if m.key == "rulesets" {
				k.readRulesets(m.data, where+".rulesets")
			}
		}
	}
}

func (k *konveyorReader) readRulesets(data []byte, where string) {
	if string(bytes.TrimSpace(data)) == "null" {
		return
	}
	list, whole := elements(data)
	if !whole {
		if firstByte(data) == '{' { // one ruleset by itself
			list = []part{{data: bytes.TrimSpace(data)}}
		} else {
			k.problem(fmt.Sprintf("byte %d", len(data)), "the list of rulesets ends in the middle or its brackets do not match; what was readable before is kept")
		}
	}
	for i, p := range list {
		k.readRuleset(p.data, fmt.Sprintf("%s[%d]", where, i))
	}
}

func (k *konveyorReader) readRuleset(data []byte, where string) {
	parts, _ := members(data)
	if parts == nil && !bytes.HasPrefix(data, []byte("{")) {
		k.problem(where, "a ruleset must be an object")
		return
	}
	var name string
	for _, m := range parts {
		if m.key == "name" {
			k.decode(m.data, &name, where+".name")
		}
	}
	for _, m := range parts {
		if m.key != "violations" && m.key != "insights" || string(m.data) == "null" {
			continue
		}
		rules, _ := members(m.data)
		if rules == nil && firstByte(m.data) != '{' {
			k.problem(where+"."+m.key, "it must map rule ids to violations")
		}
		for _, rule := range rules {
			k.readViolation(rule.key, rule.data, name, m.key == "insights", fmt.Sprintf("%s.%s[%q]", where, m.key, rule.key))
		}
	}
}

func (k *konveyorReader) readViolation(ruleID string, data []byte, ruleset string, insight bool, where string) {
	parts, _ := members(data)
	if parts == nil && !bytes.HasPrefix(data, []byte("{")) {
		k.problem(where, "a violation must be an object")
		return
	}
	var v konveyorViolation
	into := map[string]any{
		"description": &v.Description, "category": &v.Category, "labels": &v.Labels, "links": &v.Links, "effort": &v.Effort,
	}
	for _, m := range parts {
		if m.key == "incidents" {
			v.incidents, _ = elements(m.data)
			if v.incidents == nil && firstByte(m.data) != '[' && string(m.data) != "null" {
				k.problem(where+".incidents", "the incidents must be a list")
			}
		} else if field := into[m.key]; field != nil {
			k.decode(m.data, field, where+"."+m.key)
		}
	}
	for i, p := range v.incidents {
		at := fmt.Sprintf("%s.incidents[%d]", where, i)
		var raw konveyorIncident
		if !k.decode(p.data, &raw, at) {
			continue
		}
		file, reason := k.rel(raw.URI)
		if reason != "" {
			k.problem(at, "%s", reason)
			continue
		}
		in := Incident{
			ID:          raw.ID,
			RuleID:      ruleID,
			FilePath:    file,
			Severity:    konveyorSeverity(v.Category, insight),
			Description: firstOf(v.Description, firstLine(raw.Message), ruleID),
			Message:     firstOf(raw.Message, v.Description),
			Category:    v.Category,
			Source:      string(Konveyor),
			Effort:      v.Effort,
			Labels:      v.Labels,
			Links:       v.Links,
		}
		if ruleset != "" {
			setMeta(&in, MetaRuleset, ruleset)
		}
		if insight {
			setMeta(&in, MetaInsight, true)
		}
		if len(raw.Variables) > 0 {
			setMeta(&in, MetaVariables, raw.Variables)
		}
		if raw.Dependency {
			setMeta(&in, MetaDependency, true)
		}
		k.put(&in, &raw)
		k.add(in)
	}
}

func konveyorSeverity(category string, insight bool) Severity {
	switch {
	case insight:
		return Info
	case category == "mandatory":
		return Error
	case category == "optional":
		return Info
	}
	return Warning
}

// put gives in its place: the reported line, or where that line is now.
func (k *konveyorReader) put(in *Incident, raw *konveyorIncident) {
	if raw.LineNumber == nil || *raw.LineNumber < 1 {
		return // the whole file
	}
	in.LineNumber = *raw.LineNumber
	rng := raw.rng()
	snip := parseSnip(raw.CodeSnip)
	if len(snip) == 0 {
		if text, ok := k.files[raw.URI]; ok {
			snip = snipAround(newLines([]byte(text)), in.LineNumber)
		}
	}
	l := k.lines(in.FilePath)
	if l == nil {
		in.Snippet = snip[in.LineNumber]
	} else if was, ok := snip[in.LineNumber]; ok {
		now, found := anchor(l, snip, in.LineNumber)
		switch {
		case !found:
			setMeta(in, MetaAnchor, "lost")
			if in.LineNumber > l.Lines() {
				in.Snippet = strings.TrimSpace(was)
			}
		case now != in.LineNumber:
			setMeta(in, MetaAnchor, "moved")
			if rng != nil {
				rng.Start.Line += now - in.LineNumber
				rng.End.Line += now - in.LineNumber
			}
			in.LineNumber = now
		}
	}
	k.place(in, rng)
}

// rng returns the range that [WriteKonveyor] adds to the format, nil in the
// analyzer's own output.
func (raw *konveyorIncident) rng() *Range {
	if raw.Column == nil || raw.EndColumn == nil || *raw.Column < 1 || *raw.EndColumn < 1 {
		return nil
	}
	end := *raw.LineNumber
	if raw.EndLine != nil {
		end = *raw.EndLine
	}
	if end < *raw.LineNumber {
		return nil
	}
	return &Range{pos(*raw.LineNumber-1, *raw.Column-1), pos(end-1, *raw.EndColumn-1)}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
