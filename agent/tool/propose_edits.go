package tool

import (
	"context"
	"encoding/json"
)

// proposeParams is the schema of propose_edits; package edit reads the arguments.
type proposeParams struct {
	Summary string       `json:"summary" jsonschema_description:"One line: what changes."`
	Files   []fileParams `json:"files" jsonschema_description:"Every file that changes, with all of its edits."`
	Reason  string       `json:"reason,omitempty" jsonschema_description:"Only when code away from the incidents has to change: why."`
}

type fileParams struct {
	Path       string       `json:"path" jsonschema_description:"Path relative to the workspace root."`
	BaseSHA256 string       `json:"base_sha256" jsonschema_description:"The base_sha256 that was shown with the text."`
	Edits      []editParams `json:"edits"`
}

type editParams struct {
	OldText    string `json:"old_text" jsonschema_description:"Exact text of the file, with enough lines around the change (three or more) to occur only once. Without line numbers."`
	NewText    string `json:"new_text" jsonschema_description:"The text that takes its place, complete."`
	Occurrence int    `json:"occurrence,omitempty" jsonschema_description:"Only after an ambiguity was reported: which of the places, counted from 1."`
}

func propose(ctx context.Context, b *Box, args json.RawMessage) output {
	if b.env.Propose == nil {
		return failure("nothing can be proposed here")
	}
	answer, accepted := b.env.Propose(ctx, args)
	return output{text: answer, ok: accepted, whole: true}
}
