package matcher

import (
	"fmt"
	"regexp"
	"strings"
)

// maxRegex bounds the length of a regular expression in a rule.
const maxRegex = 1 << 14

// compileRegex compiles what a rule's author wrote for Rust's regex syntax. Go's
// is the same family (RE2), so nearly everything means the same; what it writes
// differently is translated, and what would silently mean something else is
// refused.
func compileRegex(src string) (*regexp.Regexp, error) {
	if len(src) > maxRegex {
		return nil, fmt.Errorf("regular expression of %d bytes is too long, at most %d", len(src), maxRegex)
	}
	translated, err := translateRegex(src)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w (look-around and back-references are not supported)", src, err)
	}
	return re, nil
}

func translateRegex(src string) (string, error) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(src); i++ {
		rest := src[i:]
		switch {
		case strings.HasPrefix(rest, `\u{`) || strings.HasPrefix(rest, `\U{`):
			b.WriteString(`\x`)
			i++
		case strings.HasPrefix(rest, `\u`) && len(rest) >= 6:
			b.WriteString(`\x{` + rest[2:6] + `}`)
			i += 5
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		case inClass && strings.HasPrefix(rest, "[:"):
			end := strings.Index(rest, ":]")
			if end < 0 {
				return "", fmt.Errorf("regular expression %q: [: is not closed", src)
			}
			b.WriteString(rest[:end+2])
			i += end + 1
		case inClass && (rest[0] == '[' || strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "~~")):
			return "", fmt.Errorf("regular expression %q: classes within classes, && and -- are not supported; write the class out, and a literal [ as \\[", src)
		case inClass && rest[0] == ']':
			inClass = false
			b.WriteByte(']')
		case !inClass && rest[0] == '[':
			inClass = true
			b.WriteByte('[')
			// A ] that comes first is a literal.
			if strings.HasPrefix(rest, "[^]") {
				b.WriteString("^]")
				i += 2
			} else if strings.HasPrefix(rest, "[]") {
				b.WriteByte(']')
				i++
			}
		case !inClass && strings.HasPrefix(rest, "{,"):
			b.WriteString("{0,")
			i++
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String(), nil
}
