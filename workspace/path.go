package workspace

import (
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rel turns what a client names a file by into the path of this package:
// relative to the root, slash-separated, clean. It accepts a relative path, an
// absolute path or a file URI; the latter two must lie in the root, under the
// name it was opened by or its real one. The root itself is ".".
//
// Everything else is a [*PathError]: what leads out of the root, what a deny
// rule names (on any component, whatever its case or Unicode form), and names
// that mean different files on different systems. Rel does not look at the
// disk: symbolic links are the business of what opens the file. It is
// idempotent.
func (w *Workspace) Rel(pathOrURI string) (string, error) {
	rel, err := w.lexicalRel(pathOrURI)
	if err != nil {
		return "", err
	}
	if c := w.table.classify(rel); c.Class == Denied {
		return "", &PathError{Path: pathOrURI, Kind: DeniedPath, Reason: "is denied: " + c.Why + " (" + c.Pattern + ")"}
	}
	return rel, nil
}

// lexicalRel is Rel without the deny rules.
func (w *Workspace) lexicalRel(given string) (string, error) {
	refuse := func(kind PathErrorKind, reason string) (string, error) {
		return "", &PathError{Path: given, Kind: kind, Reason: reason}
	}
	name := given
	if hasScheme(given) {
		var reason string
		if name, reason = fileURIPath(given); reason != "" {
			return refuse(NotFileURI, reason)
		}
	}
	if name == "" {
		return refuse(BadName, "is empty")
	}
	if filepath.IsAbs(name) {
		inside, ok := w.stripRoot(name)
		if !ok {
			return refuse(Escapes, "is outside the workspace "+w.given)
		}
		if inside == "" {
			return ".", nil
		}
		name = inside
	} else if runtime.GOOS == "windows" {
		name = filepath.ToSlash(name)
	}
	if strings.HasSuffix(name, "/") {
		return refuse(BadName, "ends in a slash, so it does not name a file")
	}

	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(parts) == 0 {
				return refuse(Escapes, "leads out of the workspace")
			}
			parts = parts[:len(parts)-1]
		default:
			if reason := badComponent(part); reason != "" {
				return refuse(BadName, reason)
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ".", nil
	}
	return strings.Join(parts, "/"), nil
}

// stripRoot returns the part of an absolute path below the root,
// slash-separated; "" for the root itself.
func (w *Workspace) stripRoot(abs string) (string, bool) {
	trailing := len(abs) > 1 && (abs[len(abs)-1] == '/' || abs[len(abs)-1] == filepath.Separator)
	clean := filepath.Clean(abs)
	for _, root := range []string{w.given, w.real} {
		if samePath(clean, root) {
			return "", true
		}
		prefix := strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator)
		if len(clean) > len(prefix) && samePath(clean[:len(prefix)], prefix) {
			inside := filepath.ToSlash(clean[len(prefix):])
			if trailing {
				inside += "/" // still wrong, and still to be told
			}
			return inside, true
		}
	}
	return "", false
}

// samePath compares two clean absolute paths as the system's usual file system does.
func samePath(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// hasScheme reports whether s begins like a URI. One letter is a Windows drive.
func hasScheme(s string) bool {
	i := strings.IndexByte(s, ':')
	if i < 2 {
		return false
	}
	for j := range i {
		c := s[j] | 0x20
		if letter := 'a' <= c && c <= 'z'; !letter &&
			(j == 0 || !(('0' <= s[j] && s[j] <= '9') || s[j] == '+' || s[j] == '-' || s[j] == '.')) {
			return false
		}
	}
	return true
}

// fileURIPath decodes a file URI of this machine, or says why it cannot.
func fileURIPath(s string) (name, reason string) {
	u, err := url.Parse(s)
	if err != nil {
		return "", "is not a valid URI"
	}
	if !strings.EqualFold(u.Scheme, "file") {
		return "", "has the scheme " + u.Scheme + ", only file URIs name files"
	}
	if u.Host != "" && !strings.EqualFold(u.Host, "localhost") || u.User != nil {
		return "", "names another host"
	}
	if u.Opaque != "" || !strings.HasPrefix(u.Path, "/") {
		return "", "has no absolute path"
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", "has a query or fragment; encode ? as %3F and # as %23"
	}
	if runtime.GOOS == "windows" {
		return filepath.FromSlash(strings.TrimPrefix(u.Path, "/")), ""
	}
	return u.Path, ""
}

// URI returns the file URI of a path of this workspace.
func (w *Workspace) URI(rel string) string {
	p := filepath.ToSlash(w.given)
	if rel != "." {
		p = path.Join(p, rel)
	}
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // Windows: file:///C:/…
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// reservedNames are the device names of Windows: with any extension they open
// the device there, not a file.
var reservedNames = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true, "conin$": true, "conout$": true,
	"com0": true, "com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt0": true, "lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
	"com¹": true, "com²": true, "com³": true, "lpt¹": true, "lpt²": true, "lpt³": true,
}

// badComponent says why one component of a path is refused, "" when it is
// fine. The rules are the same on every system, so that a path that is good
// here is the same file elsewhere.
func badComponent(c string) string {
	if !utf8.ValidString(c) {
		return "is not valid UTF-8"
	}
	for _, r := range c {
		switch {
		case r < 0x20 || r == 0x7f || unicode.Is(unicode.Cc, r):
			return "contains a control character"
		case r == '\\':
			return "contains a backslash, which separates folders on other systems"
		case r == ':':
			return "contains a colon, which names a hidden stream or a drive on other systems"
		case '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069':
			return "contains a bidirectional control, so it shows as another name"
		}
	}
	switch c[len(c)-1] {
	case '.', ' ':
		return "has a component that ends in a dot or a space, which other systems drop"
	}
	if len(c) > 255 {
		return "has a component of more than 255 bytes"
	}
	stem, _, _ := strings.Cut(strings.ToLower(c), ".")
	if reservedNames[strings.TrimRight(stem, " ")] {
		return "has a component that is a device name on other systems"
	}
	return ""
}
