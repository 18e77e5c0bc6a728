package prompt

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/kaiak/kaiak/agent/edit"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// Version changes whenever the words of the prompt do: recordings and caches of
// another version are void.
const Version = "kaiak-prompt/1"

//go:embed system.md.tpl
var systemText string

var systemTemplate = template.Must(template.New("system").Parse(systemText))

// A Request is what a prompt is made of.
type Request struct {
	File       *workspace.File
	Tree       *treesitter.Tree // nil: there is no grammar for it
	Incidents  []incidents.Incident
	Reasons    map[string]string // by incident: why no recipe fixed it
	Context    map[string]any    // the contract's migration_context
	Comment    string            // what the user asked for beyond that
	Hints      []string          // accepted fixes of the same rules
	References References
	Budget     int                 // tokens; 0: DefaultBudget
	Text       bool                // ask for text blocks instead of tool calls
	Hide       func(string) string // hides secrets; nil: nothing is hidden
}

// A Prompt is what a model reads first.
type Prompt struct {
	System, User string
	Regions      []edit.Span // where edits are expected; nil: anywhere
	Slots        []Slot
	Truncated    bool   // the model does not see a declaration whole, or not every incident
	Mark         string // encloses what is not an order
}

// Build writes a prompt.
func Build(r Request) (Prompt, error) {
	if r.Hide == nil {
		r.Hide = func(s string) string { return s }
	}
	if r.Budget <= 0 {
		r.Budget = DefaultBudget
	}
	s := newSource(r.File, r.Tree, r.Incidents)
	p := Prompt{Regions: s.regions(), Mark: mark(r)}
	var system bytes.Buffer
	if err := systemTemplate.Execute(&system, map[string]any{"Text": r.Text}); err != nil {
		return Prompt{}, fmt.Errorf("system prompt: %w", err)
	}
	p.System = strings.TrimSpace(system.String())

	var user strings.Builder
	fmt.Fprintf(&user, "The mark of this task is %s.\n\n", p.Mark)
	put := func(name, title string, text string, dropped int) {
		text = neutral(r.Hide(text))
		p.Slots = append(p.Slots, Slot{name, llm.RoughTokens(len(text)), dropped})
		if text == "" {
			return
		}
		fmt.Fprintf(&user, "# %s\n%s\n", title, p.fence(text))
		if dropped > 0 {
			fmt.Fprintf(&user, "(%d more are not shown)\n", dropped)
		}
		user.WriteByte('\n')
	}
	// From what changes least to what changes most: the endpoint's prefix cache
	// holds as far as two prompts agree.
	text, dropped := fit(ruleEntries(r), ruleTokens)
	put("rules", "Rules", text, dropped)
	text, dropped = fit(contextEntries(r.Context), contextTokens)
	put("context", "Migration", text, dropped)
	text, dropped = fit(r.Hints, hintTokens)
	put("hints", "Fixes of these rules that were accepted before", text, dropped)

	excerpt, _, short := s.excerpt(r.Budget * targetShare / 100)
	p.Truncated = p.Truncated || short
	put("target", fmt.Sprintf("The file %s (%d lines, base_sha256 %s)", r.File.Path, len(s.lines), r.File.SHA256), excerpt, 0)
	text, dropped = fit(r.References.Symbols, r.Budget*symbolShare/100)
	put("symbols", "Declarations that it refers to", text, dropped)
	text, dropped = fit(r.References.Callers, r.Budget*callerShare/100)
	put("callers", "Code that refers to it", text, dropped)
	text, dropped = fit(s.incidentEntries(r), incidentTokens)
	p.Truncated = p.Truncated || dropped > 0
	put("incidents", "Incidents to fix", text, dropped)

	if r.Comment != "" {
		fmt.Fprintf(&user, "# What the user asks for\n%s\n\n", neutral(r.Hide(clip(r.Comment, 4000))))
	}
	fmt.Fprintf(&user, "Fix the incidents above in %s.", r.File.Path)
	p.User = user.String()
	return p, nil
}

// Tokens returns the size of a prompt.
func (p Prompt) Tokens() int { return llm.RoughTokens(len(p.System) + len(p.User)) }

func (p Prompt) fence(text string) string {
	return "[data " + p.Mark + "\n" + strings.TrimRight(text, "\n") + "\n" + p.Mark + " end]"
}

// Fence encloses what a tool returned.
func (p Prompt) Fence(text string) string { return p.fence(neutral(text)) }

// mark makes a word that nobody who wrote the file can have put into it: it
// depends on the whole file and on the incidents. It is the same in every run.
func mark(r Request) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", Version, r.File.SHA256)
	for _, in := range r.Incidents {
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", in.ID, in.RuleID, in.Message)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// ruleEntries describes each rule once.
func ruleEntries(r Request) []string {
	var out []string
	seen := map[string]bool{}
	for _, in := range r.Incidents {
		if seen[in.RuleID] {
			continue
		}
		seen[in.RuleID] = true
		var b strings.Builder
		fmt.Fprintf(&b, "%s", in.RuleID)
		if in.Category != "" {
			fmt.Fprintf(&b, " (%s)", clip(in.Category, 60))
		}
		if in.Description != "" {
			fmt.Fprintf(&b, ": %s", clip(in.Description, 1200))
		}
		b.WriteByte('\n')
		for _, l := range in.Links[:min(len(in.Links), 3)] {
			fmt.Fprintf(&b, "  see %s %s\n", clip(l.Title, 100), clip(l.URL, 200))
		}
		out = append(out, b.String())
	}
	return out
}

func contextEntries(m map[string]any) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, ok := m[k].(string)
		if !ok {
			js, err := json.Marshal(m[k])
			if err != nil {
				continue
			}
			v = string(js)
		}
		out = append(out, fmt.Sprintf("%s: %s\n", k, clip(v, 600)))
	}
	return out
}

// incidentEntries lists the incidents by place.
func (s *source) incidentEntries(r Request) []string {
	var out []string
	for i, in := range r.Incidents {
		where := "the whole file"
		if in.LineNumber > 0 {
			where = fmt.Sprintf("line %d", in.LineNumber)
		}
		text := fmt.Sprintf("%d. %s, %s (%s): %s\n", i+1, where, in.RuleID, in.Severity, clip(in.Message, 500))
		if why := r.Reasons[in.ID]; why != "" {
			text += "   not fixed by rule: " + clip(why, 200) + "\n"
		}
		out = append(out, text)
	}
	return out
}
