package rules

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
)

// Skeleton returns a rule to start from and the test that belongs to it, as
// files ID.yml and ID-test.yml. The rule loads, finds calls of oldName, and says
// in comments what to change.
func Skeleton(id, language string) (rule, test string, err error) {
	lang := treesitter.Lookup(language)
	if lang == nil {
		return "", "", fmt.Errorf("there is no language %q", language)
	}
	if id == "" || strings.ContainsAny(id, "/\\\n") {
		return "", "", fmt.Errorf("%q is no id for a rule: it names a file, too", id)
	}
	name, err := json.Marshal(id)
	if err != nil {
		return "", "", err
	}
	rule = fmt.Sprintf(`id: %s
language: %s
severity: warning # error, warning, info, hint or off
message: oldName is gone; use newName
note: Say why, and what to look out for.
rule:
  # The kind of node and its text; pattern: oldName($A) finds by example.
  kind: %s
  regex: ^oldName$
fix: newName
metadata:
  category: mechanical # or local, or cross-file
  safety: Say why the fix changes nothing else.
`, name, lang.Name, nameKind(lang))
	test = fmt.Sprintf(`id: %s
valid: # the rule finds nothing in these
  - newName
invalid: # and something in these
  - oldName
`, name)
	return rule, test, nil
}

// nameKind returns the kind of a plain name in a language.
func nameKind(lang *treesitter.Language) string {
	for _, kind := range []string{"identifier", "simple_identifier", "word", "name", "bare_key", "key", "Name", "string_scalar", "tag_name", "plain_value", "variable_name", "value_name", "lower_case_identifier", "image_name", "string"} {
		if lang.KindID(kind, true) != 0 {
			return kind
		}
	}
	return "ERROR"
}
