package konveyor

import (
	"slices"
	"strings"
	"testing"
)

func TestSelector(t *testing.T) {
	labels := []string{"konveyor.io/target=eap8+", "konveyor.io/source=java-ee", "konveyor.io/source=eap7-", "plain", "konveyor.io/target=camel3.17+"}
	tests := []struct {
		expr string
		want bool
	}{
		{"", true},
		{"plain", true},
		{"!plain", false},
		{"missing", false},
		{"plain && missing", false},
		{"plain || missing", true},
		{"missing || plain && !missing", true},
		{"(missing || plain) && missing", false},
		{"!(missing && plain)", true},
		{"!!plain", true},
		{"true", true},
		{"false || true", true},
		{"konveyor.io/target", true},
		{"konveyor.io/target=", true},
		{"konveyor.io/target=eap8", true},
		{"konveyor.io/target=eap9.1", true},
		{"konveyor.io/target=eap7", false},
		{"konveyor.io/target=eap", true},
		{"konveyor.io/target=eapxp", false},
		{"konveyor.io/source=eap7", true},
		{"konveyor.io/source=eap6.4", true},
		{"konveyor.io/source=eap8", false},
		{"konveyor.io/source=java-ee", true},
		{"konveyor.io/source=java-ee7", false},
		{"konveyor.io/target=camel3.20", true},
		{"konveyor.io/target=camel3.9", false},
	}
	for _, tt := range tests {
		sel, err := ParseSelector(tt.expr)
		if err != nil {
			t.Errorf("%q: %v", tt.expr, err)
			continue
		}
		if got := sel.Matches(labels); got != tt.want {
			t.Errorf("%q: got %v", tt.expr, got)
		}
	}
}

func TestSelectorErrors(t *testing.T) {
	for _, expr := range []string{"a &&", "&& a", "(a", "a)", "a || || b", "!", "()", "a=b=c", "a b && c=d!", "a/b/c", strings.Repeat("(", 500) + "a"} {
		if _, err := ParseSelector(expr); err == nil {
			t.Errorf("%.20q: no error", expr)
		}
	}
}

func TestIncludeLabelOverrides(t *testing.T) {
	never, err := ParseSelector("missing")
	if err != nil {
		t.Fatal(err)
	}
	if !never.Matches([]string{"konveyor.io/include=always"}) {
		t.Error("always is not chosen")
	}
	if (Selector{}).Matches([]string{"konveyor.io/include=never", "a"}) {
		t.Error("never is chosen")
	}
}

func TestSelectorFor(t *testing.T) {
	sel, err := SelectorFor([]string{"eap7"}, []string{"eap8", "quarkus"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		labels string
		want   bool
	}{
		{"konveyor.io/source=eap7 konveyor.io/target=eap8+", true},
		{"konveyor.io/source=eap7 konveyor.io/target=quarkus3+", true},
		{"konveyor.io/source=eap6 konveyor.io/target=eap8", false},
		{"konveyor.io/source=eap7 konveyor.io/target=eap7", false},
		{"konveyor.io/target=eap8", false},
		{"konveyor.io/source konveyor.io/target=eap8", false},
		{"discovery", true},
		{"konveyor.io/source=eap7", false},
		{"konveyor.io/include=always", true},
	}
	for _, tt := range tests {
		if got := sel.Matches(strings.Fields(tt.labels)); got != tt.want {
			t.Errorf("%s: got %v", tt.labels, got)
		}
	}
	if sel, err = SelectorFor(nil, []string{"eap8"}); err != nil {
		t.Fatal(err)
	}
	for labels, want := range map[string]bool{
		"konveyor.io/source konveyor.io/target=eap8": true, "konveyor.io/target=eap8": false, "konveyor.io/source=x": false,
	} {
		if got := sel.Matches(strings.Fields(labels)); got != want {
			t.Errorf("target alone, %s: got %v", labels, got)
		}
	}
	if _, err := SelectorFor(nil, []string{"a=b"}); err == nil {
		t.Error("a target with an equals sign is accepted")
	}
}

func TestCompareVersions(t *testing.T) {
	ordered := []string{"Angel.SR6", "Edgware.SR2", "Edgware.9", "Hoxton.1", "0.9", "1.0.0-RC1", "1", "1.0.1", "1.9", "1.10",
		"2.2.5.RELEASE", "2.2.6", "v3.1", "6.1.0.Beta1", "6.1.0.Final", "2020.0.3"}
	for i := range ordered {
		for j := range ordered {
			if got := compareVersions(ordered[i], ordered[j]); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s, %s: got %d", ordered[i], ordered[j], got)
			}
		}
	}
	for _, same := range [][2]string{{"1", "1.0.0"}, {"6.1.0.Final", "6.1.0"}, {"v1.2", "1.2.0.RELEASE"}} {
		if compareVersions(same[0], same[1]) != 0 {
			t.Errorf("%s and %s differ", same[0], same[1])
		}
	}
}

func TestInBounds(t *testing.T) {
	tests := []struct {
		version, lower, upper string
		want                  bool
	}{
		{"2.5", "0.0.0", "", true}, {"2.5", "", "2.4.99", false}, {"2.4.1.Final", "2", "2.4.99", true},
		{"", "1", "2", true}, {"Hoxton.SR3", "0.0.0", "", true}, {"Hoxton.3", "Ilford", "2020.9", false}, {"3.0.0-M1", "3.0.0", "", false},
	}
	for _, tt := range tests {
		if got := inBounds(tt.version, tt.lower, tt.upper); got != tt.want {
			t.Errorf("%q in %q..%q: got %v", tt.version, tt.lower, tt.upper, got)
		}
	}
}

func TestPathPattern(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"pom.xml", "pom.xml", true}, {"pom.xml", "a/pom.xml", true}, {"pom.xml", "a/pom.xml.bak", false}, {"pom.xml", "pomxxml", false},
		{"a/pom.xml", "x/a/pom.xml", true}, {"./a/pom.xml", "a/pom.xml", true},
		{`.*\.java`, "a/B.java", true}, {`\.(j|t)sx?$`, "a/b.tsx", true}, {`^.*\.properties$`, "a/b.properties", true},
		{`src/main/.*\.yml`, "src/main/x.yml", true}, {`/src/`, "src/a", true}, {"*.java", "a/B.java", true}, {"*.java", "B.javax", false},
		{`application.*\.(properties|yml)`, "application-dev.yml", true}, {"[", "[", false},
	}
	for _, tt := range tests {
		if got := compilePath(tt.pattern).match(tt.path); got != tt.want {
			t.Errorf("%q, %q: got %v", tt.pattern, tt.path, got)
		}
	}
}

func FuzzSelector(f *testing.F) {
	f.Add("konveyor.io/target=eap8 && !(a || b)", "konveyor.io/target=eap8+,a")
	f.Fuzz(func(t *testing.T, expr, labels string) {
		sel, err := ParseSelector(expr)
		if err != nil {
			return
		}
		list := strings.Split(labels, ",")
		got := sel.Matches(list)
		// Without override labels a negation chooses the opposite.
		if slices.ContainsFunc(list, func(l string) bool { return strings.Contains(l, "include") }) || strings.TrimSpace(expr) == "" {
			return
		}
		not, err := ParseSelector("!(" + expr + ")")
		if err != nil {
			if strings.Count(expr, "(") > maxSelectorDepth/2 || strings.Count(expr, "!") > maxSelectorDepth/2 {
				return
			}
			t.Fatalf("%q parses, its negation does not: %v", expr, err)
		}
		if not.Matches(list) == got {
			t.Errorf("%q and its negation agree on %q", expr, labels)
		}
	})
}
