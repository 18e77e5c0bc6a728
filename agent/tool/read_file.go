package tool

import (
	"context"
	"fmt"
	"strings"
)

type readParams struct {
	Path      string `json:"path" jsonschema_description:"Path relative to the workspace root."`
	StartLine int    `json:"start_line,omitempty" jsonschema_description:"First line to return, counted from 1."`
	EndLine   int    `json:"end_line,omitempty" jsonschema_description:"Last line to return."`
}

// linesPerRead is how many lines are returned when no range is asked for.
const linesPerRead = 300

func readFile(_ context.Context, b *Box, p readParams) output {
	f, err := b.file(p.Path)
	if err != nil {
		return refuse(err)
	}
	lines := Lines(string(f.Text))
	from := max(p.StartLine, 1)
	to := p.EndLine
	if to <= 0 {
		to = from + linesPerRead - 1
	}
	to = min(to, len(lines))
	if from > len(lines) {
		return failure("%s has %d lines only", f.Path, len(lines))
	}
	if to < from {
		return failure("end_line %d is before start_line %d", p.EndLine, from)
	}
	var body strings.Builder
	for i := from; i <= to; i++ {
		line := Gutter(i, lines[i-1])
		// The result is cut here and not by the box: the file can be read on.
		if body.Len()+len(line) > MaxOutput-300 {
			if i > from {
				to = i - 1
				break
			}
			line = strings.ToValidUTF8(line[:MaxOutput-400], "") + " … (the line goes on)\n"
		}
		body.WriteString(line)
	}
	head := fmt.Sprintf("%s, lines %d to %d of %d, base_sha256 %s\n", f.Path, from, to, len(lines), f.SHA256)
	if to < len(lines) {
		head += fmt.Sprintf("(call again with start_line %d for more)\n", to+1)
	}
	return output{text: head + body.String(), ok: true}
}

// Gutter returns a line with its number in front, as excerpts show it.
func Gutter(n int, line string) string { return fmt.Sprintf("%4d│%s\n", n, line) }

// Lines splits a text into lines without their ends.
func Lines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}
