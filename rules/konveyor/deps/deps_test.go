package deps

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the last part of the archives in testdata")

// TestResolve reads the build files of testdata/*.txtar; "want" has a line for
// each dependency: file:line name version, and one for each problem.
func TestResolve(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files, want := map[string][]byte{}, ""
			for _, f := range archive.Files {
				if f.Name == "want" {
					want = string(f.Data)
				} else {
					files[f.Name] = f.Data
				}
			}
			list, problems := Resolve(files)
			var b strings.Builder
			for _, d := range list {
				line := 1 + strings.Count(string(files[d.Manifest][:d.Start]), "\n")
				indirect := ""
				switch {
				case d.Indirect:
					indirect = " indirect"
				case d.Platform:
					indirect = " platform"
				}
				fmt.Fprintf(&b, "%s:%d %s %q%s\n", d.Manifest, line, d.Name, d.Version, indirect)
			}
			for _, p := range problems {
				fmt.Fprintf(&b, "problem %s\n", p.Source)
			}
			if *update {
				last := &archive.Files[len(archive.Files)-1]
				last.Data = []byte(b.String())
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBrings checks that the table of what artifacts bring along is of names,
// and that it comes to an end.
func TestBrings(t *testing.T) {
	for name, list := range brings {
		for _, n := range append(list, name) {
			if group, artifact, ok := strings.Cut(n, ":"); !ok || group == "" || artifact == "" || strings.ContainsAny(n, " *") {
				t.Errorf("%s: %q is no group:artifact", name, n)
			}
		}
		group, artifact, _ := strings.Cut(name, ":")
		var r resolver
		r.indirect(Dependency{Version: "2.7.1"}, group, artifact, nil)
		if len(r.out) < len(list) {
			t.Errorf("%s brings %d artifacts, want at least %d", name, len(r.out), len(list))
		}
	}
}

func TestIsBuildFile(t *testing.T) {
	for _, p := range []string{"pom.xml", "a/pom.xml", "build.gradle", "a/build.gradle.kts", "gradle/libs.versions.toml", "gradle.properties", "go.mod"} {
		if !IsBuildFile(p) {
			t.Errorf("%s is not taken for a build file", p)
		}
	}
	for _, p := range []string{"mypom.xml", "a.toml", "build.xml", "go.sum"} {
		if IsBuildFile(p) {
			t.Errorf("%s is taken for a build file", p)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("<project><properties><a>${b}</a><b>${a}</b></properties><dependencies><dependency><groupId>g</groupId><artifactId>${a}</artifactId></dependency></dependencies></project>",
		"dependencies { implementation \"g:a:$v\" }\next.v = '${v}'\n", "[libraries]\na = {module = \"g:n\", version.ref = \"v\"}\n", "module m\nrequire a v1\n")
	f.Add("<project><parent/><a></project>", "def x = '", "[", "go 1")
	f.Fuzz(func(t *testing.T, pom, gradle, catalog, mod string) {
		files := map[string][]byte{"pom.xml": []byte(pom), "a/pom.xml": []byte(pom), "build.gradle": []byte(gradle),
			"gradle/libs.versions.toml": []byte(catalog), "go.mod": []byte(mod)}
		list, _ := Resolve(files)
		for _, d := range list {
			if d.Start < 0 || d.End < d.Start || d.End > len(files[d.Manifest]) {
				t.Fatalf("%+v lies outside of its file", d)
			}
		}
	})
}
