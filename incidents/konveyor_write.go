package incidents

import (
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// KonveyorOptions say how [WriteKonveyor] writes.
type KonveyorOptions struct {
	Name string // of the ruleset of incidents that came from none; "" is "kaiak"
	Root string // absolute path of the workspace; "" writes relative URIs

	// Text returns a file's text, for the code snips; nil leaves them out.
	Text func(path string) ([]byte, bool)

	// RuleSets are rulesets that were run. They are written even if no
	// incident is theirs.
	RuleSets []KonveyorRuleSet
}

// A KonveyorRuleSet is what the format says of a ruleset besides its incidents.
type KonveyorRuleSet struct {
	Name        string
	Description string
	Tags        []string
	Errors      map[string]string // rule id → why it could not be evaluated
	Unmatched   []string          // rule ids
	Skipped     []string          // rule ids
}

// The output's shape, in the analyzer's own order of members.
type (
	konveyorOutRuleset struct {
		Name        string                           `yaml:"name"`
		Description string                           `yaml:"description,omitempty"`
		Tags        []string                         `yaml:"tags,omitempty"`
		Violations  map[string]*konveyorOutViolation `yaml:"violations,omitempty"`
		Insights    map[string]*konveyorOutViolation `yaml:"insights,omitempty"`
		Errors      map[string]string                `yaml:"errors,omitempty"`
		Unmatched   []string                         `yaml:"unmatched,omitempty"`
		Skipped     []string                         `yaml:"skipped,omitempty"`
	}
	konveyorOutViolation struct {
		Description string                `yaml:"description"`
		Category    string                `yaml:"category,omitempty"`
		Labels      []string              `yaml:"labels,omitempty"`
		Incidents   []konveyorOutIncident `yaml:"incidents"`
		Links       []konveyorOutLink     `yaml:"links,omitempty"`
		Effort      int                   `yaml:"effort,omitempty"`
	}
	konveyorOutIncident struct {
		URI        string         `yaml:"uri"`
		Message    string         `yaml:"message"`
		CodeSnip   string         `yaml:"codeSnip,omitempty"`
		LineNumber int            `yaml:"lineNumber,omitempty"`
		Variables  map[string]any `yaml:"variables,omitempty"`
		Dependency bool           `yaml:"isDependencyIncident"`

		// Not in the analyzer's output: 1-based UTF-16 columns, the end
		// exclusive, and the id.
		Column    int    `yaml:"column,omitempty"`
		EndLine   int    `yaml:"endLine,omitempty"`
		EndColumn int    `yaml:"endColumn,omitempty"`
		ID        string `yaml:"incidentID,omitempty"`
	}
	konveyorOutLink struct {
		URL   string `yaml:"url"`
		Title string `yaml:"title,omitempty"`
	}
)

// WriteKonveyor writes incidents as Konveyor analysis output (output.yaml):
// rulesets and rules in the order of their names, incidents in the order of
// the list. What the format does not know (columns, ends, ids) is added to it.
func WriteKonveyor(w io.Writer, list []Incident, opts KonveyorOptions) error {
	if opts.Name == "" {
		opts.Name = "kaiak"
	}
	k := konveyorWriter{opts: opts, texts: map[string]*lines{}}
	sets := map[string]*konveyorSet{}
	var names []string
	for i := range list {
		in := &list[i]
		name, _ := in.Metadata[MetaRuleset].(string)
		name = firstOf(name, opts.Name)
		set := sets[name]
		if set == nil {
			set = &konveyorSet{violations: map[string]*konveyorOutViolation{}, insights: map[string]*konveyorOutViolation{}}
			sets[name] = set
			names = append(names, name)
		}
		k.addTo(set, in)
	}
	described := map[string]KonveyorRuleSet{}
	for _, rs := range opts.RuleSets {
		described[rs.Name] = rs
		if sets[rs.Name] == nil {
			sets[rs.Name] = &konveyorSet{}
			names = append(names, rs.Name)
		}
	}
	slices.Sort(names)
	out := make([]konveyorOutRuleset, 0, len(names))
	for _, name := range names {
		rs := described[name]
		out = append(out, konveyorOutRuleset{
			Name: name, Description: rs.Description, Tags: rs.Tags,
			Violations: sets[name].violations, Insights: sets[name].insights,
			Errors: rs.Errors, Unmatched: rs.Unmatched, Skipped: rs.Skipped,
		})
	}
	enc := yaml.NewEncoder(w) // writes maps in the order of their keys
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(out); err != nil {
		return err
	}
	return enc.Close()
}

type konveyorSet struct {
	violations, insights map[string]*konveyorOutViolation
}

type konveyorWriter struct {
	opts  KonveyorOptions
	texts map[string]*lines
}

func (k *konveyorWriter) addTo(set *konveyorSet, in *Incident) {
	into := set.violations
	if insight, _ := in.Metadata[MetaInsight].(bool); insight {
		into = set.insights
	}
	v := into[in.RuleID]
	if v == nil {
		v = &konveyorOutViolation{
			Description: firstOf(in.Description, in.RuleID),
			Category:    firstOf(konveyorCategory(in), "potential"),
			Labels:      in.Labels,
			Effort:      in.Effort,
		}
		for _, link := range in.Links {
			v.Links = append(v.Links, konveyorOutLink(link))
		}
		into[in.RuleID] = v
	}
	out := konveyorOutIncident{
		URI:        in.FilePath,
		Message:    firstOf(in.Message, in.Description),
		LineNumber: in.LineNumber,
		ID:         in.ID,
	}
	out.Variables, _ = in.Metadata[MetaVariables].(map[string]any)
	out.Dependency, _ = in.Metadata[MetaDependency].(bool)
	if in.FilePath == "" {
		out.URI = "" // about the project, not a file
	} else if k.opts.Root != "" {
		out.URI = fileURI(strings.TrimSuffix(slashed(k.opts.Root), "/") + "/" + in.FilePath)
	} else if strings.ContainsAny(in.FilePath, "%:") {
		out.URI = sarifArtifactOf(in.FilePath).URI
	}
	if r := in.Range; r != nil {
		out.Column, out.EndLine = r.Start.Character+1, r.End.Line+1
		out.EndColumn = r.End.Character + 1
	}
	if l := k.lines(in.FilePath); l != nil && in.LineNumber > 0 && in.LineNumber <= l.Lines() {
		out.CodeSnip = formatSnip(l, in.LineNumber)
	}
	v.Incidents = append(v.Incidents, out)
}

// konveyorCategory keeps a category of the format and derives one otherwise.
func konveyorCategory(in *Incident) string {
	switch in.Category {
	case "mandatory", "optional", "potential":
		return in.Category
	}
	switch in.Severity {
	case Error:
		return "mandatory"
	case Info, Hint:
		return "optional"
	}
	return "potential"
}

func (k *konveyorWriter) lines(path string) *lines {
	l, ok := k.texts[path]
	if !ok && k.opts.Text != nil {
		if text, found := k.opts.Text(path); found {
			l = newLines(text)
		}
		k.texts[path] = l
	}
	return l
}
