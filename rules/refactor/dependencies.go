package refactor

import (
	"context"
	"errors"
	"strings"

	"github.com/kaiak/kaiak/workspace"
)

// ReplaceDependency replaces a dependency by another, or removes it, in
// whichever build file the input is. A dependency is "group:artifact" for Maven
// and Gradle, and a package's or module's name for package.json and go.mod.
// Where the new one is there already, the old one is removed.
type ReplaceDependency struct {
	From string `yaml:"from" json:"from"`
	To   string `yaml:"to" json:"to"` // empty: From is removed
	// Version is that of To; empty keeps what is written. It may not be empty
	// for go.mod, whose versions belong to one module.
	Version string `yaml:"version" json:"version"`
	// Managed says that To's version comes from a parent or a bill of materials:
	// the one that is written is dropped. It is refused in a file that has neither.
	Managed bool `yaml:"managed" json:"managed"`
}

func (s *ReplaceDependency) validate() error {
	switch {
	case s.Managed && (s.Version != "" || s.To == ""):
		return errors.New("managed needs to, and goes without version")
	case s.From == "":
		return errors.New("from is required")
	case s.To == "" && s.Version != "":
		return errors.New("version is that of to, which is empty; setVersion changes a version only")
	case s.To != "" && strings.Count(s.From, ":") != strings.Count(s.To, ":"):
		return errors.New("from and to are of different build systems: group:artifact is Maven's and Gradle's")
	}
	return nil
}

// Edits implements [Step].
func (s *ReplaceDependency) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	group, artifact, maven := strings.Cut(s.From, ":")
	toGroup, toArtifact, _ := strings.Cut(s.To, ":")
	switch base := in.base(); {
	case isPOM(base) && maven:
		return replaceInPOM(ctx, in, coordinates{group, artifact}, coordinates{toGroup, toArtifact}, s)
	case isGradle(base) && maven:
		return replaceInGradle(in, s)
	case base == "package.json" && !maven:
		return replaceInPackageJSON(ctx, in, s.From, s.To, s.Version)
	case base == "go.mod" && !maven:
		return replaceInGoMod(in, s.From, s.To, s.Version)
	}
	return nil, nil
}

// SetVersion sets the version of a dependency, plugin or parent where the file
// has it written down: beside it, in the property that it refers to, or in the
// version catalog. A version that comes from elsewhere (a parent, a bill of
// materials) is no edit.
type SetVersion struct {
	Of      string `yaml:"of" json:"of"` // "group:artifact", a package, a module, a Gradle plugin id
	Version string `yaml:"version" json:"version"`
	// Property, instead of Of, names a Maven property.
	Property string `yaml:"property" json:"property"`
}

func (s *SetVersion) validate() error {
	if (s.Of == "") == (s.Property == "") || s.Version == "" {
		return errors.New("version and one of of and property are required")
	}
	return nil
}

// Edits implements [Step].
func (s *SetVersion) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	switch base := in.base(); {
	case isPOM(base):
		return setVersionInPOM(ctx, in, s)
	case s.Property != "":
		return nil, nil
	case isGradle(base):
		return setVersionInGradle(in, s.Of, s.Version)
	case base == "package.json":
		return replaceInPackageJSON(ctx, in, s.Of, s.Of, s.Version)
	case base == "go.mod":
		return replaceInGoMod(in, s.Of, s.Of, s.Version)
	}
	return nil, nil
}

func isPOM(base string) bool { return base == "pom.xml" || strings.HasSuffix(base, ".pom") }

func isGradle(base string) bool {
	return strings.HasSuffix(base, ".gradle") || strings.HasSuffix(base, ".gradle.kts") || strings.HasSuffix(base, ".versions.toml")
}
