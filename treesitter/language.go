package treesitter

// #include "flatten.h"
import "C"

import (
	"runtime/debug"
	"slices"
	"sync"
)

// errorSymbol is the symbol of an ERROR node in every grammar.
const errorSymbol = ^uint16(0)

// tables is what the grammar says of itself, read once.
type tables struct {
	c        *C.TSLanguage
	kinds    []string // by symbol
	fields   []string // by field id; [0] is ""
	symbols  map[symbolKey]uint16
	fieldIDs map[string]uint16
	comments []uint16
}

type symbolKey struct {
	name  string
	named bool
}

type lazyTables struct {
	once sync.Once
	t    *tables
}

// tables loads the grammar on first use.
func (l *Language) tables() *tables {
	l.load.once.Do(func() { l.load.t = readTables(l) })
	return l.load.t
}

func readTables(l *Language) *tables {
	c := (*C.TSLanguage)(l.grammar())
	t := &tables{c: c, symbols: map[symbolKey]uint16{}, fieldIDs: map[string]uint16{}}
	t.kinds = make([]string, C.ts_language_symbol_count(c))
	for i := range t.kinds {
		name := C.ts_language_symbol_name(c, C.TSSymbol(i))
		if name == nil {
			continue
		}
		t.kinds[i] = C.GoString(name)
		if kind := C.ts_language_symbol_type(c, C.TSSymbol(i)); kind != C.TSSymbolTypeAuxiliary {
			key := symbolKey{t.kinds[i], kind == C.TSSymbolTypeRegular}
			if _, seen := t.symbols[key]; !seen {
				// Several symbols may share a name; nodes carry the public one.
				public := C.ts_language_symbol_for_name(c, name, C.uint32_t(len(t.kinds[i])), C.bool(key.named))
				t.symbols[key] = uint16(public)
			}
		}
	}
	t.symbols[symbolKey{"ERROR", true}] = errorSymbol
	t.fields = make([]string, C.ts_language_field_count(c)+1)
	for i := 1; i < len(t.fields); i++ {
		if name := C.ts_language_field_name_for_id(c, C.TSFieldId(i)); name != nil {
			t.fields[i] = C.GoString(name)
			t.fieldIDs[t.fields[i]] = uint16(i)
		}
	}
	for _, name := range l.Comments {
		if id := t.symbols[symbolKey{name, true}]; id != 0 {
			t.comments = append(t.comments, id)
		}
	}
	return t
}

// KindID returns the grammar's number for a kind of node: what [Node.KindID]
// gives for it. named distinguishes a rule of the grammar ("identifier") from a
// literal token ("if"). 0 means that the grammar has no such kind.
func (l *Language) KindID(name string, named bool) uint16 {
	return l.tables().symbols[symbolKey{name, named}]
}

// KindName is the inverse of [Language.KindID]; "" for a number that the grammar does not use.
func (l *Language) KindName(id uint16) string { return l.kindName(id) }

// FieldID returns the grammar's number for a field name, 0 when it has none.
func (l *Language) FieldID(name string) uint16 { return l.tables().fieldIDs[name] }

// FieldName is the inverse of [Language.FieldID].
func (l *Language) FieldName(id uint16) string { return l.fieldName(id) }

// IsComment reports whether nodes of the given kind are comments.
func (l *Language) IsComment(kind uint16) bool {
	return kind != 0 && slices.Contains(l.tables().comments, kind)
}

// ABI returns the version of tree-sitter's grammar format.
func (l *Language) ABI() int { return int(C.ts_language_version(l.tables().c)) }

// Version returns the grammar's Go module and its version, as
// "github.com/tree-sitter/tree-sitter-go@v0.23.4". Without build information
// it is the module alone.
func (l *Language) Version() string {
	if v := moduleVersions()[l.Module]; v != "" {
		return l.Module + "@" + v
	}
	return l.Module
}

var moduleVersions = sync.OnceValue(func() map[string]string {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			versions[m.Path] = m.Version
		}
	}
	return versions
})

func (l *Language) kindName(id uint16) string {
	if id == errorSymbol {
		return "ERROR"
	}
	if t := l.tables(); int(id) < len(t.kinds) {
		return t.kinds[id]
	}
	return ""
}

func (l *Language) fieldName(id uint16) string {
	if t := l.tables(); int(id) < len(t.fields) {
		return t.fields[id]
	}
	return ""
}
