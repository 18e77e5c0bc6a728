package javaref

// A Span is a half-open range of bytes.
type Span struct{ Start, End int }

// refKind is what a reference is.
type refKind uint8

const (
	refType        refKind = iota // a type is named
	refAnnotation                 // an annotation is used; also a type
	refCall                       // a method is called
	refConstructor                // new X(…), super(…), X::new
	refField                      // X.NAME, or a bare constant
)

// A ref is one reference, as written.
type ref struct {
	kind   refKind
	role   role
	name   string // type: as written, dots included; call: the method's name; field: the constant's name
	recv   *expr  // of a call: what it is called on; nil: nothing is written
	args   int    // of a call or constructor
	span   Span
	owner  int // index of the enclosing type in File.types; -1: none
	decl   int // index of the declaration it belongs to in File.decls; -1: none
	member int // index of the enclosing method or field in File.decls; -1: none
	values []annotationValue
}

// role is what a type is named for.
type role uint8

const (
	roleOther role = iota
	roleSuperclass
	roleInterface
	roleReturn
	roleLocal // of a local variable or parameter
	roleField
	roleStatic // what a static member is taken from
)

// An annotationValue is one element of an annotation; several texts are an array.
type annotationValue struct {
	name  string
	texts []string
}

// declKind is what a declaration declares.
type declKind uint8

const (
	declType declKind = iota
	declMethod
	declField
	declLocal
	declEnumConstant
)

// A decl is one declaration.
type decl struct {
	kind        declKind
	name        string
	span        Span  // of the name
	owner       int   // enclosing type; -1: none
	params      int   // of a method
	returns     *expr // of a method; nil: a constructor
	typ         *expr // of a field or local variable
	annotations []int // refs
	typeIndex   int   // of a type: index in File.types
}

// typeKind tells the kinds of type apart.
type typeKind uint8

const (
	classType typeKind = iota
	interfaceType
	enumType
	recordType
	annotationType
)

// A typeDecl is one type with what is inherited and declared in it.
type typeDecl struct {
	kind       typeKind
	name       string // "Outer.Inner" without the package; "" when anonymous
	outer      int    // enclosing type; -1: none
	superclass string // as written; "" when there is none
	interfaces []string
	fields     map[string]*expr
	methods    map[string][]*expr // by name: what the overloads return
	decl       int
	anonymous  bool
}

// An importDecl is one import.
type importDecl struct {
	name   string // "javax.ejb.Stateless", "javax.ejb" with star
	static bool
	star   bool
	span   Span // of the whole declaration
}

// A File is what Java source says, as far as queries ask. It is immutable
// after [Extract].
type File struct {
	Path    string
	Package string

	imports []importDecl
	types   []typeDecl
	decls   []decl
	refs    []ref
	single  map[string]string // simple name → what it is imported from
	names   map[string][]int  // simple name → refs of that name
	order   []string          // the keys of names, sorted
}

// TypeNames returns the qualified names of the types that the file declares.
func (f *File) TypeNames() []string {
	var names []string
	for _, t := range f.types {
		if !t.anonymous {
			names = append(names, f.qualify(t.name))
		}
	}
	return names
}

func (f *File) qualify(name string) string {
	if f.Package == "" {
		return name
	}
	return f.Package + "." + name
}

// exprKind says how the type of an expression is found.
type exprKind uint8

const (
	exprUnknown  exprKind = iota
	exprNamed             // a type as written in the file: name
	exprThis              // the enclosing type
	exprSuper             // its superclass
	exprVariable          // a name that is no local variable: field, inherited field or type
	exprFieldOf           // name of base
	exprCallOf            // what method name of base returns; base nil: an unqualified call
)

// An expr is an expression reduced to what its type depends on.
type expr struct {
	kind exprKind
	name string
	base *expr
}

var unknownExpr = &expr{}

func named(name string) *expr { return &expr{kind: exprNamed, name: name} }
