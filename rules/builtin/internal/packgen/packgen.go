// Package packgen makes the rules of the built-in packs that come in families:
// a table has a row for each thing that was renamed, and every row becomes a
// rule with the same shape. It reads and returns texts; rules/builtin's tests
// compare them with the files that ship, and write those with -update.
package packgen

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Row is one line of a table.
type Row struct {
	Table string // "types"
	Line  int
	Pack  string
	Fixes []string // ids of other tools' rules
	Cells []string // the table's own columns
}

// columns names the columns of each table after pack and fixes.
var columns = map[string][]string{
	"types":       {"where", "from", "to"},
	"methods":     {"type", "from", "to", "arguments"},
	"maven":       {"from", "to", "version"},
	"descriptors": {"from", "to", "version"},
	"roots":       {"element", "namespace", "version", "old"},
	"properties":  {"from", "to"},
	"strings":     {"language", "from", "to"},
	"jsx":         {"module", "component", "action", "name", "to"},
}

// Rows reads the tables of fsys, NAME.tsv for each table. Empty lines and lines
// that begin with # are comments.
func Rows(fsys fs.FS) ([]Row, error) {
	files, err := fs.Glob(fsys, "*.tsv")
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".tsv")
		want := columns[name]
		if want == nil {
			return nil, fmt.Errorf("%s: no such table", file)
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if line = strings.TrimRight(line, " \r"); line == "" || line[0] == '#' {
				continue
			}
			cells := strings.Split(line, "\t")
			for len(cells) < 2+len(want) {
				cells = append(cells, "")
			}
			if len(cells) != 2+len(want) {
				return nil, fmt.Errorf("%s:%d: %d columns, want pack, fixes, %s", file, i+1, len(cells), strings.Join(want, ", "))
			}
			row := Row{Table: name, Line: i + 1, Pack: cells[0], Cells: cells[2:]}
			if cells[1] != "" && cells[1] != "-" {
				row.Fixes = strings.Split(cells[1], ",")
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// Generate returns the rule files that the rows make, by path below rules/builtin.
func Generate(rows []Row) (map[string][]byte, error) {
	makers := map[string]func(Row) ([]string, error){
		"types": typeRules, "methods": methodRules, "maven": mavenRules,
		"descriptors": descriptorRules, "roots": rootRules, "properties": propertyRules, "jsx": jsxRules, "strings": stringRules,
	}
	files := map[string][]byte{}
	for _, row := range rows {
		docs, err := makers[row.Table](row)
		if err != nil {
			return nil, fmt.Errorf("%s.tsv:%d: %w", row.Table, row.Line, err)
		}
		file := row.Pack + "/" + row.Table + ".yml"
		for _, doc := range docs {
			if files[file] == nil {
				files[file] = []byte("# Made from tables/" + row.Table + ".tsv; change that and run go test ./rules/builtin -update.\n")
			} else {
				files[file] = append(files[file], "---\n"...)
			}
			files[file] = append(files[file], doc...)
		}
	}
	return files, nil
}

// doc writes a rule: its head, its rule object in YAML flow or block style, and
// its metadata.
func (r Row) doc(id, language, message, category, safety, rule, fix string, files []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\nlanguage: %s\nseverity: warning\nmessage: %s\n", id, language, quote(message))
	if len(files) > 0 {
		fmt.Fprintf(&b, "files: [%s]\n", strings.Join(quoteAll(files), ", "))
	}
	fmt.Fprintf(&b, "rule:\n%s", indent(rule))
	inMetadata := strings.HasPrefix(fix, "steps:")
	if !inMetadata {
		b.WriteString(fix)
	}
	fmt.Fprintf(&b, "metadata:\n  category: %s\n  safety: %s\n", category, quote(safety))
	if len(r.Fixes) > 0 {
		fmt.Fprintf(&b, "  fixes: [%s]\n", strings.Join(r.Fixes, ", "))
	}
	if inMetadata {
		b.WriteString(indent(fix))
	}
	return b.String()
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// quote writes a YAML string in single quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return out
}

// exactly is a regular expression for just s.
func exactly(s string) string { return "^" + regexp.QuoteMeta(s) + "$" }

func splitName(full string) (pkg, simple string) {
	i := strings.LastIndexByte(full, '.')
	return full[:i], full[i+1:]
}

// typeRules renames a Java type. The rule finds its import and its qualified
// names, and, where the table says "any" or the name comes from a wildcard
// import, its simple names.
func typeRules(r Row) ([]string, error) {
	where, from, to := r.Cells[0], r.Cells[1], r.Cells[2]
	if where != "import" && where != "any" {
		return nil, fmt.Errorf("where is %q, not import or any", where)
	}
	pkg, simple := splitName(from)
	imported := regexp.QuoteMeta(pkg) + `\.\*`
	if where == "any" {
		imported = regexp.QuoteMeta(pkg) + `\.(` + simple + `|\*)`
	}
	rule := fmt.Sprintf(`any:
  - kind: scoped_identifier
    regex: %[1]s
  - kind: scoped_type_identifier
    regex: %[1]s
  - kind: field_access
    regex: %[1]s
  - regex: %[2]s
    any: [{kind: type_identifier}, {kind: identifier}]
    inside:
      kind: program
      stopBy: end
      has:
        kind: import_declaration
        regex: %[3]s
    not: {inside: {kind: import_declaration, stopBy: end}}
`, quote(exactly(from)), quote(exactly(simple)), quote(`^import\s+`+imported+`\s*;`))
	fix := fmt.Sprintf("steps:\n  - renameType: {from: %s, to: %s}\n", from, to)
	return []string{r.doc(r.Pack+"-"+from, "java", from+" is now "+to, "mechanical",
		"The name is resolved by the file's imports; a type of the file's own that hides it refuses the fix.", rule, fix, nil)}, nil
}

// methodRules renames the calls of a Java method on a variable that the file
// declares with the type.
func methodRules(r Row) ([]string, error) {
	typ, from, to, args := r.Cells[0], r.Cells[1], r.Cells[2], r.Cells[3]
	pkg, simple := splitName(typ)
	rule := fmt.Sprintf(`kind: identifier
regex: %s
inside:
  kind: method_invocation
  has:
    field: object
    any:
      - {kind: identifier, pattern: $RECEIVER}
      - {kind: field_access, has: {field: field, pattern: $RECEIVER}}
all:
  - inside:
      kind: program
      stopBy: end
      all:
        - has: {kind: import_declaration, regex: %s}
        - has:
            stopBy: end
            any:
              - {kind: formal_parameter, all: [{has: {field: type, regex: %[3]s}}, {has: {field: name, pattern: $RECEIVER}}]}
              - {kind: local_variable_declaration, all: [{has: {field: type, regex: %[3]s}}, {has: {kind: variable_declarator, has: {field: name, pattern: $RECEIVER}}}]}
              - {kind: field_declaration, all: [{has: {field: type, regex: %[3]s}}, {has: {kind: variable_declarator, has: {field: name, pattern: $RECEIVER}}}]}
`, quote(exactly(from)), quote(`^import\s+(`+regexp.QuoteMeta(typ)+`|`+regexp.QuoteMeta(pkg)+`\.\*)\s*;`), quote(exactly(simple)))
	arguments, suffix := "", ""
	if args != "" {
		arguments, suffix = ", arguments: "+args, "-"+args
	}
	fix := fmt.Sprintf("steps:\n  - renameMethod: {type: %s, from: %s, to: %s%s}\n", typ, from, to, arguments)
	return []string{r.doc(r.Pack+"-"+typ+"."+from+suffix, "java", "the method "+from+" of "+typ+" is now "+to, "local",
		"A call is renamed only where the receiver's type is known from imports and declarations.", rule, fix, nil)}, nil
}

// mavenRules replaces a dependency in pom.xml, in Gradle's two languages and in
// its version catalogs.
func mavenRules(r Row) ([]string, error) {
	from, to, version := r.Cells[0], r.Cells[1], r.Cells[2]
	group, artifact, ok := strings.Cut(from, ":")
	if !ok {
		return nil, fmt.Errorf("from %q is not group:artifact", from)
	}
	message := from + " is now " + to
	params := "from: " + quote(from) + ", to: " + quote(to)
	if to == "" {
		message, params = from+" is not needed any more", "from: "+quote(from)
	}
	if version == "managed" {
		params += ", managed: true"
	} else if version != "" {
		params += ", version: " + quote(version)
	}
	fix := "steps:\n  - replaceDependency: {" + params + "}\n"
	const safety = "Only the coordinates and, where it is given, the version change; a version that others share is not changed for them."
	id := r.Pack + "-" + group + "-" + artifact
	pom := fmt.Sprintf(`kind: element
all:
  - has: {kind: STag, regex: '^<dependency\s*>$'}
  - has: {kind: content, has: {kind: element, regex: %s}}
  - has: {kind: content, has: {kind: element, regex: %s}}
`, quote(`^<groupId>\s*`+regexp.QuoteMeta(group)+`\s*</groupId>$`), quote(`^<artifactId>\s*`+regexp.QuoteMeta(artifact)+`\s*</artifactId>$`))
	literal := quote(`^["']{1,3}` + regexp.QuoteMeta(from) + `([:@]|["'])`)
	docs := []string{r.doc(id, "xml", message, "mechanical", safety, pom, fix, []string{"**/pom.xml", "**/*.pom"})}
	for _, gradle := range []struct{ language, kind, file string }{
		{"groovy", "string", "**/*.gradle"}, {"kotlin", "string_literal", "**/*.gradle.kts"}, {"toml", "string", "**/*.versions.toml"},
	} {
		docs = append(docs, r.doc(id, gradle.language, message, "mechanical", safety,
			"kind: "+gradle.kind+"\nregex: "+literal+"\n", fix, []string{gradle.file}))
	}
	return docs, nil
}

// descriptorRules moves an XML descriptor to another version of its schema: the
// namespace, the schema's file name and the version attribute of its root.
func descriptorRules(r Row) ([]string, error) {
	from, to, version := r.Cells[0], r.Cells[1], r.Cells[2]
	rule := fmt.Sprintf(`any: [{kind: STag}, {kind: EmptyElemTag}]
has:
  kind: Attribute
  regex: %s
`, quote(`schemaLocation[\s\S]*`+regexp.QuoteMeta(from)))
	fix := fmt.Sprintf(`steps:
  - findReplace: {find: 'http://xmlns\.jcp\.org/xml/ns/javaee', replace: 'https://jakarta.ee/xml/ns/jakartaee'}
  - findReplace: {find: 'http://xmlns\.jcp\.org/xml/ns/(persistence/orm|persistence|validation/configuration|validation/mapping|validation)', replace: 'https://jakarta.ee/xml/ns/$1'}
  - findReplace: {find: '%s', replace: '%s'}
`, regexp.QuoteMeta(from), to)
	message := "the schema " + from + " is now " + to + " in a namespace of Jakarta EE"
	if version != "" {
		fix += fmt.Sprintf("  - xmlSetAttribute: {element: '*', attribute: version, value: '%s'}\n", version)
		message += ", version " + version
	}
	return []string{r.doc(r.Pack+"-"+strings.TrimSuffix(from, ".xsd"), "xml", message, "mechanical",
		"Only the root's namespace, schema location and version change; its elements have the same names.", rule, fix, nil)}, nil
}

// rootRules moves an XML descriptor that names its namespace alone.
func rootRules(r Row) ([]string, error) {
	element, namespace, version := r.Cells[0], r.Cells[1], r.Cells[2]
	old := "http://xmlns.jcp.org/xml/ns/" + namespace
	rule := fmt.Sprintf(`any: [{kind: STag}, {kind: EmptyElemTag}]
all:
  - has: {kind: Name, regex: %s}
  - has: {kind: Attribute, regex: %s}
  - not: {has: {kind: Attribute, regex: 'schemaLocation'}}
`, quote(exactly(element)), quote(`^xmlns\s*=\s*["']`+regexp.QuoteMeta(old)+`["']$`))
	fix := fmt.Sprintf(`steps:
  - findReplace: {find: '%s(["''])', replace: 'https://jakarta.ee/xml/ns/%s$1'}
  - findReplace: {find: '\bversion\s*=\s*(["''])[0-9.]+["'']', replace: 'version=${1}%s${1}'}
`, regexp.QuoteMeta(old), strings.Replace(namespace, "javaee", "jakartaee", 1), version)
	return []string{r.doc(r.Pack+"-"+element, "xml", "the namespace of "+element+" moved to jakarta.ee, with version "+version, "mechanical",
		"Only the root's namespace and version change; its elements have the same names.", rule, fix, nil)}, nil
}

// propertyRules renames a configuration key in properties and YAML files and in
// the property elements of persistence.xml and Hibernate's configuration.
func propertyRules(r Row) ([]string, error) {
	from, to := r.Cells[0], r.Cells[1]
	if !strings.Contains(from, ".") {
		return nil, fmt.Errorf("from %q is not a dotted key", from)
	}
	id := r.Pack + "-" + strings.TrimSuffix(from, ".*")
	key := exactly(from)
	if prefix, below := strings.CutSuffix(from, ".*"); below {
		key = "^" + regexp.QuoteMeta(prefix) + `\.`
	}
	message := from + " is now " + to
	const safety = "The value stays; a file that sets both keys refuses the fix."
	step := fmt.Sprintf("steps:\n  - renameProperty: {from: %s, to: %s}\n", quote(from), quote(to))
	docs := []string{r.doc(id, "properties", message, "mechanical", safety,
		fmt.Sprintf("kind: property\nhas: {kind: key, regex: %s}\n", quote(key)), step, nil)}
	if strings.HasPrefix(from, "hibernate.") {
		if strings.HasSuffix(from, ".*") {
			return docs, nil
		}
		rule := fmt.Sprintf("kind: AttValue\nregex: %s\ninside: {kind: Attribute, regex: '^name'}\n", quote(`^["']`+regexp.QuoteMeta(from)+`["']$`))
		fix := "fix: " + quote(`"`+to+`"`) + "\n"
		return append(docs, r.doc(id, "xml", message, "mechanical", safety, rule, fix, nil)), nil
	}
	whole, below := strings.CutSuffix(from, ".*")
	end := "$"
	if below {
		end = `(\.|$)`
	}
	rule := "kind: block_mapping_pair\n" + yamlPath(strings.Split(whole, "."), end) + "\n"
	return append(docs, r.doc(id, "yaml", message, "mechanical", safety, rule, step, []string{"**/application*.yml", "**/application*.yaml", "**/bootstrap*.yml", "**/bootstrap*.yaml"})), nil
}

// stringRules renames what a string literal holds, and nothing else.
func stringRules(r Row) ([]string, error) {
	language, from, to := r.Cells[0], r.Cells[1], r.Cells[2]
	if language != "java" {
		return nil, fmt.Errorf("no kind of literal is known for %q", language)
	}
	return []string{r.doc(r.Pack+"-"+from, language, from+" is now "+to, "mechanical",
		"Only literals that hold just this name change.", "kind: string_fragment\nregex: "+quote(exactly(from))+"\n", "fix: "+to+"\n", nil)}, nil
}

// yamlPath is the rest of a rule for the mapping pair whose keys, from the
// document down, spell path: one dotted key, or keys of nested mappings in any
// division. end closes the expression of the last key.
func yamlPath(path []string, end string) string {
	var ways []string
	for k := range path {
		key := "has: {field: key, regex: " + quote("^"+regexp.QuoteMeta(strings.Join(path[k:], "."))+end) + "}"
		around := "not: {inside: {kind: block_mapping_pair, stopBy: end}}"
		if k > 0 {
			around = "inside: {stopBy: {kind: block_mapping_pair}, kind: block_mapping_pair, " + yamlPath(path[:k], "$") + "}"
		}
		ways = append(ways, "{"+key+", "+around+"}")
	}
	return "any: [" + strings.Join(ways, ", ") + "]"
}

// jsxRules changes components and their properties in JSX.
func jsxRules(r Row) ([]string, error) {
	module, component, action, name, to := r.Cells[0], r.Cells[1], r.Cells[2], r.Cells[3], r.Cells[4]
	imported := fmt.Sprintf(`inside:
  kind: program
  stopBy: end
  has:
    kind: import_statement
    regex: %s
`, quote(`\b`+component+`\b[\s\S]*from\s*['"]`+regexp.QuoteMeta(module)))
	element := fmt.Sprintf(`any:
  - inside: {kind: jsx_self_closing_element, has: {field: name, regex: %[1]s}}
  - inside: {kind: jsx_opening_element, has: {field: name, regex: %[1]s}}
`, quote(exactly(component)))
	id := strings.Join([]string{r.Pack, component, action, name}, "-")
	var rule, fix, message, safety string
	switch action {
	case "rename-component":
		id = strings.Join([]string{r.Pack, component, action}, "-")
		rule = fmt.Sprintf("kind: identifier\nregex: %s\n%s", quote(exactly(component)), imported)
		fix = fmt.Sprintf("steps:\n  - renameImported: {module: %s, from: %s, to: %s}\n", quote(module+"/*"), component, to)
		message, safety = component+" is now "+to, "The name is renamed in the import and in every use of it; a file that has the new name already refuses the fix."
	case "rename-prop":
		rule = fmt.Sprintf("kind: property_identifier\nregex: %s\ninside:\n  kind: jsx_attribute\n%sall:\n%s", quote(exactly(name)), indent(element), indentItem(imported))
		fix = "fix: " + to + "\n"
		message, safety = "the property "+name+" of "+component+" is now "+to, "Only the property's name changes, on elements whose name the file imports."
	case "remove-prop":
		rule = fmt.Sprintf("kind: jsx_attribute\nhas: {kind: property_identifier, regex: %s}\n%sall:\n%s", quote(exactly(name)), element, indentItem(imported))
		fix = "steps:\n  - removeMatch: {}\n"
		message, safety = component+" has no property "+name+" any more", "The component ignores the property; removing it changes nothing that is shown."
	case "set-prop":
		rule = fmt.Sprintf("kind: jsx_attribute\nregex: %s\n%sall:\n%s", quote("^"+attributePattern(name)+"$"), element, indentItem(imported))
		fix = "fix: " + quote(to) + "\n"
		message, safety = "write "+to+" for "+name+" of "+component, "The replacement means the same in the new version."
	default:
		return nil, fmt.Errorf("no action %q", action)
	}
	id = regexp.MustCompile(`[^\w.-]+`).ReplaceAllString(id, "-")
	id = strings.Trim(id, "-")
	return []string{
		r.doc(id, "tsx", message, "mechanical", safety, rule, fix, nil),
		r.doc(id, "javascript", message, "mechanical", safety, rule, fix, nil),
	}, nil
}

// attributePattern is a regular expression for a JSX attribute as a table
// writes it: any kind of quote, and isX for isX={true}, too.
func attributePattern(attribute string) string {
	name, value, ok := strings.Cut(attribute, "=")
	if !ok {
		return regexp.QuoteMeta(name) + `(=\{true\})?`
	}
	value = regexp.QuoteMeta(strings.Trim(value, `"`))
	return regexp.QuoteMeta(name) + `=(\{\s*)?["']` + value + `["'](\s*\})?`
}

func indentItem(s string) string {
	out := indent(indent(s))
	return "  - " + strings.TrimPrefix(out, "    ")
}

// Packs returns the packs that rows belong to, sorted.
func Packs(rows []Row) []string {
	var packs []string
	for _, r := range rows {
		if !slices.Contains(packs, r.Pack) {
			packs = append(packs, r.Pack)
		}
	}
	slices.Sort(packs)
	return packs
}
