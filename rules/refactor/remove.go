package refactor

import (
	"context"

	"github.com/kaiak/kaiak/workspace"
)

// RemoveMatch deletes what the rule matched, together with its line where
// nothing else is on it, else with the white space in front of it. It needs the
// input's span.
type RemoveMatch struct{}

func (s *RemoveMatch) validate() error { return nil }

// Edits implements [Step] for any text.
func (s *RemoveMatch) Edits(_ context.Context, in Input) ([]workspace.Edit, error) {
	if in.End <= in.Start || in.End > len(in.Text) {
		return nil, nil
	}
	cut := cutLines(in.Text, in.Start, in.End)
	if cut.Start == in.Start && cut.End == in.End && lineStart(in.Text, in.Start) != in.Start {
		for cut.Start > 0 && isSpace(in.Text[cut.Start-1]) {
			cut.Start--
		}
	}
	return []workspace.Edit{cut}, nil
}
