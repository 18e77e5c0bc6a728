package javaref

import (
	"slices"
	"strings"
)

// calls finds calls of the method.
func (s *search) calls() {
	if s.alt.returns != "" {
		return
	}
	s.each(s.alt.simple, func(r *ref) {
		if r.kind != refCall || s.alt.params >= 0 && r.args >= 0 && s.alt.params != r.args {
			return
		}
		if s.alt.qual == "" && s.q.Location == Default && s.alt.params < 0 {
			return // a bare name is a type
		}
		if s.alt.qual == "" || s.calledOn(r) {
			s.addRef(r, r.span)
		}
	})
}

// calledOn reports whether the method that r calls is declared by the
// alternative's type.
func (s *search) calledOn(r *ref) bool {
	if r.recv == nil {
		return s.calledOnSelf(r)
	}
	types := s.p.typeOf(s.f, r.owner, r.recv, 0)
	if types == nil {
		return s.importsType() && s.mayBeUnknown(r)
	}
	return slices.ContainsFunc(types, func(name string) bool { return s.declaredBy(name, r.name) })
}

// declaredBy reports whether the method of a type is the alternative's: by the
// type itself or, when the project declares it, by a library type it inherits
// from and does not override.
func (s *search) declaredBy(typ, method string) bool {
	if t, ok := s.p.lookup(typ); ok {
		return s.isOwner(typ) || s.inherits(t, method)
	}
	return s.oneDeclares(s.p.climb(nil, typ), method)
}

// oneDeclares reports whether, of library types in the order of inheritance,
// the one that declares the method is the alternative's. Where none is known to
// declare it, each may.
func (s *search) oneDeclares(types []string, method string) bool {
	for _, name := range types {
		if t := s.p.library(name); t != nil && len(t.Methods[method]) > 0 {
			return s.isOwner(name)
		}
	}
	return slices.ContainsFunc(types, s.isOwner)
}

// inherits reports whether t has the method from the alternative's type.
func (s *search) inherits(t typeAt, method string) bool {
	declared, fits := false, false
	s.p.ancestors(t, func(a typeAt) bool {
		if len(a.decl().methods[method]) > 0 {
			declared = true
			fits = !a.decl().anonymous && s.isOwner(a.qualified())
			return false
		}
		return true
	})
	if declared {
		return fits
	}
	return s.oneDeclares(s.p.external(t), method)
}

// calledOnSelf judges a call without a receiver: a method of an enclosing type
// or one that is imported statically.
func (s *search) calledOnSelf(r *ref) bool {
	for t := r.owner; t >= 0; t = s.f.types[t].outer {
		if s.inherits(typeAt{s.f, t}, r.name) {
			return true
		}
	}
	return slices.ContainsFunc(s.f.imports, func(imp importDecl) bool {
		if !imp.static {
			return false
		}
		typ, ok := imp.name, imp.star
		if !imp.star {
			typ, ok = strings.CutSuffix(imp.name, "."+r.name)
		}
		return ok && s.isOwner(typ)
	})
}

// importsType is what decides about a call on something of unknown type: does
// the file import the type, or its package (as all do java.lang and their own)
// and use the type's name.
func (s *search) importsType() bool {
	dot := strings.LastIndexByte(s.alt.qual, '.')
	pkg, simple := "", s.alt.qual
	if dot >= 0 {
		pkg, simple = s.alt.qual[:dot], s.alt.qual[dot+1:]
	}
	if (dot < 0 || pkg == "java.lang" || wildcard(pkg, s.f.Package)) && s.mentions(simple) {
		return true
	}
	return slices.ContainsFunc(s.f.imports, func(imp importDecl) bool {
		if imp.star && !imp.static {
			return dot >= 0 && wildcard(pkg, imp.name) && s.mentions(simple)
		}
		return s.isOwner(imp.name)
	})
}

// mayBeUnknown reports whether a receiver of unknown type may be of the
// alternative's. A type of which the file only takes static members, as of
// java.nio.file.Paths, has no instances there, except what a call on the type
// itself returns, as Runtime.getRuntime() does; and that is too vague for a
// pattern that leaves the method's name open.
func (s *search) mayBeUnknown(r *ref) bool {
	static := false
	for _, i := range s.f.names[s.alt.qual[strings.LastIndexByte(s.alt.qual, '.')+1:]] {
		t := &s.f.refs[i]
		if t.kind != refType || !slices.ContainsFunc(s.p.resolve(s.f, t.owner, t.name), s.isOwner) {
			continue
		}
		if t.role != roleStatic {
			return true
		}
		static = true
	}
	if !static {
		return true
	}
	root := r.recv
	for root.base != nil {
		root = root.base
	}
	return !isWild(s.alt.simple) && (root.kind == exprNamed || root.kind == exprVariable) &&
		slices.ContainsFunc(s.p.resolve(s.f, r.owner, root.name), s.isOwner)
}

// mentions reports whether the file uses a simple name.
func (s *search) mentions(simple string) bool {
	return slices.ContainsFunc(s.f.order, func(name string) bool { return wildcard(simple, name) })
}

// constructors finds new X(…), super(…) and X::new.
func (s *search) constructors() {
	if s.alt.returns != "" {
		return
	}
	s.each(s.alt.simple, func(r *ref) {
		if r.kind == refConstructor && (s.alt.params < 0 || r.args < 0 || s.alt.params == r.args) && s.isType(r.owner, roleOther, r.name) {
			s.addRef(r, r.span)
		}
	})
}

// annotations finds uses of the annotation.
func (s *search) annotations() {
	s.eachType(func(r *ref) {
		if r.kind != refAnnotation {
			return
		}
		if a := s.q.Annotated; a != nil && a.Pattern == nil {
			if !elementsFit(r, a.Elements) {
				return
			}
		} else if a != nil && (r.decl < 0 || !s.annotatedDecl(&s.f.decls[r.decl])) {
			return
		}
		if r.decl >= 0 {
			d := &s.f.decls[r.decl]
			s.add(r.span, d.kindName(s.f), d.name)
			return
		}
		s.addRef(r, r.span)
	})
}

// annotatedRef applies the query's annotation to a reference that belongs to a
// declaration.
func (s *search) annotatedRef(r *ref) bool {
	if s.q.Annotated == nil {
		return true
	}
	return r.decl >= 0 && s.annotatedDecl(&s.f.decls[r.decl])
}

// annotatedDecl reports whether a declaration carries the annotation that the
// query asks for. Like the analyzer it judges by the first one whose name fits.
func (s *search) annotatedDecl(d *decl) bool {
	a := s.q.Annotated
	if a == nil {
		return true
	}
	for _, i := range d.annotations {
		r := &s.f.refs[i]
		if a.Pattern == nil || slices.ContainsFunc(s.p.resolve(s.f, r.owner, r.name), func(name string) bool { return a.Pattern.MatchString(name) }) {
			return elementsFit(r, a.Elements)
		}
	}
	return false
}

// elementsFit reports whether the values of an annotation are those asked for.
// Elements that the annotation does not give do not count, but one must be given.
func elementsFit(r *ref, elements []Element) bool {
	if len(elements) == 0 {
		return true
	}
	given := false
	for _, v := range r.values {
		for _, e := range elements {
			if e.Name != v.name {
				continue
			}
			if !slices.ContainsFunc(v.texts, func(text string) bool { return e.Value.MatchString(text) }) {
				return false
			}
			given = true
		}
	}
	return given
}
