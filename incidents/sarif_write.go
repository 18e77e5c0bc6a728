package incidents

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
)

// SARIFTool names the tool of a SARIF file that [WriteSARIF] writes.
type SARIFTool struct {
	Name    string
	Version string
	URL     string
}

// The output's shape. Members are in the order of the standard's text.
type (
	sarifOut struct {
		Schema  string        `json:"$schema"`
		Version string        `json:"version"`
		Runs    []sarifOutRun `json:"runs"`
	}
	sarifOutRun struct {
		Tool       sarifOutTool     `json:"tool"`
		ColumnKind string           `json:"columnKind"`
		Results    []sarifOutResult `json:"results"`
	}
	sarifOutTool struct {
		Driver sarifOutDriver `json:"driver"`
	}
	sarifOutDriver struct {
		Name           string         `json:"name"`
		Version        string         `json:"version,omitempty"`
		InformationURI string         `json:"informationUri,omitempty"`
		Rules          []sarifOutRule `json:"rules"`
	}
	sarifOutRule struct {
		ID      string         `json:"id"`
		Short   *sarifOutText  `json:"shortDescription,omitempty"`
		HelpURI string         `json:"helpUri,omitempty"`
		Config  map[string]any `json:"defaultConfiguration"`
	}
	sarifOutText struct {
		Text string `json:"text"`
	}
	sarifOutResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifOutText       `json:"message"`
		Locations    []sarifOutLocation `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints,omitempty"`
		Fixes        []sarifOutFix      `json:"fixes,omitempty"`
		Properties   map[string]any     `json:"properties,omitempty"`
	}
	sarifOutLocation struct {
		Physical sarifOutPhysical `json:"physicalLocation"`
	}
	sarifOutPhysical struct {
		Artifact sarifOutArtifact `json:"artifactLocation"`
		Region   *sarifOutRegion  `json:"region,omitempty"`
	}
	sarifOutArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifOutRegion struct {
		StartLine   int           `json:"startLine"`
		StartColumn int           `json:"startColumn,omitempty"`
		EndLine     int           `json:"endLine,omitempty"`
		EndColumn   int           `json:"endColumn,omitempty"`
		Snippet     *sarifOutText `json:"snippet,omitempty"`
	}
	sarifOutFix struct {
		Description *sarifOutText    `json:"description,omitempty"`
		Changes     []sarifOutChange `json:"artifactChanges"`
	}
	sarifOutChange struct {
		Artifact     sarifOutArtifact      `json:"artifactLocation"`
		Replacements []sarifOutReplacement `json:"replacements"`
	}
	sarifOutReplacement struct {
		Deleted  sarifOutRegion `json:"deletedRegion"`
		Inserted *sarifOutText  `json:"insertedContent,omitempty"`
	}
)

// WriteSARIF writes incidents as one run of SARIF 2.1.0: rules from the
// incidents' own rule fields, paths relative to %SRCROOT%, columns in UTF-16,
// fixes as alternatives, and the id as a partial fingerprint, which [ReadSARIF]
// takes up again.
func WriteSARIF(w io.Writer, list []Incident, tool SARIFTool) error {
	run := sarifOutRun{
		Tool:       sarifOutTool{sarifOutDriver{Name: tool.Name, Version: tool.Version, InformationURI: tool.URL, Rules: []sarifOutRule{}}},
		ColumnKind: "utf16CodeUnits",
		Results:    make([]sarifOutResult, 0, len(list)),
	}
	rules := map[string]int{}
	for i := range list {
		in := &list[i]
		index, known := rules[in.RuleID]
		if !known {
			index = len(run.Tool.Driver.Rules)
			rules[in.RuleID] = index
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(in))
		}
		run.Results = append(run.Results, sarifResultOf(in, index))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifOut{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifOutRun{run},
	})
}

func sarifRuleOf(in *Incident) sarifOutRule {
	rule := sarifOutRule{ID: in.RuleID, Config: map[string]any{"level": sarifLevel(in.Severity)}}
	if in.Description != "" {
		rule.Short = &sarifOutText{in.Description}
	}
	if len(in.Links) > 0 {
		rule.HelpURI = in.Links[0].URL
	}
	return rule
}

func sarifResultOf(in *Incident, index int) sarifOutResult {
	res := sarifOutResult{
		RuleID:    in.RuleID,
		RuleIndex: index,
		Level:     sarifLevel(in.Severity),
		Message:   sarifOutText{firstOf(in.Message, in.Description, in.RuleID)},
		Locations: []sarifOutLocation{{sarifOutPhysical{Artifact: sarifArtifactOf(in.FilePath)}}},
	}
	region := &res.Locations[0].Physical.Region
	switch {
	case in.Range != nil:
		r := sarifRegionOf(*in.Range)
		*region = &r
	case in.LineNumber > 0:
		*region = &sarifOutRegion{StartLine: in.LineNumber}
	}
	if *region != nil && in.Snippet != "" {
		(*region).Snippet = &sarifOutText{in.Snippet}
	}
	if in.ID != "" {
		res.Fingerprints = map[string]string{fingerprint: in.ID}
	}
	for _, fix := range in.Fixes {
		res.Fixes = append(res.Fixes, sarifFixOf(fix))
	}
	props := map[string]any{}
	if in.Category != "" {
		props["category"] = in.Category
	}
	if in.Effort != 0 {
		props["effort"] = in.Effort
	}
	if len(in.Labels) > 0 {
		props["tags"] = in.Labels
	}
	if len(props) > 0 {
		res.Properties = props
	}
	return res
}

func sarifFixOf(fix Fix) sarifOutFix {
	out := sarifOutFix{Changes: []sarifOutChange{}}
	if fix.Title != "" {
		out.Description = &sarifOutText{fix.Title}
	}
	for _, e := range fix.Edits {
		artifact := sarifArtifactOf(e.FilePath)
		i := slices.IndexFunc(out.Changes, func(c sarifOutChange) bool { return c.Artifact == artifact })
		if i < 0 {
			i = len(out.Changes)
			out.Changes = append(out.Changes, sarifOutChange{Artifact: artifact})
		}
		rep := sarifOutReplacement{Deleted: sarifRegionOf(e.Range)}
		if e.NewText != "" {
			rep.Inserted = &sarifOutText{e.NewText}
		}
		out.Changes[i].Replacements = append(out.Changes[i].Replacements, rep)
	}
	return out
}

func sarifRegionOf(r Range) sarifOutRegion {
	out := sarifOutRegion{StartLine: r.Start.Line + 1, StartColumn: r.Start.Character + 1, EndLine: r.End.Line + 1}
	if r.End.Character < endOfLine { // else the default, which is the line's end
		out.EndColumn = r.End.Character + 1
	}
	return out
}

func sarifArtifactOf(path string) sarifOutArtifact {
	uri := (&url.URL{Path: path}).String()
	return sarifOutArtifact{URI: strings.TrimPrefix(uri, "./"), Base: "%SRCROOT%"}
}

func sarifLevel(s Severity) string {
	switch s {
	case Error:
		return "error"
	case Info:
		return "note"
	case Hint:
		return "none"
	}
	return "warning"
}
