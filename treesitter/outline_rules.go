package treesitter

import (
	"strings"
	"sync"
)

// HasOutline reports whether [Outline] knows the language. For others it goes by
// the names of the grammar's kinds and may miss declarations.
func (l *Language) HasOutline() bool { return outlines[l.Name] != nil }

var outlineCache sync.Map // *Language → map[uint16]outlineRule

// outlineRules returns the language's rules by kind id.
func (l *Language) outlineRules() map[uint16]outlineRule {
	if r, ok := outlineCache.Load(l); ok {
		return r.(map[uint16]outlineRule)
	}
	rules := map[uint16]outlineRule{}
	for kind, rule := range outlines[l.Name] {
		if id := l.KindID(kind, true); id != 0 {
			rules[id] = rule
		}
	}
	if !l.HasOutline() {
		for id, kind := range l.tables().kinds {
			if rule := genericRule(kind); rule != nil && l.KindID(kind, true) == uint16(id) {
				rules[uint16(id)] = rule
			}
		}
	}
	r, _ := outlineCache.LoadOrStore(l, rules)
	return r.(map[uint16]outlineRule)
}

// genericRule guesses from the name of a kind whether it declares something.
func genericRule(kind string) outlineRule {
	switch {
	case strings.Contains(kind, "variable"), strings.Contains(kind, "local"):
		return nil // cannot tell a local one from one of the file
	case strings.Contains(kind, "function") && (strings.HasSuffix(kind, "definition") || strings.HasSuffix(kind, "declaration") || strings.HasSuffix(kind, "statement")):
		return genericNamed(Function)
	case strings.Contains(kind, "class") && (strings.HasSuffix(kind, "definition") || strings.HasSuffix(kind, "declaration")):
		return genericNamed(Class)
	case kind == "message", kind == "service", strings.HasSuffix(kind, "type_declaration"):
		return genericNamed(TypeName)
	case strings.HasSuffix(kind, "definition"), strings.HasSuffix(kind, "declaration"), kind == "rpc":
		return genericNamed(TypeName)
	}
	return nil
}

func genericNamed(kind SymbolKind) outlineRule {
	return func(n Node) []Symbol {
		name := n.ChildByField("name")
		if name.IsZero() {
			for c := range n.NamedChildren() {
				if strings.HasSuffix(c.Kind(), "identifier") || strings.HasSuffix(c.Kind(), "_name") {
					name = c
					break
				}
			}
		}
		return []Symbol{{Kind: kind, NameNode: name}}
	}
}
