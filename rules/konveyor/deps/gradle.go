package deps

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// gradle reads the scripts of all modules. Scripts of one directory share their
// variables with those below, as Gradle's projects do.
func (r *resolver) gradle() {
	scripts := r.paths(func(base string) bool {
		return strings.HasSuffix(base, ".gradle") || strings.HasSuffix(base, ".gradle.kts")
	})
	if len(scripts) == 0 {
		return
	}
	vars := map[string]map[string]string{} // directory → variables
	in := func(dir string) map[string]string {
		if vars[dir] == nil {
			vars[dir] = map[string]string{}
		}
		return vars[dir]
	}
	for _, p := range r.paths(func(base string) bool { return base == "gradle.properties" }) {
		for _, line := range strings.Split(string(r.files[p]), "\n") {
			if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(strings.TrimSpace(line), "#") {
				in(path.Dir(p))[strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
	}
	tokens := map[string][]token{}
	for _, p := range scripts {
		tokens[p] = lexGradle(string(r.files[p]))
		readVariables(tokens[p], in(path.Dir(p)))
	}
	catalogs := r.catalogs()
	for _, p := range scripts {
		lookup := func(name string) (string, bool) {
			for dir := path.Dir(p); ; dir = path.Dir(dir) {
				if v, ok := vars[dir][name]; ok {
					return v, true
				}
				if dir == "." || dir == "/" {
					return "", false
				}
			}
		}
		g := gradleScript{resolver: r, path: p, tokens: tokens[p], lookup: lookup, catalogs: catalogs}
		g.read()
	}
}

// A token is a word of a script. Line breaks are tokens; comments are not.
type token struct {
	kind       byte // 'i' identifier, 's' string, '\n', or the character itself
	text       string
	start, end int
}

func lexGradle(src string) []token {
	var out []token
	for i := 0; i < len(src); {
		start := i
		c := src[i]
		switch {
		case c == '\n':
			i++
			out = append(out, token{'\n', "", start, i})
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(src[i:], "//"):
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case strings.HasPrefix(src[i:], "/*"):
			end := strings.Index(src[i+2:], "*/")
			if end < 0 {
				return out
			}
			i += end + 4
		case c == '"' || c == '\'':
			quote := string(c)
			if strings.HasPrefix(src[i:], strings.Repeat(quote, 3)) {
				quote = strings.Repeat(quote, 3)
			}
			i += len(quote)
			for i < len(src) && !strings.HasPrefix(src[i:], quote) && (len(quote) == 3 || src[i] != '\n') {
				switch {
				case src[i] == '\\':
					i++
				case quote[0] == '"' && strings.HasPrefix(src[i:], "${"):
					i = interpolationEnd(src, i)
				}
				i++
			}
			i = min(i, len(src))
			out = append(out, token{'s', src[start+len(quote) : max(i, start+len(quote))], start, min(i+len(quote), len(src))})
			i = min(i+len(quote), len(src))
		case isWord(c):
			for i < len(src) && (isWord(src[i]) || src[i] == '.' && i+1 < len(src) && isWord(src[i+1])) {
				i++
			}
			out = append(out, token{'i', src[start:i], start, i})
		default:
			i++
			out = append(out, token{c, string(c), start, i})
		}
	}
	return out
}

// interpolationEnd returns the offset of the brace that closes the ${ at i, or i
// when there is none on the line; the expression in it may hold quotes.
func interpolationEnd(src string, i int) int {
	depth := 0
	for j := i; j < len(src) && src[j] != '\n'; j++ {
		switch src[j] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return i
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// readVariables finds `name = 'x'`, `def name = 'x'`, `val name = "x"`,
// `ext.name = 'x'`, `set('name', 'x')` and `extra["name"] = "x"`.
func readVariables(tokens []token, vars map[string]string) {
	at := func(i int) token {
		if i < len(tokens) {
			return tokens[i]
		}
		return token{}
	}
	for i, t := range tokens {
		switch {
		case t.kind == 'i' && at(i+1).kind == '=' && at(i+2).kind == 's':
			name := t.text[strings.LastIndexByte(t.text, '.')+1:]
			vars[name] = at(i + 2).text
		case t.kind == 'i' && (t.text == "set" || strings.HasSuffix(t.text, ".set")) && at(i+1).kind == '(' && at(i+2).kind == 's' && at(i+3).kind == ',' && at(i+4).kind == 's':
			vars[at(i+2).text] = at(i + 4).text
		case t.kind == '[' && at(i+1).kind == 's' && at(i+2).kind == ']' && at(i+3).kind == '=' && at(i+4).kind == 's':
			vars[at(i+1).text] = at(i + 4).text
		}
	}
}

type gradleScript struct {
	*resolver
	path     string
	tokens   []token
	lookup   func(string) (string, bool)
	catalogs map[string]catalog
	plugins  map[string]string // plugin id → version
}

// read follows the blocks of a script and takes the statements of dependencies
// blocks that are not those of the build script itself.
func (g *gradleScript) read() {
	g.plugins = map[string]string{}
	var blocks []string
	for i := 0; i < len(g.tokens); {
		start := i
		depth := 0
	statement:
		for ; i < len(g.tokens); i++ {
			switch t := g.tokens[i]; t.kind {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '\n', ';':
				if depth <= 0 {
					break statement
				}
			case '{', '}':
				break statement
			}
		}
		line := g.tokens[start:i]
		if len(blocks) > 0 && !slices.Contains(blocks, "buildscript") {
			switch blocks[len(blocks)-1] {
			case "dependencies":
				g.statement(line)
			case "plugins":
				g.plugin(line)
			}
		}
		if i >= len(g.tokens) {
			break
		}
		switch g.tokens[i].kind {
		case '{':
			name := ""
			if len(line) > 0 {
				name = line[0].text
			}
			blocks = append(blocks, name)
		case '}':
			if len(blocks) > 0 {
				blocks = blocks[:len(blocks)-1]
			}
		}
		i++
	}
}

// plugin reads `id 'x' version 'y'`.
func (g *gradleScript) plugin(line []token) {
	id := ""
	for i, t := range line {
		switch {
		case t.kind == 's' && id == "":
			id = t.text
		case t.kind == 's' && i > 0 && line[i-1].text == "version":
			g.plugins[id] = g.expand(t.text)
		}
	}
}

// notDependencies are words that begin other statements in a dependencies block.
var notDependencies = []string{"exclude", "constraints", "because", "transitive", "def", "val", "var", "if", "else", "for", "modules", "components", "attributes"}

// statement reads one statement of a dependencies block.
func (g *gradleScript) statement(line []token) {
	if len(line) < 2 || line[0].kind != 'i' || slices.Contains(notDependencies, line[0].text) {
		return
	}
	line = withoutLocal(line[1:])
	if len(line) == 0 {
		return
	}
	named := map[string]string{}
	for i, t := range line {
		switch {
		case t.kind == 'i' && i+2 < len(line) && (line[i+1].kind == ':' || line[i+1].kind == '=') && (line[i+2].kind == 's' || line[i+2].kind == 'i'):
			named[t.text] = g.value(line[i+2])
		case t.kind == 'i' && t.text == "kotlin" && i+2 < len(line) && line[i+2].kind == 's':
			g.add("org.jetbrains.kotlin", "kotlin-"+line[i+2].text, "", t.start, line[i+2].end)
			return
		case t.kind == 'i' && strings.Contains(t.text, "."):
			if g.fromCatalog(t) {
				return
			}
		}
	}
	if named["group"] != "" && named["name"] != "" {
		g.add(named["group"], named["name"], named["version"], line[0].start, line[len(line)-1].end)
		return
	}
	for i, t := range line {
		if t.kind != 's' || strings.Count(t.text, ":") == 0 {
			continue
		}
		text := t.text
		if i+2 < len(line) && line[i+1].kind == '+' { // 'g:a:' + version
			text += g.value(line[i+2])
		}
		parts := strings.Split(g.expand(strings.SplitN(text, "@", 2)[0]), ":")
		version := ""
		if len(parts) > 2 {
			version = parts[2]
		}
		g.add(parts[0], parts[1], version, t.start, t.end)
	}
}

// withoutLocal leaves out what is part of the build itself: project(…), files(…).
func withoutLocal(line []token) []token {
	var out []token
	depth := 0
	for i, t := range line {
		local := t.kind == 'i' && (t.text == "project" || t.text == "files" || t.text == "fileTree") && i+1 < len(line) && line[i+1].kind == '('
		switch {
		case depth > 0 && t.kind == '(':
			depth++
		case depth > 0 && t.kind == ')':
			depth--
		case depth == 0 && local:
			depth = 1
		case depth == 0:
			out = append(out, t)
			continue
		}
		if depth == 1 && t.kind == ')' {
			depth = 0
		}
	}
	return out
}

func (g *gradleScript) add(group, name, version string, start, end int) {
	if group == "" || name == "" {
		return
	}
	if version == "" {
		version = g.plugins[group] // Spring Boot's plugin manages its own group
	}
	d := Dependency{Language: "java", Name: group + "." + name, Version: strings.TrimRight(version, "!"), Manifest: g.path, Start: start, End: end}
	g.out = append(g.out, d)
	g.indirect(d, group, name, nil)
}

// value returns a string or the value of a variable.
func (g *gradleScript) value(t token) string {
	if t.kind == 's' {
		return g.expand(t.text)
	}
	v, _ := g.lookup(t.text[strings.LastIndexByte(t.text, '.')+1:])
	return g.expand(v)
}

var gradleVariable = regexp.MustCompile(`\$\{([^{}]*)\}|\$([A-Za-z_]\w*)`)
var lastWord = regexp.MustCompile(`(\w+)['")\]]*$`)

// expand replaces $name, ${name}, ${a.b.name} and ${property("name")}; what is
// not known becomes nothing.
func (g *gradleScript) expand(s string) string {
	for range maxDepth {
		if !strings.Contains(s, "$") || len(s) > 1<<10 {
			break
		}
		s = gradleVariable.ReplaceAllStringFunc(s, func(ref string) string {
			m := lastWord.FindStringSubmatch(strings.Trim(ref, "${} "))
			if m == nil {
				return ""
			}
			v, _ := g.lookup(m[1])
			return v
		})
	}
	return s
}

// A catalog is a version catalog: names of libraries and bundles in the dotted
// form in which scripts write them.
type catalog struct {
	libraries map[string][3]string // group, name, version
	bundles   map[string][]string
}

// catalogs reads *.versions.toml; the file's name is the catalog's.
func (r *resolver) catalogs() map[string]catalog {
	out := map[string]catalog{}
	for _, p := range r.paths(func(base string) bool { return strings.HasSuffix(base, ".versions.toml") }) {
		var doc struct {
			Versions  map[string]any
			Libraries map[string]any
			Bundles   map[string][]string
		}
		if _, err := toml.Decode(string(r.files[p]), &doc); err != nil {
			r.problem(p, "the file", "is no version catalog that can be read: "+err.Error())
			continue
		}
		c := catalog{map[string][3]string{}, map[string][]string{}}
		for alias, lib := range doc.Libraries {
			c.libraries[accessor(alias)] = catalogLibrary(lib, doc.Versions)
		}
		for alias, libs := range doc.Bundles {
			for _, lib := range libs {
				c.bundles[accessor(alias)] = append(c.bundles[accessor(alias)], accessor(lib))
			}
		}
		out[strings.TrimSuffix(path.Base(p), ".versions.toml")] = c
	}
	return out
}

// accessor turns an alias into the form in which scripts write it.
func accessor(alias string) string {
	return strings.ToLower(strings.NewReplacer("-", ".", "_", ".").Replace(alias))
}

func catalogLibrary(lib any, versions map[string]any) [3]string {
	switch lib := lib.(type) {
	case string:
		parts := append(strings.Split(lib, ":"), "", "", "")
		return [3]string{parts[0], parts[1], parts[2]}
	case map[string]any:
		text := func(key string) string { s, _ := lib[key].(string); return s }
		group, name := text("group"), text("name")
		if module := text("module"); module != "" {
			group, name, _ = strings.Cut(module, ":")
		}
		version := catalogVersion(lib["version"])
		if v, ok := lib["version"].(map[string]any); ok {
			if ref, ok := v["ref"].(string); ok {
				version = catalogVersion(versions[ref])
			}
		}
		return [3]string{group, name, version}
	}
	return [3]string{}
}

// catalogVersion is a version as text, or the strictest part of a rich one.
func catalogVersion(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		for _, key := range []string{"strictly", "require", "prefer"} {
			if s, ok := v[key].(string); ok {
				return s
			}
		}
	}
	return ""
}

// fromCatalog adds what `libs.some.library` or `libs.bundles.some` stands for.
func (g *gradleScript) fromCatalog(t token) bool {
	name, rest, _ := strings.Cut(t.text, ".")
	c, ok := g.catalogs[name]
	if !ok {
		return false
	}
	rest = strings.ToLower(strings.TrimSuffix(rest, ".get"))
	aliases := []string{rest}
	if bundle, ok := strings.CutPrefix(rest, "bundles."); ok {
		aliases = c.bundles[bundle]
	}
	for _, alias := range aliases {
		if lib, ok := c.libraries[alias]; ok {
			g.add(lib[0], lib[1], lib[2], t.start, t.end)
		}
	}
	return true
}
