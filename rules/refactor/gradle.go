package refactor

import (
	"regexp"
	"strings"

	"github.com/kaiak/kaiak/workspace"
)

// A literal is a string literal of a Gradle script or a version catalog.
type literal struct {
	start, end int // of the text inside the quotes
	text       string
}

// literals returns a text's string literals, skipping comments. Gradle's two
// languages and TOML agree on what matters here.
func literals(in Input) []literal {
	src := string(in.Text)
	toml := strings.HasSuffix(in.Path, ".toml")
	var list []literal
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case toml && c == '#', !toml && c == '/' && strings.HasPrefix(src[i:], "//"):
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case !toml && strings.HasPrefix(src[i:], "/*"):
			end := strings.Index(src[i+2:], "*/")
			if end < 0 {
				return list
			}
			i += end + 3
		case c == '"' || c == '\'':
			quote := string(c)
			if triple := strings.Repeat(quote, 3); strings.HasPrefix(src[i:], triple) {
				quote = triple
			}
			start := i + len(quote)
			end := start
			for end < len(src) && !strings.HasPrefix(src[end:], quote) {
				if src[end] == '\\' {
					end++
				}
				if len(quote) == 1 && end < len(src) && src[end] == '\n' {
					break // not closed: not a literal
				}
				end++
			}
			if end >= len(src) {
				return list
			}
			if src[end] != '\n' {
				list = append(list, literal{start, end, src[start:end]})
				i = end + len(quote) - 1
			}
		}
	}
	return list
}

// coordinate matches "group:artifact", with a version and what may follow it.
var coordinate = regexp.MustCompile(`^([\w.\-]+:[\w.\-]+)(?::([^:@]*))?(.*)$`)

// followedBy matches what stands behind the literal of a group in the map
// notation (group: 'g', name: 'a', version: 'v') and in a catalog.
var (
	nameBehind    = regexp.MustCompile(`^["']\s*,\s*name\s*[:=]\s*["']([^"']+)["']`)
	versionBehind = regexp.MustCompile(`^["']\s*\)?\s*,?\s*version(?:\.ref)?\s*[:=(]?\s*["']([^"']+)["']`)
	groupBefore   = regexp.MustCompile(`\bgroup\s*[:=]\s*["']$`)
	idBefore      = regexp.MustCompile(`\bid\s*[(=:]?\s*["']$`)
	variableUse   = regexp.MustCompile(`^\$\{?([\w.]+)\}?$`)
)

// managesVersions finds a platform, or Spring's plugin that does the same.
var managesVersions = regexp.MustCompile(`\b(platform|enforcedPlatform|mavenBom)\s*\(?|io\.spring\.dependency-management`)

// A gradleUse is one place where a Gradle file names a dependency.
type gradleUse struct {
	name                     string // group:artifact
	nameStart, nameEnd       int    // of the whole coordinate, or of the group
	artifactStart            int    // of the artifact where it stands apart; 0 otherwise
	artifactEnd              int
	version                  string
	versionStart, versionEnd int // 0: it has none
	ref                      bool
}

func gradleUses(in Input) []gradleUse {
	src := string(in.Text)
	var uses []gradleUse
	for _, l := range literals(in) {
		before, behind := src[max(0, l.start-40):l.start], src[l.end:]
		u := gradleUse{nameStart: l.start, nameEnd: l.end}
		at := l.end
		if groupBefore.MatchString(before) {
			m := nameBehind.FindStringSubmatchIndex(behind)
			if m == nil {
				continue
			}
			u.artifactStart, u.artifactEnd = l.end+m[2], l.end+m[3]
			u.name = l.text + ":" + src[u.artifactStart:u.artifactEnd]
			at = u.artifactEnd
		} else if m := coordinate.FindStringSubmatchIndex(l.text); m != nil {
			u.name, u.nameEnd = l.text[m[2]:m[3]], l.start+m[3]
			if m[4] >= 0 {
				u.version, u.versionStart, u.versionEnd = l.text[m[4]:m[5]], l.start+m[4], l.start+m[5]
			}
		} else if idBefore.MatchString(before) {
			u.name = l.text
		} else {
			continue
		}
		if u.versionStart == 0 {
			if m := versionBehind.FindStringSubmatchIndex(src[at:]); m != nil {
				u.version, u.versionStart, u.versionEnd = src[at+m[2]:at+m[3]], at+m[2], at+m[3]
				u.ref = strings.Contains(src[at:at+m[2]], "version.ref")
			}
		}
		uses = append(uses, u)
	}
	return uses
}

// versionEdit returns the edit that sets a use's version where it is written
// down. ok is false when that is not in this file.
func versionEdit(in Input, u gradleUse, version string) (edit workspace.Edit, ok bool) {
	if u.versionStart == 0 {
		return edit, false
	}
	name := u.version
	if m := variableUse.FindStringSubmatch(u.version); m != nil {
		name = m[1][strings.LastIndexByte(m[1], '.')+1:]
	} else if !u.ref {
		return workspace.Edit{Start: u.versionStart, End: u.versionEnd, New: version}, u.version != version
	}
	definition := regexp.MustCompile(`(?m)^[^\n/#]*\b` + regexp.QuoteMeta(name) + `\b["']?\]?\s*(?:=|,|by extra\()\s*["']([^"'$]+)["']`)
	m := definition.FindSubmatchIndex(in.Text)
	if m == nil {
		return edit, false
	}
	return workspace.Edit{Start: m[2], End: m[3], New: version}, string(in.Text[m[2]:m[3]]) != version
}

// sharesVersion returns another dependency that takes its version from the same
// variable, or "".
func sharesVersion(uses []gradleUse, u gradleUse) string {
	if u.versionStart == 0 || !u.ref && !variableUse.MatchString(u.version) {
		return ""
	}
	group, _, _ := strings.Cut(u.name, ":")
	for _, other := range uses {
		otherGroup, _, _ := strings.Cut(other.name, ":")
		if other.version == u.version && other.ref == u.ref && otherGroup != group {
			return other.name
		}
	}
	return ""
}

func replaceInGradle(in Input, s *ReplaceDependency) ([]workspace.Edit, error) {
	from, to, version := s.From, s.To, s.Version
	uses := gradleUses(in)
	toGroup, toArtifact, _ := strings.Cut(to, ":")
	var edits []workspace.Edit
	for _, u := range uses {
		if u.name != from || in.End != 0 && (u.nameStart >= in.End || u.nameEnd <= in.Start) {
			continue
		}
		if to == "" {
			if strings.HasSuffix(in.Path, ".toml") {
				return nil, refuse(Unsafe, "%s names %s in a version catalog whose aliases build scripts use; remove it by hand", in.Path, from)
			}
			line := string(in.Text[lineStart(in.Text, u.nameStart):lineEnd(in.Text, u.nameEnd)])
			if strings.HasSuffix(strings.TrimSpace(line), "{") || strings.Count(line, "(") != strings.Count(line, ")") {
				return nil, refuse(Unsafe, "in %s the declaration of %s spans several lines; remove it by hand", in.Path, from)
			}
			edits = append(edits, workspace.Edit{Start: lineStart(in.Text, u.nameStart), End: lineEnd(in.Text, u.nameEnd)})
			continue
		}
		if u.artifactStart > 0 {
			edits = append(edits, workspace.Edit{Start: u.nameStart, End: u.nameEnd, New: toGroup}, workspace.Edit{Start: u.artifactStart, End: u.artifactEnd, New: toArtifact})
		} else {
			edits = append(edits, workspace.Edit{Start: u.nameStart, End: u.nameEnd, New: to})
		}
		if s.Managed && u.versionStart > 0 {
			// Only g:a:v can lose its version without a trace.
			if u.versionStart != u.nameEnd+1 || !managesVersions.Match(in.Text) {
				return nil, refuse(Unsafe, "%s gives %s a version and no platform that could take its place; add one first", in.Path, from)
			}
			edits[len(edits)-1].End = u.versionEnd
			continue
		}
		if version == "" || u.versionStart == 0 {
			continue
		}
		if other := sharesVersion(uses, u); other != "" {
			if u.ref {
				return nil, refuse(Unsafe, "in %s %s has its version from %s, which %s uses too; give it one of its own by hand", in.Path, from, u.version, other)
			}
			edits = append(edits, workspace.Edit{Start: u.versionStart, End: u.versionEnd, New: version})
		} else if e, ok := versionEdit(in, u, version); ok {
			edits = append(edits, e)
		}
	}
	return dedupe(sortEdits(edits)), nil
}

func setVersionInGradle(in Input, of, version string) ([]workspace.Edit, error) {
	uses := gradleUses(in)
	var edits []workspace.Edit
	for _, u := range uses {
		if u.name != of {
			continue
		}
		if other := sharesVersion(uses, u); other != "" {
			return nil, refuse(Unsafe, "in %s %s has its version from %s, which %s uses too; give it one of its own by hand", in.Path, of, u.version, other)
		}
		if e, ok := versionEdit(in, u, version); ok {
			edits = append(edits, e)
		}
	}
	return dedupe(sortEdits(edits)), nil
}

// dedupe drops an edit that equals the one before it.
func dedupe(edits []workspace.Edit) []workspace.Edit {
	var out []workspace.Edit
	for i, e := range edits {
		if i == 0 || e != edits[i-1] {
			out = append(out, e)
		}
	}
	return out
}
