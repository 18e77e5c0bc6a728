package builtin_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/rules"
)

const packsDoc = "../../docs/packs.md"

const packsHead = `# Built-in packs

Made from ` + "`rules/builtin`" + ` by ` + "`go test ./rules/builtin -update`" + `.

A pack is a folder of rules that ships with the binary. ` + "`builtin`" + ` stands for the packs marked *yes*, each where it concerns
the project: it knows one by a file, a dependency or an import. ` + "`builtin:PACK`" + ` names one, and then it always applies.

| pack | for | by itself | rules | fixes rules of other tools |
|---|---|---|---|---|
`

const packsTail = `
## Families

Most rules come from a table in ` + "`rules/builtin/tables`" + `: one row for each thing that was renamed, with the ids of the other
tools' rules that it fixes. To add one, write a row and run ` + "`go test ./rules/builtin -update`" + `; every row is tested on a file
of its own, and with ` + "`KAIAK_RULESETS`" + ` on what Konveyor's own rules report there.

* ` + "`types.tsv`" + `: Java types that moved or were renamed
* ` + "`methods.tsv`" + `: Java methods that were renamed
* ` + "`maven.tsv`" + `: coordinates, in pom.xml, Gradle files and version catalogs
* ` + "`descriptors.tsv`" + `, ` + "`roots.tsv`" + `: XML schemas and namespaces of Java EE
* ` + "`properties.tsv`" + `: configuration keys, in properties, YAML and XML
* ` + "`strings.tsv`" + `: names in string literals
* ` + "`jsx.tsv`" + `: React components and their properties

## What has no offline fix, and why

Of Konveyor's javax-to-jakarta rules these are found and not fixed:

| rule | why |
|---|---|
| javax-to-jakarta-bootstrapping-files-00001 | a file under META-INF has to be renamed; a fix edits files and renames none |
| javax-to-jakarta-servlet-00010 | SingleThreadModel is gone, and with it a promise that the code may rest on |
| javax-to-jakarta-servlet-00020, 00030 | HttpSessionContext and HttpUtils have no successor |
| javax-to-jakarta-servlet-00040, 00041, 00042, 00070 | the methods have no successor |
| javax-to-jakarta-servlet-00121 | getAttributeNames returns an Enumeration where getValueNames returned an array |

PatternFly's ruleset asks for some renames that PatternFly 6 did not make (` + "`isDisabled`" + ` to ` + "`disabled`" + `, ` + "`TextVariants.p`" + ` to
` + "`TextVariants.paragraph`" + `); they have no fix here.
`

// docs/packs.md is made from the packs.
func TestPacksDoc(t *testing.T) {
	packs, err := rules.Packs()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(packsHead)
	total := map[string]bool{}
	for _, p := range packs {
		ids, bound := map[string]bool{}, map[string]bool{}
		for _, r := range load(t, p.ID).Rules() {
			ids[r.ID] = true
			for _, id := range r.FixesIDs {
				bound[id], total[id] = true, true
			}
		}
		byItself := ""
		if p.Default {
			byItself = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d |\n", p.ID, p.Title, byItself, len(ids), len(bound))
	}
	fmt.Fprintf(&b, "\nTogether they fix %d rules of other tools.\n", len(total))
	b.WriteString(packsTail)
	if *update {
		if err := os.WriteFile(packsDoc, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(packsDoc); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the packs say (%v); run go test ./rules/builtin -update", packsDoc, err)
	}
}
