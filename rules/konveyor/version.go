package konveyor

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// labelVersion is the version at the end of a label's value, with the sign of
// a range: eap8, quarkus3+, hibernate3.9-.
var labelVersion = regexp.MustCompile(`(\d(?:[\d.]*\d)?)([+-])?$`)

// valueFits reports whether the value of a rule's label covers the value that
// is asked for. Both are a name with a version: a rule for eap8+ fits eap8 and
// eap9, one for eap7- fits eap6; who asks for eap without a version gets every
// version.
func valueFits(rule, asked string) bool {
	r := labelVersion.FindStringSubmatchIndex(rule)
	if r == nil {
		return rule == asked
	}
	name := rule[:r[0]]
	a := labelVersion.FindStringSubmatchIndex(asked)
	if a == nil {
		return name == asked
	}
	if name != asked[:a[0]] {
		return false
	}
	order := compareVersions(asked[a[2]:a[3]], rule[r[2]:r[3]])
	if r[4] < 0 {
		return order == 0
	}
	if rule[r[4]:r[5]] == "+" {
		return order >= 0
	}
	return order <= 0
}

// versionNumber is the numeric part of a version: "v2.3.4.RELEASE", "6.1.0.Final".
var versionNumber = regexp.MustCompile(`^v?(\d+(?:\.\d+)*)`)

// compareVersions orders two versions. Numbers are compared number by number,
// a missing one counting as zero; qualifiers such as .Final and .RELEASE do not
// count, except that a pre-release comes before its release. Versions that
// begin with a name (release trains such as Angel, Hoxton.SR3) come before
// numbers and are ordered by name.
func compareVersions(a, b string) int {
	na, nb := versionNumber.FindStringSubmatch(a), versionNumber.FindStringSubmatch(b)
	switch {
	case na == nil && nb == nil:
		return compareTrains(a, b)
	case na == nil:
		return -1
	case nb == nil:
		return 1
	}
	if order := compareNumbers(strings.Split(na[1], "."), strings.Split(nb[1], ".")); order != 0 {
		return order
	}
	return cmp.Compare(releaseRank(a[len(na[0]):]), releaseRank(b[len(nb[0]):]))
}

func compareNumbers(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if order := compareDigits(at(a, i), at(b, i)); order != 0 {
			return order
		}
	}
	return 0
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// compareDigits compares numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

var preRelease = regexp.MustCompile(`(?i)^[.-]?(alpha|beta|b\d|a\d|m\d|cr\d|rc|snapshot|pre|dev|ea)`)

// releaseRank is 0 for a qualifier of a pre-release, 1 for a release.
func releaseRank(qualifier string) int {
	if preRelease.MatchString(qualifier) {
		return 0
	}
	return 1
}

var trainNumber = regexp.MustCompile(`\d+$`)

// compareTrains orders "Edgware.SR2" and "Hoxton.9" by name, then by number.
func compareTrains(a, b string) int {
	nameA, restA, _ := strings.Cut(a, ".")
	nameB, restB, _ := strings.Cut(b, ".")
	if order := strings.Compare(strings.ToLower(nameA), strings.ToLower(nameB)); order != 0 {
		return order
	}
	x, _ := strconv.Atoi(trainNumber.FindString(restA))
	y, _ := strconv.Atoi(trainNumber.FindString(restB))
	return cmp.Compare(x, y)
}

// inBounds reports whether a version lies within bounds, both inclusive; an
// empty bound is none. An unknown version lies within every bound.
func inBounds(version, lower, upper string) bool {
	if version == "" {
		return true
	}
	if lower != "" && !isZero(lower) && compareVersions(version, lower) < 0 {
		return false
	}
	return upper == "" || compareVersions(version, upper) <= 0
}

// isZero reports whether a lower bound is 0.0.0, which rules write for "any".
func isZero(v string) bool { return strings.Trim(v, "0.") == "" }
