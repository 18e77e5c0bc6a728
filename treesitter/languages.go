package treesitter

import (
	"path"
	"strings"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/bash"
	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
	"github.com/smacker/go-tree-sitter/css"
	"github.com/smacker/go-tree-sitter/cue"
	"github.com/smacker/go-tree-sitter/dockerfile"
	"github.com/smacker/go-tree-sitter/elixir"
	"github.com/smacker/go-tree-sitter/elm"
	"github.com/smacker/go-tree-sitter/groovy"
	"github.com/smacker/go-tree-sitter/hcl"
	"github.com/smacker/go-tree-sitter/html"
	"github.com/smacker/go-tree-sitter/kotlin"
	"github.com/smacker/go-tree-sitter/lua"
	"github.com/smacker/go-tree-sitter/ocaml"
	"github.com/smacker/go-tree-sitter/php"
	"github.com/smacker/go-tree-sitter/protobuf"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/scala"
	"github.com/smacker/go-tree-sitter/sql"
	"github.com/smacker/go-tree-sitter/svelte"
	"github.com/smacker/go-tree-sitter/swift"
	"github.com/smacker/go-tree-sitter/toml"
	"github.com/smacker/go-tree-sitter/yaml"

	properties "github.com/tree-sitter-grammars/tree-sitter-properties/bindings/go"
	xml "github.com/tree-sitter-grammars/tree-sitter-xml/bindings/go"
	csharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"
	golang "github.com/tree-sitter/tree-sitter-go/bindings/go"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	json "github.com/tree-sitter/tree-sitter-json/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// A Language is a grammar that ships with the binary. There is one value for
// each: languages are compared with ==.
type Language struct {
	Name       string   // canonical: "go", "csharp", "typescript", …
	Aliases    []string // further names that rules may use, as in ast-grep
	Extensions []string // without the dot: "go", "d.ts"; compared without case
	Files      []string // base names of files that have no telling extension
	Comments   []string // the kinds of the grammar's comment nodes
	Expando    rune     // stands for $ in a pattern where the grammar takes no $ in a name
	Module     string   // the Go module that the grammar comes from

	// grammar returns the C language. Where the runtime's module bundles it
	// the pointer is inside a wrapper: see bundled.
	grammar func() unsafe.Pointer
	load    lazyTables
}

// smacker is the module that bundles the grammars without a module of their own.
const smacker = "github.com/smacker/go-tree-sitter"

// bundled takes the C language out of smacker's wrapper, which is a struct of
// just that pointer and has no accessor for it.
func bundled(get func() *sitter.Language) func() unsafe.Pointer {
	return func() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(get())) }
}

// languages is the one table of grammars, by name. Names, aliases, extensions
// and expando characters are ast-grep's where it has the language.
var languages = []*Language{
	{Name: "bash", Extensions: []string{"sh", "bash", "bats", "cgi", "command", "env", "fcgi", "ksh", "sh.in", "tmux", "tool", "zsh"},
		Files: []string{".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc"}, Comments: []string{"comment"}, Expando: '$', Module: smacker, grammar: bundled(bash.GetLanguage)},
	{Name: "c", Extensions: []string{"c", "h"},
		Comments: []string{"comment"}, Expando: '𐀀', Module: smacker, grammar: bundled(c.GetLanguage)},
	{Name: "cpp", Aliases: []string{"cc", "c++", "cxx"}, Extensions: []string{"cc", "hpp", "cpp", "c++", "hh", "cxx", "hxx", "cu", "ino"},
		Comments: []string{"comment"}, Expando: '𐀀', Module: smacker, grammar: bundled(cpp.GetLanguage)},
	{Name: "csharp", Aliases: []string{"cs"}, Extensions: []string{"cs"},
		Comments: []string{"comment"}, Expando: 'µ', Module: "github.com/tree-sitter/tree-sitter-c-sharp", grammar: csharp.Language},
	{Name: "css", Extensions: []string{"css", "scss"},
		Comments: []string{"comment", "js_comment"}, Expando: '_', Module: smacker, grammar: bundled(css.GetLanguage)},
	{Name: "cue", Extensions: []string{"cue"},
		Comments: []string{"comment"}, Expando: '$', Module: smacker, grammar: bundled(cue.GetLanguage)},
	{Name: "dockerfile", Aliases: []string{"docker", "containerfile"}, Extensions: []string{"dockerfile", "containerfile"},
		Files: []string{"Dockerfile", "Containerfile"}, Comments: []string{"comment"}, Expando: 'µ', Module: smacker, grammar: bundled(dockerfile.GetLanguage)},
	{Name: "elixir", Aliases: []string{"ex"}, Extensions: []string{"ex", "exs"},
		Comments: []string{"comment"}, Expando: 'µ', Module: smacker, grammar: bundled(elixir.GetLanguage)},
	{Name: "elm", Extensions: []string{"elm"},
		Comments: []string{"line_comment", "block_comment"}, Expando: 'µ', Module: smacker, grammar: bundled(elm.GetLanguage)},
	{Name: "go", Aliases: []string{"golang"}, Extensions: []string{"go"},
		Comments: []string{"comment"}, Expando: 'µ', Module: "github.com/tree-sitter/tree-sitter-go", grammar: golang.Language},
	{Name: "groovy", Aliases: []string{"gradle"}, Extensions: []string{"groovy", "gradle", "gvy", "gy", "gsh"},
		Files: []string{"Jenkinsfile"}, Comments: []string{"comment", "groovy_doc"}, Expando: '$', Module: smacker, grammar: bundled(groovy.GetLanguage)},
	{Name: "hcl", Aliases: []string{"terraform"}, Extensions: []string{"hcl", "nomad", "tf", "tfvars", "workflow"},
		Comments: []string{"comment"}, Expando: 'µ', Module: smacker, grammar: bundled(hcl.GetLanguage)},
	{Name: "html", Extensions: []string{"html", "htm", "xhtml"},
		Comments: []string{"comment"}, Expando: 'z', Module: smacker, grammar: bundled(html.GetLanguage)},
	{Name: "java", Extensions: []string{"java"},
		Comments: []string{"line_comment", "block_comment"}, Expando: '$', Module: "github.com/tree-sitter/tree-sitter-java", grammar: java.Language},
	{Name: "javascript", Aliases: []string{"js", "jsx"}, Extensions: []string{"js", "jsx", "cjs", "mjs"},
		Comments: []string{"comment", "html_comment", "hash_bang_line"}, Expando: '$', Module: "github.com/tree-sitter/tree-sitter-javascript", grammar: javascript.Language},
	{Name: "json", Extensions: []string{"json"},
		Comments: []string{"comment"}, Expando: '$', Module: "github.com/tree-sitter/tree-sitter-json", grammar: json.Language},
	{Name: "kotlin", Aliases: []string{"kt"}, Extensions: []string{"kt", "ktm", "kts"},
		Comments: []string{"line_comment", "multiline_comment"}, Expando: 'µ', Module: smacker, grammar: bundled(kotlin.GetLanguage)},
	{Name: "lua", Extensions: []string{"lua"},
		Comments: []string{"comment"}, Expando: '_', Module: smacker, grammar: bundled(lua.GetLanguage)},
	{Name: "ocaml", Aliases: []string{"ml"}, Extensions: []string{"ml"},
		Comments: []string{"comment"}, Expando: '_', Module: smacker, grammar: bundled(ocaml.GetLanguage)},
	{Name: "php", Extensions: []string{"php"},
		Comments: []string{"comment"}, Expando: 'µ', Module: smacker, grammar: bundled(php.GetLanguage)},
	{Name: "properties", Extensions: []string{"properties"},
		Comments: []string{"comment"}, Expando: 'µ', Module: "github.com/tree-sitter-grammars/tree-sitter-properties", grammar: properties.Language},
	{Name: "protobuf", Aliases: []string{"proto"}, Extensions: []string{"proto"},
		Comments: []string{"comment"}, Expando: 'z', Module: smacker, grammar: bundled(protobuf.GetLanguage)},
	{Name: "python", Aliases: []string{"py"}, Extensions: []string{"py", "py3", "pyi", "bzl"},
		Comments: []string{"comment"}, Expando: 'µ', Module: "github.com/tree-sitter/tree-sitter-python", grammar: python.Language},
	{Name: "ruby", Aliases: []string{"rb"}, Extensions: []string{"rb", "rbw", "gemspec"},
		Files: []string{"Gemfile", "Rakefile"}, Comments: []string{"comment"}, Expando: 'µ', Module: smacker, grammar: bundled(ruby.GetLanguage)},
	{Name: "rust", Aliases: []string{"rs"}, Extensions: []string{"rs"},
		Comments: []string{"line_comment", "block_comment"}, Expando: 'µ', Module: "github.com/tree-sitter/tree-sitter-rust", grammar: rust.Language},
	{Name: "scala", Extensions: []string{"scala", "sc", "sbt"},
		Comments: []string{"comment", "block_comment"}, Expando: '$', Module: smacker, grammar: bundled(scala.GetLanguage)},
	{Name: "sql", Extensions: []string{"sql"},
		Comments: []string{"comment", "marginalia"}, Expando: '_', Module: smacker, grammar: bundled(sql.GetLanguage)},
	{Name: "svelte", Extensions: []string{"svelte"},
		Comments: []string{"comment"}, Expando: 'z', Module: smacker, grammar: bundled(svelte.GetLanguage)},
	{Name: "swift", Extensions: []string{"swift"},
		Comments: []string{"comment", "multiline_comment"}, Expando: 'µ', Module: smacker, grammar: bundled(swift.GetLanguage)},
	{Name: "toml", Extensions: []string{"toml"},
		Comments: []string{"comment"}, Expando: '_', Module: smacker, grammar: bundled(toml.GetLanguage)},
	{Name: "tsx", Extensions: []string{"tsx"},
		Comments: []string{"comment", "html_comment", "hash_bang_line"}, Expando: '$', Module: "github.com/tree-sitter/tree-sitter-typescript", grammar: typescript.LanguageTSX},
	{Name: "typescript", Aliases: []string{"ts"}, Extensions: []string{"ts", "cts", "mts"},
		Comments: []string{"comment", "html_comment", "hash_bang_line"}, Expando: '$', Module: "github.com/tree-sitter/tree-sitter-typescript", grammar: typescript.LanguageTypescript},
	{Name: "xml", Extensions: []string{"xml", "xsd", "xsl", "xslt", "wsdl", "pom", "csproj", "fsproj", "vbproj", "props", "targets", "config", "xaml", "svg"},
		Comments: []string{"Comment"}, Expando: '_', Module: "github.com/tree-sitter-grammars/tree-sitter-xml", grammar: xml.LanguageXML},
	{Name: "yaml", Aliases: []string{"yml"}, Extensions: []string{"yaml", "yml"},
		Comments: []string{"comment"}, Expando: '$', Module: smacker, grammar: bundled(yaml.GetLanguage)},
}

var byName, byExtension, byFile = index()

func index() (names, extensions, files map[string]*Language) {
	names, extensions, files = map[string]*Language{}, map[string]*Language{}, map[string]*Language{}
	for _, l := range languages {
		names[l.Name] = l
		for _, a := range l.Aliases {
			names[a] = l
		}
		for _, e := range l.Extensions {
			extensions[e] = l
		}
		for _, f := range l.Files {
			files[f] = l
		}
	}
	return names, extensions, files
}

// All returns every language, by name.
func All() []*Language { return append([]*Language(nil), languages...) }

// Lookup returns the language with the given name or alias, or nil. Case does
// not count.
func Lookup(name string) *Language { return byName[strings.ToLower(name)] }

// ForPath returns the language of a file by its name, or nil. The path may be
// absolute or relative, with slashes. Of two extensions that fit, the longer wins.
func ForPath(name string) *Language {
	base := path.Base(name)
	if l := byFile[base]; l != nil {
		return l
	}
	// "Dockerfile.dev" is a Dockerfile.
	if stem, _, ok := strings.Cut(base, "."); ok && byFile[stem] != nil && stem == "Dockerfile" {
		return byFile[stem]
	}
	base = strings.ToLower(base)
	for {
		_, ext, ok := strings.Cut(base, ".")
		if !ok {
			return nil
		}
		if l := byExtension[ext]; l != nil {
			return l
		}
		base = ext
	}
}
