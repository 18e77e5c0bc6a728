package refactor

import (
	"context"
	"errors"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// RenameProperty renames a key of a properties or YAML file, where a dotted key
// may be nested mappings. It is refused where the new key is set already.
type RenameProperty struct {
	From string `yaml:"from" json:"from"` // "a.b.c"; "a.b.*" is every key below a.b
	To   string `yaml:"to" json:"to"`     // ends in ".*" exactly when From does
	// Remove deletes the key with its value instead.
	Remove bool `yaml:"remove" json:"remove"`
	// Relaxed compares keys as Spring Boot does: case and dashes do not count.
	Relaxed bool `yaml:"relaxed" json:"relaxed"`
}

func (s *RenameProperty) validate() error {
	switch {
	case s.From == "" || (s.To == "") != s.Remove:
		return errors.New("from and one of to and remove are required")
	case !s.Remove && strings.HasSuffix(s.From, ".*") != strings.HasSuffix(s.To, ".*"):
		return errors.New("from and to must both end in .* or neither")
	}
	return nil
}

// renamed returns the new name of a key, or ok false when it is not concerned.
// What follows the renamed elements keeps the key's own spelling.
func (s *RenameProperty) renamed(key string) (to string, ok bool) {
	from, to := strings.TrimSuffix(s.From, ".*"), strings.TrimSuffix(s.To, ".*")
	below := from != s.From
	n := strings.Count(from, ".") + 1
	parts := strings.SplitN(key, ".", n+1)
	if len(parts) < n {
		return "", false
	}
	index := "" // of a list: a.b[0]
	if i := strings.IndexByte(parts[n-1], '['); i > 0 && !below {
		parts[n-1], index = parts[n-1][:i], parts[n-1][i:]
	}
	if s.canonical(strings.Join(parts[:n], ".")) != s.canonical(from) {
		return "", false
	}
	rest := ""
	if len(parts) > n {
		rest = "." + parts[n]
	}
	if below && rest == "" || !below && rest != "" && index == "" {
		return "", false
	}
	return to + index + rest, true
}

func (s *RenameProperty) canonical(key string) string {
	if !s.Relaxed {
		return key
	}
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(key))
}

// Edits implements [Step] for properties and YAML files.
func (s *RenameProperty) Edits(ctx context.Context, in Input) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "properties", "yaml")
	if t == nil || err != nil {
		return nil, err
	}
	if t.Language().Name == "yaml" {
		return s.yaml(t, in)
	}
	have := map[string]bool{}
	for n := range t.Root().NamedChildren() {
		if key := childOfKind(n, "key"); n.Kind() == "property" && !key.IsZero() {
			have[s.canonical(unescapeKey(key.Text()))] = true
		}
	}
	var edits []workspace.Edit
	for n := range t.Root().NamedChildren() {
		key := childOfKind(n, "key")
		if n.Kind() != "property" || key.IsZero() || !in.covers(n) {
			continue
		}
		name := unescapeKey(key.Text())
		to, ok := s.renamed(name)
		switch {
		case !ok || to == name:
		case s.Remove:
			edits = append(edits, workspace.Edit{Start: lineStart(in.Text, n.Start()), End: lineEnd(in.Text, max(n.Start(), n.End()-1))})
		case have[s.canonical(to)] && s.canonical(to) != s.canonical(name):
			return nil, refuse(Unsafe, "%s sets %s and %s; decide by hand which value stays", in.Path, name, to)
		default:
			edits = append(edits, replace(key, escapeKey(to)))
		}
	}
	return edits, nil
}

func unescapeKey(key string) string {
	return strings.NewReplacer(`\:`, ":", `\=`, "=", `\ `, " ", `\\`, `\`).Replace(key)
}

func escapeKey(key string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "=", `\=`, " ", `\ `).Replace(key)
}

// A yamlKey is a key of a YAML mapping with its dotted path.
type yamlKey struct {
	path  string
	pair  treesitter.Node // the deepest pair
	leaf  bool
	chain []treesitter.Node // the pairs from the outermost to pair
	parts []string          // what each pair of chain adds to the path
}

// yamlKeys returns the keys of every mapping in source order. The items of a
// sequence begin new paths, which no property refers to.
func yamlKeys(doc treesitter.Node) []yamlKey {
	var keys []yamlKey
	var walk func(n treesitter.Node, at yamlKey)
	walk = func(n treesitter.Node, at yamlKey) {
		for c := range n.NamedChildren() {
			switch c.Kind() {
			case "block_mapping_pair", "flow_pair":
				key := c.ChildByField("key")
				if key.IsZero() {
					continue
				}
				part := strings.Trim(key.Text(), `"'`)
				k := yamlKey{path: part, pair: c, leaf: true}
				if at.path != "" {
					k.path = at.path + "." + part
				}
				k.chain = append(append([]treesitter.Node(nil), at.chain...), c)
				k.parts = append(append([]string(nil), at.parts...), part)
				i := len(keys)
				keys = append(keys, k)
				if value := c.ChildByField("value"); !value.IsZero() {
					before := len(keys)
					walk(value, k)
					keys[i].leaf = len(keys) == before
				}
			case "block_sequence", "flow_sequence":
			default:
				walk(c, at)
			}
		}
	}
	walk(doc, yamlKey{})
	return keys
}

// yaml renames the keys of a YAML file, document by document.
func (s *RenameProperty) yaml(t *treesitter.Tree, in Input) ([]workspace.Edit, error) {
	var edits []workspace.Edit
	for doc := range t.Root().NamedChildren() {
		if doc.Kind() != "document" {
			continue
		}
		keys := yamlKeys(doc)
		have := map[string]bool{}
		for _, k := range keys {
			have[s.canonical(k.path)] = true
		}
		renamedPrefix := ""
		for _, k := range keys {
			if renamedPrefix != "" && strings.HasPrefix(k.path, renamedPrefix+".") || !in.covers(k.pair) {
				continue
			}
			to, ok := s.renamed(k.path)
			if from := strings.TrimSuffix(s.From, ".*"); !ok && from != s.From && s.canonical(k.path) == s.canonical(from) && !k.leaf {
				to, ok = strings.TrimSuffix(s.To, ".*"), true // the mapping that holds all of them
			}
			if !ok || to == k.path {
				continue
			}
			if s.Remove {
				edits = append(edits, cutPair(in.Text, k, 0))
				renamedPrefix = k.path
				continue
			}
			if have[s.canonical(to)] {
				return nil, refuse(Unsafe, "%s sets %s and %s; decide by hand which value stays", in.Path, k.path, to)
			}
			edit, err := renameYAML(in, k, to)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit...)
			renamedPrefix = k.path
		}
	}
	return dedupe(sortEdits(edits)), nil
}

// cutPair deletes a pair, with the mappings that it alone made up; the first
// keep pairs of its chain stay.
func cutPair(text []byte, k yamlKey, keep int) workspace.Edit {
	top := k.pair
	for i := len(k.chain) - 2; i >= keep && onlyPair(k.chain[i+1]); i-- {
		top = k.chain[i]
	}
	return workspace.Edit{Start: lineStart(text, top.Start()), End: lineEnd(text, max(top.Start(), top.End()-1))}
}

// onlyPair reports whether a pair is the only one of its mapping.
func onlyPair(pair treesitter.Node) bool {
	n := 0
	for c := range pair.Parent().NamedChildren() {
		if c.Kind() == pair.Kind() {
			n++
		}
	}
	return n == 1
}

// renameYAML renames one key. Where the new path shares all but what the
// deepest pairs add, and these hold nothing else, they are renamed in place;
// else the pair moves out under a key that spells the rest of the path.
func renameYAML(in Input, k yamlKey, to string) ([]workspace.Edit, error) {
	rest := to
	shared := 0 // pairs of the chain that stay as they are
	for shared < len(k.parts)-1 && strings.HasPrefix(rest, k.parts[shared]+".") {
		rest = rest[len(k.parts[shared])+1:]
		shared++
	}
	alone := true
	for i := shared + 1; i < len(k.chain); i++ {
		alone = alone && onlyPair(k.chain[i])
	}
	pairs, elements := k.chain[shared:], strings.Split(rest, ".")
	if !alone || len(elements) < len(pairs) {
		return moveYAML(in, k, shared, rest)
	}
	// The outermost pair takes the elements that are too many, so that two keys
	// that get the same first element do not become one key written twice.
	first := len(elements) - len(pairs) + 1
	names := append([]string{strings.Join(elements[:first], ".")}, elements[first:]...)
	for c := range pairs[0].Parent().NamedChildren() {
		if key := c.ChildByField("key"); c != pairs[0] && !key.IsZero() && key.Text() == names[0] {
			return moveYAML(in, k, shared, rest)
		}
	}
	var edits []workspace.Edit
	for i, pair := range pairs {
		if key := pair.ChildByField("key"); key.Text() != names[i] {
			edits = append(edits, replace(key, names[i]))
		}
	}
	return edits, nil
}

// moveYAML cuts a pair out of its mapping and puts it, under a dotted key, in
// front of the pair of the mapping that both paths share.
func moveYAML(in Input, k yamlKey, shared int, rest string) ([]workspace.Edit, error) {
	text := in.Text
	anchor := k.chain[shared]
	if k.pair.Kind() != "block_mapping_pair" || anchor.Kind() != "block_mapping_pair" || bytesBefore(text, anchor) != "" {
		return nil, refuse(Unsafe, "in %s %s stands in a mapping in braces; rename it by hand", in.Path, k.path)
	}
	cut := cutPair(text, k, shared)
	block := string(text[lineStart(text, k.pair.Start()):lineEnd(text, max(k.pair.Start(), k.pair.End()-1))])
	oldIndent, newIndent := indentOf(text, k.pair.Start()), indentOf(text, anchor.Start())
	lines := strings.SplitAfter(block, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, oldIndent)
		if lines[i] != "" && strings.TrimSpace(lines[i]) != "" {
			lines[i] = newIndent + lines[i]
		}
	}
	key := k.pair.ChildByField("key").Text()
	moved := strings.Join(lines, "")
	moved = strings.Replace(moved, newIndent+key, newIndent+rest, 1)
	if !strings.HasSuffix(moved, "\n") {
		moved += eol(text)
	}
	at := lineStart(text, anchor.Start())
	if cut.Start <= at { // nothing of the shared mapping's pair is left
		return []workspace.Edit{{Start: cut.Start, End: cut.End, New: moved}}, nil
	}
	return []workspace.Edit{insert(at, moved), cut}, nil
}

func bytesBefore(text []byte, n treesitter.Node) string {
	return strings.TrimSpace(string(text[lineStart(text, n.Start()):n.Start()]))
}
