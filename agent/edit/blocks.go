package edit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	blockStart   = regexp.MustCompile(`^<{5,9} ?(?i:SEARCH|ORIGINAL|OLD)\s*(.*)$`)
	blockDivider = regexp.MustCompile(`^={5,9}\s*$`)
	blockEnd     = regexp.MustCompile(`^>{5,9} ?(?i:REPLACE|UPDATED|NEW)\s*$`)
	fence        = regexp.MustCompile("^\\s*(```+|~~~+)(.*)$")
	pathLine     = regexp.MustCompile("^[\\s#*>-]*(?i:file|path|filename)?:?\\s*[`*\"']*([^\\s`*\"']+?\\.?[^\\s`*\"':]+)[`*\"':]*\\s*$")
)

// ErrNoBlocks means that a text holds no edit block at all.
var ErrNoBlocks = errors.New("the answer holds no edit block")

// ParseBlocks reads SEARCH/REPLACE blocks from a model's text:
//
//	path/to/file.go
//	<<<<<<< SEARCH
//	old lines
//	=======
//	new lines
//	>>>>>>> REPLACE
//
// with or without fences around them. A block without a path belongs to the
// file of the block before it, or to only when that is the one target. A block
// that does not end is an error, never a shorter block. The text around the
// blocks becomes the summary.
func ParseBlocks(text, only string) (Proposal, error) {
	p := Proposal{fromText: true}
	lines := strings.Split(lf(text), "\n")
	current := ""
	var around []string
	found := false
	for i := 0; i < len(lines); i++ {
		m := blockStart.FindStringSubmatch(lines[i])
		if m == nil {
			around = append(around, lines[i])
			continue
		}
		found = true
		start := i
		if name := pathAbove(around); name != "" {
			current = name
		} else if m[1] != "" {
			if n := pathLine.FindStringSubmatch(m[1]); n != nil {
				current = n[1]
			}
		}
		if current == "" {
			current = only
		}
		if current == "" {
			return Proposal{}, fmt.Errorf("the block at line %d names no file; write the path in the line above it", start+1)
		}
		old, next, ok := until(lines, i+1, blockDivider)
		if !ok {
			return Proposal{}, fmt.Errorf("the SEARCH block at line %d has no ======= line", start+1)
		}
		replacement, end, ok := until(lines, next+1, blockEnd)
		if !ok {
			return Proposal{}, fmt.Errorf("the block at line %d does not end with >>>>>>> REPLACE", start+1)
		}
		i = end
		around = nil
		p.add(current, Replacement{OldText: join(old), NewText: join(replacement)})
	}
	if !found {
		return Proposal{}, ErrNoBlocks
	}
	p.Summary = summary(text)
	return p, nil
}

// add appends a replacement to its file; a block without old text makes a file.
func (p *Proposal) add(path string, r Replacement) {
	if strings.TrimSpace(r.OldText) == "" {
		p.NewFiles = append(p.NewFiles, NewFile{path, r.NewText})
		return
	}
	for i := range p.Files {
		if p.Files[i].Path == path {
			p.Files[i].Edits = append(p.Files[i].Edits, r)
			return
		}
	}
	p.Files = append(p.Files, FileEdits{Path: path, Edits: []Replacement{r}})
}

func until(lines []string, from int, end *regexp.Regexp) (body []string, at int, ok bool) {
	for i := from; i < len(lines); i++ {
		if end.MatchString(lines[i]) {
			return lines[from:i], i, true
		}
		if blockStart.MatchString(lines[i]) {
			break // the next block begins: this one was not finished
		}
	}
	return nil, 0, false
}

// join ends every line, so that a block replaces whole lines.
func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// pathAbove returns the path in the last line above a block, fences aside.
func pathAbove(around []string) string {
	for i := len(around) - 1; i >= 0 && i >= len(around)-3; i-- {
		line := strings.TrimSpace(around[i])
		if m := fence.FindStringSubmatch(line); m != nil {
			if _, name, ok := strings.Cut(m[2], ":"); ok { // ```go:path/file.go
				return strings.TrimSpace(name)
			}
			continue
		}
		if line == "" {
			continue
		}
		if m := pathLine.FindStringSubmatch(line); m != nil && strings.ContainsAny(m[1], "./") {
			return m[1]
		}
		return ""
	}
	return ""
}

// ParseWhole reads a whole file from the only fenced block of a text. It is for
// models that cannot do better; [Resolve] decides whether it is accepted.
func ParseWhole(text, path string) (Proposal, error) {
	lines := strings.Split(lf(text), "\n")
	var body []string
	found := false
	for i := 0; i < len(lines); i++ {
		m := fence.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		end := -1
		for j := i + 1; j < len(lines); j++ {
			if strings.TrimSpace(lines[j]) == m[1] {
				end = j
				break
			}
		}
		if end < 0 {
			return Proposal{}, fmt.Errorf("the code block at line %d does not end", i+1)
		}
		if found {
			return Proposal{}, errors.New("there are several code blocks; send the whole file in one, or SEARCH/REPLACE blocks")
		}
		body, found, i = lines[i+1:end], true, end
	}
	if !found {
		return Proposal{}, ErrNoBlocks
	}
	content := join(body)
	return Proposal{fromText: true, Summary: summary(text), Files: []FileEdits{{Path: path, Whole: &content}}}, nil
}

// summary returns the first sentence of prose.
func summary(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#*->"))
		if blockStart.MatchString(line) || fence.MatchString(line) {
			return ""
		}
		if strings.Contains(line, " ") {
			if len(line) > 200 {
				line = strings.ToValidUTF8(line[:200], "")
			}
			return line
		}
	}
	return ""
}
