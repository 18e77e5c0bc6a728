package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Class says how carefully a path is to be treated.
type Class string

// The classes, from the freest to the strictest.
const (
	Plain        Class = "plain"          // read; written after an approval
	ConfigIsCode Class = "config_is_code" // runs on somebody's machine: every change asks
	ReadOnlyFile Class = "read_only"      // read, never written
	Denied       Class = "denied"         // neither read nor written
)

func (c Class) rank() int { return slices.Index([]Class{Plain, ConfigIsCode, ReadOnlyFile, Denied}, c) }

// A ClassRule puts the paths that Pattern matches into Class.
type ClassRule struct {
	Class Class

	// Pattern is lower case. Without a slash it matches the name of the file or
	// of any folder above it; with slashes, a run of such names. In a name, *
	// stands for any characters, ? for one. Case, Unicode form and invisible
	// characters of the path do not matter.
	Pattern string

	// FileOnly: the pattern matches the file's own name, not a folder's.
	FileOnly bool

	Why string // a noun phrase: "private keys"
}

// Classification is what [Workspace.Classify] says of a path: its class, and
// the rule that put it there (empty for [Plain]).
type Classification struct {
	Class   Class
	Pattern string
	Why     string
}

// Classify returns the class of a path of this workspace. Where several rules
// match, the strictest class decides. It does not look at the disk. A path
// that [Workspace.Rel] refuses is Denied.
func (w *Workspace) Classify(rel string) Classification {
	p, err := w.lexicalRel(rel)
	if err != nil {
		return Classification{Class: Denied, Why: err.(*PathError).Reason}
	}
	return w.table.classify(p)
}

// ClassRules returns the table that every workspace starts from.
func ClassRules() []ClassRule { return slices.Clone(classRules) }

func rules(class Class, why string, patterns ...string) (out []ClassRule) {
	for _, p := range patterns {
		p, fileOnly := strings.CutPrefix(p, "file:")
		out = append(out, ClassRule{class, p, fileOnly, why})
	}
	return out
}

// classRules is the one table behind every decision about a path.
//
// Three rules are narrower than their usual wording, because code is full of
// the innocent case: "id_*" names the key types (id_generator.py is code),
// "credentials*" only data files (CredentialsProvider.java is code), and
// "vendor" only what package managers lay out (com/acme/vendor/Vendor.java is
// a supplier).
var classRules = slices.Concat(
	rules(Denied, "version control data", ".git", ".hg", ".svn", ".bzr", ".jj", "git~*"),
	rules(Denied, "environment files hold secrets", ".env*"),
	rules(Denied, "private keys and key stores",
		"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
		"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*", "file:*_rsa", "file:*_dsa", "file:*_ecdsa", "file:*_ed25519"),
	rules(Denied, "credentials",
		".ssh", ".aws", ".azure", ".gcloud", ".kube", ".gnupg", ".docker/config.json", ".dockercfg",
		".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf",
		".vault-token", ".terraformrc", ".m2/settings-security.xml", ".gem/credentials",
		"file:credentials", "file:.credentials*", "credentials.json", "credentials.yaml", "credentials.yml",
		"credentials.xml", "credentials.ini", "credentials.toml", "credentials.txt", "credentials.csv",
		"credentials.db", "credentials.properties", "credentials.enc", "credentials.yml.enc", "credentials.tfrc.json",
		"file:secrets", "secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml", "secrets.ini"),

	rules(ReadOnlyFile, "lock files are written by their tool",
		"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock",
		"cargo.lock", "poetry.lock", "pdm.lock", "uv.lock", "pipfile.lock", "composer.lock", "gemfile.lock",
		"packages.lock.json", "project.assets.json", "gradle.lockfile", "buildscript-gradle.lockfile", "flake.lock",
		"mix.lock", "pubspec.lock", "podfile.lock", "package.resolved", ".terraform.lock.hcl", "go.work.sum"),
	rules(ReadOnlyFile, "vendored code belongs to somebody else",
		"vendor/*.*/*", "vendor/modules.txt", "vendor/bundle", "vendor/cache", "vendor/composer", "node_modules", "bower_components", "jspm_packages", ".yarn", ".venv", "site-packages"),
	rules(ReadOnlyFile, "Kaiak's own configuration", ".kaiak"),

	rules(ConfigIsCode, "editor settings can start programs",
		".vscode", ".idea", ".fleet", ".zed", ".devcontainer", ".devcontainer.json", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc",
		".dir-locals.el", ".editorconfig", "*.code-workspace", "*.sublime-project"),
	rules(ConfigIsCode, "continuous integration",
		".github", ".gitlab", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".circleci", ".travis.yml", ".drone.yml", ".woodpecker", ".buildkite",
		".ci", ".gitea", ".forgejo", ".tekton", "azure-pipelines*", "bitbucket-pipelines.yml", "jenkinsfile*", "appveyor.yml",
		".pre-commit-config.yaml", "cloudbuild.yaml", "cloudbuild.yml", "buildspec.yml"),
	rules(ConfigIsCode, "hooks and version control settings",
		".gitattributes", ".gitmodules", ".gitconfig", ".husky", ".githooks", "lefthook.yml", "lefthook.yaml"),
	rules(ConfigIsCode, "the build runs it",
		"makefile*", "gnumakefile", "*.mk", "cmakelists.txt", "*.cmake", "build.ninja", "meson.build", "file:build", "build.bazel", "workspace.bazel",
		"module.bazel", "*.bzl", ".bazelrc", "justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "gemfile", "*.gemspec",
		"pom.xml", ".mvn", "mvnw", "mvnw.cmd", "build.gradle*", "settings.gradle*", "gradle.properties", "gradlew", "gradlew.bat", "gradle/wrapper",
		"build.xml", "ivy.xml", "build.sbt", "package.json", "*.config.js", "*.config.cjs", "*.config.mjs", "*.config.ts", "gulpfile.*", "gruntfile.*",
		".eslintrc.*", ".babelrc*", "go.mod", "go.sum", "go.work", "cargo.toml", "build.rs", ".cargo",
		"setup.py", "setup.cfg", "pyproject.toml", "tox.ini", "noxfile.py", "conftest.py", "pipfile", "requirements*.txt",
		"*.csproj", "*.vbproj", "*.fsproj", "*.sln", "*.slnx", "*.props", "*.targets", "nuget.config", "global.json",
		"composer.json", "mix.exs", "podfile", "package.swift"),
	rules(ConfigIsCode, "containers and deployment",
		"dockerfile*", "*.dockerfile", "containerfile*", ".dockerignore", "docker-compose*", "compose.yaml", "compose.yml", "vagrantfile", "procfile"),
	rules(ConfigIsCode, "instructions to agents",
		"claude*.md", "agents*.md", "gemini*.md", ".cursor", ".cursorrules", ".claude", ".codex", ".gemini", ".windsurf", ".windsurfrules",
		".clinerules", ".roo", ".aider*", ".mcp.json", "mcp.json", "copilot-instructions.md"),
	rules(ConfigIsCode, "scripts",
		"*.sh", "*.bash", "*.zsh", "*.fish", "*.ksh", "*.csh", "*.ps1", "*.psm1", "*.bat", "*.cmd", "*.vbs",
		".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv"),
)

// classTable is the rules compiled: most are one map lookup.
type classTable struct {
	exact map[string][]ClassRule // the whole name
	exts  map[string][]ClassRule // "*.x" by "x", the last extension
	globs []globRule             // all others
}

// A nameGlob is a pattern of one name, compiled. Nearly all have at most one *
// and no other wildcard, and are matched by what is before and after it.
type nameGlob struct {
	pattern        string
	exact, simple  bool
	prefix, suffix string
}

func newNameGlob(pattern string) nameGlob {
	prefix, suffix, star := strings.Cut(pattern, "*")
	plain := !strings.ContainsAny(prefix+suffix, `*?[\`)
	return nameGlob{pattern, plain && !star, plain && star, prefix, suffix}
}

func (g *nameGlob) match(name string) bool {
	switch {
	case g.exact:
		return name == g.pattern
	case g.simple:
		return len(name) >= len(g.prefix)+len(g.suffix) && strings.HasPrefix(name, g.prefix) && strings.HasSuffix(name, g.suffix)
	}
	ok, _ := path.Match(g.pattern, name)
	return ok
}

// A globRule is a rule with its pattern compiled, one glob for each name.
type globRule struct {
	ClassRule
	globs []nameGlob
}

// match reports whether the names begin with a run that the rule matches.
func (r *globRule) match(names []string) bool {
	if len(r.globs) > len(names) {
		return false
	}
	for i := range r.globs {
		if !r.globs[i].match(names[i]) {
			return false
		}
	}
	return true
}

func newClassTable(deny []string) (*classTable, error) {
	t := &classTable{exact: map[string][]ClassRule{}, exts: map[string][]ClassRule{}}
	for _, r := range classRules {
		t.add(r)
	}
	for _, p := range deny {
		folded := foldName(strings.Trim(p, "/"))
		if _, err := path.Match(folded, ""); err != nil || folded == "" {
			return nil, fmt.Errorf("pattern %q is not valid", p)
		}
		t.add(ClassRule{Class: Denied, Pattern: folded, Why: "the configuration denies it"})
	}
	return t, nil
}

func (t *classTable) add(r ClassRule) {
	ext, isExt := strings.CutPrefix(r.Pattern, "*.")
	switch {
	case !strings.ContainsAny(r.Pattern, `/*?[\`):
		t.exact[r.Pattern] = append(t.exact[r.Pattern], r)
	case isExt && !strings.ContainsAny(ext, `/*?[\.`):
		t.exts[ext] = append(t.exts[ext], r)
	default:
		g := globRule{ClassRule: r}
		for name := range strings.SplitSeq(r.Pattern, "/") {
			g.globs = append(g.globs, newNameGlob(name))
		}
		t.globs = append(t.globs, g)
	}
}

func (t *classTable) classify(rel string) Classification { return t.classifyAs(rel, false) }

// classifyAs classifies a clean relative path, of a folder when isDir.
func (t *classTable) classifyAs(rel string, isDir bool) Classification {
	best := Classification{Class: Plain}
	take := func(r ClassRule, isFile bool) {
		if (isFile || !r.FileOnly) && r.Class.rank() > best.Class.rank() {
			best = Classification{r.Class, r.Pattern, r.Why}
		}
	}
	names := strings.Split(foldName(rel), "/")
	for i, name := range names {
		isFile := !isDir && i == len(names)-1
		for _, r := range t.exact[name] {
			take(r, isFile)
		}
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			for _, r := range t.exts[name[dot+1:]] {
				take(r, isFile)
			}
		}
		for j := range t.globs {
			if g := &t.globs[j]; g.match(names[i:]) {
				take(g.ClassRule, !isDir && i+len(g.globs) == len(names))
			}
		}
	}
	return best
}

// foldName brings a path to the form in which the strictest of the usual file
// systems compares names: invisible characters gone, compatibility forms
// composed, case folded. Two names that any of them takes for one fold alike.
func foldName(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(s)
	}
	s = norm.NFKC.String(strings.Map(foldRune, norm.NFKC.String(s)))
	return strings.Map(foldRune, s)
}

// foldRune returns the least rune of r's case orbit, lower case for ASCII, and
// drops what HFS+ and others ignore in names.
func foldRune(r rune) rune {
	switch {
	case r == '\u00ad', r == '\u034f', r == '\ufeff',
		'\u200b' <= r && r <= '\u200f', '\u202a' <= r && r <= '\u202e', '\u2060' <= r && r <= '\u206f',
		'\ufe00' <= r && r <= '\ufe0f':
		return -1
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
