package javaref

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A Query is one condition of a rule.
type Query struct {
	Pattern   *Pattern
	Location  Location
	Annotated *Annotated // nil: no annotation is asked for
}

// Annotated asks for an annotation on what was found, or for values of the
// annotation that was found.
type Annotated struct {
	Pattern  *regexp.Regexp // over the qualified name, see [Whole]; nil: any
	Elements []Element      // every one that the annotation gives must fit, and one must be given
}

// An Element is a value that is asked for.
type Element struct {
	Name  string
	Value *regexp.Regexp // see [Whole]
}

// Whole compiles an expression that has to match the whole of a text.
func Whole(expr string) (*regexp.Regexp, error) { return regexp.Compile(`^(?:` + expr + `)$`) }

// A Match is one place that a query matched.
type Match struct {
	Span Span
	Kind string // of what encloses the place, or is declared there: "Method", "Class", …
	Name string // its name
}

// Find returns what the query matches in a file, in the order of the file. The
// file must have been entered into the project.
func (p *Project) Find(f *File, q *Query) []Match {
	s := search{p: p, f: f, q: q}
	for i := range q.Pattern.alts {
		s.alt = &q.Pattern.alts[i]
		s.run()
	}
	slices.SortStableFunc(s.out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
	})
	return slices.CompactFunc(s.out, func(a, b Match) bool { return a.Span == b.Span })
}

// search is one alternative of a query in one file.
type search struct {
	p   *Project
	f   *File
	q   *Query
	alt *alternative
	out []Match
}

func (s *search) run() {
	switch s.q.Location {
	case Default:
		s.types()
		s.calls()
		s.constructors()
	case Type:
		s.types()
	case MethodCall:
		s.calls()
	case ConstructorCall:
		s.constructors()
	case Annotation:
		s.annotations()
	case Import:
		s.imports()
	case Package:
		s.packages()
	case Inheritance, ImplementsType:
		s.supertypes()
	case ReturnType:
		s.typed(roleReturn)
	case VariableDeclaration:
		s.typed(roleLocal)
	case Field:
		s.typed(roleField)
	case Method:
		s.methods()
	case Class:
		s.classes()
	case EnumConstant:
		s.constants()
	}
}

// each calls visit with the references whose last name fits pattern.
func (s *search) each(pattern string, visit func(*ref)) {
	if !isWild(pattern) {
		for _, i := range s.f.names[pattern] {
			visit(&s.f.refs[i])
		}
		return
	}
	for _, name := range s.f.order {
		if wildcard(pattern, name) {
			for _, i := range s.f.names[name] {
				visit(&s.f.refs[i])
			}
		}
	}
}

// eachType calls visit with the references to types that the alternative means.
func (s *search) eachType(visit func(*ref)) {
	check := func(r *ref) {
		if (r.kind == refType || r.kind == refAnnotation) && s.isType(r.owner, r.role, r.name) {
			visit(r)
		}
	}
	s.each(s.alt.simple, check)
	if isWild(s.alt.simple) && s.alt.qual != "" {
		// A name that is written in full fits the pattern as a whole.
		for i := range s.f.refs {
			if r := &s.f.refs[i]; strings.Contains(r.name, ".") && !wildcard(s.alt.simple, r.name[strings.LastIndexByte(r.name, '.')+1:]) {
				check(r)
			}
		}
	}
}

// isType reports whether a name as written means the type of the alternative.
func (s *search) isType(owner int, role role, name string) bool {
	if s.alt.qual == "" {
		return wildcard(s.alt.simple, name[strings.LastIndexByte(name, '.')+1:])
	}
	if (role == roleSuperclass || role == roleInterface) && owner >= 0 && s.f.types[owner].anonymous {
		owner = s.f.types[owner].outer
	}
	return slices.ContainsFunc(s.p.resolve(s.f, owner, name), func(candidate string) bool {
		return fits(s.alt.text, candidate)
	})
}

func (s *search) add(span Span, kind, name string) {
	s.out = append(s.out, Match{span, kind, name})
}

// addRef adds a reference, described by what encloses it.
func (s *search) addRef(r *ref, span Span) {
	for _, i := range [...]int{r.member, r.decl} {
		if i >= 0 {
			d := &s.f.decls[i]
			s.add(span, d.kindName(s.f), d.name)
			return
		}
	}
	if r.owner >= 0 {
		d := &s.f.decls[s.f.types[r.owner].decl]
		s.add(span, d.kindName(s.f), d.name)
		return
	}
	s.add(span, "File", s.f.Path)
}

// kindName returns the kind as the analyzer names it.
func (d *decl) kindName(f *File) string {
	switch d.kind {
	case declMethod:
		if d.returns == nil {
			return "Constructor"
		}
		return "Method"
	case declField:
		return "Field"
	case declLocal:
		return "Variable"
	case declEnumConstant:
		return "EnumMember"
	}
	if d.typeIndex >= 0 {
		switch f.types[d.typeIndex].kind {
		case interfaceType, annotationType:
			return "Interface"
		case enumType:
			return "Enum"
		}
	}
	return "Class"
}

func (s *search) types() {
	if s.alt.params >= 0 || s.alt.returns != "" {
		return
	}
	s.eachType(func(r *ref) {
		if s.annotatedRef(r) {
			s.addRef(r, r.span)
		}
	})
	for _, imp := range s.f.imports {
		if (!imp.star || imp.static) && s.importFits(imp.name) {
			s.add(imp.span, "Module", imp.name)
		}
	}
	s.classes()
}

// importFits reports whether an import names the type, or something in it.
func (s *search) importFits(name string) bool {
	if s.alt.qual == "" {
		return wildcard(s.alt.simple, name[strings.LastIndexByte(name, '.')+1:]) ||
			packagePattern.MatchString(s.alt.text) && wildcard(s.alt.text, name)
	}
	return fits(s.alt.text, name) || strings.HasPrefix(name, s.alt.text+".")
}

// packagePattern is a pattern for a whole package, for which alone the analyzer
// counts imports with a star.
var packagePattern = regexp.MustCompile(`^[^A-Z*]+\*$`)

func (s *search) imports() {
	for _, imp := range s.f.imports {
		switch {
		case imp.star && !imp.static:
			if packagePattern.MatchString(s.alt.text) && (wildcard(s.alt.text, imp.name) || wildcard(s.alt.text, imp.name+".*")) {
				s.add(imp.span, "Module", imp.name+".*")
			}
		case s.importFits(imp.name):
			s.add(imp.span, "Module", imp.name)
		}
	}
}

// packages finds names of packages: in imports and in names written in full,
// not in the package declaration.
func (s *search) packages() {
	names := func(name string) bool {
		return wildcard(s.alt.text, packageOf(name)) || wildcard(s.alt.text, name) ||
			hasUpper(s.alt.simple) && strings.HasPrefix(name, s.alt.text+".") // a type that was taken for a package
	}
	for _, imp := range s.f.imports {
		name := imp.name
		if imp.star && !imp.static {
			name += ".*"
		}
		if names(name) {
			s.add(imp.span, "Module", name)
		}
	}
	for i := range s.f.refs {
		r := &s.f.refs[i]
		if r.kind != refCall && r.kind != refField && r.kind != refConstructor && strings.Contains(r.name, ".") && !hasUpper(r.name[:1]) && names(r.name) {
			s.addRef(r, r.span)
		}
	}
}

// packageOf returns the part of a qualified name that is a package by custom.
func packageOf(name string) string {
	segments := strings.Split(name, ".")
	end := 0
	for end < len(segments)-1 && !hasUpper(segments[end][:min(1, len(segments[end]))]) {
		end++
	}
	return strings.Join(segments[:end], ".")
}

// supertypes finds the declarations that extend or implement the type directly.
func (s *search) supertypes() {
	s.eachType(func(r *ref) {
		if r.role != roleSuperclass && r.role != roleInterface || r.owner < 0 || r.decl < 0 {
			return
		}
		t := &s.f.types[r.owner]
		if t.decl != r.decl {
			return
		}
		d := &s.f.decls[t.decl]
		if !s.annotatedDecl(d) {
			return
		}
		if s.q.Location == ImplementsType {
			if t.kind != interfaceType && t.kind != annotationType {
				s.add(r.span, d.kindName(s.f), d.name)
			}
			return
		}
		if t.kind == classType && t.superclass == "" {
			return // it implements, but inherits from nothing
		}
		s.add(d.span, d.kindName(s.f), d.name)
	})
}

// typed finds declarations by the type they are declared with.
func (s *search) typed(want role) {
	s.eachType(func(r *ref) {
		if r.role != want || r.decl < 0 {
			return
		}
		d := &s.f.decls[r.decl]
		if !s.annotatedDecl(d) {
			return
		}
		place := d.span
		if want == roleField {
			place = r.span
		}
		s.add(place, d.kindName(s.f), d.name)
	})
}

func (s *search) methods() {
	if s.alt.returns != "" {
		byReturn := parseAlternative(s.alt.returns)
		inner := search{p: s.p, f: s.f, q: s.q, alt: &byReturn}
		inner.typed(roleReturn)
		s.out = append(s.out, inner.out...)
		return
	}
	for i := range s.f.decls {
		d := &s.f.decls[i]
		if d.kind != declMethod || d.returns == nil || !wildcard(s.alt.simple, d.name) ||
			s.alt.params >= 0 && s.alt.params != d.params || !s.annotatedDecl(d) {
			continue
		}
		if s.alt.qual == "" || d.owner >= 0 && s.ownerFits(d.owner) {
			s.add(d.span, "Method", d.name)
		}
	}
}

// isOwner reports whether a type is the one whose member the alternative names.
func (s *search) isOwner(typ string) bool { return fits(s.alt.qual, typ) }

// ownerFits reports whether a type is, or inherits from, the alternative's.
func (s *search) ownerFits(owner int) bool {
	t := typeAt{s.f, owner}
	found := false
	s.p.ancestors(t, func(a typeAt) bool {
		found = !a.decl().anonymous && s.isOwner(a.qualified())
		return !found
	})
	return found || slices.ContainsFunc(s.p.external(t), s.isOwner)
}

func (s *search) classes() {
	for i := range s.f.types {
		t := &s.f.types[i]
		if t.anonymous {
			continue
		}
		d := &s.f.decls[t.decl]
		if !wildcard(s.alt.simple, d.name) || s.alt.qual != "" && !fits(s.alt.text, s.f.qualify(t.name)) || !s.annotatedDecl(d) {
			continue
		}
		s.add(d.span, d.kindName(s.f), d.name)
	}
}

// constants finds enum constants and other constants of a type: the pattern
// names the constant, or the type.
func (s *search) constants() {
	s.each(s.alt.simple, func(r *ref) {
		if r.kind == refField && s.constantOf(r, s.alt.qual) {
			s.addRef(r, r.span)
		}
	})
	for i := range s.f.refs {
		if r := &s.f.refs[i]; r.kind == refField && r.recv != nil && isConstant(r.name) && s.constantOf(r, s.alt.text) {
			s.addRef(r, r.span)
		}
	}
	for i := range s.f.decls {
		d := &s.f.decls[i]
		if d.kind != declEnumConstant || d.owner < 0 {
			continue
		}
		if owner := s.f.qualify(s.f.types[d.owner].name); fits(s.alt.text, owner+"."+d.name) || fits(s.alt.text, owner) {
			s.add(d.span, "EnumMember", d.name)
		}
	}
}

// constantOf reports whether a constant is taken from the type.
func (s *search) constantOf(r *ref, typ string) bool {
	if typ == "" {
		return true
	}
	isType := func(name string) bool { return fits(typ, name) }
	if r.recv != nil {
		return slices.ContainsFunc(s.p.resolve(s.f, r.owner, r.recv.name), isType)
	}
	// A bare constant: imported statically, or the label of a switch.
	return slices.ContainsFunc(s.f.imports, func(imp importDecl) bool {
		return isType(imp.name) || imp.static && !imp.star && strings.HasSuffix(imp.name, "."+r.name) && isType(strings.TrimSuffix(imp.name, "."+r.name))
	})
}
