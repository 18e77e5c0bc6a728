package konveyor

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/antchfx/jsonquery"
	"github.com/antchfx/xmlquery"
)

// maxNodes bounds how many nodes one XPath may select in one file.
const maxNodes = 2000

// maxNodeText bounds the text of a node that goes into a message, in bytes.
const maxNodeText = 16 << 10

// An xmlFile is the current file as XML, parsed when it is first asked for.
type xmlFile struct {
	w      *worker
	parsed bool
	doc    *xmlquery.Node
	order  map[*xmlquery.Node]int // element → its number in the order of the document
	tags   []xmlTag
	lines  map[string]int // content → the line the analyzer reports for it
}

var xmlVersion11 = regexp.MustCompile(`^\s*<\?xml\s+version\s*=\s*["']1\.1["']`)

// load parses the file; a file that is no XML has no nodes.
func (x *xmlFile) load() bool {
	if x.parsed {
		return x.doc != nil
	}
	x.parsed = true
	text := x.w.text
	if m := xmlVersion11.FindIndex(text[:min(len(text), 200)]); m != nil {
		text = bytes.Clone(text)
		i := bytes.Index(text, []byte("1.1"))
		text[i+2] = '0' // the parser refuses what it reads just as well
	}
	doc, err := xmlquery.ParseWithOptions(bytes.NewReader(text), xmlquery.ParserOptions{
		Decoder: &xmlquery.DecoderOptions{Strict: false}, WithLineNumbers: true})
	if err != nil {
		x.w.note("the file", "is no XML that can be read, so no XML condition looked at it: "+err.Error())
		return false
	}
	x.doc = doc
	return true
}

// hits evaluates builtin.xml or builtin.xmlPublicID.
func (x *xmlFile) hits(l *leaf) (hits []hit) {
	if !x.load() {
		return nil
	}
	defer func() {
		// The XPath library panics on expressions that select no nodes.
		if r := recover(); r != nil {
			x.w.note("xpath", fmt.Sprintf("cannot be evaluated: %v", r))
		}
	}()
	nodes := xmlquery.QuerySelectorAll(x.doc, l.xpath)
	if len(nodes) > maxNodes {
		nodes = nodes[:maxNodes]
	}
	_, publicID := l.spec.(*XMLPublicID)
	for _, n := range nodes {
		if publicID && !l.regex.MatchString(n.SelectAttr("public-id")) {
			continue
		}
		h := x.hit(n)
		if publicID {
			h.line = 0 // the analyzer reports none
		}
		hits = append(hits, h)
	}
	return hits
}

// hit reports a node: on the line where the analyzer believes it to be, with
// the place where it is.
func (x *xmlFile) hit(n *xmlquery.Node) hit {
	inner := n.InnerText()
	vars := map[string]any{
		"matchingXML": bounded(n.OutputXML(false)),
		"innerText":   bounded(inner),
		"data":        bounded(n.Data),
	}
	content := strings.TrimSpace(inner)
	if content == "" {
		content = n.Data
	}
	start, end := x.span(n)
	h := placed(x.w.mapper(), x.w.text, start, end, vars)
	if line := x.analyzerLine(content); line > 0 {
		h.line = line
	} else if n.LineNumber > 0 {
		h.line = n.LineNumber
	}
	h.text = lineText(x.w.mapper(), x.w.text, h.line)
	return h
}

func bounded(s string) string { return clip([]byte(s[:min(len(s), maxNodeText)]), maxNodeText) }

func (x *xmlFile) analyzerLine(content string) int {
	line, ok := x.lines[content]
	if !ok {
		if x.lines == nil {
			x.lines = map[string]int{}
		}
		line = firstOccurrence(x.w.text, content)
		x.lines[content] = line
	}
	return line
}

// firstOccurrence returns the line on which the analyzer finds content: the
// first window of lines (at most five) that holds its lines in order, white
// space aside. It is 0 when there is none. The analyzer reports that line, not
// the node's, and throws incidents of the same line and message together, so
// the count of incidents depends on it.
func firstOccurrence(text []byte, content string) int {
	parts := strings.Split(content, "\n")
	if len(parts) > 5 {
		parts = parts[:5]
	}
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.Trim(p, " "), "\t", "")
	}
	if len(parts) > 0 && parts[0] == "" {
		parts = parts[1:]
	}
	if len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if strings.Join(parts, "") == "" {
		return 0
	}
	window := make([]string, len(parts))
	for n := 1; len(text) > 0; n++ {
		var raw []byte
		raw, text, _ = bytes.Cut(text, []byte("\n"))
		if len(raw) >= 64<<10 {
			return 0
		}
		line := strings.Trim(strings.ReplaceAll(strings.TrimSuffix(string(raw), "\r"), "\t", ""), " ")
		window = append(window[1:], line)
		if inOrder(strings.Join(window, "\n"), parts) {
			return max(1, n-len(parts)+1)
		}
	}
	return 0
}

func inOrder(s string, parts []string) bool {
	for _, p := range parts {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return true
}

// jsonHits evaluates builtin.json.
func (w *worker) jsonHits(l *leaf) (hits []hit) {
	doc, err := jsonquery.Parse(bytes.NewReader(w.text))
	if err != nil {
		w.note("the file", "is no JSON that can be read, so no JSON condition looked at it: "+err.Error())
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			w.note("xpath", fmt.Sprintf("cannot be evaluated: %v", r))
		}
	}()
	for i, n := range jsonquery.QuerySelectorAll(doc, l.xpath) {
		if i >= maxNodes {
			break
		}
		inner := n.InnerText()
		h := hit{vars: map[string]any{"matchingJSON": bounded(inner), "data": bounded(n.Data)}}
		if line := firstOccurrence(w.text, inner); line > 0 {
			start, end := w.mapper().Line(line - 1)
			at := bytes.Index(w.text[start:end], []byte(inner))
			if at >= 0 {
				start, end = start+at, start+at+len(inner)
			}
			vars := h.vars
			h = placed(w.mapper(), w.text, start, end, vars)
			h.line = line
		}
		hits = append(hits, h)
	}
	return hits
}
