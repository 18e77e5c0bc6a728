// Package literal finds out which of many fixed strings occur in a text, in
// one pass over it, and which strings a regular expression cannot match
// without. Together they tell cheaply which rules have to look at a file.
//
// Collect strings in a [Builder], make the [Set] once, and call [Set.Scan] per
// text. A [Need] built from the same numbers says whether a rule can match.
package literal

import "slices"

// A Builder numbers strings. The zero Builder is ready to use.
type Builder struct {
	ids  map[string]int
	list []string
}

// Add returns the number of s, the same for the same string.
func (b *Builder) Add(s string) int {
	if id, ok := b.ids[s]; ok {
		return id
	}
	if b.ids == nil {
		b.ids = map[string]int{}
	}
	id := len(b.list)
	b.ids[s] = id
	b.list = append(b.list, s)
	return id
}

// Need adds every string of a conjunction of alternatives and returns it in
// numbers. An empty alternative or an empty string makes its clause true, so
// it is left out.
func (b *Builder) Need(clauses [][]string) Need {
	var need Need
	for _, clause := range clauses {
		if len(clause) == 0 || slices.Contains(clause, "") {
			continue
		}
		ids := make([]int, len(clause))
		for i, s := range clause {
			ids[i] = b.Add(s)
		}
		need = append(need, ids)
	}
	return need
}

// A Need is a conjunction of alternatives over the numbers of a [Set]: of each
// inner list at least one string has to occur. The empty Need is always met.
type Need [][]int

// Met reports whether found has what n needs.
func (n Need) Met(found Found) bool {
	for _, clause := range n {
		if !slices.ContainsFunc(clause, found.Has) {
			return false
		}
	}
	return true
}

// Found is the set of numbers whose strings occur in a text.
type Found []uint64

// Has reports whether string id occurs.
func (f Found) Has(id int) bool { return f[id>>6]&(1<<(id&63)) != 0 }

// A Set is an automaton (Aho-Corasick) over the strings of a [Builder]. It is
// immutable and safe for concurrent use.
type Set struct {
	size    int
	class   [256]uint16 // bytes that no string holds share class 0
	classes int
	next    []int32   // state*classes+class → state*classes of the next state
	outputs [][]int32 // per state: every string that ends there
	marks   []bool    // per state: outputs is not empty
}

// Build makes the automaton. Strings that are added later are not part of it.
func (b *Builder) Build() *Set {
	s := &Set{size: len(b.list), classes: 1}
	for _, str := range b.list {
		for i := range len(str) {
			if s.class[str[i]] == 0 {
				s.class[str[i]] = uint16(s.classes)
				s.classes++
			}
		}
	}
	s.trie(b.list)
	s.link()
	return s
}

// trie enters every string; -1 stands for "no edge".
func (s *Set) trie(list []string) {
	s.addState()
	for id, str := range list {
		state := 0
		for i := range len(str) {
			at := state*s.classes + int(s.class[str[i]])
			if s.next[at] < 0 {
				s.next[at] = int32(s.addState())
			}
			state = int(s.next[at])
		}
		if str != "" {
			s.outputs[state] = append(s.outputs[state], int32(id))
		}
	}
}

func (s *Set) addState() int {
	for range s.classes {
		s.next = append(s.next, -1)
	}
	s.outputs = append(s.outputs, nil)
	return len(s.outputs) - 1
}

// link turns the trie into an automaton without failure edges, breadth first.
func (s *Set) link() {
	fail := make([]int32, len(s.outputs))
	queue := make([]int32, 0, len(s.outputs))
	for c := range s.classes {
		if s.next[c] < 0 {
			s.next[c] = 0
		} else {
			queue = append(queue, s.next[c])
		}
	}
	for len(queue) > 0 {
		state := int(queue[0])
		queue = queue[1:]
		back := int(fail[state])
		if more := s.outputs[back]; len(more) > 0 {
			s.outputs[state] = append(slices.Clip(s.outputs[state]), more...)
		}
		for c := range s.classes {
			at := state*s.classes + c
			follow := s.next[back*s.classes+c]
			if s.next[at] < 0 {
				s.next[at] = follow
				continue
			}
			fail[s.next[at]] = follow
			queue = append(queue, s.next[at])
		}
	}
	s.marks = make([]bool, len(s.outputs))
	for i := range s.next {
		s.next[i] *= int32(s.classes)
	}
	for i, out := range s.outputs {
		s.marks[i] = len(out) > 0
	}
}

// Scan returns which strings occur in text. It reuses found's memory when
// there is enough of it.
func (s *Set) Scan(text []byte, found Found) Found {
	words := (s.size + 63) >> 6
	if cap(found) < words {
		found = make(Found, words)
	}
	found = found[:words]
	clear(found)
	if s.size == 0 {
		return found
	}
	var at int32
	for _, b := range text {
		at = s.next[at+int32(s.class[b])]
		if at == 0 {
			continue
		}
		if state := int(at) / s.classes; s.marks[state] {
			for _, id := range s.outputs[state] {
				found[id>>6] |= 1 << (id & 63)
			}
		}
	}
	return found
}
