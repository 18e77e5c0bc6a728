package incidents

import "github.com/kaiak/kaiak/workspace"

// Severity is how bad an incident is, in the contract's words.
type Severity string

// The severities, most severe first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
	Hint    Severity = "hint"
)

// An Incident is one place that has to change. The fields up to Metadata are
// the frozen contract's; the others are additive.
type Incident struct {
	ID          string         `json:"id"`
	RuleID      string         `json:"rule_id"`
	FilePath    string         `json:"file_path"`   // relative to the workspace root, slash-separated
	LineNumber  int            `json:"line_number"` // 1-based; 0: the whole file
	Severity    Severity       `json:"severity"`
	Description string         `json:"description"`
	Message     string         `json:"message"`
	Category    string         `json:"category"`
	Metadata    map[string]any `json:"metadata,omitempty"`

	URI     string   `json:"uri,omitempty"`    // file URI of FilePath
	Range   *Range   `json:"range,omitempty"`  // nil: only the line is known, or nothing
	Source  string   `json:"source,omitempty"` // who found it: "kaiak", "staticcheck", "konveyor", …
	Effort  int      `json:"effort,omitempty"` // Konveyor's story points
	Labels  []string `json:"labels,omitempty"`
	Links   []Link   `json:"links,omitempty"`
	Snippet string   `json:"snippet,omitempty"` // the text of Range or of the line, for identity and display

	// Fixes are edits that the incident's source offers itself (SARIF fixes,
	// suggested fixes). They are alternatives; each passes the same gate as a
	// rule's fix before it becomes a proposal.
	Fixes []Fix `json:"fixes,omitempty"`

	// Span is Range in bytes of the text the incident was found in. It is not
	// on the wire and is valid only for that text.
	Span Span `json:"-"`
}

// A Range is a half-open range of the wire: 0-based lines, 0-based UTF-16
// code units, as in LSP.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A Position is a 0-based line and a 0-based UTF-16 code unit in it.
type Position = workspace.Position

// A Span is a half-open range of bytes.
type Span struct{ Start, End int }

// A Link leads to the rule's documentation or migration guide.
type Link struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// A Fix is one way to repair an incident, proposed by its source.
type Fix struct {
	Title string    `json:"title,omitempty"`
	Edits []FixEdit `json:"edits"`
}

// A FixEdit replaces Range of FilePath with NewText.
type FixEdit struct {
	FilePath string `json:"file_path"`
	Range    Range  `json:"range"`
	NewText  string `json:"new_text"`
}

// A Problem is a record that could not be read as an incident. It costs only
// that record.
type Problem struct {
	Source string // the file or the kind of input it came from
	Where  string // where in it: "runs[0].results[3]", "line 12"
	Reason string // what is wrong, and what to do
}

func (p Problem) String() string { return p.Source + ": " + p.Where + ": " + p.Reason }
