package pattern

import "bytes"

// How the indentation of inserted code is put right: a captured text of several
// lines loses the indentation of the line it stood on, gets that of the place
// in the template where it goes, and the whole replacement that of the line
// where it is put. Only spaces count, as in ast-grep; code indented with tabs
// keeps its lines as they are.

// maxLookBehind is how far back the beginning of a line is looked for. Code on
// longer lines has no indentation to speak of.
const maxLookBehind = 512

// indentAt returns the number of spaces that the last line of before begins with.
func indentAt(before []byte) int {
	from := max(0, len(before)-maxLookBehind)
	indent := 0
	for i := len(before) - 1; i >= from; i-- {
		switch before[i] {
		case '\n':
			return indent
		case ' ':
			indent++
		default:
			indent = 0
		}
	}
	if from == 0 {
		return indent
	}
	return 0
}

// reindent changes the indentation of all lines of text but the first from one
// number of spaces to another.
func reindent(text []byte, from, to int) []byte {
	if from == to || bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	lines := bytes.Split(text, []byte{'\n'})
	if from > to {
		cut := bytes.Repeat([]byte{' '}, from-to)
		for i := range lines {
			lines[i] = bytes.TrimPrefix(lines[i], cut)
		}
		return bytes.Join(lines, []byte{'\n'})
	}
	return bytes.Join(lines, append([]byte{'\n'}, bytes.Repeat([]byte{' '}, to-from)...))
}

// Dedent returns text, which begins at offset start of src, as if it stood at
// the beginning of a line without indentation.
func Dedent(text, src []byte, start int) []byte {
	if bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	return reindent(text, indentAt(src[:start]), 0)
}
