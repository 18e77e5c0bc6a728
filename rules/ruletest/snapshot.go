package ruletest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// A snapshot is what a rule makes of one piece of code.
type snapshot struct {
	fixed  *string // the code after the fix of the first match; nil: the rule has none
	labels []label // of the first match
}

// label is a stretch of the code, in bytes.
type label struct {
	source, message, style string
	start, end             int
}

func (s *snapshot) equal(other *snapshot) bool {
	if (s.fixed == nil) != (other.fixed == nil) || s.fixed != nil && *s.fixed != *other.fixed || len(s.labels) != len(other.labels) {
		return false
	}
	// Which of two secondary labels comes first says nothing.
	for _, l := range s.labels {
		if !slices.Contains(other.labels, l) {
			return false
		}
	}
	return true
}

func (s *snapshot) String() string {
	var parts []string
	if s.fixed != nil {
		parts = append(parts, fmt.Sprintf("fixed: %q", *s.fixed))
	}
	for _, l := range s.labels {
		text := fmt.Sprintf("%s [%d, %d) %q", l.style, l.start, l.end, l.source)
		if l.message != "" {
			text += fmt.Sprintf(" %q", l.message)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// readSnapshots reads the snapshots of one rule by their code. A file that is
// not there has none.
func (r *runner) readSnapshots(name string) (map[string]snapshot, error) {
	out := map[string]snapshot{}
	text, err := fs.ReadFile(r.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rule tests: %w", err)
	}
	docs, err := yamldoc.Parse(text)
	if err == nil && len(docs) == 1 {
		err = parseSnapshots(docs[0], out)
	}
	if err != nil {
		// What is wrong is only remade by an update.
		r.problem(name, err)
	}
	return out, nil
}

func parseSnapshots(doc *yamldoc.Node, out map[string]snapshot) error {
	if err := doc.Keys("a snapshot file", "id", "snapshots"); err != nil {
		return err
	}
	list := doc.Get("snapshots")
	if list == nil || list.Kind == yamldoc.Null {
		return nil
	}
	if list.Kind != yamldoc.Mapping {
		return list.Errorf("`snapshots` must be a mapping of code to what comes out, not %s", list.Kind)
	}
	for _, p := range list.Pairs {
		if err := p.Value.Keys("a snapshot", "fixed", "labels"); err != nil {
			return err
		}
		var s snapshot
		if n := p.Value.Get("fixed"); n != nil && n.Kind != yamldoc.Null {
			text := n.Text
			s.fixed = &text
		}
		if labels := p.Value.Get("labels"); labels != nil {
			for _, item := range labels.Items {
				l, err := parseLabel(item)
				if err != nil {
					return err
				}
				s.labels = append(s.labels, l)
			}
		}
		out[p.Key.Text] = s
	}
	return nil
}

func parseLabel(n *yamldoc.Node) (l label, err error) {
	if err := n.Keys("a label", "source", "message", "style", "start", "end"); err != nil {
		return l, err
	}
	for key, into := range map[string]*string{"source": &l.source, "message": &l.message, "style": &l.style} {
		if v := n.Get(key); v != nil {
			*into = v.Text
		}
	}
	for key, into := range map[string]*int{"start": &l.start, "end": &l.end} {
		v := n.Get(key)
		if v == nil {
			return l, n.Errorf("a label must have `%s`", key)
		}
		if *into, err = v.Int("`" + key + "`"); err != nil {
			return l, err
		}
	}
	return l, nil
}

// writeSnapshots writes the snapshots of the cases that have one; what belongs
// to no case any more is dropped.
func (r *runner) writeSnapshots(name, id string, cases []Case, have map[string]snapshot) error {
	var codes []string
	for _, c := range cases {
		if _, ok := have[c.Code]; ok && !c.Valid && !slices.Contains(codes, c.Code) {
			codes = append(codes, c.Code)
		}
	}
	slices.Sort(codes)
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\nsnapshots:\n", quote(id))
	for _, code := range codes {
		// A long key has to be marked as one.
		const longKey = 900
		if key := quote(code); len(key) > longKey {
			fmt.Fprintf(&b, "  ? %s\n  :\n", key)
		} else {
			fmt.Fprintf(&b, "  %s:\n", key)
		}
		s := have[code]
		if s.fixed != nil {
			fmt.Fprintf(&b, "    fixed: %s\n", quote(*s.fixed))
		}
		b.WriteString("    labels:\n")
		for _, l := range s.labels {
			fmt.Fprintf(&b, "    - source: %s\n", quote(l.source))
			if l.message != "" {
				fmt.Fprintf(&b, "      message: %s\n", quote(l.message))
			}
			fmt.Fprintf(&b, "      style: %s\n      start: %d\n      end: %d\n", l.style, l.start, l.end)
		}
	}
	if err := r.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("rule tests: %w", err)
	}
	f, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("rule tests: %w", err)
	}
	_, err = f.WriteString(b.String())
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("rule tests: %w", err)
	}
	return nil
}

// quote writes a string as JSON does, which YAML reads too.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
