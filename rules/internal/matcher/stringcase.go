package matcher

import (
	"slices"
	"strings"
	"unicode"
)

// separators says where words end for the conversion of cases.
type separators struct {
	chars      string
	caseChange bool
}

var defaultSeparators = separators{chars: "-./ _", caseChange: true}

// separatorNames are the names that rules use; caseChange has no character.
var separatorNames = map[string]string{"dash": "-", "dot": ".", "slash": "/", "space": " ", "underscore": "_", "caseChange": ""}

// cases are the conversions, by the names that rules use.
var cases = map[string]func(s string, seps separators) string{
	"lowerCase":  func(s string, _ separators) string { return strings.ToLower(s) },
	"upperCase":  func(s string, _ separators) string { return strings.ToUpper(s) },
	"capitalize": func(s string, _ separators) string { return capitalize(s) },
	"camelCase": func(s string, seps separators) string {
		words := seps.split(s)
		for i, w := range words {
			if i == 0 {
				words[i] = strings.ToLower(w)
			} else {
				words[i] = capitalize(w)
			}
		}
		return strings.Join(words, "")
	},
	"pascalCase": func(s string, seps separators) string {
		words := seps.split(s)
		for i, w := range words {
			words[i] = capitalize(w)
		}
		return strings.Join(words, "")
	},
	"snakeCase": func(s string, seps separators) string { return strings.ToLower(strings.Join(seps.split(s), "_")) },
	"kebabCase": func(s string, seps separators) string { return strings.ToLower(strings.Join(seps.split(s), "-")) },
}

func caseNames() []string { return sortedKeys(cases) }

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func capitalize(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// split cuts s into words. With caseChange a word also ends where an upper-case
// letter follows a lower-case one, and before the last of several upper-case
// letters when a lower-case one follows: "XMLHttp" is "XML", "Http".
func (seps separators) split(s string) []string {
	var words []string
	var word []rune
	uppers := 0 // upper-case (or caseless) letters at the end of word since the last lower-case one
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
		}
		word, uppers = word[:0:0], 0
	}
	for _, c := range s {
		if strings.ContainsRune(seps.chars, c) {
			flush()
			continue
		}
		if seps.caseChange {
			switch {
			case unicode.IsUpper(c) && uppers == 0:
				flush()
				uppers = 1
			case unicode.IsLower(c):
				if uppers > 1 {
					last := word[len(word)-1]
					word = word[:len(word)-1]
					flush()
					word = append(word, last)
				}
				uppers = 0
			default:
				uppers++
			}
		}
		word = append(word, c)
	}
	flush()
	return words
}
