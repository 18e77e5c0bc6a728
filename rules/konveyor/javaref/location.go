package javaref

import "strings"

// A Location says which uses of a name a query is after.
type Location uint8

// The locations. Default is types, methods and constructors together.
const (
	Default Location = iota
	Inheritance
	MethodCall
	ConstructorCall
	Annotation
	ImplementsType
	EnumConstant
	ReturnType
	Import
	VariableDeclaration
	Type
	Package
	Field
	Method
	Class
)

// locations is the table of names; the first of several is the one that is shown.
var locations = []struct {
	name string
	loc  Location
}{
	{"INHERITANCE", Inheritance},
	{"METHOD_CALL", MethodCall},
	{"CONSTRUCTOR_CALL", ConstructorCall},
	{"ANNOTATION", Annotation},
	{"IMPLEMENTS_TYPE", ImplementsType},
	{"ENUM", EnumConstant},
	{"RETURN_TYPE", ReturnType},
	{"IMPORT", Import},
	{"VARIABLE_DECLARATION", VariableDeclaration},
	{"TYPE", Type},
	{"PACKAGE", Package},
	{"FIELD", Field},
	{"FIELD_DECLARATION", Field},
	{"METHOD", Method},
	{"CLASS", Class},
}

// ParseLocation returns the location of a rule's text. Like the analyzer it
// takes a text it does not know for the default, and reports false.
func ParseLocation(s string) (Location, bool) {
	if s == "" {
		return Default, true
	}
	for _, l := range locations {
		if strings.EqualFold(l.name, s) {
			return l.loc, true
		}
	}
	return Default, false
}

// LocationNames returns the texts that [ParseLocation] knows.
func LocationNames() []string {
	var names []string
	for _, l := range locations {
		names = append(names, l.name)
	}
	return names
}

func (l Location) String() string {
	for _, known := range locations {
		if known.loc == l {
			return known.name
		}
	}
	return "default"
}

// Annotatable reports whether what is found at l can carry annotations.
func (l Location) Annotatable() bool {
	switch l {
	case Annotation, Field, Method, Class, Type, ImplementsType, Inheritance, ReturnType, VariableDeclaration:
		return true
	}
	return false
}
