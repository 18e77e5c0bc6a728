package workspace

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// This file reads gitignore(5). No library that was tried agrees with git on
// negation below excluded folders, escapes and trailing spaces, and the whole is
// small; TestIgnoreAgreesWithGit holds it to `git check-ignore`.

// An ignoreFile is the rules of one .gitignore, which hold below base.
type ignoreFile struct {
	base  string // folder of the file, "." for the root
	rules []ignoreRule
}

// An ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	negated  bool     // "!": what matches is not ignored after all
	dirOnly  bool     // "/" at the end: matches folders only
	anywhere bool     // no "/" inside: matches the name at any depth
	parts    []string // the pattern, split at "/"
}

// parseIgnore reads the content of a .gitignore. There are no errors in one: a
// line that makes no sense matches nothing.
func parseIgnore(base string, text []byte) *ignoreFile {
	f := &ignoreFile{base: base}
	text = bytes.TrimPrefix(text, utf8BOM)
	for line := range strings.SplitSeq(string(text), "\n") {
		line = trimIgnoreLine(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		if line[0] == '!' {
			r.negated, line = true, line[1:]
		}
		if strings.HasSuffix(line, "/") {
			r.dirOnly, line = true, line[:len(line)-1]
		}
		if line == "" {
			continue
		}
		r.anywhere = !strings.Contains(line, "/")
		r.parts = strings.Split(strings.TrimPrefix(line, "/"), "/")
		f.rules = append(f.rules, r)
	}
	return f
}

// trimIgnoreLine removes trailing spaces that no backslash protects.
func trimIgnoreLine(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// match says whether a rule of f decides about the path: the last one that
// matches does.
func (f *ignoreFile) match(rel string, isDir bool) (ignored, decided bool) {
	if f.base != "." {
		rel = rel[len(f.base)+1:]
	}
	names := strings.Split(rel, "/")
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.dirOnly && !isDir {
			continue
		}
		if r.anywhere {
			if wildmatch(r.parts[0], names[len(names)-1]) {
				return !r.negated, true
			}
		} else if matchParts(r.parts, names) {
			return !r.negated, true
		}
	}
	return false, false
}

// matchParts matches an anchored pattern against a whole path. "**" stands for
// any number of folders, at the end for at least one name.
func matchParts(pattern, names []string) bool {
	// The usual glob loop, over names: going back to the last "**" is enough.
	p, n, starP, starN := 0, 0, -1, 0
	for n < len(names) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			starP, starN = p, n
			p++
		case p < len(pattern) && wildmatch(pattern[p], names[n]):
			p++
			n++
		case starP >= 0:
			starN++
			p, n = starP+1, starN
		default:
			return false
		}
	}
	return p == len(pattern)
}

// wildmatch matches one name against one pattern without slashes, as git's
// wildmatch does: * ? [a-z] [!a] [[:alpha:]] and \ before a literal. Its time is
// bounded by the product of the lengths.
func wildmatch(pattern, name string) bool {
	p, n, starP, starN := 0, 0, -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			starP, starN = p, n
			p++
			continue
		}
		if size, ok := matchOne(pattern[p:], name[n]); ok {
			p += size
			n++
			continue
		}
		if starP < 0 {
			return false
		}
		starN++
		p, n = starP+1, starN
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches the first element of pattern (not *) against one byte, as git
// does, and returns the element's length.
func matchOne(pattern string, c byte) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		return 2, len(pattern) > 1 && pattern[1] == c
	case '[':
		return matchClass(pattern, c)
	}
	return 1, pattern[0] == c
}

// matchClass matches a [bracket expression]. One that is not closed matches
// nothing.
func matchClass(pattern string, c byte) (size int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	matched := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, matched != negated
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			end := strings.IndexByte(pattern[i+2:], ']')
			if end < 0 {
				return 0, false
			}
			if name, isClass := strings.CutSuffix(pattern[i+2:i+2+end], ":"); isClass {
				in, known := posixClass(name, c)
				if !known {
					return 0, false
				}
				matched = matched || in
				i += end + 3
				continue
			}
		}
		lo := pattern[i]
		if lo == '\\' {
			if i++; i >= len(pattern) {
				return 0, false
			}
			lo = pattern[i]
		}
		i++
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			i++
			if pattern[i] == '\\' {
				if i++; i >= len(pattern) {
					return 0, false
				}
			}
			hi = pattern[i]
			i++
		}
		matched = matched || lo <= c && c <= hi
	}
}

// posixClass reports whether c is in the named class of the C locale.
func posixClass(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := 0x20 < c && c < 0x7f
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < 0x20 || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}

// readIgnore reads the ignore file at rel whose rules hold below base; nil when
// there is none. It is git's data, so the deny rules do not apply.
func (w *Workspace) readIgnore(rel, base string) *ignoreFile {
	var text []byte
	if f := w.buffer(rel); f != nil {
		text = f.Text
	} else {
		f, err := w.tree.openNoFollow(rel)
		if err != nil {
			return nil
		}
		defer f.Close()
		file, err := readRegular(f, rel, DefaultMaxFileSize)
		if err != nil {
			return nil
		}
		text = file.Text
	}
	if !utf8.Valid(text) && IsBinary(text) {
		return nil
	}
	if parsed := parseIgnore(base, text); len(parsed.rules) > 0 {
		return parsed
	}
	return nil
}

// ignored asks the ignore files in force, the nearest last, about one path
// whose folders are not ignored.
func ignored(files []*ignoreFile, rel string, isDir bool) bool {
	for i := len(files) - 1; i >= 0; i-- {
		if ign, decided := files[i].match(rel, isDir); decided {
			return ign
		}
	}
	return false
}

// Ignored reports whether git would ignore a file of this workspace that it does
// not track: by a .gitignore in the root or below, or by .git/info/exclude. The
// user's global excludes and a .gitignore above the root do not count.
func (w *Workspace) Ignored(path string) (bool, error) {
	rel, err := w.Rel(path)
	if err != nil {
		return false, err
	}
	files := w.rootIgnores()
	for i := 0; i < len(rel); i++ {
		if rel[i] != '/' {
			continue
		}
		dir := rel[:i]
		if ignored(files, dir, true) {
			return true, nil
		}
		if f := w.readIgnore(dir+"/.gitignore", dir); f != nil {
			files = append(files, f)
		}
	}
	return ignored(files, rel, false), nil
}

func (w *Workspace) rootIgnores() (files []*ignoreFile) {
	for _, rel := range []string{".git/info/exclude", ".gitignore"} {
		if f := w.readIgnore(rel, "."); f != nil {
			files = append(files, f)
		}
	}
	return files
}
