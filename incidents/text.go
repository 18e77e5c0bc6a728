package incidents

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes one line per incident, as compilers and grep do, so that a
// terminal and an editor make it a link:
//
//	FILE:LINE:COLUMN: SEVERITY: MESSAGE [RULE]
//
// Line and column are 1-based, the column in UTF-16 code units; an incident
// without a place has fewer of them. Of a message only the first line is shown.
func WriteText(w io.Writer, list []Incident) error {
	for _, in := range list {
		place := in.FilePath
		if in.LineNumber > 0 {
			place += fmt.Sprintf(":%d", in.LineNumber)
			if in.Range != nil {
				place += fmt.Sprintf(":%d", in.Range.Start.Character+1)
			}
		}
		message := in.Message
		if message == "" {
			message = in.Description
		}
		message, _, _ = strings.Cut(message, "\n")
		if _, err := fmt.Fprintf(w, "%s: %s: %s [%s]\n", place, in.Severity, printable(message), in.RuleID); err != nil {
			return err
		}
	}
	return nil
}

// printable keeps what a terminal would act on out of text that comes from
// files: control characters and the marks that reorder what is shown.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}
