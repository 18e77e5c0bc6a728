package refactor

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/kaiak/kaiak/workspace"
)

// FindReplace replaces what a regular expression matches, in any text.
type FindReplace struct {
	Find    string `yaml:"find" json:"find"`       // RE2 syntax; ^ and $ are those of lines
	Replace string `yaml:"replace" json:"replace"` // $1 and ${name} stand for groups
	Literal bool   `yaml:"literal" json:"literal"` // Find and Replace are plain text

	re *regexp.Regexp
}

func (s *FindReplace) validate() error {
	if s.Find == "" {
		return errors.New("find is required")
	}
	find := s.Find
	if s.Literal {
		find = regexp.QuoteMeta(find)
	}
	re, err := regexp.Compile("(?m)" + find)
	if err != nil {
		return fmt.Errorf("find: %w", err)
	}
	s.re = re
	return nil
}

// Edits implements [Step]. A step that did not come from [New] is validated
// first. Where the input has a span, a match must lie in it.
func (s *FindReplace) Edits(_ context.Context, in Input) ([]workspace.Edit, error) {
	re := s.re
	if re == nil {
		c := *s
		if err := c.validate(); err != nil {
			return nil, refuse(Unsafe, "%v", err)
		}
		re = c.re
	}
	end := len(in.Text)
	if in.End != 0 {
		end = min(end, in.End)
	}
	var edits []workspace.Edit
	skip := top(in.Text) // so that ^ is in front of the first character
	text := in.Text[skip:]
	for _, m := range re.FindAllSubmatchIndex(text, -1) {
		if m[0]+skip < in.Start || m[1]+skip > end {
			continue
		}
		next := s.Replace
		if !s.Literal {
			next = string(re.Expand(nil, []byte(s.Replace), text, m))
		}
		if next != string(text[m[0]:m[1]]) {
			edits = append(edits, workspace.Edit{Start: m[0] + skip, End: m[1] + skip, New: next})
		}
	}
	return edits, nil
}
