// Package deps reads the dependencies that build files declare: pom.xml with
// properties, parents and dependency management, Gradle scripts in both
// languages with version catalogs, go.mod.
//
// [Resolve] takes the texts of all build files of a project at once, because
// they refer to each other. Nothing is downloaded and no build tool runs: of what
// a dependency brings along only widely used starters are known, and a version
// that only a remote parent or BOM gives is empty.
package deps

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/incidents"
)

// A Dependency is one declared dependency.
type Dependency struct {
	Language   string // "java" or "go"
	Name       string // "group.artifact", or the path of a Go module
	Version    string // "" when the build files do not say
	Type       string // of Maven: "jar", "pom", …; "" when not given
	Indirect   bool   // brought along by the one that is declared at the place
	Platform   bool   // a parent or imported BOM, which manages versions and is on no class path
	Manifest   string // path of the build file
	Start, End int    // where in it, in bytes
}

// IsBuildFile reports whether a path is one that [Resolve] reads.
func IsBuildFile(p string) bool {
	base := path.Base(p)
	return base == "pom.xml" || base == "go.mod" || base == "gradle.properties" ||
		strings.HasSuffix(base, ".gradle") || strings.HasSuffix(base, ".gradle.kts") || strings.HasSuffix(base, ".versions.toml")
}

// Resolve returns what the build files declare, in the order of the files and
// of the places in them. files maps paths (relative, slash-separated) to texts.
// A file that cannot be read is a problem and costs only itself.
func Resolve(files map[string][]byte) ([]Dependency, []incidents.Problem) {
	r := resolver{files: files}
	r.poms()
	r.gradle()
	r.goMods()
	slices.SortStableFunc(r.out, func(a, b Dependency) int {
		return cmp.Or(cmp.Compare(a.Manifest, b.Manifest), cmp.Compare(a.Start, b.Start))
	})
	return r.out, r.problems
}

type resolver struct {
	files    map[string][]byte
	out      []Dependency
	problems []incidents.Problem
}

func (r *resolver) problem(file, where, reason string) {
	r.problems = append(r.problems, incidents.Problem{Source: file, Where: where, Reason: reason})
}

// paths returns the paths of files that f accepts, in order.
func (r *resolver) paths(f func(base string) bool) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(r.files)) {
		if f(path.Base(p)) {
			out = append(out, p)
		}
	}
	return out
}
