package treesitter

import "strings"

// SymbolKind is the sort of a declaration, the same word in every language.
type SymbolKind string

// The sorts of declaration.
const (
	Namespace   SymbolKind = "namespace" // also modules and packages that are declared inside a file
	Class       SymbolKind = "class"
	Interface   SymbolKind = "interface" // also traits and protocols
	Struct      SymbolKind = "struct"    // also records and unions
	Enum        SymbolKind = "enum"
	EnumMember  SymbolKind = "enum_member"
	TypeName    SymbolKind = "type" // aliases and every other named type
	Function    SymbolKind = "function"
	Method      SymbolKind = "method"
	Constructor SymbolKind = "constructor"
	Property    SymbolKind = "property"
	Field       SymbolKind = "field"
	Constant    SymbolKind = "constant"
	Variable    SymbolKind = "variable"
	Macro       SymbolKind = "macro"
)

// A Symbol is one declaration of a file.
type Symbol struct {
	Name      string     // as declared
	Qualified string     // with the declarations around it: "Cart.Add"; stable while other code moves
	Kind      SymbolKind // what it declares
	Depth     int        // how many declarations of the outline are around it
	Decl      Node       // the whole declaration, with its decorators, without its doc comment
	NameNode  Node       // where the name stands
}

// Signature returns the declaration without its body, on one line.
func (s Symbol) Signature() string {
	end := s.Decl.End()
	for n := range s.Decl.Descendants() {
		// The body of a parameter or of a nested lambda is deeper; the first in
		// source order at the declaration's own level is what is cut off.
		if n.Field() == "body" && ownBody(s.Decl, n) || n.Kind() == "function_body" || n.Kind() == "class_body" {
			end = n.Start()
			break
		}
	}
	text := string(s.Decl.tree.src[s.Decl.Start():end])
	if end == s.Decl.End() {
		text, _, _ = strings.Cut(text, "\n") // a value may be long: its first line tells enough
	}
	return strings.TrimSuffix(strings.TrimSpace(strings.Join(strings.Fields(text), " ")), ":")
}

// ownBody reports whether body belongs to decl itself: it hangs on decl, or on
// what decl merely wraps (a decorated definition, an exported declaration).
func ownBody(decl, body Node) bool {
	for p := body.Parent(); !p.IsZero(); p = p.Parent() {
		if p == decl {
			return true
		}
		switch p.Field() {
		case "definition", "declaration", "type", "value":
		default:
			return false
		}
	}
	return false
}

// Outline returns the declarations of a file in source order: types, their
// members, functions, and the variables that are not local to a function.
//
// For a language without a table of its own (see [Language.HasOutline]) it is
// made from the nodes that have a name and whose kind says that they declare or
// define something.
func Outline(t *Tree) []Symbol {
	if t.Root().IsZero() {
		return nil
	}
	rules := t.lang.outlineRules()
	var list []Symbol
	type scope struct {
		qualified string
		last      int  // one past the declaration's last node
		callable  bool // locals are not outlined
	}
	var open []scope
	for i := range t.Len() {
		n := t.Node(i)
		for len(open) > 0 && i >= open[len(open)-1].last {
			open = open[:len(open)-1]
		}
		rule := rules[n.KindID()]
		if rule == nil || !n.Named() {
			continue
		}
		inside := scope{}
		if len(open) > 0 {
			inside = open[len(open)-1]
		}
		declared := rule(n)
		for _, s := range declared {
			if s.NameNode.IsZero() && s.Name == "" {
				continue
			}
			if s.Name == "" {
				s.Name = s.NameNode.Text()
			}
			if inside.callable && isValue(s.Kind) {
				continue
			}
			if s.Decl.IsZero() {
				s.Decl = n
			}
			s.Depth = len(open)
			s.Qualified = strings.TrimPrefix(inside.qualified+"."+s.Qualified+s.Name, ".")
			list = append(list, s)
			if len(declared) == 1 { // int a = …, b = …; does not say which of them holds what is inside
				open = append(open, scope{s.Qualified, min(n.Last(), s.Decl.Last()), isCallable(s.Kind)})
			}
		}
	}
	return list
}

func isValue(k SymbolKind) bool {
	return k == Variable || k == Constant || k == Field || k == Property || k == EnumMember
}

func isCallable(k SymbolKind) bool { return k == Function || k == Method || k == Constructor }

// Enclosing returns the innermost declaration around a byte offset, and whether
// there is one. An offset at a declaration's end belongs to it.
func Enclosing(t *Tree, offset int) (Symbol, bool) { return EnclosingIn(Outline(t), offset) }

// EnclosingIn is [Enclosing] for callers that already have the outline.
func EnclosingIn(outline []Symbol, offset int) (Symbol, bool) {
	best, found := Symbol{}, false
	for _, s := range outline {
		if s.Decl.Start() > offset {
			continue
		}
		if offset > s.Decl.End() || found && s.Depth < best.Depth {
			continue
		}
		if found && s.Decl == best.Decl && s.NameNode.Start() > offset {
			continue // int a = HERE, b;
		}
		best, found = s, true
	}
	return best, found
}
