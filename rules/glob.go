package rules

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// compileGlob compiles a glob over slash-separated paths as ast-grep has them:
// * and ? take slashes too, **/ stands for any folders or none, [a-z] for one
// character and {a,b} for either.
func compileGlob(pattern string, fold bool) (*regexp.Regexp, error) {
	const most = 1 << 12
	if len(pattern) > most {
		return nil, fmt.Errorf("a glob of %d bytes is too long, at most %d", len(pattern), most)
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	if fold {
		b.WriteString(`(?i)`)
	}
	rest := strings.TrimPrefix(pattern, "./")
	start := true // at the beginning or after a slash
	braces := 0
	for rest != "" {
		size := 1
		switch c := rest[0]; {
		case start && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			rest = rest[len("**/"):]
			continue
		case c == '*':
			b.WriteString(`.*`)
			size = len(rest) - len(strings.TrimLeft(rest, "*"))
		case c == '?':
			b.WriteString(`.`)
		case c == '[':
			end := strings.IndexByte(rest[1:], ']')
			if end < 1 {
				return nil, fmt.Errorf("glob %q: [ is not closed", pattern)
			}
			class := rest[1 : 1+end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `&`, `\&`).Replace(class) + "]")
			size = end + 2
		case c == '{':
			b.WriteString(`(?:`)
			braces++
		case c == '}' && braces > 0:
			b.WriteString(`)`)
			braces--
		case c == ',' && braces > 0:
			b.WriteString(`|`)
		case c == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			size = 2
		default:
			_, size = utf8.DecodeRuneInString(rest)
			b.WriteString(regexp.QuoteMeta(rest[:size]))
		}
		start = rest[size-1] == '/'
		rest = rest[size:]
	}
	if braces > 0 {
		return nil, fmt.Errorf("glob %q: { is not closed", pattern)
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("glob %q: %w", pattern, err)
	}
	return re, nil
}
