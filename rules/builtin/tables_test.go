package builtin_test

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/rules/builtin/internal/packgen"
	"github.com/kaiak/kaiak/workspace"
)

// project is a workspace with a go.mod: Go rules ask it for the language version.
var project *workspace.Workspace

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "packs")
		if err != nil {
			log.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/m\n\ngo 1.24\n"), 0o644); err != nil {
			log.Fatal(err)
		}
		if project, err = workspace.Open(dir, workspace.Options{}); err != nil {
			log.Fatal(err)
		}
		defer func() { _ = project.Close() }()
		return m.Run()
	}())
}

var loaded = map[string]*rules.Set{} // packs that some test has loaded

func load(t *testing.T, pack string) *rules.Set {
	t.Helper()
	if set := loaded[pack]; set != nil {
		return set
	}
	set, problems, err := rules.Load(context.Background(), []string{rules.Builtin + ":" + pack}, rules.LoadOptions{Workspace: project})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s: %s", p.Source, p.Where, p.Reason)
	}
	loaded[pack] = set
	return set
}

func textFile(path, text string) *workspace.File {
	return &workspace.File{Path: path, Text: []byte(text), SHA256: workspace.SHA256([]byte(text))}
}

// fix applies all fixes of a set to a text and returns the result, what was
// found, and what was refused.
func fix(t *testing.T, set *rules.Set, path, text string) (string, []rules.Match, []rules.Refusal) {
	t.Helper()
	file := textFile(path, text)
	matches, err := set.Check(context.Background(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	rw, err := set.Rewrite(context.Background(), file, nil, matches)
	if err != nil {
		t.Fatal(err)
	}
	var edits []workspace.Edit
	for _, h := range rw.Hunks {
		edits = append(edits, h.Edits...)
	}
	out, err := workspace.ApplyEdits(file.Text, edits)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), matches, rw.Refused
}

// A sample is a file that a row's rule is made for, and what becomes of it.
type sample struct{ path, before, after string }

func simple(full string) string { return full[strings.LastIndexByte(full, '.')+1:] }

// to returns what a row leads to.
func to(r packgen.Row) string {
	if r.Table == "types" {
		return r.Cells[2]
	}
	return ""
}

// samples returns files that a row is about.
func samples(r packgen.Row) []sample {
	switch r.Table {
	case "types":
		from, to := r.Cells[1], r.Cells[2]
		return []sample{{"A.java",
			fmt.Sprintf("package a;\n\nimport %s;\n\nclass A { %s x; Object y = %s.class; }\n\n@%s class C {}\n", from, simple(from), simple(from), simple(from)),
			fmt.Sprintf("package a;\n\nimport %s;\n\nclass A { %s x; Object y = %s.class; }\n\n@%s class C {}\n", to, simple(to), simple(to), simple(to))}, {"B.java",
			fmt.Sprintf("class B { %s x; }\n", from), fmt.Sprintf("class B { %s x; }\n", to)}}
	case "methods":
		typ, from, to := r.Cells[0], r.Cells[1], r.Cells[2]
		args := `"a"`
		if r.Cells[3] == "2" {
			args = `1, "a"`
		}
		text := "import %s;\n\nclass A { void m(%s r) { r.%s(%s); } }\n"
		return []sample{{"A.java", fmt.Sprintf(text, typ, simple(typ), from, args), fmt.Sprintf(text, typ, simple(typ), to, args)}}
	case "maven":
		return mavenSamples(r.Cells[0], r.Cells[1], r.Cells[2])
	case "descriptors":
		from, to, version := r.Cells[0], r.Cells[1], r.Cells[2]
		old := "http://xmlns.jcp.org/xml/ns/javaee"
		switch {
		case strings.HasPrefix(from, "persistence"):
			old = "http://xmlns.jcp.org/xml/ns/persistence"
		case strings.HasPrefix(from, "orm"):
			old = "http://xmlns.jcp.org/xml/ns/persistence/orm"
		case strings.HasPrefix(from, "validation-mapping"):
			old = "http://xmlns.jcp.org/xml/ns/validation/mapping"
		case strings.HasPrefix(from, "validation"):
			old = "http://xmlns.jcp.org/xml/ns/validation/configuration"
		}
		ns := strings.ReplaceAll(strings.Replace(old, "http://xmlns.jcp.org", "https://jakarta.ee", 1), "javaee", "jakartaee")
		text := "<?xml version=\"1.0\"?>\n<root xmlns=\"%[1]s\"\n  xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n  xsi:schemaLocation=\"%[1]s %[1]s/%[2]s\"\n  version=\"%[3]s\"><!-- c --><x/></root>\n"
		if version == "" {
			version = "0.1"
		}
		return []sample{{"META-INF/x.xml", fmt.Sprintf(text, old, from, "0.1"), fmt.Sprintf(text, ns, to, version)}}
	case "roots":
		element, namespace, version := r.Cells[0], r.Cells[1], r.Cells[2]
		text := "<?xml version=\"1.0\"?>\n<%[1]s xmlns=\"%[2]s\" version='%[3]s'><x/></%[1]s>\n"
		ns := strings.Replace(namespace, "javaee", "jakartaee", 1)
		var list []sample
		for _, old := range strings.Split(r.Cells[3], ",") {
			list = append(list, sample{"META-INF/x.xml", fmt.Sprintf(text, element, "http://xmlns.jcp.org/xml/ns/"+namespace, old), fmt.Sprintf(text, element, "https://jakarta.ee/xml/ns/"+ns, version)})
		}
		return list
	case "properties":
		from, to := r.Cells[0], r.Cells[1]
		if prefix, below := strings.CutSuffix(from, ".*"); below {
			from, to = prefix+".x", strings.TrimSuffix(to, ".*")+".x"
		}
		list := []sample{{"config/application.properties", "# c\n" + from + " = 1\n", "# c\n" + to + " = 1\n"}}
		if strings.HasPrefix(from, "hibernate.") {
			return append(list, sample{"persistence.xml", "<p><property name=\"" + from + "\" value=\"1\"/></p>\n", "<p><property name=\"" + to + "\" value=\"1\"/></p>\n"})
		}
		return append(list, sample{"application.yml", from + ": 1 # c\n", to + ": 1 # c\n"})
	case "strings":
		text := "class A { void f(M m) { m.setHeader(\"%s\", 1); } }\n"
		return []sample{{"A.java", fmt.Sprintf(text, r.Cells[1]), fmt.Sprintf(text, r.Cells[2])}}
	case "jsx":
		return jsxSamples(r.Cells[0], r.Cells[1], r.Cells[2], r.Cells[3], r.Cells[4])
	}
	return nil
}

func mavenSamples(from, to, version string) []sample {
	group, artifact, _ := strings.Cut(from, ":")
	toGroup, toArtifact, _ := strings.Cut(to, ":")
	pom := func(g, a, version string) string {
		return "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <parent><groupId>p</groupId><artifactId>p</artifactId><version>1</version></parent>\n  <dependencies>\n    <dependency>\n      <groupId>" +
			g + "</groupId>\n      <artifactId>" + a + "</artifactId>\n" + version + "    </dependency>\n  </dependencies>\n</project>\n"
	}
	gradle := "dependencies {\n    implementation(platform(\"p:p:1\"))\n    implementation(\"%s\")\n}\n"
	catalog, catalogBefore := "[libraries]\na = \"%s\"\n", ":0.1"
	xmlAfter, gradleAfter := "      <version>0.1</version>\n", ":0.1"
	switch version {
	case "":
	case "managed":
		xmlAfter, gradleAfter = "", ""
		// No platform stands in a catalog, so only what has no version is replaced.
		catalog, catalogBefore = "[libraries]\na = { module = \"%s\" }\n", ""
	default:
		xmlAfter, gradleAfter = "      <version>"+version+"</version>\n", ":"+version
	}
	return []sample{
		{"pom.xml", pom(group, artifact, "      <version>0.1</version>\n"), pom(toGroup, toArtifact, xmlAfter)},
		{"build.gradle", fmt.Sprintf(gradle, from+":0.1"), fmt.Sprintf(gradle, to+gradleAfter)},
		{"build.gradle.kts", fmt.Sprintf(gradle, from+":0.1"), fmt.Sprintf(gradle, to+gradleAfter)},
		{"gradle/libs.versions.toml", fmt.Sprintf(catalog, from+catalogBefore), fmt.Sprintf(catalog, to+gradleAfter)},
	}
}

// renames has the components that a pack renames: what a fixed file calls them.
type renames map[string]string

func (m renames) apply(s string) string {
	for from, to := range m {
		s = regexp.MustCompile(`\b`+from+`\b`).ReplaceAllString(s, to)
	}
	return s
}

func jsxSamples(module, component, action, name, to string) []sample {
	text := "import { %s } from '" + module + "';\n\nexport const A = () => <%s%s id=\"a\" />;\n"
	made := func(component, attribute string) string {
		if attribute != "" {
			attribute = " " + attribute
		}
		return fmt.Sprintf(text, component, component, attribute)
	}
	var before, after string
	switch action {
	case "rename-component":
		before, after = made(component, ""), made(to, "")
	case "rename-prop":
		before, after = made(component, name+"={x}"), made(component, to+"={x}")
	case "remove-prop":
		before, after = made(component, name), made(component, "")
	case "set-prop":
		before, after = made(component, name), made(component, to)
	}
	return []sample{{"a.tsx", before, after}, {"a.jsx", before, after}}
}

// What each row says happens, and another tool's incident on the spot gets the
// same fix as ours.
func TestTables(t *testing.T) {
	rows, err := packgen.Rows(os.DirFS("tables"))
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]*rules.Set{}
	for _, pack := range packgen.Packs(rows) {
		sets[pack] = load(t, pack)
	}
	components, moved := renames{}, map[string]bool{} // moved: types that move again
	for _, r := range rows {
		if r.Table == "types" {
			moved[r.Cells[1]] = true
		}
		if r.Table == "jsx" && r.Cells[2] == "rename-component" {
			components[r.Cells[1]] = r.Cells[4]
		}
	}
	bound := map[string]bool{}
	for _, r := range rows {
		set := sets[r.Pack]
		for _, s := range samples(r) {
			got, matches, refused := fix(t, set, s.path, s.before)
			if r.Table == "jsx" {
				s.after = components.apply(s.after)
			}
			if got != s.after {
				t.Errorf("%s.tsv:%d: %s\ngot:\n%s\nwant:\n%s\nrefused: %v", r.Table, r.Line, s.path, got, s.after, refused)
				continue
			}
			if again, more, _ := fix(t, set, s.path, got); !moved[to(r)] && (again != got || len(more) > 0) {
				t.Errorf("%s.tsv:%d: %s: a second run finds %d more", r.Table, r.Line, s.path, len(more))
			}
			if strings.HasSuffix(s.path, ".gradle") || strings.HasSuffix(s.path, ".kts") || strings.HasSuffix(s.path, ".toml") || strings.HasSuffix(s.path, ".yml") || len(matches) == 0 {
				continue // the other tools look at pom.xml and properties files
			}
			for _, id := range r.Fixes {
				i := slices.IndexFunc(matches, func(m rules.Match) bool { return m.Rule.BoundTo(id) })
				if i < 0 {
					t.Errorf("%s.tsv:%d: no rule that is bound to %s matches %s", r.Table, r.Line, id, s.path)
					continue
				}
				in := incidents.Incident{ID: "theirs", RuleID: id, FilePath: s.path, LineNumber: matches[i].Incident.LineNumber}
				theirs, err := set.Match(context.Background(), textFile(s.path, s.before), nil, in)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(theirs, func(m rules.Match) bool { return m.Incident.ID == "theirs" && len(m.Fixes) > 0 }) {
					t.Errorf("%s.tsv:%d: an incident of %s in line %d of %s gets no fix", r.Table, r.Line, id, in.LineNumber, s.path)
				}
				bound[id] = true
			}
		}
	}
	if len(bound) < 250 {
		t.Errorf("the tables fix %d rules of other tools, fewer than the 250 that are promised", len(bound))
	}
	t.Logf("%d rows fix %d rules of other tools", len(rows), len(bound))
}
