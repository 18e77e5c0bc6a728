package konveyor

import (
	"bytes"

	"github.com/antchfx/xmlquery"
)

// An xmlTag is a start tag in the text, in bytes.
type xmlTag struct{ start, end int }

// xmlTags returns the start tags of a text in order. Comments, CDATA sections,
// processing instructions and declarations hold none.
func xmlTags(text []byte) []xmlTag {
	var tags []xmlTag
	skip := func(at int, end string) int {
		i := bytes.Index(text[at:], []byte(end))
		if i < 0 {
			return len(text)
		}
		return at + i + len(end)
	}
	for at := 0; at < len(text); {
		i := bytes.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		at += i
		rest := text[at:]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			at = skip(at+4, "-->")
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			at = skip(at, "]]>")
		case bytes.HasPrefix(rest, []byte("<?")):
			at = skip(at, "?>")
		case bytes.HasPrefix(rest, []byte("<!")):
			at = declarationEnd(text, at)
		case bytes.HasPrefix(rest, []byte("</")):
			at = skip(at, ">")
		default:
			end := tagEnd(text, at)
			tags = append(tags, xmlTag{at, end})
			at = end
		}
	}
	return tags
}

// tagEnd returns the offset after the > of a tag, which values may hold too.
func tagEnd(text []byte, at int) int {
	var quote byte
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(text)
}

// declarationEnd returns the offset after a declaration, with its subset.
func declarationEnd(text []byte, at int) int {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// index numbers the elements of the document as xmlTags numbers the tags.
func (x *xmlFile) index() {
	x.order = map[*xmlquery.Node]int{}
	x.tags = xmlTags(x.w.text)
	var stack []*xmlquery.Node
	for n := x.doc; n != nil; {
		if n.Type == xmlquery.ElementNode {
			x.order[n] = len(x.order)
		}
		if n.NextSibling != nil && n != x.doc {
			stack = append(stack, n.NextSibling)
		}
		next := n.FirstChild
		if next == nil && len(stack) > 0 {
			next = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
		}
		n = next
	}
}

// span returns where a node is: an element's start tag, an attribute, or the
// text. Where parser and text disagree about the elements it is the line that
// the parser knows.
func (x *xmlFile) span(n *xmlquery.Node) (start, end int) {
	if x.order == nil {
		x.index()
	}
	element := n
	for element != nil && element.Type != xmlquery.ElementNode {
		element = element.Parent
	}
	i, ok := x.order[element]
	if !ok || i >= len(x.tags) || len(x.tags) != len(x.order) || !bytes.HasPrefix(x.w.text[x.tags[i].start+1:], []byte(qualifiedName(element))) {
		return x.w.mapper().Line(n.LineNumber - 1)
	}
	tag := x.tags[i]
	switch n.Type {
	case xmlquery.AttributeNode:
		if at, length := attribute(x.w.text[tag.start:tag.end], qualifiedName(n)); at >= 0 {
			return tag.start + at, tag.start + at + length
		}
	case xmlquery.TextNode, xmlquery.CharDataNode:
		return x.textSpan(n, tag)
	}
	return tag.start, tag.end
}

func qualifiedName(n *xmlquery.Node) string {
	if n.Prefix != "" {
		return n.Prefix + ":" + n.Data
	}
	return n.Data
}

// attribute finds name="value" in a tag.
func attribute(tag []byte, name string) (at, length int) {
	for from := 0; ; {
		i := bytes.Index(tag[from:], []byte(name))
		if i < 0 {
			return -1, 0
		}
		i += from
		from = i + len(name)
		if i == 0 || tag[i-1] > ' ' {
			continue
		}
		rest := bytes.TrimLeft(tag[from:], " \t\r\n")
		if len(rest) < 2 || rest[0] != '=' {
			continue
		}
		value := bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
			continue
		}
		if end := bytes.IndexByte(value[1:], value[0]); end >= 0 {
			return i, len(tag) - i - (len(value) - end - 2)
		}
		return i, len(tag) - i
	}
}

// textSpan finds the text of a node behind its element's start tag.
func (x *xmlFile) textSpan(n *xmlquery.Node, tag xmlTag) (start, end int) {
	want := bytes.TrimSpace([]byte(n.Data))
	rest := x.w.text[tag.end:]
	if first, _, _ := bytes.Cut(want, []byte("\n")); len(first) > 0 {
		if i := bytes.Index(rest, bytes.TrimSpace(first)); i >= 0 {
			return tag.end + i, tag.end + i + len(bytes.TrimSpace(first))
		}
	}
	return tag.start, tag.end
}
