package rules

import (
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/internal/pattern"
	"github.com/kaiak/kaiak/workspace"
)

// A Match is one place that a rule matched, with the rule's own fix for it.
type Match struct {
	Rule     *Rule
	Incident incidents.Incident // with its identity, range and span set
	Fixes    []Fix              // alternatives, the rule's first choice first; empty: the rule only finds
	Labels   []Label            // further code that the rule points at, in the order of the text
}

// A Fix is one alternative fix of a match, in edits against the text that was
// checked. The edits of one fix do not overlap; code that the fix carries over
// as it stands is between them, so that fixes may nest.
type Fix struct {
	Title string // "" when the rule gives none
	Edits []workspace.Edit

	span    incidents.Span   // what the fix replaces as a whole
	claims  []incidents.Span // span without the code that is carried over; no two fixes may claim the same
	pieces  []pattern.Piece  // what span becomes, where the edits do not leave all carried code in place; else nil
	refusal *Refusal         // why it is not to be applied, known when it was made

	// verbatim is Edits with the line breaks that the template has; nil: Edits.
	verbatim []workspace.Edit
}

// Verbatim returns the edits to the letter of the rule's template, as ast-grep
// makes them: Edits leave line breaks between carried code where they are.
func (f Fix) Verbatim() []workspace.Edit {
	if f.verbatim != nil {
		return f.verbatim
	}
	return f.Edits
}

// LabelStyle says what a [Label] is to the match.
type LabelStyle string

// The styles of labels, as rules have them.
const (
	PrimaryLabel   LabelStyle = "primary"
	SecondaryLabel LabelStyle = "secondary"
)

// A Label points at code that explains a match.
type Label struct {
	Style   LabelStyle
	Message string // "" for none
	Span    incidents.Span
}

// A Rewrite is what rules propose for some incidents: hunks that do not
// overlap, and the incidents they would not touch.
type Rewrite struct {
	Hunks   []Hunk
	Refused []Refusal
}

// A Hunk is the edits that belong together in one file: accepted or left as one.
type Hunk struct {
	Path        string           `json:"path"`
	Edits       []workspace.Edit `json:"edits"`
	IncidentIDs []string         `json:"incident_ids"` // empty: upkeep that the others need (imports)
	RuleID      string           `json:"rule_id"`
}

// A Refusal says why a rule's fix is not proposed. Kind is for programs, Detail
// for people: what was found, where, and what to do instead.
type Refusal struct {
	IncidentID string      `json:"incident_id"`
	RuleID     string      `json:"rule_id"`
	Kind       RefusalKind `json:"kind"`
	Detail     string      `json:"detail"`
}

// RefusalKind is the reason of a [Refusal].
type RefusalKind string

// The reasons for which a fix is refused.
const (
	RefusedNoFix        RefusalKind = "no_fix"          // no rule has a fix for it
	RefusedOverlap      RefusalKind = "overlap"         // overlaps a fix that comes first
	RefusedParse        RefusalKind = "new_parse_error" // the result has a syntax error that the base has not
	RefusedDroppedNode  RefusalKind = "dropped_node"    // a named node was matched over and would be lost
	RefusedShadowed     RefusalKind = "shadowed_name"   // the name means something else here
	RefusedStillMatches RefusalKind = "still_matches"   // the rule still matches afterwards
	RefusedNotIdem      RefusalKind = "not_idempotent"  // a second run would change the text again
	RefusedGenerated    RefusalKind = "generated_file"  // the file says it is generated
	RefusedEncoding     RefusalKind = "encoding"        // not UTF-8
	RefusedVersion      RefusalKind = "language_version"
	RefusedUnsafe       RefusalKind = "unsafe" // anything else that could not be shown to be safe
)
